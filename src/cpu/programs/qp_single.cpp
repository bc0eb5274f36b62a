#include "cpu/programs/qp_single.hpp"
#include "programs/qp/body/qp_proofs.hpp"

#include <algorithm>
#include <cmath>

namespace carom::cpu {

using kernels::kInfinity;

QpSingle::QpSingle(const QpLayout& layout) : layout_(layout) {
  const auto n = static_cast<std::size_t>(layout.variables());
  const auto rows = static_cast<std::size_t>(layout.rows());
  hessian_.resize(n * n);
  gradient_.resize(n);
  matrix_.resize(rows * n);
  lower_.resize(rows);
  upper_.resize(rows);
  x_.resize(n);
  y_.resize(rows);
  point_.resize(n);
  work_.resize(
      n * n + 3 * n +
      static_cast<std::size_t>(certificate::qp_judge_workspace(layout.variables(), layout.rows())));
  view_ = {
      {hessian_.data()}, {gradient_.data()}, {matrix_.data()}, {lower_.data()}, {upper_.data()}};
}

void QpSingle::load(const QpArrays& problem) {
  const auto n = static_cast<std::size_t>(layout_.variables());
  const auto m = static_cast<std::size_t>(layout_.interval_rows());
  const auto rows = static_cast<std::size_t>(layout_.rows());
  std::copy_n(problem.hessian, n * n, hessian_.begin());
  std::copy_n(problem.vector, n, gradient_.begin());
  std::copy_n(problem.matrix, m * n, matrix_.begin());
  std::copy_n(problem.lower, m, lower_.begin());
  std::copy_n(problem.upper, m, upper_.begin());
  if (rows > m) {
    std::copy_n(problem.cone_matrix, (rows - m) * n,
                matrix_.begin() + static_cast<std::ptrdiff_t>(m * n));
  }
  for (std::size_t i = m; i < rows; ++i) {
    upper_[i] = problem.cone_vector[i - m];
    lower_[i] = layout_.kinds()[i] == QpRowKind::equation ? upper_[i] : -kInfinity;
  }
}

bool QpSingle::is_valid() const {
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  if (!finite(hessian_) || !finite(gradient_) || !finite(matrix_)) return false;
  for (int i = 0; i < layout_.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!(lower_[row] < kInfinity) || !(upper_[row] > -kInfinity)) return false;
    if (i >= layout_.interval_rows() && !std::isfinite(upper_[row])) return false;
  }
  return true;
}

void QpSingle::judge(Answer& answer, double tolerance) {
  const kernels::SingleLane lane;
  const certificate::QpJudge<double, kernels::SingleLane, kernels::PlainMemory<const double>,
                             Memory>
      judge(lane, layout_.shape(), view_, Memory{work_.data()});
  const auto judged = judge.residual(Memory{x_.data()}, Memory{y_.data()});
  answer.residual = judged.value();
  answer.objective = judged.objective;
  answer.status = certificate::within(answer.residual, tolerance) ? Status::solved
                  : std::isfinite(answer.residual)                ? Status::inaccurate
                                                                  : Status::numerical_error;
}

bool QpSingle::proves_infeasible(double tolerance) {
  return kernels::proves_infeasible(kernels::SingleLane{}, layout_.shape(), view_,
                                    Memory{y_.data()}, Memory{work_.data()}, tolerance);
}

bool QpSingle::proves_unbounded(double tolerance) {
  return kernels::proves_unbounded(kernels::SingleLane{}, layout_.shape(), view_,
                                   Memory{point_.data()}, Memory{x_.data()}, Memory{work_.data()},
                                   tolerance);
}

bool QpSingle::proves_nonconvex() {
  const long n = layout_.variables();
  const Memory factor{work_.data()};
  return kernels::proves_nonconvex(kernels::SingleLane{}, layout_.variables(), view_.hessian,
                                   Memory{x_.data()}, factor, factor + n * n, factor + (n * n + n));
}

bool QpSingle::crossed_bounds() {
  return kernels::crossed_bounds(kernels::SingleLane{}, layout_.interval_rows(), layout_.shape(),
                                 view_, Memory{y_.data()});
}

}  // namespace carom::cpu
