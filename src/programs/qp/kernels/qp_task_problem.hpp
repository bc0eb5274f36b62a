#pragma once

#include <cstdint>
#include <limits>

#include <carom/certificate_qp.hpp>
#include <carom/device/arena.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_second_look.hpp"
#include "programs/qp/kernels/qp_task_arrays.hpp"

/// Copies one problem between the arrays of a batch and the memory of a kernel. That memory may be
/// interleaved: a lane of a pack, or a thread of a warp.
namespace carom::kernels {

/// What a task keeps, as offsets in its memory.
template <class Memory>
struct QpTaskLayout {
  Memory hessian, gradient, matrix, lower, upper, scratch, x, y, body;
  long end = 0;

  QpTaskLayout() = default;
  /// uses: values that each of the methods and judges wants, one after another.
  template <class... Uses>
  CAROM_INLINE constexpr QpTaskLayout(Arena<Memory>& arena, long n, long rows, Uses... uses)
      : hessian(arena.take(n * n)),
        gradient(arena.take(n)),
        matrix(arena.take(rows * n)),
        lower(arena.take(rows)),
        upper(arena.take(rows)),
        scratch(arena.take(n + rows + 1)),
        x(arena.take(n)),
        y(arena.take(rows)),
        body(arena.take_largest(uses...)),
        end(arena.used()) {}
};
using QpTaskParts = QpTaskLayout<long>;

/// What an attempt leaves to do.
enum class QpLeft : std::uint8_t { nothing, another_attempt, judgement };

template <class Lanes, class Memory>
class QpTaskProblem {
 public:
  CAROM_INLINE QpTaskProblem(const Lanes& lanes, const QpTaskArrays& arrays,
                             const QpTaskParts& parts, const Memory& memory)
      : lanes_(lanes), arrays_(arrays), parts_(parts), memory_(memory) {}

  CAROM_INLINE QpView<Memory> view() const {
    return {memory_ + parts_.hessian, memory_ + parts_.gradient, memory_ + parts_.matrix,
            memory_ + parts_.lower, memory_ + parts_.upper};
  }
  CAROM_INLINE Memory x() const { return memory_ + parts_.x; }
  CAROM_INLINE Memory y() const { return memory_ + parts_.y; }

  /// Copies problem p; false where a number is refused.
  CAROM_CALL bool load(long p) const {
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
  CAROM_CALL void load_pair(long p, const double* solution, const double* dual,
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
  CAROM_CALL void load_start(long p) const {
    load_pair(p, arrays_.start.solution, arrays_.start.dual, arrays_.start.cone_dual);
  }

  /// Of a problem with a number that is refused.
  CAROM_CALL void refuse(long p) const {
    QpVerdict verdict;
    verdict.status = Status::invalid_input;
    verdict.method = first_method(arrays_.settings.method);
    lanes_.for_each(1, [&](int) { arrays_.end[p] = kQpFinal; });
    write(p, verdict);
  }

  /// What an attempt came to. Written but for that of the dual pivots, if it is none.
  /// doubt: qp_doubt.
  CAROM_CALL QpLeft conclude(long p, QpMethod method, std::uint8_t end, int iterations,
                             double residual, double objective, double doubt) const {
    const double tolerance = arrays_.settings.tolerance;
    const bool pivots = method == QpMethod::active_set;
    const bool solved =
        certificate::within(residual, tolerance) &&
        (pivots ? end == static_cast<std::uint8_t>(qp_end::kActiveSet) : may_be_solved(end));
    if (pivots && !solved) return QpLeft::another_attempt;
    const auto look = [&](auto&& asked) {
      return !pivots && asked(QpSecondLook(arrays_.shape, view(), x(), y()));
    };
    const auto misses = [&] {
      return look([&](const auto& at) { return at.misses_own_bounds(tolerance); });
    };
    const auto hides = [&] {
      return look([&](const auto& at) { return at.hides_objective(tolerance); });
    };
    const bool last = solved && !qp_wants_refinement(lanes_, arrays_, p, residual, misses, hides) &&
                      !(doubt > 0.0);
    lanes_.for_each(1, [&](int) { arrays_.end[p] = last ? kQpFinal : end; });
    write(p,
          {solved ? Status::solved : Status::inaccurate, method, iterations, residual, objective});
    return last ? QpLeft::nothing : QpLeft::judgement;
  }

  /// x, y and the verdict, or NaN and the proof.
  CAROM_CALL void write(long p, const QpVerdict& verdict) const {
    const auto none = [](int) { return std::numeric_limits<double>::quiet_NaN(); };
    write(p, verdict, none, none);
  }
  /// point(j): of an unbounded problem, or one with a direction that is level. face(i): where the
  /// verdict is faced.
  template <class Point, class Face>
  CAROM_CALL void write(long p, const QpVerdict& verdict, Point&& point, Face&& face) const {
    const QpShape& shape = arrays_.shape;
    const long n = shape.variables;
    const long m = arrays_.interval_rows;
    const long k = shape.rows - m;
    const long proof = n > shape.rows ? n : shape.rows;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const bool usable = verdict.status == Status::solved || verdict.status == Status::inaccurate;
    const bool by_rows = verdict.status == Status::infeasible;
    const bool level = verdict.status == Status::no_interior && !verdict.faced;
    const bool by_columns =
        verdict.status == Status::unbounded || verdict.status == Status::nonconvex || level;
    const bool with_point = verdict.status == Status::unbounded || level;
    const Memory from_x = x();
    const Memory from_y = y();
    lanes_.for_each(shape.variables, [&](int j) {
      arrays_.solution[p * n + j] = usable ? from_x[j] : nan;
      arrays_.point[p * n + j] = with_point ? point(j) : nan;
    });
    lanes_.for_each(shape.rows, [&](int i) {
      double* to = i < m ? arrays_.dual + p * m + i : arrays_.cone_dual + p * k + i - m;
      *to = usable ? from_y[i] : nan;
    });
    lanes_.for_each(static_cast<int>(proof), [&](int e) {
      double value = nan;
      if (by_rows && e < shape.rows) value = from_y[e];
      if (by_columns && e < shape.variables) value = from_x[e];
      if (verdict.faced && e < shape.rows) value = face(e);
      arrays_.certificate[p * proof + e] = value;
    });
    lanes_.for_each(1, [&](int) {
      arrays_.status[p] = verdict.status;
      arrays_.method[p] = verdict.method;
      arrays_.iterations[p] = verdict.iterations;
      const bool judged = usable || by_rows || verdict.status == Status::unbounded ||
                          verdict.status == Status::no_interior;
      arrays_.residual[p] = judged ? verdict.residual : nan;
      arrays_.objective[p] = usable ? verdict.objective : nan;
    });
  }

 private:
  const Lanes& lanes_;
  const QpTaskArrays& arrays_;
  QpTaskParts parts_;
  Memory memory_;
};

}  // namespace carom::kernels
