#pragma once

#include <Eigen/Dense>

#include <carom/types/coulomb.hpp>

namespace carom::cpu {

/// A CoulombProblem in scaled variables: W' = W / w, q' = q / s and r' = r w / s, with s = max|q|
/// and w the largest |diagonal| of W, so that tolerances and step rules need no units.
struct CoulombSystem {
  int dimension = 3;
  int contacts = 0;
  Eigen::MatrixXd matrix;    ///< W', [d m, d m]
  Eigen::VectorXd vector;    ///< q', [d m]
  Eigen::VectorXd friction;  ///< [m]
  Eigen::VectorXd weight;    ///< 1 / rho_i: the contact's largest diagonal of W', [m]

  [[nodiscard]] int size() const { return dimension * contacts; }
  [[nodiscard]] Eigen::VectorXd velocity(const Eigen::VectorXd& reaction) const {
    return matrix * reaction + vector;
  }
};

/// Largest diagonal of one contact's block; where none is positive, the largest entry of its rows,
/// and 1 where these vanish too.
double contact_weight(const Eigen::MatrixXd& matrix, int dimension, int contact);

/// Euclidean projection, in place, of x = (x_n, x_t) onto {|x_t| <= mu x_n}.
void project_on_cone(Eigen::Ref<Eigen::VectorXd> x, double mu);

/// max|g r - P_K(g r - (u + mu |u_t| e_n))| with g = 1 / rho; NaN or infinity where the data
/// overflow.
double natural_residual(const CoulombSystem& system, const Eigen::VectorXd& reaction);

/// Alart and Curnier's function in units of velocity: g r_n - max(0, z_n) and
/// g r_t - P_B(mu max(0, z_n))(z_t) with z = g r - u; zero exactly at the solutions.
Eigen::VectorXd alart_curnier(const CoulombSystem& system, const Eigen::VectorXd& reaction);

/// The larger of natural_residual and max|alart_curnier|. By itself the natural map divides an
/// approach u_n < 0 by mu where a contact is taken for open, so a large mu would hide it.
double law_residual(const CoulombSystem& system, const Eigen::VectorXd& reaction);

/// One element of the generalised Jacobian of alart_curnier, [d m, d m].
Eigen::MatrixXd alart_curnier_jacobian(const CoulombSystem& system,
                                       const Eigen::VectorXd& reaction);

}  // namespace carom::cpu
