#pragma once

#include <type_traits>

#include "programs/qp/kernels/admm_qp.hpp"
#include "programs/qp/kernels/projected_qp.hpp"
#include "programs/qp/kernels/qp_doubt.hpp"
#include "programs/qp/kernels/qp_dual_pivot.hpp"
#include "programs/qp/kernels/qp_interior_point.hpp"
#include "programs/qp/kernels/qp_task_problem.hpp"

/// The methods that are tried first, on one problem or on a pack of them.
namespace carom::kernels {

/// Memory of a task whose first attempts are those of `method`.
CAROM_INLINE constexpr QpTaskParts qp_first_parts(QpMethod method, long n, long rows) {
  const long judge = certificate::qp_judge_workspace(n, rows) + qp_inner_doubt_workspace(n, rows);
  const int variables = static_cast<int>(n);
  const int all_rows = static_cast<int>(rows);
  switch (first_method(method)) {
    case QpMethod::admm:
      return placed<QpTaskLayout>(0L, n, rows, judge, admm_qp_workspace(n, rows));
    case QpMethod::projected:
      return placed<QpTaskLayout>(0L, n, rows, judge, projected_qp_workspace(n, rows));
    default:
      return placed<QpTaskLayout>(
          0L, n, rows, judge, qp_interior_point_workspace(variables, all_rows),
          takes_dual_pivots(variables, all_rows, 0) ? qp_dual_pivot_workspace(n, rows) : 0L);
  }
}

/// Whether an automatic choice begins with the dual pivots.
CAROM_INLINE bool begins_with_pivots(const QpTaskArrays& arrays) {
  return arrays.settings.method == QpMethod::automatic &&
         takes_dual_pivots(arrays.shape.variables, arrays.shape.rows, arrays.shape.cones);
}

/// V: a number, or a pack of numbers of as many problems side by side. Entry: how a pack takes an
/// entry of its own for each lane.
template <class V, class Lanes, class Memory, class Entry = QpOneEntry>
class QpAttempt {
 public:
  /// parts: qp_first_parts(); memory: where the problem lies.
  CAROM_INLINE QpAttempt(const Lanes& lanes, const QpTaskArrays& arrays, const QpTaskParts& parts,
                         const Memory& memory)
      : lanes_(lanes), arrays_(arrays), parts_(parts), memory_(memory) {}

  /// Leaves x, y; first-order methods start from them. N, ConeSize: the number of variables and
  /// the size of every cone where they are known in advance, or 0; they change no bit.
  template <QpMethod Method, int N = 0, int ConeSize = 0>
  CAROM_CALL QpOutcome<V> run() const {
    const QpShape& shape = arrays_.shape;
    const QpTaskSettings& settings = arrays_.settings;
    const Memory body_memory = memory_ + parts_.body;
    const Memory x = memory_ + parts_.x;
    const Memory y = memory_ + parts_.y;
    const int limit =
        settings.limit(Method == QpMethod::active_set ? QpMethod::interior_point : Method,
                       shape.variables, shape.rows);
    if constexpr (Method == QpMethod::active_set) {
      // The dual pivots know nothing of lanes.
      const Memory outcome = memory_ + parts_.scratch;
      const int most = 4 * (shape.variables + shape.rows);
      lanes_.for_each(1, [&](int) {
        QpDualPivots<V, Memory, Entry, N> body(shape, body_memory);
        const auto ended = body.solve(view(), {settings.tolerance, limit < most ? limit : most});
        for (int j = 0; j < shape.variables; ++j) x[j] = body.solution(j);
        for (int i = 0; i < shape.rows; ++i) y[i] = body.dual(i);
        outcome[0] = ended.end;
        outcome[1] = ended.iterations;
        outcome[2] = ended.level;
      });
      return {outcome[0], outcome[1], outcome[2]};
    } else if constexpr (Method == QpMethod::interior_point) {
      QpInteriorPoint<V, Lanes, Memory, N, ConeSize> body(lanes_, shape, body_memory);
      if (shape.cones > 0) body.keep_inner(inner().x, inner().y, inner().mu);
      const auto outcome = body.solve(
          view(), {interior_point_aim(shape.variables, settings.tolerance), limit, true});
      read(body, x, y);
      return outcome;
    } else {
      using Body = std::conditional_t<Method == QpMethod::admm, AdmmQp<V, Lanes, Memory>,
                                      ProjectedQp<V, Lanes, Memory>>;
      Body body(lanes_, shape, body_memory);
      const auto outcome =
          body.solve(view(), settings.first_order(Method, shape.variables, shape.rows), x, y);
      read(body, x, y);
      return outcome;
    }
  }

  /// Of x, y; those of an active set, where they are not good enough, without what rounding left
  /// in place of zeros. Overwrites what the method kept. level: 1 where an active set's Hessian is
  /// not definite, so that rows with a multiplier may depend on each other.
  template <QpMethod Method, int N = 0>
  CAROM_CALL QpJudged<V> judge(V level = V(0.0)) const {
    using kernels::all_of;
    using kernels::any_of;
    using kernels::select;
    QpShape shape = arrays_.shape;
    if constexpr (N > 0) shape.variables = N;
    const Memory x = memory_ + parts_.x;
    const Memory y = memory_ + parts_.y;
    const Memory work = memory_ + parts_.body;
    const certificate::QpJudge<V, Lanes, Memory, Memory> judge(lanes_, shape, view(), work);
    if constexpr (Method == QpMethod::active_set) {
      const MaskOf<V> levels = level > V(0.0);
      const auto residual = [&] {
        if (all_of(levels)) return QpJudged<V>{judge.residual(x, y, qp_leaning(shape), false)};
        QpJudged<V> judged{judge.residual(x, y, certificate::Leaning::by_active_rows, false)};
        if (any_of(levels)) {
          const V primal = judge.residual(x, y, qp_leaning(shape), false).primal;
          judged.primal = select(levels, primal, judged.primal);
        }
        return judged;
      };
      QpJudged<V> judged = residual();
      const MaskOf<V> wanting = judged.value() > V(arrays_.settings.tolerance);
      if (any_of(wanting)) {
        judge.clean(x, y, wanting);
        judged = residual();
      }
      return judged;
    } else {
      QpJudged<V> judged{judge.residual(x, y, qp_leaning(shape), false)};
      if (shape.cones > 0) {
        const Memory own = work + certificate::qp_judge_workspace(shape.variables, shape.rows);
        if constexpr (Method == QpMethod::interior_point) {
          judged.doubt = doubt_of<V, N>(lanes_, shape, view(), x, y, own, inner());
        } else {
          judged.doubt = doubt_of<V, N>(lanes_, shape, view(), x, y, own);
        }
      }
      return judged;
    }
  }

 private:
  /// Of the interior point with cones, from run() to judge().
  CAROM_INLINE QpInner<Memory> inner() const {
    const Memory x = memory_ + parts_.scratch;
    const Memory y = x + arrays_.shape.variables;
    return {x, y, y + arrays_.shape.rows};
  }
  CAROM_INLINE QpView<Memory> view() const {
    return {memory_ + parts_.hessian, memory_ + parts_.gradient, memory_ + parts_.matrix,
            memory_ + parts_.lower, memory_ + parts_.upper};
  }
  template <class Body>
  CAROM_CALL void read(const Body& body, const Memory& x, const Memory& y) const {
    lanes_.for_each(arrays_.shape.variables, [&](int j) { x[j] = body.solution(j); });
    lanes_.for_each(arrays_.shape.rows, [&](int i) { y[i] = body.dual(i); });
  }

  const Lanes& lanes_;
  const QpTaskArrays& arrays_;
  QpTaskParts parts_;
  Memory memory_;
};

}  // namespace carom::kernels
