#include "programs/coulomb/law.hpp"

#include <algorithm>
#include <cmath>

namespace carom::cpu {

using Eigen::MatrixXd;
using Eigen::VectorXd;

double contact_weight(const MatrixXd& matrix, int dimension, int contact) {
  const Eigen::Index row = static_cast<Eigen::Index>(dimension) * contact;
  double weight = matrix.diagonal().segment(row, dimension).maxCoeff();
  if (!(weight > 0)) weight = matrix.middleRows(row, dimension).cwiseAbs().maxCoeff();
  return weight > 0 ? weight : 1.0;
}

void project_on_cone(Eigen::Ref<VectorXd> x, double mu) {
  const Eigen::Index tangents = x.size() - 1;
  const double slip = x.tail(tangents).stableNorm();
  if (x[0] >= 0.0 && slip <= mu * x[0]) return;
  // (axis, side) is the unit vector along the cone's surface; written so that no mu overflows.
  const double axis = 1.0 / std::hypot(1.0, mu);
  const double side = mu >= 1 ? 1.0 / std::hypot(1.0, 1.0 / mu) : mu * axis;
  const double along = axis * x[0] + side * slip;
  if (along <= 0) {
    x.setZero();
    return;
  }
  x[0] = axis * along;
  x.tail(tangents) *= slip > 0 ? side * along / slip : 0.0;
}

double natural_residual(const CoulombSystem& system, const VectorXd& reaction) {
  const int d = system.dimension;
  const VectorXd velocity = system.velocity(reaction);
  double worst = 0;
  for (int i = 0; i < system.contacts; ++i) {
    const VectorXd held = system.weight[i] * reaction.segment(d * i, d);
    VectorXd moved = held - velocity.segment(d * i, d);
    moved[0] -= system.friction[i] * velocity.segment(d * i + 1, d - 1).stableNorm();
    project_on_cone(moved, system.friction[i]);
    for (int k = 0; k < d; ++k) {
      const double error = std::abs(held[k] - moved[k]);
      if (!(error <= worst)) worst = error;  // keeps NaN, which std::max would drop
      if (std::isnan(error)) return error;
    }
  }
  return worst;
}

VectorXd alart_curnier(const CoulombSystem& system, const VectorXd& reaction) {
  const int d = system.dimension;
  const VectorXd velocity = system.velocity(reaction);
  VectorXd value(system.size());
  for (int i = 0; i < system.contacts; ++i) {
    const VectorXd held = system.weight[i] * reaction.segment(d * i, d);
    const VectorXd z = held - velocity.segment(d * i, d);
    const double radius = system.friction[i] * std::max(0.0, z[0]);
    const double slip = z.tail(d - 1).norm();
    auto out = value.segment(d * i, d);
    // Where nothing is clipped the difference is u itself, free of the cancellation in g r - z.
    out[0] = z[0] > 0 ? velocity[d * i] : held[0];
    if (slip <= radius) {
      out.tail(d - 1) = velocity.segment(d * i + 1, d - 1);
    } else {
      out.tail(d - 1) = held.tail(d - 1) - radius / slip * z.tail(d - 1);
    }
  }
  return value;
}

double law_residual(const CoulombSystem& system, const VectorXd& reaction) {
  const double natural = natural_residual(system, reaction);
  const double curnier = alart_curnier(system, reaction).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  return natural >= curnier || std::isnan(natural) ? natural : curnier;
}

MatrixXd alart_curnier_jacobian(const CoulombSystem& system, const VectorXd& reaction) {
  const int d = system.dimension;
  const VectorXd velocity = system.velocity(reaction);
  MatrixXd jacobian = MatrixXd::Zero(system.size(), system.size());
  for (int i = 0; i < system.contacts; ++i) {
    const Eigen::Index row = static_cast<Eigen::Index>(d) * i;
    const Eigen::Index t = row + 1;
    const double g = system.weight[i];
    const VectorXd z = g * reaction.segment(row, d) - velocity.segment(row, d);
    const bool pressed = z[0] > 0;
    if (pressed) {
      jacobian.row(row) = system.matrix.row(row);
    } else {
      jacobian(row, row) = g;
    }
    const double radius = system.friction[i] * std::max(0.0, z[0]);
    const double slip = z.tail(d - 1).norm();
    if (slip <= radius) {
      jacobian.middleRows(t, d - 1) = system.matrix.middleRows(t, d - 1);
      continue;
    }
    for (int k = 0; k < d - 1; ++k) jacobian(t + k, t + k) = g;
    if (!pressed) continue;
    // d z = g I - W; the direction turns with z_t, the radius grows with z_n.
    MatrixXd change = -system.matrix.middleRows(row, d);
    for (int k = 0; k < d; ++k) change(k, row + k) += g;
    const VectorXd direction = z.tail(d - 1) / slip;
    jacobian.middleRows(t, d - 1) -= system.friction[i] * direction * change.row(0);
    const MatrixXd across = MatrixXd::Identity(d - 1, d - 1) - direction * direction.transpose();
    jacobian.middleRows(t, d - 1) -= radius / slip * across * change.bottomRows(d - 1);
  }
  return jacobian;
}

}  // namespace carom::cpu
