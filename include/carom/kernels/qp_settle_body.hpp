#pragma once

#include <carom/kernels/admm_qp_body.hpp>
#include <carom/kernels/qp_active_set_body.hpp>
#include <carom/kernels/qp_proofs.hpp>
#include <carom/qp.hpp>

/// What becomes of a problem that the first method did not solve, or that is to be solved exactly:
/// proofs, the active set, the splitting, and the judgement of what they find.
namespace carom::kernels {

/// What the bodies see of QpSettings.
struct QpTaskSettings {
  QpMethod method = QpMethod::automatic;
  int max_iterations = 0;  ///< 0: each method's own
  double tolerance = 1e-9;
  bool polish = true;
  double over_relaxation = 1.6;
  double penalty = 0.1;

  /// Of the method that is tried first.
  [[nodiscard]] CAROM_INLINE int limit(QpMethod tried, int variables, int rows) const {
    if (max_iterations > 0) return max_iterations;
    switch (tried) {
      case QpMethod::active_set:
        return 20 * (variables + rows);
      case QpMethod::admm:
        return 20000;
      case QpMethod::projected:
        return 100000;
      default:
        return 100;
    }
  }
  [[nodiscard]] CAROM_INLINE QpFirstOrderOptions first_order(QpMethod tried, int variables,
                                                             int rows) const {
    QpFirstOrderOptions options;
    options.tolerance = tolerance;
    options.max_iterations = limit(tried, variables, rows);
    options.polish = polish;
    options.over_relaxation = over_relaxation;
    options.penalty = penalty;
    return options;
  }
};

/// The answer to one problem beside x, y or the proof.
struct QpVerdict {
  Status status = Status::numerical_error;
  QpMethod method = QpMethod::automatic;
  int iterations = 0;
  double residual = 0.0;
  double objective = 0.0;
};

CAROM_INLINE constexpr long qp_settle_workspace(long n, long rows, bool cones) {
  const long exact = cones ? 0 : qp_active_set_workspace(n, rows);
  const long splitting = admm_qp_workspace(n, rows);  // a factor of the Hessian wants less
  return n + rows + certificate::qp_judge_workspace(n, rows) +
         (exact > splitting ? exact : splitting);
}

template <class Lanes, class Data, class Memory>
class QpSettle {
 public:
  /// units: filled by certificate::qp_units. x: [n], y: [rows]; memory: qp_settle_workspace.
  CAROM_HOST_DEVICE QpSettle(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                             const certificate::QpUnits<Memory>& units, const Memory& x,
                             const Memory& y, const Memory& memory)
      : lanes_(lanes),
        shape_(shape),
        view_(view),
        units_(units),
        x_(x),
        y_(y),
        first_x_(memory),
        first_y_(memory + shape.variables),
        work_(memory + shape.variables + shape.rows),
        body_(work_ + certificate::qp_judge_workspace(shape.variables, shape.rows)) {}

  /// first: what ended at x, y before, or null where nothing was tried. end: its qp_end.
  /// start(): fills x, y with the caller's guess. Afterwards x, y hold the answer or the proof.
  template <class Start>
  CAROM_HOST_DEVICE QpVerdict run(const QpTaskSettings& settings, int interval_rows,
                                  const QpVerdict* first, double end, Start&& start) {
    QpVerdict answer;
    answer.method = settings.method;
    if (first != nullptr) answer = *first;
    if (first != nullptr) keep_first();
    if (crossed_bounds(lanes_, interval_rows, shape_, view_, y_)) {
      answer.status = Status::infeasible;
      return answer;
    }
    if (proves_nonconvex(lanes_, shape_.variables, view_.hessian, x_, body_,
                         body_ + static_cast<long>(shape_.variables) * shape_.variables, work_)) {
      answer.status = Status::nonconvex;
      return answer;
    }
    if (first != nullptr) {
      back_to_first();
      if (is_infeasible(settings.tolerance)) {
        answer.status = Status::infeasible;
        return answer;
      }
      if (is_unbounded(settings.tolerance)) {
        answer.status = Status::unbounded;
        return answer;
      }
      back_to_first();
      judge(answer, settings.tolerance);
      if (settings.method != QpMethod::automatic) {
        if (end == qp_end::kBroken) {
          answer.status = Status::numerical_error;
        } else if (end == qp_end::kRunning && answer.status == Status::inaccurate) {
          answer.status = Status::iteration_limit;
        }
        return answer;
      }
    }
    start();
    const QpVerdict other = solve(settings);
    if (first != nullptr && other.status == Status::inaccurate &&
        answer.residual <= other.residual) {
      back_to_first();
      return answer;
    }
    return other;
  }

 private:
  CAROM_HOST_DEVICE void keep_first() {
    lanes_.for_each(shape_.variables, [&](int j) { first_x_[j] = x_[j]; });
    lanes_.for_each(shape_.rows, [&](int i) { first_y_[i] = y_[i]; });
  }
  CAROM_HOST_DEVICE void back_to_first() {
    lanes_.for_each(shape_.variables, [&](int j) { x_[j] = first_x_[j]; });
    lanes_.for_each(shape_.rows, [&](int i) { y_[i] = first_y_[i]; });
  }
  CAROM_HOST_DEVICE bool is_infeasible(double tolerance) {
    return proves_infeasible(lanes_, shape_, view_, units_, y_, work_, tolerance);
  }
  CAROM_HOST_DEVICE bool is_unbounded(double tolerance) {
    return proves_unbounded(lanes_, shape_, view_, units_, x_, work_, tolerance);
  }

  CAROM_HOST_DEVICE void judge(QpVerdict& answer, double tolerance) {
    const auto judged = certificate::qp_residual(lanes_, shape_, view_, units_, x_, y_, work_);
    answer.residual = judged.value();
    answer.objective = judged.objective;
    answer.status = certificate::within(answer.residual, tolerance) ? Status::solved
                    : answer.residual < kInfinity                   ? Status::inaccurate
                                                                    : Status::numerical_error;
  }

  CAROM_HOST_DEVICE QpVerdict solve(const QpTaskSettings& settings) {
    // Exact first; cones only the splitting takes.
    if (shape_.cones == 0) {
      const QpVerdict exact = attempt<QpMethod::active_set>(settings);
      const bool open = exact.status == Status::inaccurate ||
                        exact.status == Status::numerical_error ||
                        exact.status == Status::iteration_limit;
      if (!open || settings.method == QpMethod::active_set) return exact;
      if (!(magnitude(exact.residual) < kInfinity)) {
        lanes_.for_each(shape_.variables, [&](int j) { x_[j] = 0.0; });
        lanes_.for_each(shape_.rows, [&](int i) { y_[i] = 0.0; });
      }
    }
    return attempt<QpMethod::admm>(settings);
  }

  template <class Body>
  CAROM_HOST_DEVICE void read(const Body& body) {
    lanes_.for_each(shape_.variables, [&](int j) { x_[j] = body.solution(j); });
    lanes_.for_each(shape_.rows, [&](int i) { y_[i] = body.dual(i); });
  }

  template <QpMethod Method>
  CAROM_HOST_DEVICE QpVerdict attempt(const QpTaskSettings& settings) {
    QpVerdict answer;
    answer.method = Method;
    double end = qp_end::kRunning;
    if constexpr (Method == QpMethod::active_set) {
      QpActiveSet<Lanes, Memory> body(lanes_, shape_, body_);
      const QpExactOutcome outcome =
          body.solve(view_, settings.limit(Method, shape_.variables, shape_.rows), x_, y_);
      read(body);
      answer.iterations = outcome.iterations;
      end = outcome.end;
    } else {
      AdmmQp<double, Lanes, Memory> body(lanes_, shape_, body_);
      const QpOutcome<double> outcome =
          body.solve(view_, settings.first_order(Method, shape_.variables, shape_.rows), x_, y_);
      read(body);
      answer.iterations = static_cast<int>(outcome.iterations);
      end = outcome.end;
    }
    if (end == qp_end::kInfeasible && is_infeasible(settings.tolerance)) {
      answer.status = Status::infeasible;
    } else if (end == qp_end::kUnbounded && is_unbounded(settings.tolerance)) {
      answer.status = Status::unbounded;
    } else if (end == qp_end::kBroken) {
      answer.status = Status::numerical_error;
    } else {
      judge(answer, settings.tolerance);
      if (answer.status == Status::inaccurate && end == qp_end::kRunning) {
        answer.status = Status::iteration_limit;
      }
    }
    return answer;
  }

  const Lanes& lanes_;
  const QpShape& shape_;
  QpView<Data> view_;
  certificate::QpUnits<Memory> units_;
  Memory x_, y_;              // the answer
  Memory first_x_, first_y_;  // of the first method
  Memory work_, body_;
};

}  // namespace carom::kernels
