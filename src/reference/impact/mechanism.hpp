#pragma once

#include <cstdint>

#include <Eigen/Dense>

#include <carom/types/impact.hpp>

#include "reference/programs/lemke.hpp"

namespace carom::reference {

/// An impact problem and the matrices of its steps.
struct Mechanism {
  ImpactProblem problem;
  Matrix mass;      ///< M
  Matrix jacobian;  ///< J = [Jn; Jt]
  Matrix response;  ///< M^-1 J'
  Matrix delassus;  ///< A = J M^-1 J', symmetric
  Vector friction;
  Vector velocity;  ///< before the impact

  [[nodiscard]] int contacts() const { return problem.contacts; }
  [[nodiscard]] int tangents() const { return problem.dimension - 1; }
  [[nodiscard]] int rows() const { return problem.dimension * problem.contacts; }
  [[nodiscard]] double kinetic_energy(const Vector& v) const { return 0.5 * v.dot(mass * v); }
  /// Whether some contact has Jn_i v < -tolerance; `contact_velocity` is J v.
  [[nodiscard]] bool approaches(const Vector& contact_velocity, double tolerance) const;
  /// Contact modes of J v, two bits a contact.
  [[nodiscard]] std::uint64_t modes(const Vector& contact_velocity, double tolerance) const;
};

Mechanism make_mechanism(const ImpactProblem& problem);
ImpactProblem problem_of(const ImpactBatch& batch, std::int64_t index);

}  // namespace carom::reference
