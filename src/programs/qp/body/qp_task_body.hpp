#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "programs/qp/body/projected_qp_body.hpp"
#include "programs/qp/body/qp_dual_pivot_body.hpp"
#include "programs/qp/body/qp_interior_point_body.hpp"
#include "programs/qp/body/qp_settle_body.hpp"

/// One problem of a batch from its arrays to its results, on any lanes: a CUDA thread, warp or
/// block, or a host lane. `first` tries one method; what it leaves goes to `settle`.
namespace carom::kernels {

inline constexpr std::uint8_t kQpRefused = 255;

/// What the rest of a batch is to be solved by after `first`, and what first is.
CAROM_INLINE constexpr QpMethod first_method(QpMethod asked) {
  return asked == QpMethod::automatic ? QpMethod::interior_point : asked;
}

/// What a task keeps, as offsets in its memory.
template <class Memory>
struct QpTaskLayout {
  Memory hessian, gradient, matrix, lower, upper, scratch, x, y, body;
  long end = 0;

  QpTaskLayout() = default;
  CAROM_INLINE constexpr QpTaskLayout(Arena<Memory>& arena, long n, long rows, long body_values)
      : hessian(arena.take(n * n)),
        gradient(arena.take(n)),
        matrix(arena.take(rows * n)),
        lower(arena.take(rows)),
        upper(arena.take(rows)),
        scratch(arena.take(n + rows + 1)),
        x(arena.take(n)),
        y(arena.take(rows)),
        body(arena.take(body_values)),
        end(arena.used()) {}
};
using QpTaskParts = QpTaskLayout<long>;
CAROM_INLINE constexpr QpTaskParts qp_task_parts(long n, long rows, long body) {
  return placed<QpTaskLayout>(0L, n, rows, body);
}

/// Memory of a task's `first` by one method, and of `settle`.
CAROM_INLINE constexpr QpTaskParts qp_first_parts(QpMethod method, long n, long rows) {
  const long judge = certificate::qp_judge_workspace(n, rows);
  const long body = method == QpMethod::admm ? admm_qp_workspace(n, rows)
                    : method == QpMethod::projected
                        ? projected_qp_workspace(n, rows)
                        : qp_interior_point_workspace(static_cast<int>(n), static_cast<int>(rows));
  const bool pivots = method == QpMethod::interior_point &&
                      takes_dual_pivots(static_cast<int>(n), static_cast<int>(rows), 0);
  const long table = pivots ? qp_dual_pivot_workspace(n, rows) : 0;
  const long larger_one = body > judge ? body : judge;
  return qp_task_parts(n, rows, larger_one > table ? larger_one : table);
}
CAROM_INLINE constexpr QpTaskParts qp_settle_parts(long n, long rows, bool cones) {
  return qp_task_parts(n, rows, qp_settle_workspace(n, rows, cones));
}

template <class Lanes, class Memory>
class QpTask {
 public:
  CAROM_HOST_DEVICE QpTask(const Lanes& lanes, const QpTaskArrays& arrays, const QpTaskParts& parts,
                           const Memory& memory)
      : lanes_(lanes), arrays_(arrays), parts_(parts), memory_(memory) {}

  /// Tries one method; true where that is the end of it. Otherwise the results hold the attempt,
  /// which may be a solved one that wants refinement.
  template <QpMethod Method>
  CAROM_HOST_DEVICE bool first(long p) const {
    const QpShape& shape = arrays_.shape;
    if (!load(p)) {
      lanes_.for_each(1, [&](int) { arrays_.end[p] = kQpRefused; });
      return false;
    }
    QpVerdict verdict;
    bool solved = false;
    if constexpr (Method == QpMethod::interior_point) {
      solved = arrays_.settings.method == QpMethod::automatic &&
               takes_dual_pivots(shape.variables, shape.rows, shape.cones) &&
               attempt<QpMethod::active_set>(p, verdict);
    }
    solved = solved || attempt<Method>(p, verdict);
    return solved && !qp_wants_refinement(shape, verdict.residual, arrays_.settings.tolerance);
  }

  /// Everything else, from what `first` left if `tried`.
  CAROM_HOST_DEVICE void settle(long p, bool tried) const {
    const QpShape& shape = arrays_.shape;
    QpVerdict verdict;
    verdict.method = first_method(arrays_.settings.method);
    if ((tried && arrays_.end[p] == kQpRefused) || !load(p)) {
      verdict.status = Status::invalid_input;
      return write(p, verdict);
    }
    const double end = tried ? static_cast<double>(arrays_.end[p]) : qp_end::kRunning;
    if (tried) {
      verdict.method = arrays_.method[p];
      verdict.iterations = arrays_.iterations[p];
      load_pair(p, arrays_.solution, arrays_.dual, arrays_.cone_dual);
    }
    QpSettle<Lanes, Memory, Memory> body(lanes_, shape, view(), x(), y(), memory_ + parts_.body);
    write(p,
          body.run(arrays_.settings, arrays_.interval_rows, tried ? &verdict : nullptr, end,
                   [&] { load_start(p); }),
          [&](int j) { return body.point(j); });
  }

 private:
  CAROM_INLINE QpView<Memory> view() const {
    return {memory_ + parts_.hessian, memory_ + parts_.gradient, memory_ + parts_.matrix,
            memory_ + parts_.lower, memory_ + parts_.upper};
  }
  CAROM_INLINE Memory x() const { return memory_ + parts_.x; }
  CAROM_INLINE Memory y() const { return memory_ + parts_.y; }

  /// Copies problem p; false where a number is refused.
  CAROM_HOST_DEVICE bool load(long p) const {
    const QpShape& shape = arrays_.shape;
    const long n = shape.variables;
    const long m = arrays_.interval_rows;
    const long k = shape.rows - m;
    const QpView<Memory> to = view();
    const Memory refused_column = memory_ + parts_.scratch;  // NaN where something is
    const Memory refused_row = refused_column + n;
    lanes_.for_each(shape.variables, [&](int j) {
      const double* row = arrays_.hessian + (p * n + j) * n;
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += row[i] * 0.0;
      for (int i = 0; i <= j; ++i) to.hessian[j * n + i] = row[i];
      const double q = arrays_.vector[p * n + j];
      to.gradient[j] = q;
      refused_column[j] = sum + q * 0.0;
    });
    lanes_.for_each(shape.rows, [&](int i) {
      const double* row =
          i < m ? arrays_.matrix + (p * m + i) * n : arrays_.cone_matrix + (p * k + i - m) * n;
      double sum = 0.0;
      for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
        const int j = shape.column[t];
        to.matrix[i * n + j] = row[j];
        sum += row[j] * 0.0;
      }
      if (i < m) {
        const double lower = arrays_.lower[p * m + i];
        const double upper = arrays_.upper[p * m + i];
        to.lower[i] = lower;
        to.upper[i] = upper;
        if (!(lower < kInfinity) || !(upper > -kInfinity)) sum = kInfinity;
      } else {
        const double b = arrays_.cone_vector[p * k + i - m];
        to.lower[i] = arrays_.equation[i] != 0 ? b : -kInfinity;
        to.upper[i] = b;
        sum += b * 0.0;
      }
      refused_row[i] = sum;
    });
    double sum = 0.0;
    for (int j = 0; j < shape.variables; ++j) sum += refused_column[j];
    for (int i = 0; i < shape.rows; ++i) sum += refused_row[i];
    return sum == 0.0;
  }

  /// x, y from arrays like those of a batch; null stands for zeros.
  CAROM_HOST_DEVICE void load_pair(long p, const double* solution, const double* dual,
                                   const double* cone_dual) const {
    const QpShape& shape = arrays_.shape;
    const long n = shape.variables;
    const long m = arrays_.interval_rows;
    const long k = shape.rows - m;
    const Memory to_x = x();
    const Memory to_y = y();
    lanes_.for_each(shape.variables,
                    [&](int j) { to_x[j] = solution == nullptr ? 0.0 : solution[p * n + j]; });
    lanes_.for_each(shape.rows, [&](int i) {
      const double* from = i < m ? dual : cone_dual;
      to_y[i] = from == nullptr ? 0.0 : from[i < m ? p * m + i : p * k + i - m];
    });
  }
  CAROM_HOST_DEVICE void load_start(long p) const {
    load_pair(p, arrays_.start.solution, arrays_.start.dual, arrays_.start.cone_dual);
  }

  template <class Body>
  CAROM_HOST_DEVICE void read(const Body& body) const {
    const Memory to_x = x();
    const Memory to_y = y();
    lanes_.for_each(arrays_.shape.variables, [&](int j) { to_x[j] = body.solution(j); });
    lanes_.for_each(arrays_.shape.rows, [&](int i) { to_y[i] = body.dual(i); });
  }

  /// One method and its judgement; whether it solved the problem.
  template <QpMethod Method>
  CAROM_HOST_DEVICE bool attempt(long p, QpVerdict& verdict) const {
    const QpShape& shape = arrays_.shape;
    const QpOutcome<double> outcome = run<Method>(p);
    const certificate::QpJudge<double, Lanes, Memory, Memory> judge(lanes_, shape, view(),
                                                                    memory_ + parts_.body);
    auto judged = judge.residual(x(), y());
    if (Method == QpMethod::active_set && judged.value() > arrays_.settings.tolerance) {
      judge.clean(x(), y());
      judged = judge.residual(x(), y());
    }
    verdict.method = Method;
    verdict.iterations = static_cast<int>(outcome.iterations);
    verdict.residual = judged.value();
    verdict.objective = judged.objective;
    const auto end = static_cast<std::uint8_t>(outcome.end);
    bool solved = certificate::within(verdict.residual, arrays_.settings.tolerance);
    if constexpr (Method == QpMethod::active_set) {
      solved = solved && end == static_cast<std::uint8_t>(qp_end::kActiveSet);
      if (!solved) return false;  // the interior point tries next
    } else {
      solved = solved && may_be_solved(end);
    }
    verdict.status = solved ? Status::solved : Status::inaccurate;
    lanes_.for_each(1, [&](int) { arrays_.end[p] = end; });
    write(p, verdict);
    return solved;
  }

  template <QpMethod Method>
  CAROM_HOST_DEVICE QpOutcome<double> run(long p) const {
    const QpShape& shape = arrays_.shape;
    const QpTaskSettings& settings = arrays_.settings;
    const Memory memory = memory_ + parts_.body;
    if constexpr (Method == QpMethod::active_set) {
      // The packs' dual active set knows nothing of lanes.
      const Memory outcome = memory_ + parts_.scratch;
      const int limit = settings.limit(QpMethod::interior_point, shape.variables, shape.rows);
      const int most = 4 * (shape.variables + shape.rows);
      lanes_.for_each(1, [&](int) {
        QpDualPivots<double, Memory> body(shape, memory);
        const auto ended = body.solve(view(), {settings.tolerance, limit < most ? limit : most});
        for (int j = 0; j < shape.variables; ++j) x()[j] = body.solution(j);
        for (int i = 0; i < shape.rows; ++i) y()[i] = body.dual(i);
        outcome[0] = ended.end;
        outcome[1] = ended.iterations;
      });
      return {outcome[0], outcome[1]};
    } else if constexpr (Method == QpMethod::interior_point) {
      QpInteriorPoint<double, Lanes, Memory> body(lanes_, shape, memory);
      const auto outcome =
          body.solve(view(), {interior_point_aim(shape.variables, settings.tolerance),
                              settings.limit(Method, shape.variables, shape.rows), true});
      read(body);
      return outcome;
    } else {
      using Body = std::conditional_t<Method == QpMethod::admm, AdmmQp<double, Lanes, Memory>,
                                      ProjectedQp<double, Lanes, Memory>>;
      load_start(p);
      Body body(lanes_, shape, memory);
      const auto outcome =
          body.solve(view(), settings.first_order(Method, shape.variables, shape.rows), x(), y());
      read(body);
      return outcome;
    }
  }

  /// x, y and the verdict, or NaN and the proof.
  CAROM_HOST_DEVICE void write(long p, const QpVerdict& verdict) const {
    write(p, verdict, [](int) { return std::numeric_limits<double>::quiet_NaN(); });
  }
  /// point(j): of an unbounded problem.
  template <class Point>
  CAROM_HOST_DEVICE void write(long p, const QpVerdict& verdict, Point&& point) const {
    const QpShape& shape = arrays_.shape;
    const long n = shape.variables;
    const long m = arrays_.interval_rows;
    const long k = shape.rows - m;
    const long proof = n > shape.rows ? n : shape.rows;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const bool usable = verdict.status == Status::solved || verdict.status == Status::inaccurate;
    const bool by_rows = verdict.status == Status::infeasible;
    const bool by_columns =
        verdict.status == Status::unbounded || verdict.status == Status::nonconvex;
    const Memory from_x = x();
    const Memory from_y = y();
    lanes_.for_each(shape.variables, [&](int j) {
      arrays_.solution[p * n + j] = usable ? from_x[j] : nan;
      arrays_.point[p * n + j] = verdict.status == Status::unbounded ? point(j) : nan;
    });
    lanes_.for_each(shape.rows, [&](int i) {
      double* to = i < m ? arrays_.dual + p * m + i : arrays_.cone_dual + p * k + i - m;
      *to = usable ? from_y[i] : nan;
    });
    lanes_.for_each(static_cast<int>(proof), [&](int e) {
      double value = nan;
      if (by_rows && e < shape.rows) value = from_y[e];
      if (by_columns && e < shape.variables) value = from_x[e];
      arrays_.certificate[p * proof + e] = value;
    });
    lanes_.for_each(1, [&](int) {
      arrays_.status[p] = verdict.status;
      arrays_.method[p] = verdict.method;
      arrays_.iterations[p] = verdict.iterations;
      const bool judged = usable || by_rows || verdict.status == Status::unbounded;
      arrays_.residual[p] = judged ? verdict.residual : nan;
      arrays_.objective[p] = usable ? verdict.objective : nan;
    });
  }

  const Lanes& lanes_;
  const QpTaskArrays& arrays_;
  QpTaskParts parts_;
  Memory memory_;
};

}  // namespace carom::kernels
