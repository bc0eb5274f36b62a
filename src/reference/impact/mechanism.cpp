#include "reference/impact/mechanism.hpp"

#include <vector>

namespace carom::reference {

bool Mechanism::approaches(const Vector& contact_velocity, double tolerance) const {
  return (contact_velocity.head(contacts()).array() < -tolerance).any();
}

std::uint64_t Mechanism::modes(const Vector& contact_velocity, double tolerance) const {
  if (contacts() > kMaxModeContacts) return 0;
  std::uint64_t word = 0;
  for (int i = contacts() - 1; i >= 0; --i) {
    const Vector slip = contact_velocity.segment(contacts() + i * tangents(), tangents());
    const ContactMode sliding =
        tangents() == 1 && slip[0] < 0.0 ? ContactMode::sliding_negative : ContactMode::sliding;
    const ContactMode mode = contact_velocity[i] > tolerance ? ContactMode::separating
                             : slip.norm() <= tolerance      ? ContactMode::sticking
                                                             : sliding;
    word = 4 * word + static_cast<std::uint64_t>(mode);
  }
  return word;
}

Mechanism make_mechanism(const ImpactProblem& problem) {
  const int nv = problem.velocities;
  const int m = problem.contacts;
  const auto rows_of = [nv](const std::vector<double>& values) {
    return Eigen::Map<const Matrix>(values.data(), static_cast<int>(values.size()) / nv, nv);
  };
  Mechanism result{.problem = problem,
                   .mass = rows_of(problem.mass_matrix),
                   .jacobian = Matrix(problem.dimension * m, nv),
                   .response = Matrix(nv, problem.dimension * m),
                   .delassus = {},
                   .friction = Eigen::Map<const Vector>(problem.friction.data(), m),
                   .velocity = Eigen::Map<const Vector>(problem.velocity.data(), nv)};
  result.jacobian.topRows(m) = rows_of(problem.normal_jacobian);
  result.jacobian.bottomRows(result.rows() - m) = rows_of(problem.tangent_jacobian);
  if (m > 0) result.response = result.mass.ldlt().solve(result.jacobian.transpose());
  const Matrix product = result.jacobian * result.response;
  result.delassus = 0.5 * (product + product.transpose());
  return result;
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
        if (from.empty()) return;
        const auto first = from.host().begin() + index * extents.stride();
        to.assign(first, first + extents.stride());
      },
      problem, batch);
  return problem;
}

}  // namespace carom::reference
