#include "cpu/reference/programs/qp_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Eigenvalues>

namespace carom::reference {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kProof = 1e-9;
/// Values below these shares of the largest one are left out of a proof, the fewest first.
constexpr double kDust[] = {0.0, 1e-13, 1e-10, 1e-7};

/// Scales to a largest entry of one; false where there is nothing or no number.
bool normalise(VectorXd& values) {
  if (values.size() == 0 || !values.allFinite()) return false;
  const double size = values.cwiseAbs().maxCoeff();
  if (!(size > 0.0)) return false;
  for (double& value : values) value /= size;
  return true;
}

}  // namespace

QpProblem::QpProblem(const QpBatch& batch, std::int64_t index) : interval_rows_(batch.rows) {
  const Index n = batch.variables;
  const Index m = batch.rows;
  const Index k = batch.cone_rows();
  const auto rows_of = [&](const Buffer<double>& values, Index count) {
    return Eigen::Map<const Rows>(values.data() + index * count * n, count, n);
  };
  const auto vector_of = [&](const Buffer<double>& values, Index count) {
    return Eigen::Map<const VectorXd>(values.data() + index * count, count);
  };
  hessian = rows_of(batch.hessian, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) hessian(j, i) = hessian(i, j);
  }
  gradient = vector_of(batch.vector, n);
  matrix.resize(m + k, n);
  matrix << rows_of(batch.matrix, m), rows_of(batch.cone_matrix, k);
  upper.resize(m + k);
  upper << vector_of(batch.upper, m), vector_of(batch.cone_vector, k);
  lower = VectorXd::Constant(m + k, -kInfinity);
  lower.head(m) = vector_of(batch.lower, m);
  in_cone_.assign(static_cast<std::size_t>(m), false);
  for (const Cone& cone : batch.cones) {
    const auto first = static_cast<int>(in_cone_.size());
    const bool second_order = cone.kind == ConeKind::second_order && cone.size > 1;
    in_cone_.insert(in_cone_.end(), static_cast<std::size_t>(cone.size), second_order);
    if (second_order) cones.push_back({first, cone.size, 0, batch.variables});
    if (cone.kind == ConeKind::zero) {
      lower.segment(first, cone.size) = upper.segment(first, cone.size);
    }
  }
  for (int i = 0; i <= rows(); ++i) first_.push_back(i * batch.variables);
  for (int e = 0; e < first_.back(); ++e) columns_.push_back(e % batch.variables);
}

bool QpProblem::is_valid() const {
  if (!hessian.allFinite() || !gradient.allFinite() || !matrix.allFinite()) return false;
  if (!upper.tail(rows() - interval_rows_).allFinite()) return false;
  return (lower.array() < kInfinity).all() && (upper.array() > -kInfinity).all();
}

int QpProblem::crossed_row() const {
  for (int i = 0; i < interval_rows_; ++i) {
    if (lower[i] > upper[i]) return i;
  }
  return -1;
}

bool QpProblem::negative_curvature(VectorXd& direction) const {
  const Index n = variables();
  VectorXd unit(n);
  for (Index j = 0; j < n; ++j) {
    // A row without a diagonal is scaled to what the others' curvature allows.
    double size = std::abs(hessian(j, j));
    for (Index i = 0; i < n && !(hessian(j, j) > 0.0); ++i) {
      const double entry = std::abs(hessian(i, j));
      if (entry > 0.0) {
        size = std::max(size, hessian(i, i) > 0.0 ? entry * entry / hessian(i, i) : entry);
      }
    }
    unit[j] = size > 0.0 ? 1.0 / std::sqrt(size) : 1.0;
  }
  const Eigen::MatrixXd p = hessian;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(unit.asDiagonal() * p *
                                                              unit.asDiagonal());
  if (!(solver.eigenvalues()[0] < -2e-9)) return false;
  const VectorXd v = unit.cwiseProduct(solver.eigenvectors().col(0));
  if (!(v.dot(p * v) < 0.0)) return false;
  direction = v;
  return true;
}

template <class Judged>
auto QpProblem::judged(Judged&& judgement) const {
  using Data = kernels::PlainMemory<const double>;
  using Memory = kernels::PlainMemory<double>;
  kernels::QpShape shape{};
  shape.variables = variables();
  shape.rows = rows();
  shape.cones = static_cast<int>(cones.size());
  shape.cone = cones.data();
  shape.row_first = first_.data();
  shape.column = columns_.data();
  const kernels::QpView<Data> view{
      {hessian.data()}, {gradient.data()}, {matrix.data()}, {lower.data()}, {upper.data()}};
  std::vector<double> work(
      static_cast<std::size_t>(certificate::qp_judge_workspace(variables(), rows())));
  return judgement(certificate::QpJudge<double, kernels::SingleLane, Data, Memory>(
      kernels::SingleLane{}, shape, view, Memory{work.data()}));
}

certificate::QpResidual<double> QpProblem::residual(const VectorXd& x, const VectorXd& y) const {
  return judged([&](const auto& judge) { return judge.residual(x, y); });
}

std::optional<double> QpProblem::infeasibility_residual(VectorXd& y) const {
  if (!normalise(y)) return std::nullopt;
  for (int i = 0; i < rows(); ++i) {
    if (!in_cone(i) && !std::isfinite(y[i] > 0.0 ? upper[i] : lower[i])) y[i] = 0.0;
  }
  for (const kernels::QpConeSpan& cone : cones) {
    double tail = 0.0;
    for (int t = 1; t < cone.size; ++t) tail += y[cone.first + t] * y[cone.first + t];
    y[cone.first] = std::max(y[cone.first], std::sqrt(tail));
  }
  const VectorXd weight = matrix.cwiseAbs().rowwise().maxCoeff().cwiseProduct(y.cwiseAbs());
  for (const double dust : kDust) {
    for (int i = 0; i < rows(); ++i) {
      // A row of zeros weighs nothing, and proves something by itself.
      if (!in_cone(i) && weight[i] > 0.0 && weight[i] <= dust * weight.maxCoeff()) y[i] = 0.0;
    }
    const double residual = judged([&](const auto& judge) { return judge.farkas_residual(y); });
    if (certificate::within(residual, kProof)) return residual;
  }
  return std::nullopt;
}

std::optional<double> QpProblem::unboundedness_residual(VectorXd& d, const VectorXd& point) const {
  if (!normalise(d)) return std::nullopt;
  for (const double dust : kDust) {
    for (double& value : d) {
      if (std::abs(value) <= dust) value = 0.0;
    }
    const double residual = judged([&](const auto& judge) { return judge.ray_residual(d); });
    if (!certificate::within(residual, kProof)) continue;
    const double feasible = judged([&](const auto& judge) { return judge.point_residual(point); });
    if (!certificate::within(feasible, kProof)) return std::nullopt;
    return std::max(residual, feasible);
  }
  return std::nullopt;
}

}  // namespace carom::reference
