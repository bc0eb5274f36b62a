#include "reference/compliant/compliant_problem.hpp"

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

void hand_out(const CompliantBatch& batch, std::int64_t problem, const CompliantEquations& e,
              const CompliantSolution& s, CompliantResult& result) {
  const Index nv = batch.velocities;
  const Index nq = batch.positions > 0 ? batch.positions : nv;
  Eigen::Map<VectorXd>(result.velocity.data() + problem * nv, nv) = s.velocity;
  Eigen::Map<VectorXd> increment(result.increment.data() + problem * nq, nq);
  if (batch.positions > 0) {
    increment = e.step_size * (position_map_of(batch, problem) * s.velocity);
  } else {
    increment = e.step_size * s.velocity;
  }
  Eigen::Map<VectorXd>(result.force.data() + problem * batch.rows, batch.rows) =
      s.impulse / e.step_size;
  result.kinetic_energy.data()[problem] = 0.5 * s.velocity.dot(e.mass * s.velocity);
}

}  // namespace carom::reference
