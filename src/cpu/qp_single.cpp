#include "cpu/qp_single.hpp"

#include <algorithm>
#include <cmath>

#include <carom/kernels/admm_qp_body.hpp>
#include <carom/kernels/projected_qp_body.hpp>
#include <carom/kernels/qp_active_set_body.hpp>
#include <carom/kernels/qp_interior_point_body.hpp>

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
  units_.resize(n + rows);
  work_.resize(n * n + n + 1);
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

certificate::QpUnits<QpSingle::Memory> QpSingle::units() {
  const certificate::QpUnits<Memory> result{{units_.data()}, {units_.data() + layout_.variables()}};
  certificate::qp_units<double>(layout_.shape(), view_, result);
  return result;
}

void QpSingle::judge(Answer& answer, double tolerance) {
  const auto judged = certificate::qp_residual<double>(
      layout_.shape(), view_, units(), Memory{x_.data()}, Memory{y_.data()}, Memory{work_.data()});
  answer.residual = judged.value();
  answer.objective = judged.objective;
  answer.status = certificate::within(answer.residual, tolerance) ? Status::solved
                  : std::isfinite(answer.residual)                ? Status::inaccurate
                                                                  : Status::numerical_error;
}

namespace {

// Scales to a largest entry of one; false where there is nothing or no number.
bool normalise(std::vector<double>& values) {
  double size = 0.0;
  for (const double v : values) {
    if (!std::isfinite(v)) return false;
    size = std::max(size, std::abs(v));
  }
  if (!(size > 0.0)) return false;
  for (double& v : values) v /= size;
  return true;
}

}  // namespace

bool QpSingle::proves_infeasible(double tolerance) {
  if (!normalise(y_)) return false;
  // Signs that no bound allows, and what of a cone's multiplier lies outside of its cone.
  const kernels::QpShape& shape = layout_.shape();
  for (int i = 0; i < shape.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (layout_.kind(i) == QpRowKind::second_order) continue;
    const double bound = y_[row] > 0.0 ? upper_[row] : lower_[row];
    if (!std::isfinite(bound)) y_[row] = 0.0;
  }
  for (int c = 0; c < shape.cones; ++c) {
    const kernels::QpConeSpan& cone = shape.cone[c];
    double tail = 0.0;
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      tail += y_[static_cast<std::size_t>(i)] * y_[static_cast<std::size_t>(i)];
    }
    double& head = y_[static_cast<std::size_t>(cone.first)];
    head = std::max(head, std::sqrt(tail));
  }
  const double residual = certificate::farkas_residual(layout_.shape(), view_, units(),
                                                       Memory{y_.data()}, Memory{work_.data()});
  return certificate::within(residual, tolerance);
}

bool QpSingle::proves_unbounded(double tolerance) {
  if (!normalise(x_)) return false;
  const double residual =
      certificate::ray_residual(layout_.shape(), view_, units(), Memory{x_.data()});
  return certificate::within(residual, tolerance);
}

bool QpSingle::proves_nonconvex() {
  const int n = layout_.variables();
  const kernels::SingleLane lane;
  const Memory factor{work_.data()};
  const Memory inverse{work_.data() + static_cast<long>(n) * n};
  if (kernels::convexity_pivot<double>(lane, n, view_.hessian, factor, inverse) >= 0.0) {
    return false;
  }
  // First pivot that is not positive, of column k: with L D L' = P so far, L' d = e_k gives
  // d'P d = D_k.
  int k = 0;
  while (k < n && factor[static_cast<long>(k) * n + k] > 0.0) ++k;
  if (k == n) return false;
  std::fill(x_.begin(), x_.end(), 0.0);
  x_[static_cast<std::size_t>(k)] = 1.0;
  for (int j = k - 1; j >= 0; --j) {
    double sum = 0.0;
    for (int i = j + 1; i <= k; ++i) {
      sum += factor[static_cast<long>(j) * n + i] * x_[static_cast<std::size_t>(i)];
    }
    x_[static_cast<std::size_t>(j)] = -sum * inverse[j];
  }
  return certificate::relative_curvature(n, view_.hessian, Memory{x_.data()}) < 0.0;
}

bool QpSingle::crossed_bounds() {
  for (int i = 0; i < layout_.interval_rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (lower_[row] > upper_[row]) {
      std::fill(y_.begin(), y_.end(), 0.0);
      y_[row] = 1.0;
      return true;
    }
  }
  return false;
}

namespace {

// First answer of the methods to `end`: what is still to be judged.
template <class Body>
void read_answer(const Body& body, std::vector<double>& x, std::vector<double>& y) {
  for (std::size_t j = 0; j < x.size(); ++j) x[j] = body.solution(static_cast<int>(j));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = body.dual(static_cast<int>(i));
}

}  // namespace

double QpSingle::run(QpMethod method, const QpSettings& settings, Answer& answer) {
  const kernels::SingleLane lane;
  const kernels::QpShape& shape = layout_.shape();
  const long n = shape.variables;
  const long rows = shape.rows;
  const auto memory = [this](long size) {
    if (memory_.size() < static_cast<std::size_t>(size)) {
      memory_.resize(static_cast<std::size_t>(size));
    }
    return Memory{memory_.data()};
  };
  const auto limit = [&](int standard) {
    return settings.max_iterations > 0 ? settings.max_iterations : standard;
  };
  answer.method = method;
  if (method == QpMethod::active_set) {
    kernels::QpActiveSet<kernels::SingleLane, Memory> body(
        lane, shape, memory(kernels::qp_active_set_workspace(n, rows)));
    const kernels::QpExactOutcome outcome = body.solve(
        view_, limit(static_cast<int>(20 * (n + rows))), Memory{x_.data()}, Memory{y_.data()});
    read_answer(body, x_, y_);
    answer.iterations = outcome.iterations;
    return outcome.end;
  }
  kernels::QpFirstOrderOptions options;
  options.tolerance = settings.tolerance;
  options.polish = settings.polish;
  options.over_relaxation = settings.over_relaxation;
  options.penalty = settings.penalty;
  const auto first_order = [&](auto&& body, int standard) {
    options.max_iterations = limit(standard);
    const auto outcome = body.solve(view_, options, Memory{x_.data()}, Memory{y_.data()});
    read_answer(body, x_, y_);
    answer.iterations = static_cast<int>(outcome.iterations);
    return outcome.end;
  };
  if (method == QpMethod::projected) {
    return first_order(kernels::ProjectedQp<double, kernels::SingleLane, Memory>(
                           lane, shape, memory(kernels::projected_qp_workspace(n, rows))),
                       100000);
  }
  return first_order(kernels::AdmmQp<double, kernels::SingleLane, Memory>(
                         lane, shape, memory(kernels::admm_qp_workspace(n, rows))),
                     20000);
}

QpSingle::Answer QpSingle::solve(QpMethod method, const QpSettings& settings) {
  if (method != QpMethod::automatic) return attempt(method, settings);
  Answer best;
  best.residual = kInfinity;
  // Exact first; cones only the splitting takes.
  if (layout_.shape().cones == 0) {
    best = attempt(QpMethod::active_set, settings);
    if (best.status != Status::inaccurate && best.status != Status::numerical_error &&
        best.status != Status::iteration_limit) {
      return best;
    }
    if (!std::isfinite(best.residual)) {
      std::fill(x_.begin(), x_.end(), 0.0);
      std::fill(y_.begin(), y_.end(), 0.0);
    }
  }
  return attempt(QpMethod::admm, settings);
}

QpSingle::Answer QpSingle::attempt(QpMethod method, const QpSettings& settings) {
  Answer answer;
  const double end = run(method, settings, answer);
  if (end == kernels::qp_end::kInfeasible && proves_infeasible(settings.tolerance)) {
    answer.status = Status::infeasible;
  } else if (end == kernels::qp_end::kUnbounded && proves_unbounded(settings.tolerance)) {
    answer.status = Status::unbounded;
  } else if (end == kernels::qp_end::kBroken) {
    answer.status = Status::numerical_error;
  } else {
    judge(answer, settings.tolerance);
    if (answer.status == Status::inaccurate && end == kernels::qp_end::kRunning) {
      answer.status = Status::iteration_limit;
    }
  }
  return answer;
}

}  // namespace carom::cpu
