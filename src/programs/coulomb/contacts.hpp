#pragma once

#include <Eigen/Dense>

#include "programs/coulomb/law.hpp"

namespace carom::cpu {

/// The largest share by which one contact breaks the law, each in units of itself: cone and sign
/// by its force, approach, lifting and slip by the data of its own rows (what of |W||r| + |q| the
/// given numbers explain, docs/explanation/certificates.md). No unit of W, q or a contact matters.
/// NaN where the data overflow.
double contact_residual(const CoulombSystem& system, const Eigen::VectorXd& reaction);

/// The reaction with every contact's force in its cone, and zero where no row feels it.
Eigen::VectorXd in_cones(const CoulombSystem& system, const Eigen::VectorXd& reaction);

/// Powers of two that bring the contacts' weights to one size, [m]: r = D r', u' = D u.
Eigen::VectorXd contact_units(const CoulombSystem& system);

/// W' = D W D and q' = D q, the same cones.
CoulombSystem in_units(const CoulombSystem& system, const Eigen::VectorXd& units);

}  // namespace carom::cpu
