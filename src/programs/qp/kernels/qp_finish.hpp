#pragma once

#include <carom/types/qp.hpp>

#include "programs/kernels/convex_lemke.hpp"
#include "programs/qp/kernels/admm_qp.hpp"
#include "programs/qp/kernels/qp_active_set.hpp"
#include "programs/qp/kernels/qp_decide_homogeneous.hpp"
#include "programs/qp/kernels/qp_doubt.hpp"
#include "programs/qp/kernels/qp_lemke_source.hpp"
#include "programs/qp/kernels/qp_noise.hpp"
#include "programs/qp/kernels/qp_proofs.hpp"
#include "programs/qp/kernels/qp_refine_active_set.hpp"
#include "programs/qp/kernels/qp_round_multipliers.hpp"
#include "programs/qp/kernels/qp_second_look.hpp"
#include "programs/qp/kernels/qp_subspace.hpp"
#include "programs/qp/kernels/qp_task_arrays.hpp"

/// Solves problems that the first method did not solve, or that must be solved exactly: by proofs,
/// the active-set method and operator splitting, with certificates for their answers.
namespace carom::kernels {

template <class Memory>
struct QpFinishLayout {
  Memory first_x;        ///< of the first method
  Memory point;          ///< meets the rows
  Memory first_y;        ///< of the first method
  Memory face;           ///< of a verdict that needs one, with cones
  Memory work;           ///< of the judgement
  Memory other_hessian;  ///< of the search for a point that meets the rows
  Memory other_gradient;
  Memory spare;           ///< of a proof that is cleaned
  Memory convex_hessian;  ///< of the equations' null space
  Memory convex_gradient;
  Memory quiet_lower;  ///< bounds without noise, then those of a step that meets it
  Memory quiet_upper;
  Memory body;

  QpFinishLayout() = default;
  CAROM_INLINE constexpr QpFinishLayout(Arena<Memory>& arena, long n, long rows, bool cones)
      : first_x(arena.take(n)),
        point(arena.take(n)),
        first_y(arena.take(rows)),
        face(arena.take(cones ? rows : 0)),
        work(arena.take(certificate::qp_judge_workspace(n, rows))),
        other_hessian(arena.take(n * n)),
        other_gradient(arena.take(n)),
        spare(arena.take(n > rows ? n : rows)),
        convex_hessian(arena.take(n * n)),
        convex_gradient(arena.take(n)),
        quiet_lower(arena.take(cones ? 0 : rows)),
        quiet_upper(arena.take(cones ? 0 : rows)),
        body(cones ? arena.take_largest(admm_qp_workspace(n, rows), qp_subspace_workspace(n),
                                        qp_doubt_workspace(n))
                   : arena.take_largest(admm_qp_workspace(n, rows),
                                        qp_active_set_workspace(n, rows), qp_subspace_workspace(n),
                                        convex_lemke_workspace(n, rows, 2 * rows))) {}
};
CAROM_INLINE constexpr long qp_finish_workspace(long n, long rows, bool cones) {
  return values_of<QpFinishLayout>(n, rows, cones);
}

template <class Lanes, class Data, class Memory>
class QpFinish {
 public:
  /// x: [n], y: [rows]; memory: qp_finish_workspace.
  CAROM_HOST_DEVICE QpFinish(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                             const Memory& x, const Memory& y, const Memory& memory)
      : lanes_(lanes),
        shape_(shape),
        view_(view),
        x_(x),
        y_(y),
        at_(placed<QpFinishLayout>(memory, shape.variables, shape.rows, shape.cones > 0)) {}

  /// A point that meets the rows, of an unbounded problem.
  CAROM_INLINE double point(int j) const { return at_.point[j]; }
  /// Of a verdict that needs one.
  CAROM_INLINE double face(int i) const { return at_.face[i]; }

  /// first: what ended at x, y before, or null where nothing was tried. end: its qp_end.
  /// start(): fills x, y with the caller's guess. Afterwards x, y hold the answer or the proof.
  template <class Start>
  CAROM_CALL QpVerdict run(const QpTaskSettings& settings, int interval_rows,
                           const QpVerdict* first, double end, Start&& start) {
    QpVerdict answer = find(settings, interval_rows, first, end, start);
    const bool limited = settings.method != QpMethod::automatic && settings.max_iterations > 0;
    if (shape_.cones == 0 && convex_ && !limited && !is_final(answer.status) &&
        answer.status != Status::nonconvex) {
      find_without_noise(answer, settings);
      if (!is_final(answer.status)) find_beside_hidden(answer, settings.tolerance);
    }
    if (answer.status == Status::solved && answer.method != QpMethod::lemke && convex_ &&
        second_look().wants_refinement(answer.residual, settings.tolerance)) {
      refine(answer, settings);
    }
    if (answer.status == Status::solved && convex_ &&
        second_look().doubts(known_, answer.residual, answer.objective, settings.tolerance)) {
      answer.status = Status::inaccurate;
    }
    if (answer.status == Status::unbounded && convex_) {
      const bool far = second_look().may_be_far(proof_, settings.tolerance);
      const bool met = settles(settings.tolerance) || !qp_takes_refinement(shape_);
      if (!met || (far && second_look().has_near_parallels())) decide_again(answer, settings);
    }
    if (is_proven(answer.status)) answer.residual = proof_;
    return answer;
  }

 private:
  static constexpr double kProvenMargin = 0x1p-43;  // of its terms, for each of the conditions
  static constexpr double kNearby = 8.0;            // tolerances
  static constexpr double kRoundedAway = 1e3;       // tolerances that rounding of y may cost
  static constexpr double kRounding = 0x1p-46;      // of the largest: rounding in place of a zero
  static constexpr double kMostHidden = 0x1p-30;    // of a row's terms
  static constexpr double kNextHidden = 0x1p8;
  static constexpr double kNoise = 0x1p-40;  // of the largest bound, rows in units of A
  static constexpr int kMostRefined = 320;   // unknowns and rows: a dense table of so many

  template <class Start>
  CAROM_CALL QpVerdict find(const QpTaskSettings& settings, int interval_rows,
                            const QpVerdict* first, double end, Start&& start) {
    QpVerdict answer;
    answer.method = settings.method;
    if (first != nullptr) answer = *first;
    if (first != nullptr) keep_first();
    if (crossed_bounds(lanes_, interval_rows, shape_, view_, y_)) {
      proof_ = 0.0;
      answer.status = Status::infeasible;
      return answer;
    }
    if (proves_nonconvex(lanes_, shape_.variables, view_.hessian, x_, at_.body,
                         at_.body + static_cast<long>(shape_.variables) * shape_.variables,
                         at_.work)) {
      return on_subspace(settings, start);
    }
    if (first != nullptr) {
      if (shape_.cones > 0 && decides_cones()) return find_with_cones(settings, answer, end);
      back_to_first();
      if (is_infeasible(settings.tolerance)) {
        answer.status = Status::infeasible;
        return answer;
      }
      back_to_first();
      if (may_be_solved(end)) {
        judge_cleaned(answer, settings.tolerance, qp_leaning(shape_));
        if (answer.status == Status::inaccurate && shape_.cones > 0) {
          refine_active_rows(answer, settings.tolerance);
        }
        if (answer.status == Status::solved) return answer;
        keep_first();
      } else {
        judge(answer, settings.tolerance, qp_leaning(shape_));
      }
      if (end == qp_end::kBroken) {
        answer.status = Status::numerical_error;
      } else if (end == qp_end::kRunning && answer.status == Status::inaccurate) {
        answer.status = Status::iteration_limit;
      }
      // Who asked for so many iterations of one method gets what they gave, if it is no verdict.
      const bool limited = settings.method != QpMethod::automatic && settings.max_iterations > 0 &&
                           answer.status == Status::iteration_limit;
      if (settings.method == QpMethod::automatic && shape_.cones == 0) {  // faster, where it does
        start();
        const QpVerdict active = attempt<QpMethod::active_set>(settings, view_);
        if (is_final(active.status)) return active;
      }
      const QpVerdict exact = decide(settings);
      if (is_final(exact.status) && !(limited && exact.status == Status::solved)) return exact;
      if (exact.status == Status::inaccurate &&
          !(answer.status == Status::inaccurate && answer.residual <= exact.residual)) {
        keep_first();
        answer = exact;
      }
      back_to_first();
      if (end == qp_end::kUnbounded || is_ray(settings.tolerance)) {
        const Status status = shape_.cones == 0 ? attempt_point<QpMethod::active_set>(settings)
                                                : attempt_point<QpMethod::admm>(settings);
        if (is_final(status)) {
          answer.status = status;
          return answer;
        }
      }
      back_to_first();
      if (settings.method != QpMethod::automatic) return answer;
      if (answer.status == Status::iteration_limit) answer.status = Status::inaccurate;
    }
    start();
    const QpVerdict other = solve(settings, first == nullptr);
    const bool worse = !(other.status == Status::inaccurate && other.residual < answer.residual);
    if (first != nullptr && !is_final(other.status) && answer.status == Status::inaccurate &&
        worse) {
      back_to_first();
      return answer;
    }
    return other;
  }

  /// Bounds that are rounding relative to the others, such as -2e-16, may keep every method from
  /// its end. An answer without them, moved onto them, counts if it is one to the numbers as given.
  CAROM_CALL void find_without_noise(QpVerdict& answer, const QpTaskSettings& settings) {
    double most = 0.0;
    for (int i = 0; i < shape_.rows; ++i) {
      for (const double bound : {view_.lower[i], view_.upper[i]}) {
        if (bound != 0.0 && magnitude(bound) < kInfinity) {
          most = larger(magnitude(bound) / largest_entry(i), most);
        }
      }
    }
    bool noisy = false;
    for (int i = 0; i < shape_.rows; ++i) {
      const double least = kNoise * most * largest_entry(i);
      const auto quiet = [&](double bound) { return magnitude(bound) <= least ? 0.0 : bound; };
      const double lower = quiet(view_.lower[i]), upper = quiet(view_.upper[i]);
      noisy = noisy || lower != view_.lower[i] || upper != view_.upper[i];
      lanes_.for_each(1, [&](int) {
        at_.quiet_lower[i] = lower;
        at_.quiet_upper[i] = upper;
      });
    }
    if (!noisy) return;
    keep_first();
    const QpView<Data> given = view_;
    const QpKnowledge known = known_;
    view_ = {given.hessian, given.gradient, given.matrix, at_.quiet_lower, at_.quiet_upper};
    QpVerdict found = find_exactly(settings);
    view_ = given;
    if (found.status == Status::solved) {
      judge_cleaned(found, settings.tolerance, certificate::Leaning::allowed);
      if (found.status != Status::solved && meet_noise(settings)) {
        judge_cleaned(found, settings.tolerance, certificate::Leaning::allowed);
      }
    }
    if (found.status == Status::solved) {
      answer = found;
    } else {
      back_to_first();
    }
    known_ = known;
  }
  /// Without what the rows hide of x and y.
  CAROM_CALL void find_beside_hidden(QpVerdict& answer, double tolerance) {
    if (!(answer.residual < kInfinity)) return;
    for (double share = kRounding; share < kMostHidden; share *= kNextHidden) {
      keep_first();
      if (!drop_hidden(lanes_, shape_, view_, share, x_, y_, at_.body)) continue;
      QpVerdict cleaned = answer;
      judge(cleaned, tolerance, certificate::Leaning::allowed);
      if (cleaned.status == Status::solved) {
        answer = cleaned;
        return;
      }
      back_to_first();
    }
  }
  /// An answer of view_ from zero on, without iterations that converge.
  CAROM_CALL QpVerdict find_exactly(const QpTaskSettings& settings) {
    start_from_zero();
    const QpVerdict found = attempt<QpMethod::active_set>(settings, view_);
    return found.status == Status::solved ? found : decide(settings);
  }
  CAROM_CALL void start_from_zero() {
    lanes_.for_each(shape_.variables, [&](int j) { x_[j] = 0.0; });
    lanes_.for_each(shape_.rows, [&](int i) { y_[i] = 0.0; });
  }
  CAROM_CALL double largest_entry(int i) const {
    double most = 0.0;
    for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
      const long entry = static_cast<long>(i) * shape_.variables + shape_.column[t];
      most = larger(magnitude(view_.matrix[entry]), most);
    }
    return most;
  }
  /// Rows of zeros have nothing but their noise. So x, an answer without it, takes a step of its
  /// size: the answer to what holds at x, the noise as bounds, which also has other multipliers.
  CAROM_CALL bool meet_noise(const QpTaskSettings& settings) {
    constexpr double kUnit = 0x1p-50;  // of the step
    const int n = shape_.variables;
    const QpView<Data> given = view_;
    for (int i = 0; i < shape_.rows; ++i) {
      double value = 0.0, terms = 0.0;
      for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
        const int j = shape_.column[t];
        const double term = given.matrix[static_cast<long>(i) * n + j] * x_[j];
        value += term;
        terms += magnitude(term);
      }
      const double rounding = kUnit * (n + 4.0) * terms;
      const bool low = value <= at_.quiet_lower[i] + rounding;
      const bool high = value >= at_.quiet_upper[i] - rounding;
      const double unit = terms > 0.0 ? kInfinity : kUnit;  // noise is no bound on terms
      const double lower = low ? given.lower[i] / unit : -kInfinity;
      const double upper = high ? given.upper[i] / unit : kInfinity;
      lanes_.for_each(1, [&](int) {
        at_.quiet_lower[i] = lower;
        at_.quiet_upper[i] = upper;
      });
    }
    lanes_.for_each(n, [&](int j) {
      double slope = given.gradient[j];
      for (int k = 0; k < n; ++k) {
        const double entry =
            given.hessian[k <= j ? static_cast<long>(j) * n + k : static_cast<long>(k) * n + j];
        slope = fused(entry, x_[k], slope);
        at_.other_hessian[static_cast<long>(j) * n + k] = kUnit * entry;
      }
      at_.other_gradient[j] = slope;
    });
    lanes_.for_each(n, [&](int j) { at_.convex_gradient[j] = x_[j]; });
    view_ = {at_.other_hessian, at_.other_gradient, given.matrix, at_.quiet_lower, at_.quiet_upper};
    const Status status = find_exactly(settings).status;
    view_ = given;
    if (status != Status::solved) return false;
    drop_least(x_, n, kRounding);
    lanes_.for_each(n, [&](int j) { x_[j] = fused(kUnit, x_[j], at_.convex_gradient[j]); });
    return true;
  }

  /// Of a Hessian that is not convex, unless it is so where the equations hold. x_: its direction.
  template <class Start>
  CAROM_CALL QpVerdict on_subspace(const QpTaskSettings& settings, Start&& start) {
    using Subspace = QpSubspace<Lanes, Data, Memory>;
    const int n = shape_.variables;
    QpVerdict answer;
    answer.method = settings.method;
    answer.status = Status::nonconvex;
    for (const QpPivots pivots : {QpPivots::by_curvature, QpPivots::by_columns}) {
      const Subspace subspace(lanes_, shape_, view_, at_.body, pivots);
      if (subspace.equations() == 0) return answer;
      subspace.project(at_.convex_hessian, at_.convex_gradient);
      // The search for a direction takes the place of P T.
      const QpSubspaceLayout<Memory> at = placed<QpSubspaceLayout>(at_.body, n);
      if (!proves_nonconvex(lanes_, n, at_.convex_hessian, x_, at.product, at.size, at_.work)) {
        continue;
      }
      subspace.lift(x_);
      if (subspace.proves_nonconvex(x_, at_.work)) return answer;
      if (pivots == QpPivots::by_columns) {
        answer.status = Status::numerical_error;
        return answer;
      }
    }
    convex_ = false;
    const QpView<Data> given = view_;
    view_ = {at_.convex_hessian, at_.convex_gradient, given.matrix, given.lower, given.upper};
    start();
    answer = solve(settings, true);
    if (shape_.cones > 0 && decides_cones()) {
      keep_first();
      answer = find_with_cones(settings, answer, qp_end::kConverged);
      // A face of the convex problem is none of the given one.
      if (answer.faced || answer.status == Status::no_interior) {
        answer.status = Status::numerical_error;
      }
    }
    view_ = given;
    if (answer.status == Status::unbounded) {
      if (!falls_from(lanes_, n, view_, at_.point, x_)) answer.status = Status::numerical_error;
    } else if (!is_proven(answer.status)) {
      Subspace(lanes_, shape_, view_, at_.body).complete(x_, y_);
      judge_cleaned(answer, settings.tolerance, certificate::Leaning::allowed);
    }
    return answer;
  }

  /// With cones that the exact method takes, only answers to a strictly convex objective do without
  /// it: without an interior, points and proofs of any small residual may be none.
  CAROM_CALL QpVerdict find_with_cones(const QpTaskSettings& settings, QpVerdict answer,
                                       double end) {
    back_to_first();
    if (may_be_solved(end)) {
      judge_cleaned(answer, settings.tolerance, qp_leaning(shape_));
      if (answer.status == Status::inaccurate) refine_active_rows(answer, settings.tolerance);
      if (answer.status == Status::solved && doubt() == qp_doubt::kNone) return answer;
      keep_first();
    } else {
      judge(answer, settings.tolerance, qp_leaning(shape_));
      keep_first();
    }
    const QpVerdict exact = decide(settings);
    const bool limited = settings.method != QpMethod::automatic && settings.max_iterations > 0 &&
                         end == qp_end::kRunning;
    if (is_final(exact.status) && !(limited && exact.status == Status::solved)) return exact;
    back_to_first();
    if (answer.status == Status::solved) answer.status = Status::inaccurate;
    if (answer.status == Status::inaccurate && end == qp_end::kRunning && limited) {
      answer.status = Status::iteration_limit;
    }
    return answer;
  }
  /// To the size of each condition's own terms, where that solves the problem.
  CAROM_CALL void refine_active_rows(QpVerdict& answer, double tolerance) {
#if !defined(__CUDA_ARCH__)
    if constexpr (!requires { at_.body.stride; }) {
      if (shape_.variables + shape_.rows > kMostRefined) return;
      keep_first();
      lanes_.for_each(
          1, [&](int) { refine_active_set<double>(shape_, plain_view(), &x_[0], &y_[0]); });
      QpVerdict refined = answer;
      judge(refined, tolerance, qp_leaning(shape_));
      if (refined.status == Status::solved) {
        answer = refined;
      } else {
        back_to_first();
      }
    }
#endif
  }
  /// Of memory in one piece.
  [[nodiscard]] CAROM_INLINE QpView<const double*> plain_view() const {
    return {&view_.hessian[0], &view_.gradient[0], &view_.matrix[0], &view_.lower[0],
            &view_.upper[0]};
  }
  /// Whether the exact method takes the problem's cones here.
  CAROM_INLINE bool decides_cones() const {
#if defined(__CUDA_ARCH__)
    return false;
#else
    if constexpr (requires { at_.body.stride; }) return false;
    return takes_homogeneous(shape_.variables, shape_.rows);
#endif
  }
  /// Of x, y. Overwrites the body's memory.
  CAROM_CALL double doubt() const {
    return doubt_of<double>(lanes_, shape_, view_, x_, y_, at_.body);
  }

  /// Keeps what the exact method makes of it where that is better. A proof that there is no answer
  /// is: along a bound that is far away an answer may be right for data that differ by rounding. So
  /// is another objective: rows that are nearly parallel meet far away from where they all but
  /// meet; any where the first answer's is hidden by rounding.
  CAROM_CALL void refine(QpVerdict& answer, const QpTaskSettings& settings) {
    keep_first();
    const bool hides = second_look().hides_objective(settings.tolerance);
    const QpVerdict exact = decide(settings);
    const bool found = exact.status == Status::solved || exact.status == Status::inaccurate;
    if (is_proven(exact.status) ||
        (exact.status == Status::solved && (hides || exact.residual < answer.residual)) ||
        (found && second_look().differ(exact.objective, answer.objective, settings.tolerance))) {
      answer = exact;
    } else {
      back_to_first();
    }
  }
  /// Whether the point of an unbounded problem is near one that meets the rows: it is that one
  /// then. Overwrites what keep_first kept.
  CAROM_CALL bool settles(double tolerance) {
    if (shape_.cones > 0) return true;
    const double proof = proof_;
    lanes_.for_each(shape_.variables, [&](int j) { at_.first_x[j] = at_.point[j]; });
    if (settle_point(lanes_, shape_, view_, at_.point) && is_unbounded(tolerance)) return true;
    lanes_.for_each(shape_.variables, [&](int j) { at_.point[j] = at_.first_x[j]; });
    proof_ = proof;
    return false;
  }
  /// Unbounded only if the exact method says so of the numbers as given, from a point that meets
  /// the rows.
  CAROM_CALL void decide_again(QpVerdict& answer, const QpTaskSettings& settings) {
    known_ = {};
    const QpVerdict exact = decide(settings);
    const bool sure = exact.status == Status::infeasible ||
                      (exact.status == Status::unbounded &&
                       known_.kind == QpKnowledge::Kind::unbounded && settles(settings.tolerance));
    answer = exact;
    if (!sure) answer.status = Status::numerical_error;
  }
  CAROM_CALL QpSecondLook<Data, Memory, Memory> second_look() const {
    return {shape_, view_, x_, y_};
  }

  CAROM_INLINE static bool is_proven(Status status) {
    return status == Status::infeasible || status == Status::unbounded;
  }
  CAROM_INLINE static bool is_final(Status status) {
    return status == Status::solved || is_proven(status) || status == Status::no_interior;
  }
  CAROM_CALL void keep_first() {
    lanes_.for_each(shape_.variables, [&](int j) { at_.first_x[j] = x_[j]; });
    lanes_.for_each(shape_.rows, [&](int i) { at_.first_y[i] = y_[i]; });
  }
  CAROM_CALL void back_to_first() {
    lanes_.for_each(shape_.variables, [&](int j) { x_[j] = at_.first_x[j]; });
    lanes_.for_each(shape_.rows, [&](int i) { y_[i] = at_.first_y[i]; });
  }
  CAROM_CALL bool is_infeasible(double tolerance) {
    proof_ = infeasibility_residual(lanes_, shape_, view_, y_, at_.work, at_.spare, tolerance);
    return certificate::within(proof_, tolerance);
  }
  CAROM_CALL bool is_ray(double tolerance) {
    proof_ = ray_residual(lanes_, shape_, view_, x_, at_.work, at_.spare, tolerance);
    return certificate::within(proof_, tolerance);
  }
  CAROM_CALL bool is_unbounded(double tolerance) {
    proof_ = unboundedness_residual(lanes_, shape_, view_, at_.point, x_, at_.work, at_.spare,
                                    tolerance);
    return certificate::within(proof_, tolerance);
  }

  CAROM_CALL void judge(QpVerdict& answer, double tolerance, certificate::Leaning leaning) {
    const certificate::QpJudge<double, Lanes, Data, Memory> judge(lanes_, shape_, view_, at_.work);
    const auto judged = judge.residual(x_, y_, leaning);
    answer.residual = judged.value();
    answer.objective = judged.objective;
    answer.status = certificate::within(answer.residual, tolerance) ? Status::solved
                    : answer.residual < kInfinity                   ? Status::inaccurate
                                                                    : Status::numerical_error;
  }

  /// The same, without what rounding left in place of zeros where that is better: rows of such
  /// numbers by themselves have no other unit. Overwrites the body's memory.
  CAROM_CALL void judge_cleaned(QpVerdict& answer, double tolerance, certificate::Leaning leaning) {
    judge(answer, tolerance, leaning);
    for (double share = 0.0; share < 0x1p-30 && answer.status != Status::solved;
         share = share == 0.0 ? kRounding : 64.0 * share) {
      const int n = shape_.variables;
      lanes_.for_each(n, [&](int j) { at_.body[j] = x_[j]; });
      lanes_.for_each(shape_.rows, [&](int i) { at_.body[n + i] = y_[i]; });
      if (share == 0.0) {
        certificate::QpJudge<double, Lanes, Data, Memory>(lanes_, shape_, view_, at_.work)
            .clean(x_, y_);
      } else {
        drop_least(x_, n, share);
        drop_least(y_, shape_.rows, share);
      }
      QpVerdict cleaned = answer;
      judge(cleaned, tolerance, leaning);
      if (cleaned.residual < answer.residual) {
        answer = cleaned;
        continue;
      }
      lanes_.for_each(n, [&](int j) { x_[j] = at_.body[j]; });
      lanes_.for_each(shape_.rows, [&](int i) { y_[i] = at_.body[n + i]; });
    }
  }
  /// Sets entries to zero that are rounding relative to the largest.
  CAROM_CALL void drop_least(const Memory& values, int count, double share) {
    double most = 0.0;
    for (int k = 0; k < count; ++k) most = larger(magnitude(values[k]), most);
    lanes_.for_each(count, [&](int k) {
      if (magnitude(values[k]) <= share * most) values[k] = 0.0;
    });
  }

  /// The verdict in twice the precision, judged like any other; numerical_error where there is
  /// none.
  CAROM_CALL QpVerdict decide(const QpTaskSettings& settings) {
    QpVerdict answer;
    if (shape_.cones > 0) {
      const Status claim = by_homogeneous(answer);
      if (claim == Status::no_interior || answer.faced) {
        answer.status = claim;
      } else {
        confirm(answer, claim, settings.tolerance);
      }
      return answer;
    }
    // A margin below those of proofs is rounding, and one that the page's check does not accept is
    // within the tolerance: a nearby problem has an answer.
    const double rounding = kProvenMargin * (2.0 * shape_.variables + 2.0 * shape_.rows + 4.0);
    const double nearby = larger(rounding, kNearby * settings.tolerance);
    double close_noise = 0.0;  // of what came close, where nothing else is found
    LemkeCover close_cover = LemkeCover::own;
    for (const double noise : {rounding, nearby}) {
      for (const LemkeCover cover : {LemkeCover::own, LemkeCover::even}) {
        QpVerdict decided;
        const Status claim = by_lemke(decided, noise, cover);
        if (noise == rounding) know(claim);
        confirm(decided, claim, settings.tolerance);
        if (is_final(decided.status)) return decided;
        if (close_noise == 0.0 && decided.status == Status::inaccurate &&
            decided.residual <= kRoundedAway * settings.tolerance) {
          close_noise = noise;
          close_cover = cover;
        }
        answer.method = decided.method;
        answer.iterations += decided.iterations;
      }
    }
    if (close_noise > 0.0) {
      QpVerdict close;
      confirm(close, by_lemke(close, close_noise, close_cover), settings.tolerance);
      return close;
    }
    return answer;
  }
  /// What the exact method says of the numbers as given, proven or not.
  CAROM_CALL void know(Status claim) {
    using Kind = QpKnowledge::Kind;
    const Kind kind = claim == Status::solved       ? Kind::solved
                      : claim == Status::infeasible ? Kind::infeasible
                      : claim == Status::unbounded  ? Kind::unbounded
                                                    : Kind::nothing;
    if (kind == Kind::nothing || kind == known_.kind) return;
    known_.kind = known_.kind == Kind::nothing ? kind : Kind::disputed;
    if (kind == Kind::solved) known_.objective = objective();
  }
  CAROM_CALL void confirm(QpVerdict& answer, Status claim, double tolerance) {
    if (claim == Status::solved) {
      judge_cleaned(answer, tolerance, certificate::Leaning::allowed);
      if (answer.status == Status::inaccurate && answer.residual <= kRoundedAway * tolerance) {
        const auto is_better = [&] {
          QpVerdict rounded = answer;
          judge(rounded, tolerance, certificate::Leaning::allowed);
          if (!(rounded.residual < answer.residual)) return false;
          answer = rounded;
          return true;
        };
        round_multipliers(lanes_, shape_, view_, y_, is_better,
                          [&] { return answer.status == Status::solved; });
      }
    } else if ((claim == Status::infeasible && is_infeasible(tolerance)) ||
               (claim == Status::unbounded && is_unbounded(tolerance))) {
      answer.status = claim;
    }
  }

  /// Leaves x, y, and the point of an unbounded problem, whose direction is x.
  CAROM_CALL Status by_lemke(QpVerdict& answer, double noise, LemkeCover cover) {
    const QpLemkeSource<Data> source{shape_, view_};
    ConvexLemke<Lanes, Memory, QpLemkeSource<Data>> body(lanes_, source, 2L * shape_.rows,
                                                         at_.body);
    const Status claim = body.solve(noise, cover);
    answer.method = QpMethod::lemke;
    answer.iterations = body.pivots();
    if (!is_final(claim)) return claim;
    lanes_.for_each(shape_.variables, [&](int j) {
      at_.point[j] = body.point(j);
      x_[j] = claim == Status::unbounded ? body.ray(j) : at_.point[j];
    });
    lanes_.for_each(shape_.rows, [&](int i) { y_[i] = -body.multiplier(i, claim); });
    return claim;
  }
  /// The same for cones, in one lane.
  CAROM_CALL Status by_homogeneous(QpVerdict& answer) {
    answer.method = QpMethod::interior_point;
#if defined(__CUDA_ARCH__)
    return Status::numerical_error;  // too much code for one kernel
#else
    if constexpr (requires { at_.body.stride; }) {
      return Status::numerical_error;  // it wants memory in one piece
    } else {
      if (!decides_cones()) return Status::numerical_error;
      lanes_.for_each(1, [&](int) {
        const QpHomogeneousOutcome outcome =
            decide_homogeneous(shape_, plain_view(), &at_.point[0], &x_[0], &y_[0], &at_.face[0]);
        if (outcome.end == qp_end::kConverged) {
          for (int j = 0; j < shape_.variables; ++j) x_[j] = at_.point[j];
        }
        at_.work[0] = outcome.end;
        at_.work[1] = outcome.iterations;
        at_.work[2] = outcome.residual;
        at_.work[3] = outcome.faced ? 1.0 : 0.0;
      });
      const double end = at_.work[0];
      answer.iterations = static_cast<int>(at_.work[1]);
      answer.residual = at_.work[2];
      answer.faced = at_.work[3] > 0.0;
      if (end == qp_end::kConverged && answer.faced) answer.objective = objective();
      return end == qp_end::kConverged    ? Status::solved
             : end == qp_end::kInfeasible ? Status::infeasible
             : end == qp_end::kUnbounded  ? Status::unbounded
             : end == qp_end::kNoInterior ? Status::no_interior
                                          : Status::numerical_error;
    }
#endif
  }

  CAROM_CALL double objective() const {
    double sum = 0.0;
    const long n = shape_.variables;
    for (int i = 0; i < n; ++i) {
      double slope = view_.gradient[i];
      for (int j = 0; j < n; ++j) {
        slope += 0.5 * view_.hessian[j <= i ? i * n + j : j * n + i] * x_[j];
      }
      sum += slope * x_[i];
    }
    return sum;
  }

  CAROM_CALL QpVerdict solve(const QpTaskSettings& settings, bool untried) {
    if (settings.method == QpMethod::lemke) return decide(settings);
    // Exact first; cones only the splitting takes.
    if (shape_.cones == 0 && (untried || settings.method != QpMethod::automatic)) {
      const QpVerdict exact = attempt<QpMethod::active_set>(settings, view_);
      if (is_final(exact.status)) return exact;
      const bool limited = settings.max_iterations > 0 && exact.status == Status::iteration_limit;
      if (untried) {  // else it was of no help
        keep_first();
        const QpVerdict decided = decide(settings);
        if (is_final(decided.status) && !(limited && decided.status == Status::solved)) {
          return decided;
        }
        back_to_first();
      }
      if (settings.method == QpMethod::active_set) return exact;
      if (!(magnitude(exact.residual) < kInfinity)) start_from_zero();
    }
    return attempt<QpMethod::admm>(settings, view_);
  }

  template <class Body>
  CAROM_CALL void read(const Body& body) {
    lanes_.for_each(shape_.variables, [&](int j) { x_[j] = body.solution(j); });
    lanes_.for_each(shape_.rows, [&](int i) { y_[i] = body.dual(i); });
  }

  /// One method's end at x, y.
  template <QpMethod Method, class View>
  CAROM_CALL double iterate(const QpTaskSettings& settings, const View& view, int& iterations) {
    if constexpr (Method == QpMethod::active_set) {
      QpActiveSet<Lanes, Memory> body(lanes_, shape_, at_.body);
      const QpExactOutcome outcome =
          body.solve(view, settings.limit(Method, shape_.variables, shape_.rows), x_, y_);
      read(body);
      iterations = outcome.iterations;
      leaning_ =
          body.is_strictly_convex() ? certificate::Leaning::by_active_rows : qp_leaning(shape_);
      return outcome.end;
    } else {
      AdmmQp<double, Lanes, Memory> body(lanes_, shape_, at_.body);
      const QpOutcome<double> outcome =
          body.solve(view, settings.first_order(Method, shape_.variables, shape_.rows), x_, y_);
      read(body);
      iterations = static_cast<int>(outcome.iterations);
      leaning_ = qp_leaning(shape_);
      return outcome.end;
    }
  }

  template <QpMethod Method, class View>
  CAROM_CALL QpVerdict attempt(const QpTaskSettings& settings, const View& view) {
    QpVerdict answer;
    answer.method = Method;
    const double end = iterate<Method>(settings, view, answer.iterations);
    if (end == qp_end::kInfeasible && is_infeasible(settings.tolerance)) {
      answer.status = Status::infeasible;
    } else if (end == qp_end::kUnbounded) {
      answer.status = attempt_point<Method>(settings);
    } else if (end == qp_end::kBroken) {
      answer.status = Status::numerical_error;
    } else {
      judge_cleaned(answer, settings.tolerance, leaning_);
      if (answer.status == Status::inaccurate && end == qp_end::kRunning) {
        answer.status = Status::iteration_limit;
      }
    }
    return answer;
  }

  /// x is said to be a direction without end: that is a verdict only if something meets the rows.
  /// The point nearest to zero is asked for; what excludes it proves the problem infeasible.
  template <QpMethod Method>
  CAROM_CALL Status attempt_point(const QpTaskSettings& settings) {
    const long n = shape_.variables;
    lanes_.for_each(shape_.variables, [&](int j) {
      for (int i = 0; i < n; ++i) at_.other_hessian[i * n + j] = 0.0;
      at_.other_gradient[j] = 0.0;
      at_.point[j] = x_[j];
      x_[j] = 0.0;
    });
    for (int i = 0; i < shape_.rows; ++i) {  // lengths in units of the rows
      const int first = shape_.row_first[i];
      lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) {
        const int j = shape_.column[first + t];
        double& curvature = at_.other_hessian[j * n + j];
        const double entry = view_.matrix[i * n + j];
        curvature = larger(entry * entry, curvature);
      });
    }
    lanes_.for_each(shape_.variables, [&](int j) {
      double& curvature = at_.other_hessian[j * n + j];
      curvature = curvature > 0.0 ? curvature : 1.0;
    });
    lanes_.for_each(shape_.rows, [&](int i) { y_[i] = 0.0; });
    const QpView<Data> nearest{at_.other_hessian, at_.other_gradient, view_.matrix, view_.lower,
                               view_.upper};
    int iterations = 0;
    const double end = iterate<Method>(settings, nearest, iterations);
    if (end == qp_end::kInfeasible && is_infeasible(settings.tolerance)) return Status::infeasible;
    lanes_.for_each(shape_.variables, [&](int j) {
      const double direction = at_.point[j];
      at_.point[j] = x_[j];
      x_[j] = direction;
    });
    return is_unbounded(settings.tolerance) ? Status::unbounded : Status::numerical_error;
  }

  const Lanes& lanes_;
  const QpShape& shape_;
  QpView<Data> view_;
  Memory x_, y_;  // the answer, or its proof
  QpFinishLayout<Memory> at_;
  double proof_ = kInfinity;  // residual of the proof that was tried last
  certificate::Leaning leaning_ = certificate::Leaning::refused;  // of the last iterate()
  bool convex_ = true;                                            // without the equations
  QpKnowledge known_;
};

}  // namespace carom::kernels
