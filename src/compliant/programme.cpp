#include "compliant/programme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <carom/types/qp.hpp>

#include "compliant/backends.hpp"
#include "compliant/kernels/compliant_centripetal.hpp"

namespace carom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A step of a host batch; absent rows are zero.
struct Step {
  double h;
  MatrixXd mass;
  VectorXd force, velocity;
  std::vector<RowType> type;
  MatrixXd jacobian;
  VectorXd jacobian_dot_v, phi, stiffness, damping, friction;

  Step(const CompliantBatch& batch, std::int64_t problem)
      : h(batch.step_size.data()[problem]),
        type(batch.type.data() + problem * batch.rows,
             batch.type.data() + (problem + 1) * batch.rows) {
    const Index nv = batch.velocities;
    const Index m = batch.rows;
    const auto vector_of = [&](const Buffer<double>& values, Index size) {
      return VectorXd(Eigen::Map<const VectorXd>(values.data() + problem * size, size));
    };
    mass = Eigen::Map<const Rows>(batch.mass_matrix.data() + problem * nv * nv, nv, nv);
    force = vector_of(batch.force, nv);
    velocity = vector_of(batch.velocity, nv);
    jacobian = Eigen::Map<const Rows>(batch.jacobian.data() + problem * m * nv, m, nv);
    jacobian_dot_v = vector_of(batch.jacobian_dot_v, m);
    phi = vector_of(batch.phi, m);
    stiffness = vector_of(batch.stiffness, m);
    damping = vector_of(batch.damping, m);
    friction = vector_of(batch.friction, m);
    for (Index i = 0; i < m; ++i) {
      if (type[static_cast<std::size_t>(i)] != RowType::normal) friction(i) = 0.0;
      if (type[static_cast<std::size_t>(i)] != RowType::none) continue;
      jacobian.row(i).setZero();
      jacobian_dot_v(i) = phi(i) = stiffness(i) = damping(i) = 0.0;
    }
  }
};

MatrixXd rows_of(const MatrixXd& matrix, const std::vector<int>& picked) {
  MatrixXd out(static_cast<Index>(picked.size()), matrix.cols());
  for (std::size_t k = 0; k < picked.size(); ++k) {
    out.row(static_cast<Index>(k)) = matrix.row(picked[k]);
  }
  return out;
}

/// M^ (dG/dt) v of (23) for every row, with the pseudo-inverse where a group is redundant.
VectorXd centripetal_forces(Step& step) {
  const auto m = static_cast<int>(step.type.size());
  kernels::ConstraintRows rows{};
  rows.type = step.type.data();
  VectorXd out = VectorXd::Zero(m);
  for (int group = 0; group < kernels::kRowGroups; ++group) {
    std::vector<int> members;
    for (int i = 0; i < m; ++i) {
      if (kernels::row_group(rows, i) == group) members.push_back(i);
    }
    const VectorXd acceleration = step.jacobian_dot_v(members);
    if (acceleration.isZero(0.0)) continue;
    const MatrixXd g = rows_of(step.jacobian, members);
    const MatrixXd delassus = g * step.mass.ldlt().solve(g.transpose());
    const VectorXd force =
        Eigen::CompleteOrthogonalDecomposition<MatrixXd>(delassus).solve(acceleration);
    out(members) = force;
  }
  return out;
}

/// Writes v', q' - q, lambda and the energy that follow from the rows' impulses.
void hand_out(const CompliantBatch& batch, std::int64_t problem, const VectorXd& impulse,
              CompliantResult& result) {
  const Step step(batch, problem);
  const Index nv = batch.velocities;
  const VectorXd velocity =
      step.velocity +
      step.mass.ldlt().solve(step.h * step.force + step.jacobian.transpose() * impulse);
  Eigen::Map<VectorXd>(result.velocity.data() + problem * nv, nv) = velocity;
  const Index nq = batch.positions > 0 ? batch.positions : nv;
  Eigen::Map<VectorXd> increment(result.increment.data() + problem * nq, nq);
  if (batch.positions > 0) {
    const Rows map = Eigen::Map<const Rows>(batch.position_map.data() + problem * nq * nv, nq, nv);
    increment = step.h * (map * velocity);
  } else {
    increment = step.h * velocity;
  }
  Eigen::Map<VectorXd>(result.force.data() + problem * batch.rows, batch.rows) = impulse / step.h;
  result.kinetic_energy.data()[problem] = 0.5 * velocity.dot(step.mass * velocity);
}

/// A batch of programmes of one layout, and where their answers go.
void solve_layout(const std::vector<std::int64_t>& problems,
                  const std::vector<ConvexProgramme>& programmes, const CompliantBatch& batch,
                  const CompliantSettings& settings, const SolveQp& solve_qp,
                  CompliantResult& result) {
  const ConvexProgramme& head = programmes.front();
  const auto n = static_cast<std::size_t>(head.gradient.size());
  const auto count = problems.size();
  const auto half = static_cast<std::size_t>(head.bound.size());
  std::vector<Index> signed_rows;  // n and u
  for (std::size_t i = 0; i < n; ++i) {
    if (head.type[i] != RowType::tangent) signed_rows.push_back(static_cast<Index>(i));
  }
  QpResult answer;
  if (n > 0) {
    QpSizes sizes{
        static_cast<std::int64_t>(count), static_cast<int>(n), static_cast<int>(2 * half), {}};
    for (const RowType type : head.type) {
      if (type == RowType::normal) sizes.cones.push_back({ConeKind::second_order, batch.dimension});
    }
    auto qp = allocate<QpBatch>(sizes);
    const auto k = static_cast<std::size_t>(qp.cone_rows());
    std::fill_n(qp.matrix.data(), qp.matrix.size(), 0.0);
    std::fill_n(qp.lower.data(), qp.lower.size(), 0.0);
    std::fill_n(qp.upper.data(), qp.upper.size(), std::numeric_limits<double>::infinity());
    std::fill_n(qp.cone_matrix.data(), qp.cone_matrix.size(), 0.0);
    std::fill_n(qp.cone_vector.data(), qp.cone_vector.size(), 0.0);
    for (std::size_t p = 0; p < count; ++p) {
      const ConvexProgramme& programme = programmes[p];
      const auto size = static_cast<Index>(n);
      Eigen::Map<Rows>(qp.hessian.data() + p * n * n, size, size) = programme.hessian;
      Eigen::Map<VectorXd>(qp.vector.data() + p * n, size) = programme.gradient;
      Eigen::Map<Rows> matrix(qp.matrix.data() + p * 2 * half * n, static_cast<Index>(2 * half),
                              size);
      const auto middle = static_cast<Index>(half);
      matrix.topRows(middle) = programme.matrix;
      Eigen::Map<VectorXd>(qp.lower.data() + p * 2 * half, middle) = programme.bound;
      for (Index i = 0; i < middle; ++i) {
        matrix(middle + i, signed_rows[static_cast<std::size_t>(i)]) = 1.0;
      }
      // |p_t| <= mu p_n as -C p in the cone, C = [-mu e_n; -e_t].
      Eigen::Map<Rows> cones(qp.cone_matrix.data() + p * k * n, static_cast<Index>(k), size);
      Index row = 0;
      for (Index i = 0; i < size; ++i) {
        if (head.type[static_cast<std::size_t>(i)] != RowType::normal) continue;
        cones(row, i) = -programme.friction(i);
        for (int t = 1; t < batch.dimension; ++t) cones(row + t, i + t) = -1.0;
        row += batch.dimension;
      }
    }
    QpSettings qp_settings;
    qp_settings.method = settings.method;
    qp_settings.tolerance = settings.tolerance;
    qp_settings.max_iterations = settings.max_iterations;
    qp_settings.threads = settings.threads;
    answer = solve_qp(qp, qp_settings);
  }
  for (std::size_t p = 0; p < count; ++p) {
    const ConvexProgramme& programme = programmes[p];
    const std::int64_t problem = problems[p];
    const VectorXd impulse = n > 0 ? VectorXd(Eigen::Map<const VectorXd>(
                                         answer.solution.data() + p * n, static_cast<Index>(n)))
                                   : VectorXd(0);
    const Status status = n > 0 ? answer.status.data()[p] : Status::solved;
    result.status.data()[problem] = status;
    result.residual.data()[problem] = n > 0 ? answer.residual.data()[p] : 0.0;
    result.iterations.data()[problem] = n > 0 ? answer.iterations.data()[p] : 0;
    if (status != Status::solved && status != Status::inaccurate) continue;
    VectorXd all = VectorXd::Zero(batch.rows);
    for (std::size_t i = 0; i < n; ++i) all(programme.row[i]) = impulse(static_cast<Index>(i));
    const VectorXd held = programme.recover * impulse + programme.recover_offset;
    for (std::size_t i = 0; i < programme.bilateral.size(); ++i) {
      all(programme.bilateral[i]) = held(static_cast<Index>(i));
    }
    hand_out(batch, problem, all, result);
  }
}

}  // namespace

ConvexProgramme convex_programme(const CompliantBatch& batch, std::int64_t problem,
                                 bool centripetal, double weight) {
  Step e(batch, problem);
  const double h = e.h;
  const VectorXd m = centripetal ? centripetal_forces(e) : VectorXd(VectorXd::Zero(batch.rows));
  ConvexProgramme out;
  const auto rate = [&](int i) { return h * e.stiffness(i) + e.damping(i); };
  for (int i = 0; i < batch.rows; ++i) {
    const RowType type = e.type[static_cast<std::size_t>(i)];
    if (type == RowType::bilateral && rate(i) > 0.0) out.bilateral.push_back(i);
    if (type == RowType::none || type == RowType::bilateral) continue;
    out.row.push_back(i);
    out.type.push_back(type);
  }
  const Eigen::LDLT<MatrixXd> mass(e.mass);
  const VectorXd start = e.velocity + h * mass.solve(e.force);
  const MatrixXd g = rows_of(e.jacobian, out.row);
  const MatrixXd gb = rows_of(e.jacobian, out.bilateral);
  const auto n = static_cast<Index>(out.row.size());
  const auto nb = static_cast<Index>(out.bilateral.size());
  // u, and 1/eta of the bilateral rows.
  const auto flow = [&](int i) {
    return e.jacobian.row(i).dot(start) + h * e.jacobian_dot_v(i) +
           (e.stiffness(i) * e.phi(i) + m(i)) / rate(i);
  };
  VectorXd ub(nb);
  MatrixXd wb = gb * mass.solve(gb.transpose());
  for (Index k = 0; k < nb; ++k) {
    const int i = out.bilateral[static_cast<std::size_t>(k)];
    ub(k) = flow(i);
    wb(k, k) += 1.0 / (h * rate(i));
  }
  const Eigen::LDLT<MatrixXd> factor(wb);
  const MatrixXd cross = gb * mass.solve(g.transpose());
  out.recover = nb > 0 ? MatrixXd(-factor.solve(cross)) : MatrixXd::Zero(0, n);
  out.recover_offset = nb > 0 ? VectorXd(-factor.solve(ub)) : VectorXd(0);
  MatrixXd delassus = g * mass.solve(g.transpose());
  if (nb > 0) delassus += cross.transpose() * out.recover;
  // eta F_i = (I + eta D) p + eta u is the excess over the spring-damper, an impulse; a row without
  // spring and damper has eta = 0 and only the excess p itself.
  MatrixXd excess(n, n);
  VectorXd constant(n);
  for (Index k = 0; k < n; ++k) {
    const int i = out.row[static_cast<std::size_t>(k)];
    const double eta = h * rate(i);
    excess.row(k) = eta * delassus.row(k);
    excess(k, k) += 1.0;
    constant(k) = 0.0;
    if (eta > 0.0) {
      double u = flow(i);
      if (nb > 0) u += cross.col(k).dot(out.recover_offset);
      constant(k) = eta * u;
    }
  }
  const double zeta = weight > 0.0 ? weight : 1.0 / h;
  out.hessian = MatrixXd::Zero(n, n);
  out.gradient = VectorXd::Zero(n);
  out.friction = VectorXd::Zero(n);
  std::vector<Index> signed_rows;
  for (Index k = 0; k < n; ++k) {
    if (out.type[static_cast<std::size_t>(k)] == RowType::tangent) {
      out.hessian(k, k) += 1.0;
      out.hessian += excess.row(k).transpose() * excess.row(k);
      out.gradient += constant(k) * excess.row(k).transpose();
    } else {
      out.hessian(k, k) += zeta;
      out.friction(k) = e.friction(out.row[static_cast<std::size_t>(k)]);
      signed_rows.push_back(k);
    }
  }
  // One common factor keeps the objective's numbers near one.
  out.scale = n > 0 ? out.hessian.diagonal().maxCoeff() : 1.0;
  out.hessian /= out.scale;
  out.gradient /= out.scale;
  const auto half = static_cast<Index>(signed_rows.size());
  out.matrix.resize(half, n);
  out.bound.resize(half);
  for (Index r = 0; r < half; ++r) {
    const Index k = signed_rows[static_cast<std::size_t>(r)];
    out.matrix.row(r) = excess.row(k) / excess(k, k);
    out.bound(r) = -constant(k) / excess(k, k);
  }
  return out;
}

CompliantResult solve_programme(const CompliantBatch& batch, const CompliantSettings& settings,
                                const SolveQp& solve_qp) {
  auto result = allocate<CompliantResult>(batch);
  std::map<std::vector<RowType>, std::vector<std::int64_t>> layouts;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    refuse(batch, p, Status::invalid_input, result);
    const RowType* type = batch.type.data() + p * batch.rows;
    if (!acceptable(batch, p)) continue;
    layouts[std::vector<RowType>(type, type + batch.rows)].push_back(p);
  }
  for (const auto& [layout, problems] : layouts) {
    std::vector<ConvexProgramme> programmes;
    programmes.reserve(problems.size());
    for (const std::int64_t p : problems) {
      programmes.push_back(
          convex_programme(batch, p, settings.centripetal, settings.normal_weight));
    }
    solve_layout(problems, programmes, batch, settings, solve_qp, result);
  }
  return result;
}

}  // namespace carom
