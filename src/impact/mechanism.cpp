#include "impact/mechanism.hpp"

namespace carom::dense {

bool Mechanism::approaches(const Vector& contact_velocity, double tolerance) const {
  for (int i = 0; i < contacts; ++i) {
    if (contact_velocity[i] < -tolerance) return true;
  }
  return false;
}

std::uint64_t Mechanism::modes(const Vector& contact_velocity, double tolerance) const {
  if (contacts > kMaxModeContacts) return 0;
  std::uint64_t word = 0;
  const int tangents = dimension - 1;
  for (int i = 0; i < contacts; ++i) {
    const auto tangent = contact_velocity.segment(contacts + i * tangents, tangents);
    ContactMode mode = ContactMode::sliding;
    if (contact_velocity[i] > tolerance) {
      mode = ContactMode::separating;
    } else if (tangent.norm() <= tolerance) {
      mode = ContactMode::sticking;
    } else if (dimension == 2 && tangent[0] < 0.0) {
      mode = ContactMode::sliding_negative;
    }
    word |= static_cast<std::uint64_t>(mode) << (2 * i);
  }
  return word;
}

Mechanism make_mechanism(const ImpactProblem& problem) {
  Mechanism mechanism;
  const int nv = problem.velocities;
  const int m = problem.contacts;
  mechanism.dimension = problem.dimension;
  mechanism.velocities = nv;
  mechanism.contacts = m;
  mechanism.mass = Eigen::Map<const Matrix>(problem.mass_matrix.data(), nv, nv);
  mechanism.jacobian.resize(mechanism.rows(), nv);
  if (m > 0) {
    const int tangents = (problem.dimension - 1) * m;
    mechanism.jacobian.topRows(m) = Eigen::Map<const Matrix>(problem.normal_jacobian.data(), m, nv);
    mechanism.jacobian.bottomRows(tangents) =
        Eigen::Map<const Matrix>(problem.tangent_jacobian.data(), tangents, nv);
  }
  mechanism.friction = Eigen::Map<const Vector>(problem.friction.data(), m);
  mechanism.velocity = Eigen::Map<const Vector>(problem.velocity.data(), nv);
  mechanism.response.resize(nv, mechanism.rows());
  if (m > 0) mechanism.response = mechanism.mass.ldlt().solve(mechanism.jacobian.transpose());
  const Matrix delassus = mechanism.jacobian * mechanism.response;
  mechanism.delassus = 0.5 * (delassus + delassus.transpose());
  return mechanism;
}

}  // namespace carom::dense
