#pragma once

#include "programs/qp/kernels/qp_decide_homogeneous.hpp"
#include "programs/qp/kernels/qp_homogeneous_check.hpp"
#include "programs/qp/kernels/qp_homogeneous_face.hpp"

/// Convex quadratic programs with cones, decided in doubled precision by one lane: what is slow but
/// says whether a problem is solved, infeasible or unbounded, and proves it. The equations are
/// eliminated (qp_homogeneous_reduction.hpp), the homogeneous embedding is followed
/// (qp_homogeneous_embedding.hpp) until Newton's method on the face of its limit
/// (qp_homogeneous_face.hpp) gives an answer that the data confirm (qp_homogeneous_check.hpp).
namespace carom::kernels {

/// Doubles that a problem needs.
CAROM_INLINE constexpr long qp_homogeneous_workspace(long n, long rows) {
  const long face = qp_face_workspace(n, rows);
  const long scratch = qp_reduction_scratch(n, rows);
  return qp_reduction_workspace(n, rows) + qp_embedding_workspace(n, rows) +
         (face > scratch ? face : scratch) + 5 * n + 4 * rows;
}

struct QpHomogeneousOptions {
  int max_iterations = 100;
  double tolerance = 1e-14;  ///< of a row, column or cone, relative to its own terms
};

/// Rows with l > u are for the caller.
template <class Real = Doubled>
class QpHomogeneous {
 public:
  /// memory: qp_homogeneous_workspace.
  CAROM_HOST_DEVICE QpHomogeneous(const QpShape& shape, double* memory)
      : QpHomogeneous(shape, QpArena(memory)) {}

  /// What it takes of its memory, qp_homogeneous_workspace at most.
  [[nodiscard]] CAROM_CALL long doubles() const { return doubles_; }

  /// The answer; of an unbounded problem a feasible point.
  CAROM_INLINE double solution(int j) const { return x_[j]; }
  /// The multipliers; of an infeasible problem Farkas' vector.
  CAROM_INLINE double dual(int i) const { return y_[i]; }
  /// Of an unbounded problem: descends without end.
  CAROM_INLINE double direction(int j) const { return direction_[j]; }

  /// The whole decision: an endless direction counts with a feasible point only, and what is both
  /// infeasible and without bound is infeasible. refine(x, y): improves an answer that meets its
  /// face, but not every row and column to the size of its own terms; returns what it then leaves.
  template <class Data, class Refine>
  CAROM_CALL QpHomogeneousOutcome decide(const QpView<Data>& view,
                                         const QpHomogeneousOptions& options, Refine&& refine) {
    has_candidate_ = false;
    QpHomogeneousOutcome first = solve(view, true, options);
    if (first.end == qp_end::kStalled && has_candidate_) {
      const double residual = refine(x_, y_);
      if (residual <= options.tolerance) {
        first.end = qp_end::kConverged;
        first.residual = residual;
      }
    }
    if (first.end == qp_end::kConverged || first.end == qp_end::kInfeasible) return first;
    const QpHomogeneousOutcome second = solve(view, false, options);
    first.iterations += second.iterations;
    if (second.end == qp_end::kInfeasible) {
      first.end = qp_end::kInfeasible;
      first.residual = second.residual;
    } else if (first.end == qp_end::kUnbounded && second.end == qp_end::kConverged) {
      first.residual = larger(first.residual, second.residual);
    } else {
      first.end = qp_end::kStalled;
    }
    return first;
  }

  template <class Data>
  CAROM_CALL QpHomogeneousOutcome decide(const QpView<Data>& view,
                                         const QpHomogeneousOptions& options) {
    return decide(view, options, [](double*, double*) { return kInfinity; });
  }

  /// One run. With objective = false P and q are taken as zero: a feasible point or Farkas' vector.
  /// kUnbounded leaves `direction` and says nothing of a feasible point.
  template <class Data>
  CAROM_CALL QpHomogeneousOutcome solve(const QpView<Data>& view, bool objective,
                                        const QpHomogeneousOptions& options) {
    QpHomogeneousOutcome outcome;
    followed_ = false;
    const auto state = reduction_.load(view, objective, iterate_.z, scratch_,
                                       ahead_ == nullptr ? nullptr : &ahead_->reduction_.units);
    if (state == QpReduction<Real>::End::infeasible) {
      if (reduction_.equations_contradict()) {
        reduction_.contradiction(full_y_);
      } else {
        for (int j = 0; j < shape_.variables; ++j) full_x_[j] = Real(0.0);
        reduction_.multipliers(view, false, Real(0.0), full_x_, iterate_.z, full_y_);
      }
      claim(view, QpFaceKind::contradiction, objective, options, outcome);
      return outcome;
    }
    if (reduction_.has_line) {
      for (int j = 0; j < shape_.variables; ++j) full_x_[j] = reduction_.direction[j];
      claim(view, QpFaceKind::ray, objective, options, outcome);
      return outcome;
    }
    if (ahead_ == nullptr || !objective || !starts_at(*ahead_)) iterate_.start();
    followed_ = true;
    double next = kFirstLook;
    int short_steps = 0;
    while (outcome.iterations < options.max_iterations) {
      const double length = iterate_.iterate();
      ++outcome.iterations;
      const auto gap = static_cast<double>(iterate_.gap);
      short_steps = length < kShort ? short_steps + 1 : 0;
      const bool last = length <= 0.0 || short_steps > kMaxShort || gap < kLeastGap ||
                        outcome.iterations == options.max_iterations;
      if (gap > next && !last) continue;
      next = gap * kBetweenLooks;
      const bool claimed = outcome.end != qp_end::kStalled;
      look(view, objective, options, outcome, last);
      if (last || claimed || outcome.residual <= kAim) break;
    }
    return outcome;
  }

  /// Follows the embedding while it tends to a proof that there is no answer. From time to time
  /// proves(y, d) is asked about what may be Farkas' vector and a direction without end, until it
  /// says yes. In plain doubles this is quick, and says nothing by itself.
  template <class Data, class Proves>
  CAROM_CALL bool seek_proof(const QpView<Data>& view, int max_iterations, Proves&& proves,
                             int& iterations) {
    constexpr double kSeen = 1e-4;  // of the gap
    constexpr double kBetween = 1e-2;
    followed_ = false;
    if (reduction_.load(view, true, iterate_.z, scratch_) == QpReduction<Real>::End::infeasible ||
        reduction_.has_line) {
      return false;
    }
    iterate_.start();
    followed_ = true;
    double next = kSeen;
    for (iterations = 1; iterations <= max_iterations; ++iterations) {
      followed_ = iterate_.iterate() > 0.0;
      if (!followed_) return false;
      const auto tau = static_cast<double>(iterate_.tau);
      const auto kappa = static_cast<double>(iterate_.kappa);
      const auto gap = static_cast<double>(iterate_.gap);
      if (gap > next) continue;
      if (!(tau < kClear * kappa)) return false;
      next = gap * kBetween;
      for (int j = 0; j < shape_.variables; ++j) full_x_[j] = Real(0.0);
      reduction_.multipliers(view, false, Real(0.0), full_x_, iterate_.z, full_y_);
      for (int i = 0; i < shape_.rows; ++i) {
        y_[i] = static_cast<double>(full_y_[i]) * reduction_.units.row[i];
      }
      reduction_.point(Real(0.0), iterate_.u, full_x_);
      for (int j = 0; j < shape_.variables; ++j) {
        direction_[j] = static_cast<double>(full_x_[j]) * reduction_.units.column[j];
      }
      if (proves(y_, direction_)) return true;
    }
    return false;
  }

  /// On from where seek_proof has left the path, as far as `solve` need not look. False where that
  /// is too far for plain doubles, or where they have gone further.
  CAROM_CALL bool follow(int max_iterations, int& iterations) {
    while (followed_ && static_cast<double>(iterate_.gap) > kAhead) {
      followed_ = ++iterations <= max_iterations && iterate_.iterate() > kShort;
    }
    return followed_ && static_cast<double>(iterate_.gap) > kTooFar;
  }
  /// `solve` of the same problem, with the objective, starts where `ahead` is; null: at the path's
  /// beginning.
  CAROM_CALL void start_at(const QpHomogeneous<double>* ahead) { ahead_ = ahead; }

  /// What the last iterate of a run holds of Farkas' vector, without what stands for zeros: less
  /// than this share of the largest multiplier. Claims nothing. Returns how far the support is
  /// below zero, of the largest multiplier, in the method's units; 0 where there is nothing.
  template <class Data>
  CAROM_CALL double last_multipliers(const QpView<Data>& view, double nothing, double* y) {
    if (!followed_) return 0.0;
    Real* const z = face_.z;
    for (int e = 0; e < reduction_.elements; ++e) z[e] = iterate_.z[e];
    // One multiplier for the two sides of a row: what both have in common proves nothing.
    for (int e = 1; e < reduction_.halves; ++e) {
      if (reduction_.element[e - 1].row != reduction_.element[e].row) continue;
      const Real common = smaller(z[e - 1], z[e]);
      z[e - 1] -= common;
      z[e] -= common;
    }
    double most = 0.0;
    for (int e = 0; e < reduction_.elements; ++e) {
      most = larger(magnitude(static_cast<double>(z[e])), most);
    }
    if (!(most > 0.0) || !(most < kInfinity)) return 0.0;
    Real support(0.0);
    const auto settle = [&](int e, double size) {
      z[e] = magnitude(static_cast<double>(z[e])) <= nothing * size ? Real(0.0) : z[e] / Real(most);
      support += z[e] * reduction_.bound[e];
    };
    for (int e = 0; e < reduction_.halves; ++e) settle(e, most);
    iterate_.for_cones([&](int first, int size) {
      const auto head = static_cast<double>(z[first]);
      const bool none = head <= nothing * most;
      for (int e = first; e < first + size; ++e) settle(e, none ? kInfinity : head);
    });
    reduction_.multipliers(view, false, Real(0.0), full_x_, z, full_y_);
    for (int i = 0; i < shape_.rows; ++i) {
      y[i] = static_cast<double>(full_y_[i]) * reduction_.units.row[i];
    }
    return -static_cast<double>(support);
  }

 private:
  template <class Other>
  friend class QpHomogeneous;

  static constexpr double kAhead = 1e-8;
  static constexpr double kTooFar = 1e-12;
  static constexpr double kFirstLook = 1e-9;
  static constexpr double kBetweenLooks = 1e-5;
  static constexpr double kLeastGap = 1e-28;
  static constexpr double kShort = 1e-4;
  static constexpr int kMaxShort = 4;
  static constexpr double kClear = 1e-2;
  static constexpr double kAim = 1e-15;  // of a claim; short of it one more look is worth it

  CAROM_HOST_DEVICE QpHomogeneous(const QpShape& shape, QpArena arena)
      : shape_(shape),
        x_(arena.take<double>(shape.variables)),
        y_(arena.take<double>(shape.rows)),
        direction_(arena.take<double>(shape.variables)),
        trial_x_(arena.take<double>(shape.variables)),
        trial_y_(arena.take<double>(shape.rows)),
        full_x_(arena.take<Real>(shape.variables)),
        full_y_(arena.take<Real>(shape.rows)),
        reduction_(shape, arena),
        iterate_(shape, reduction_, arena),
        scratch_(arena.take<double>(0)),
        doubles_(arena.used() + qp_reduction_scratch(shape.variables, shape.rows)),
        face_(shape, reduction_, iterate_, arena) {
    // The scratch of a reduction and the face lie in one place.
    doubles_ = arena.used() > doubles_ ? arena.used() : doubles_;
  }

  [[nodiscard]] CAROM_CALL bool starts_at(const QpHomogeneous<double>& ahead) {
    return ahead.reduction_.unknowns == reduction_.unknowns &&
           ahead.reduction_.halves == reduction_.halves &&
           ahead.reduction_.elements == reduction_.elements && iterate_.start_at(ahead.iterate_);
  }

  /// Tries what the iterate may be the limit of.
  template <class Data>
  CAROM_CALL void look(const QpView<Data>& view, bool objective,
                       const QpHomogeneousOptions& options, QpHomogeneousOutcome& outcome,
                       bool last) {
    const auto tau = static_cast<double>(iterate_.tau);
    const auto kappa = static_cast<double>(iterate_.kappa);
    const auto gap = static_cast<double>(iterate_.gap);
    if (last || kappa < kClear * tau) {
      const double level = gap / (tau * tau);
      try_faces(view, QpFaceKind::answer, objective, level, options, outcome);
    }
    if (outcome.residual <= kAim) return;
    if (last || tau < kClear * kappa) {
      try_faces(view, QpFaceKind::contradiction, objective, gap, options, outcome);
      if (outcome.residual <= kAim || !objective) return;
      try_faces(view, QpFaceKind::ray, objective, gap, options, outcome);
    }
  }

  template <class Data>
  CAROM_CALL void try_faces(const QpView<Data>& view, QpFaceKind kind, bool objective, double level,
                            const QpHomogeneousOptions& options, QpHomogeneousOutcome& outcome) {
    if (!(level < 1.0)) return;
    const double root = square_root(square_root(1.0 / level));
    const double answers[kAttempts] = {root, 1.0, square_root(root), root, 1.0};
    const double proofs[kAttempts] = {root * root, root, root * root * root, root * root, root};
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const double band = kind == QpFaceKind::answer ? answers[attempt] : proofs[attempt];
      // First whatever is not rounding, then what the iterate's own error cannot explain.
      const double dependent = attempt < kSharp ? kDependent : 1.0 / (root * root);
      const double least = attempt < kSharp ? 0.0 : 1.0;
      if (!face_.find(kind, band, dependent, least)) return;
      if (!face_.is_met()) continue;
      expand(view, kind, objective);
      claim(view, kind, objective, options, outcome);
      if (outcome.residual > kAim) continue;
      // The same with fewer numbers that the data do not ask for.
      if (face_.simplify() && face_.is_met()) {
        QpHomogeneousOutcome simpler = outcome;
        simpler.residual = kAim;
        expand(view, kind, objective);
        claim(view, kind, objective, options, simpler);
        if (simpler.residual < kAim) outcome = simpler;
      }
      return;
    }
  }

  /// The face's point in the problem's variables and rows.
  template <class Data>
  CAROM_CALL void expand(const QpView<Data>& view, QpFaceKind kind, bool objective) {
    const bool answer = kind == QpFaceKind::answer;
    if (kind != QpFaceKind::contradiction) {
      reduction_.point(Real(answer ? 1.0 : 0.0), face_.u, full_x_);
    }
    if (kind != QpFaceKind::ray) {
      reduction_.multipliers(view, objective && answer, Real(1.0), full_x_, face_.z, full_y_);
    }
  }

  /// Rounds to doubles of the problem's units, asks the data, keeps what is better.
  template <class Data>
  CAROM_CALL void claim(const QpView<Data>& view, QpFaceKind kind, bool objective,
                        const QpHomogeneousOptions& options, QpHomogeneousOutcome& outcome) {
    const QpHomogeneousUnits& units = reduction_.units;
    const QpHomogeneousCheck<Data> check(shape_, view);
    const int n = shape_.variables;
    if (kind != QpFaceKind::contradiction) round(n, full_x_, units.column, trial_x_);
    if (kind != QpFaceKind::ray) round(shape_.rows, full_y_, units.row, trial_y_);
    double end = qp_end::kConverged;
    double residual = kInfinity;
    if (kind == QpFaceKind::contradiction) {
      end = qp_end::kInfeasible;
      residual = check.contradiction(trial_y_);
      const double slope = slope_of(shape_.rows, full_y_, units.row, [&](int i) {
        const double bound =
            trial_y_[i] > 0.0 || !is_there(view.lower[i]) ? view.upper[i] : view.lower[i];
        return is_there(bound) ? bound : 0.0;
      });
      if (is_hidden(slope, check.touched_by(trial_y_))) return;
    } else if (kind == QpFaceKind::ray) {
      end = qp_end::kUnbounded;
      residual = check.endless(trial_x_);
      const double slope =
          slope_of(n, full_x_, units.column, [&](int j) { return view.gradient[j]; });
      if (is_hidden(slope, check.touched_along(trial_x_))) return;
    } else {
      residual = objective ? check.optimal(trial_x_, trial_y_) : check.feasible(trial_x_);
    }
    if (kind == QpFaceKind::answer && objective && outcome.end == qp_end::kStalled) {
      has_candidate_ = true;
      for (int j = 0; j < n; ++j) x_[j] = trial_x_[j];
      for (int i = 0; i < shape_.rows; ++i) y_[i] = trial_y_[i];
    }
    if (!(residual <= options.tolerance) || residual >= outcome.residual) return;
    outcome.end = end;
    outcome.residual = residual;
    double* const x = kind == QpFaceKind::ray ? direction_ : x_;
    for (int j = 0; j < n && kind != QpFaceKind::contradiction; ++j) x[j] = trial_x_[j];
    for (int i = 0; i < shape_.rows && kind != QpFaceKind::ray; ++i) y_[i] = trial_y_[i];
  }

  /// -cost'v over the largest of the cost and of v in the method's units.
  template <class Cost>
  CAROM_CALL double slope_of(int count, const Real* v, const double* unit, Cost&& cost) const {
    Real sum(0.0);
    double most_v = 0.0;
    double most_cost = 0.0;
    for (int i = 0; i < count; ++i) {
      const double scaled = cost(i) * unit[i];
      sum -= v[i] * scaled;
      most_v = larger(most_v, magnitude(static_cast<double>(v[i])));
      most_cost = larger(most_cost, magnitude(scaled));
    }
    return static_cast<double>(sum) / (most_v * most_cost);
  }
  /// Of k cones that touch one another in turn the last lets a vector move by the 2^k-th root of
  /// what the first is missed by. A slope of that size is no proof, however small the residual.
  static CAROM_CALL bool is_hidden(double slope, int touched) {
    double least = kHiddenMiss;
    for (int k = 0; k < touched; ++k) least = square_root(least);
    return touched > 0 && !(slope > least);
  }

  /// to = factor / unit value; what only rounding keeps from zero is zero.
  CAROM_CALL void round(int count, const Real* values, const double* factor, double* to) const {
    constexpr double kNothing = 1e-24;
    double most = 1.0;
    for (int i = 0; i < count; ++i) {
      most = larger(magnitude(static_cast<double>(values[i])), most);
    }
    for (int i = 0; i < count; ++i) {
      const auto value = static_cast<double>(values[i]);
      to[i] =
          magnitude(value) <= kNothing * most ? 0.0 : value * (factor[i] / reduction_.units.unit);
    }
  }

  static constexpr double kHiddenMiss = 1e-20;
  static constexpr int kAttempts = 5;
  static constexpr int kSharp = 3;
  static constexpr double kDependent = 1e-17;

  QpShape shape_;
  double *x_, *y_, *direction_, *trial_x_, *trial_y_;
  Real *full_x_, *full_y_;
  QpReduction<Real> reduction_;
  QpEmbedding<Real> iterate_;
  double* scratch_;  // of the reduction; the face's memory afterwards
  long doubles_;
  QpFace<Real> face_;
  const QpHomogeneous<double>* ahead_ = nullptr;
  bool followed_ = false;       // the last run made an iterate
  bool has_candidate_ = false;  // of a run that claims nothing
};

}  // namespace carom::kernels
