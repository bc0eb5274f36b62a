#include <algorithm>
#include <cmath>
#include <limits>

#include <carom/qp.hpp>

#include "analysis/impact_metric.hpp"
#include "core/require.hpp"

namespace carom {

namespace {

using judging::Matrix;
using judging::Vector;

constexpr double kPrice = 1e-12;  // of an impulse's square that could make the whole change

const double* largest_friction(const ImpactBatch& batch) {
  return (batch.friction_high.empty() ? batch.friction : batch.friction_high).data();
}

// The columns of U M^-1 J' by contact, normal first, tangents times mu: (lambda_n, lambda_t / mu)
// then lies in the cone t >= |v| for every mu, 0 included.
Matrix cone_columns(const ImpactBatch& batch, const Matrix& metric, std::int64_t p) {
  const int nv = batch.velocities, m = batch.contacts, tangents = batch.dimension - 1;
  const judging::Matrix mass =
      Eigen::Map<const Matrix>(batch.mass_matrix.data() + p * nv * nv, nv, nv);
  Matrix rows(batch.contact_rows(), nv);
  const double* mu = largest_friction(batch) + p * m;
  const double* normal = batch.normal_jacobian.data() + p * m * nv;
  const double* tangent = batch.tangent_jacobian.data() + p * tangents * m * nv;
  for (int i = 0; i < m; ++i) {
    rows.row(batch.dimension * i) = Eigen::Map<const Eigen::RowVectorXd>(normal + i * nv, nv);
    for (int t = 0; t < tangents; ++t) {
      const int row = tangents * i + t;
      rows.row(batch.dimension * i + 1 + t) =
          mu[i] * Eigen::Map<const Eigen::RowVectorXd>(tangent + row * nv, nv);
    }
  }
  return metric * mass.llt().solve(Matrix(rows.transpose()));
}

// The nearest point of the cone t >= |v|, for what rounding left outside.
void into_cone(Eigen::Ref<Vector> x) {
  const double slip = x.tail(x.size() - 1).norm();
  if (slip <= x[0]) return;
  if (slip <= -x[0]) {
    x.setZero();
    return;
  }
  const double t = 0.5 * (x[0] + slip);
  x.tail(x.size() - 1) *= t / slip;
  x[0] = t;
}

}  // namespace

ImpactFloor impact_floor(const ImpactBatch& batch, const MeasuredImpacts& measured, int threads) {
  validate(batch);
  validate(batch, measured);
  require::at_least("threads", threads, 0);
  const int nv = batch.velocities, m = batch.contacts, d = batch.dimension;
  const int rows = batch.contact_rows(), tangents = d - 1;
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto width = static_cast<std::size_t>(rows);

  // unknowns lambda and r = b - G lambda, so that no product G'G squares the condition
  const int unknowns = rows + nv;
  const auto all = static_cast<std::size_t>(unknowns);
  QpBatch qp;
  qp.problems = batch.problems;
  qp.variables = unknowns;
  qp.rows = nv;
  qp.cones.assign(static_cast<std::size_t>(m), {ConeKind::second_order, d});
  QpBatch::each_array(
      qp,
      [](const char*, const Extents& extents, auto& values) {
        values = Buffer<double>(static_cast<std::size_t>(extents.count()));
        std::fill_n(values.data(), values.size(), 0.0);
      },
      qp);
  std::vector<Matrix> columns(problems);
  std::vector<Vector> wanted(problems), scale(problems);
  for (std::size_t p = 0; p < problems; ++p) {
    const auto index = static_cast<std::int64_t>(p);
    const Matrix metric = judging::metric(batch, measured, index);
    const auto change =
        Eigen::Map<const Vector>(measured.measured_velocity.data() + index * nv, nv) -
        Eigen::Map<const Vector>(batch.velocity.data() + index * nv, nv);
    columns[p] = cone_columns(batch, metric, index);
    wanted[p] = metric * change;
    scale[p].resize(m);
    // unknowns of size one: each contact by its normal column, all by the size of the change
    const double size = std::max(wanted[p].norm(), std::numeric_limits<double>::min());
    for (int i = 0; i < m; ++i) {
      const double length = columns[p].col(d * i).norm();
      scale[p][i] = length > 0.0 ? size / length : 1.0;
      columns[p].middleCols(d * i, d) *= scale[p][i];
    }
    Eigen::Map<Matrix>(qp.hessian.data() + p * all * all, unknowns, unknowns)
        .diagonal()
        .tail(nv)
        .setOnes();
    Eigen::Map<Matrix> equations(qp.matrix.data() + p * static_cast<std::size_t>(nv) * all, nv,
                                 unknowns);
    equations.leftCols(rows) = columns[p] / size;
    equations.rightCols(nv).setIdentity();
    for (Buffer<double>* bound : {&qp.lower, &qp.upper}) {
      Eigen::Map<Vector>(bound->data() + p * static_cast<std::size_t>(nv), nv) = wanted[p] / size;
    }
    Eigen::Map<Matrix>(qp.cone_matrix.data() + p * width * all, rows, unknowns)
        .leftCols(rows)
        .diagonal()
        .setConstant(-1.0);
  }
  QpSettings settings;
  settings.threads = threads;
  const QpResult exact = solve_qp(qp, settings, Backend::cpu);
  // Contacts that wedge the body take impulses that move nothing, as large as one likes. Where that
  // keeps the solver from an answer, impulses get a price that is far below what distances show.
  QpResult priced;
  const Status* statuses = exact.status.data();
  if (std::any_of(statuses, statuses + problems, [](Status s) { return s != Status::solved; })) {
    for (std::size_t p = 0; p < problems; ++p) {
      Eigen::Map<Matrix>(qp.hessian.data() + p * all * all, unknowns, unknowns)
          .diagonal()
          .head(rows)
          .setConstant(kPrice);
    }
    priced = solve_qp(qp, settings, Backend::cpu);
  }

  ImpactFloor result;
  result.floor = Buffer<double>(problems);
  result.floor_impulse = Buffer<double>(problems * width);
  result.floor_status = Buffer<Status>(problems);
  result.floor_residual = Buffer<double>(problems);
  for (std::size_t p = 0; p < problems; ++p) {
    const QpResult& answer = statuses[p] == Status::solved ? exact : priced;
    const Status status = answer.status.data()[p];
    result.floor_status.data()[p] = status;
    result.floor_residual.data()[p] = answer.residual.data()[p];
    double* impulse = result.floor_impulse.data() + p * width;
    Vector x = Eigen::Map<const Vector>(answer.solution.data() + p * all, rows);
    for (int i = 0; i < m; ++i) into_cone(x.segment(d * i, d));
    // recomputed from an impulse that lies in the cones: never below the floor
    result.floor.data()[p] = (wanted[p] - columns[p] * x).norm();
    for (int i = 0; i < m; ++i) {
      const double mu = largest_friction(batch)[p * static_cast<std::size_t>(m) + i];
      impulse[i] = scale[p][i] * x[d * i];
      for (int t = 0; t < tangents; ++t) {
        impulse[m + tangents * i + t] = mu * scale[p][i] * x[d * i + 1 + t];
      }
    }
  }
  return result;
}

}  // namespace carom
