#include "cpu/reference/impact/mechanism.hpp"

#include <vector>

namespace carom::reference {

bool Mechanism::approaches(const Vector& contact_velocity, double tolerance) const {
  for (int i = 0; i < contacts; ++i) {
    if (contact_velocity[i] < -tolerance) return true;
  }
  return false;
}

std::uint64_t Mechanism::modes(const Vector& contact_velocity, double tolerance) const {
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

ImpactProblem problem_of(const ImpactBatch& batch, std::int64_t index) {
  ImpactProblem problem;
  problem.dimension = batch.dimension;
  problem.velocities = batch.velocities;
  problem.contacts = batch.contacts;
  ImpactBatch::each_array(
      batch,
      [index](const char*, const Extents& extents, std::vector<double>& to,
              const Buffer<double>& from) {
        const auto first = from.host().begin() + index * extents.stride();
        to.assign(first, first + extents.stride());
      },
      problem, batch);
  return problem;
}

ImpactProblem problem_of(const Mechanism& mechanism) {
  const auto list = [](const auto& values) {
    return std::vector<double>(values.data(), values.data() + values.size());
  };
  ImpactProblem problem;
  problem.dimension = mechanism.dimension;
  problem.velocities = mechanism.velocities;
  problem.contacts = mechanism.contacts;
  problem.mass_matrix = list(mechanism.mass);
  problem.normal_jacobian = list(Matrix(mechanism.jacobian.topRows(mechanism.contacts)));
  problem.tangent_jacobian =
      list(Matrix(mechanism.jacobian.bottomRows(mechanism.rows() - mechanism.contacts)));
  problem.friction = list(mechanism.friction);
  problem.velocity = list(mechanism.velocity);
  return problem;
}

}  // namespace carom::reference
