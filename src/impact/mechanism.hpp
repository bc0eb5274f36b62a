#pragma once

#include <cstdint>

#include <Eigen/Dense>

#include <carom/types/impact.hpp>

namespace carom::dense {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// One impact problem with dense matrices, and the derived quantities that every step needs.
struct Mechanism {
  int dimension = 2;
  int velocities = 0;
  int contacts = 0;
  Matrix mass;      ///< M, [nv, nv]
  Matrix jacobian;  ///< J = [Jn; Jt], [d m, nv]
  Matrix response;  ///< M^-1 J', [nv, d m]
  Matrix delassus;  ///< A = J M^-1 J', [d m, d m], symmetric
  Vector friction;  ///< [m]
  Vector velocity;  ///< before the impact, [nv]

  [[nodiscard]] int rows() const { return dimension * contacts; }
  [[nodiscard]] double kinetic_energy(const Vector& v) const { return 0.5 * v.dot(mass * v); }
  /// Whether some contact has Jn_i v < -tolerance; `contact_velocity` is J v.
  [[nodiscard]] bool approaches(const Vector& contact_velocity, double tolerance) const;
  /// Contact modes of J v, two bits a contact.
  [[nodiscard]] std::uint64_t modes(const Vector& contact_velocity, double tolerance) const;
};

Mechanism make_mechanism(const ImpactProblem& problem);

}  // namespace carom::dense
