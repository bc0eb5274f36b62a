#include "cpu/reference/compliant/compliant_problem.hpp"

#include <cmath>
#include <limits>

namespace carom::reference {

namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Rows position_map_of(const CompliantBatch& batch, std::int64_t problem) {
  return Eigen::Map<const Rows>(
      batch.position_map.data() + problem * batch.positions * batch.velocities, batch.positions,
      batch.velocities);
}

/// True where a batch's problem has numbers that the reference can work with.
bool good_numbers(const CompliantEquations& e, const Rows& position_map) {
  const auto good = [](const auto& x) { return x.allFinite(); };
  if (!(e.step_size > 0.0) || !std::isfinite(e.step_size)) return false;
  if (!good(e.mass) || !good(e.force) || !good(e.velocity) || !good(position_map)) return false;
  if ((e.mass - e.mass.transpose()).cwiseAbs().maxCoeff() > 2e-9 * e.mass.cwiseAbs().maxCoeff()) {
    return false;
  }
  if (e.mass.llt().info() != Eigen::Success) return false;
  if (!good(e.jacobian) || !good(e.jacobian_dot_v) || !good(e.phi) || !good(e.stiffness) ||
      !good(e.damping) || !good(e.friction)) {
    return false;
  }
  if ((e.stiffness.array() < 0.0).any() || (e.damping.array() < 0.0).any() ||
      (e.friction.array() < 0.0).any()) {
    return false;
  }
  int owed = 0;
  for (const RowType type : e.type) {
    if ((type == RowType::tangent) != (owed > 0)) return false;
    if (owed > 0) --owed;
    if (type == RowType::normal) owed = e.dimension - 1;
  }
  return owed == 0;
}

}  // namespace

CompliantEquations gather(const CompliantBatch& batch, std::int64_t problem, bool centripetal) {
  const Index nv = batch.velocities;
  const Index m = batch.rows;
  CompliantEquations e;
  e.step_size = batch.step_size.data()[problem];
  e.dimension = batch.dimension;
  e.centripetal = centripetal;
  e.mass = Eigen::Map<const Rows>(batch.mass_matrix.data() + problem * nv * nv, nv, nv);
  e.force = vector_of(batch.force.data() + problem * nv, nv);
  e.velocity = vector_of(batch.velocity.data() + problem * nv, nv);
  e.type.assign(batch.type.data() + problem * m, batch.type.data() + (problem + 1) * m);
  e.jacobian = Eigen::Map<const Rows>(batch.jacobian.data() + problem * m * nv, m, nv);
  e.jacobian_dot_v = vector_of(batch.jacobian_dot_v.data() + problem * m, m);
  e.phi = vector_of(batch.phi.data() + problem * m, m);
  e.stiffness = vector_of(batch.stiffness.data() + problem * m, m);
  e.damping = vector_of(batch.damping.data() + problem * m, m);
  e.friction = vector_of(batch.friction.data() + problem * m, m);
  for (Index i = 0; i < m; ++i) {
    if (e.type[static_cast<std::size_t>(i)] == RowType::none) {
      e.jacobian.row(i).setZero();
      e.jacobian_dot_v(i) = e.phi(i) = e.stiffness(i) = e.damping(i) = 0.0;
    }
    if (e.type[static_cast<std::size_t>(i)] != RowType::normal) e.friction(i) = 0.0;
  }
  return e;
}

bool acceptable(const CompliantBatch& batch, std::int64_t problem) {
  return good_numbers(gather(batch, problem, false), position_map_of(batch, problem));
}

void hand_out(const CompliantBatch& batch, std::int64_t problem, const CompliantEquations& e,
              const CompliantSolution& s, const kernels::CompliantArrays& out) {
  const Index nv = batch.velocities;
  const Index nq = batch.positions > 0 ? batch.positions : nv;
  Eigen::Map<VectorXd>(out.next_velocity + problem * nv, nv) = s.velocity;
  Eigen::Map<VectorXd> increment(out.increment + problem * nq, nq);
  if (batch.positions > 0) {
    increment = e.step_size * (position_map_of(batch, problem) * s.velocity);
  } else {
    increment = e.step_size * s.velocity;
  }
  Eigen::Map<VectorXd>(out.constraint_force + problem * batch.rows, batch.rows) =
      s.impulse / e.step_size;
  out.kinetic_energy[problem] = 0.5 * s.velocity.dot(e.mass * s.velocity);
}

void refuse(const CompliantBatch& batch, std::int64_t problem, Status status,
            const kernels::CompliantArrays& out) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t nv = batch.velocities;
  const std::int64_t nq = batch.positions > 0 ? batch.positions : nv;
  std::fill_n(out.next_velocity + problem * nv, nv, kNan);
  std::fill_n(out.increment + problem * nq, nq, kNan);
  std::fill_n(out.constraint_force + problem * batch.rows, batch.rows, kNan);
  out.kinetic_energy[problem] = kNan;
  out.residual[problem] = kNan;
  out.iterations[problem] = 0;
  out.status[problem] = status;
}

}  // namespace carom::reference
