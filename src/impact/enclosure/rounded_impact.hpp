#pragma once

#include <cstdint>
#include <vector>

#include <carom/impact.hpp>

#include "impact/enclosure/double_description.hpp"

namespace carom::enclosure {

/// A planar impact in integers. Contact velocities are u = J v, normals [m], then tangents [m];
/// those reached from a start differ by the range of A = J M^-1 J'. Independent rows of J are the
/// coordinates w, the other rows integer combinations of them, so that dependent contacts stay so.
struct RoundedImpact {
  int contacts = 0;
  std::vector<int> basis;     ///< rows of J that are coordinates
  std::vector<Vector> row;    ///< [2 m]: u_k = unit (row_k . w) / (scale_k w_0), w homogeneous
  std::vector<double> scale;  ///< [2 m], > 0
  double unit = 1.0;          ///< [m/s], a power of two
  Vector start;               ///< w before the impact, [1 + basis]
  /// [2 m]: A (e_n + mu e_t) of contact i at 2 i, A (e_n - mu e_t) at 2 i + 1, as rays (0, ...).
  std::vector<Vector> push;
  /// Rows >= 0 wherever the kinetic energy is not above that before the impact: u_k^2 <= 2 K A_kk.
  std::vector<Vector> energy;

  [[nodiscard]] std::size_t size() const { return basis.size() + 1; }
  /// Contact velocity k at the homogeneous point w [m/s].
  [[nodiscard]] double velocity(int k, const Vector& w) const;
};

/// Rounds the problem's data to 2^-44 of their largest (finer for mu > 1): 6e-14. Planar, checked.
RoundedImpact round_impact(const ImpactProblem& problem);

}  // namespace carom::enclosure
