#pragma once

#include <Eigen/Dense>

namespace carom::cpu {

/// Solves one contact, u = W r + q with W [d, d] and the Signorini-Coulomb law, exactly: take-off,
/// stick, or slide; in 3D the sliding angle is a root of a trigonometric polynomial of degree two,
/// bracketed and bisected. Of several roots the one nearest to `guess` is taken. False, and
/// `reaction` untouched, where no mode fits.
bool solve_single_contact(const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                          const Eigen::Ref<const Eigen::VectorXd>& vector, double mu,
                          const Eigen::Ref<const Eigen::VectorXd>& guess,
                          Eigen::Ref<Eigen::VectorXd> reaction);

}  // namespace carom::cpu
