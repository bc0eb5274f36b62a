#pragma once

#include <Eigen/Dense>

#include "programs/coulomb/law.hpp"

namespace carom::cpu {

/// Reaction of the polyhedral problem: each friction disc is replaced by the hull of `directions`
/// unit vectors (2D: always the two signs), and the LCP in (r_n, beta, gamma) is solved by Lemke's
/// method with lexicographic ties. gamma is scaled by max(1, mu)^balance, which decides how
/// rounding treats a large mu. Exact in 2D; in 3D a starting point. Adds its pivots to `pivots`.
/// False on a ray or after `max_pivots`.
bool solve_polyhedral(const CoulombSystem& system, int directions, double balance, int max_pivots,
                      Eigen::VectorXd& reaction, int& pivots);

}  // namespace carom::cpu
