#include "reference/programs/qp_problem.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "core/constants.hpp"
#include "programs/qp/kernels/qp_proofs.hpp"

namespace carom::reference {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kProof = 1e-9;

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

VectorXd QpProblem::curvature_units() const {
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
  return unit;
}

bool QpProblem::negative_curvature(VectorXd& direction) const {
  const VectorXd unit = curvature_units();
  const Eigen::MatrixXd p = hessian;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(unit.asDiagonal() * p *
                                                              unit.asDiagonal());
  if (!(solver.eigenvalues()[0] < -2e-9)) return false;
  const VectorXd v = unit.cwiseProduct(solver.eigenvectors().col(0));
  if (!(v.dot(p * v) < 0.0)) return false;
  direction = v;
  return true;
}

bool QpProblem::on_equations(QpProblem& convex, VectorXd& direction) const {
  const Index n = variables();
  std::vector<Index> equations;
  for (Index i = 0; i < rows(); ++i) {
    if (lower[i] == upper[i]) equations.push_back(i);
  }
  VectorXd unit = curvature_units();  // where no equation gives one
  for (Index j = 0; j < n; ++j) {
    double size = 0.0;
    for (const Index i : equations) size = std::max(size, std::abs(matrix(i, j)));
    if (size > 0.0) unit[j] = 1.0 / size;
  }
  Eigen::MatrixXd e(static_cast<Index>(equations.size()), n);
  VectorXd values(e.rows());
  for (Index k = 0; k < e.rows(); ++k) {
    const Index i = equations[static_cast<std::size_t>(k)];
    e.row(k) = matrix.row(i) * unit.asDiagonal();
    const double size = e.row(k).cwiseAbs().maxCoeff();
    const double scale = size > 0.0 ? 1.0 / size : 1.0;
    e.row(k) *= scale;
    values[k] = upper[i] * scale;
  }
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> parts(e.rows(), n);
  parts.setThreshold(1e-11);
  if (e.rows() > 0) parts.compute(e);
  if (e.rows() == 0 || parts.rank() == 0) return false;
  Eigen::MatrixXd projector = Eigen::MatrixXd::Identity(n, n) - parts.pseudoInverse() * e;
  projector = (projector.array().abs() <= 1e-13).select(0.0, projector).eval();
  const VectorXd held = unit.cwiseProduct(parts.solve(values));
  const Eigen::MatrixXd along = unit.asDiagonal() * projector;
  Eigen::MatrixXd bent = along.transpose() * hessian * along;
  const Eigen::MatrixXd sizes =
      along.cwiseAbs().transpose() * hessian.cwiseAbs() * along.cwiseAbs();
  // In units in which no variable's rounding hides what another one bends.
  VectorXd even = VectorXd::Ones(n);
  for (int pass = 0; pass < 50; ++pass) {
    for (Index j = 0; j < n; ++j) {
      const double most = even[j] * sizes.col(j).cwiseProduct(even).maxCoeff();
      if (most > 0.0) even[j] /= std::sqrt(most);
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      even.asDiagonal() * (0.5 * (bent + bent.transpose())) * even.asDiagonal());
  if (solver.eigenvalues()[0] < -1e-12 * static_cast<double>(n)) {
    VectorXd scaled = projector * even.cwiseProduct(solver.eigenvectors().col(0));
    for (int pass = 0; pass < 2; ++pass) scaled -= parts.solve(e * scaled);
    scaled = (scaled.array().abs() <= 1e-14 * scaled.cwiseAbs().maxCoeff()).select(0.0, scaled);
    direction = unit.cwiseProduct(scaled);
    return false;
  }
  bent = (bent.array().abs() <= 1e-13 * sizes.array()).select(0.0, bent).eval();
  // z = x / unit: T'P T and T'(q + P x_p), whose x differs in nothing
  const auto back = unit.cwiseInverse().asDiagonal();
  convex.hessian = back * bent * back;
  convex.hessian = (0.5 * (convex.hessian + convex.hessian.transpose())).eval();
  convex.gradient = back * (along.transpose() * (gradient + hessian * held));
  const VectorXd terms = back * (along.cwiseAbs().transpose() *
                                 (gradient.cwiseAbs() + hessian.cwiseAbs() * held.cwiseAbs()));
  for (Index j = 0; j < n; ++j) {
    if (std::abs(convex.gradient[j]) <= 1e-13 * terms[j]) convex.gradient[j] = 0.0;
  }
  return true;
}

void QpProblem::complete(const VectorXd& x, VectorXd& y) const {
  std::vector<Index> equations;
  for (Index i = 0; i < rows(); ++i) {
    if (lower[i] == upper[i]) equations.push_back(i);
  }
  Eigen::MatrixXd e(static_cast<Index>(equations.size()), variables());
  for (Index k = 0; k < e.rows(); ++k) {
    e.row(k) = matrix.row(equations[static_cast<std::size_t>(k)]);
  }
  const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> parts(e.transpose());
  for (int pass = 0; pass < 2; ++pass) {
    const VectorXd left = hessian * x + gradient + matrix.transpose() * y;
    const VectorXd change = parts.solve(-left);
    for (Index k = 0; k < e.rows(); ++k) y[equations[static_cast<std::size_t>(k)]] += change[k];
  }
}

kernels::QpShape QpProblem::shape() const {
  kernels::QpShape shape{};
  shape.variables = variables();
  shape.rows = rows();
  shape.cones = static_cast<int>(cones.size());
  shape.cone = cones.data();
  shape.row_first = first_.data();
  shape.column = columns_.data();
  return shape;
}

qp::ConeVerdict QpProblem::decide() const {
  return qp::decide_cones(
      shape(), {hessian.data(), gradient.data(), matrix.data(), lower.data(), upper.data()});
}

template <class Proof>
auto QpProblem::with_view(Proof&& proof) const {
  const kernels::QpShape shape = this->shape();
  const kernels::QpView<Data> view{
      {hessian.data()}, {gradient.data()}, {matrix.data()}, {lower.data()}, {upper.data()}};
  std::vector<double> work(
      static_cast<std::size_t>(certificate::qp_judge_workspace(variables(), rows())));
  return proof(shape, view, Memory{work.data()});
}

certificate::QpResidual<double> QpProblem::residual(const VectorXd& x, const VectorXd& y) const {
  return with_view([&](const kernels::QpShape& shape, const auto& view, const Memory& work) {
    return certificate::QpJudge<double, kernels::SingleLane, Data, Memory>(kernels::SingleLane{},
                                                                           shape, view, work)
        .residual(x, y);
  });
}

std::optional<double> QpProblem::infeasibility_residual(VectorXd& y) const {
  if (!y.allFinite()) return std::nullopt;
  std::vector<double> spare(static_cast<std::size_t>(std::max(rows(), 1)));
  const double found =
      with_view([&](const kernels::QpShape& shape, const auto& view, const Memory& work) {
        return kernels::infeasibility_residual(kernels::SingleLane{}, shape, view, Memory{y.data()},
                                               work, Memory{spare.data()}, kProof);
      });
  return certificate::within(found, kProof) ? std::optional(found) : std::nullopt;
}

std::optional<double> QpProblem::unboundedness_residual(VectorXd& d, const VectorXd& point) const {
  if (!d.allFinite() || !point.allFinite()) return std::nullopt;
  VectorXd x = point;
  std::vector<double> spare(static_cast<std::size_t>(variables()));
  const double found = with_view([&](const kernels::QpShape& shape, const auto& view,
                                     const Memory& work) {
    return kernels::unboundedness_residual(kernels::SingleLane{}, shape, view, Memory{x.data()},
                                           Memory{d.data()}, work, Memory{spare.data()}, kProof);
  });
  return certificate::within(found, kProof) ? std::optional(found) : std::nullopt;
}

}  // namespace carom::reference
