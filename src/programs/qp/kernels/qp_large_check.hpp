#pragma once

#include "programs/qp/kernels/qp_doubt.hpp"
#include "programs/qp/kernels/qp_large.hpp"

/// The other half of the steps for large quadratic programs: how far an iterate is, the polish on
/// the active rows, and the certified results.
namespace carom::kernels::qp_large {

/// Ends what has converged, proves something or broke; wishes for a polish or another penalty.
struct Check {
  QpLargeArrays arrays;
  int iterations;  ///< since the last check
  bool adapt;
  bool last;  ///< no iteration follows

  template <class Lanes>
  CAROM_HOST_DEVICE void operator()(const Lanes& lanes, int slot, int) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    const QpTaskSettings& settings = arrays.task.settings;
    const auto rows = at.rows(lanes);
    const QpMerit<double> merit = qp_merit<double>(rows, at[&P::x], at[&P::y], at[&P::work_n],
                                                   at[&P::work_p], at[&P::target]);
    double end = qp_end::kRunning;
    const double aim = settings.polish ? kPolishFrom : kShare * settings.tolerance;
    int wish = kNothing;
    if (infeasible(lanes, at, settings.tolerance)) {
      end = qp_end::kInfeasible;
    } else if (unbounded(lanes, at, settings.tolerance)) {
      end = qp_end::kUnbounded;
    } else if (!(merit.worst() < kInfinity)) {
      end = qp_end::kBroken;
    } else if (merit.worst() <= kShare * settings.tolerance) {
      end = qp_end::kConverged;
    } else if (merit.worst() <= aim) {
      wish = kPolish;
    }
    double rho = at.scalar(kRho);
    if (adapt && !last && end == qp_end::kRunning) {
      // The penalty that would have balanced primal and dual residuals.
      const double primal = larger(larger(merit.primal, merit.gap), 1e-30);
      const double ratio = square_root(primal / larger(merit.dual, 1e-30));
      const double bounded = smaller(larger(ratio, 1e-3), 1e3);
      if (larger(bounded, 1.0 / bounded) > kAdaptRatio) {
        rho = smaller(larger(rho * bounded, 1e-6), 1e8);
        wish |= kRefactor;
      }
    }
    lanes.for_each(at.m(), [&](int i) {
      if (end == qp_end::kInfeasible) at[&P::y][i] = at[&P::change_y][i];
    });
    lanes.for_each(at.n(), [&](int j) {
      if (end == qp_end::kUnbounded) at[&P::x][j] = at[&P::change_x][j];
    });
    lanes.for_each(1, [&](int) {
      arrays.end[slot] = static_cast<int>(end);
      arrays.wish[slot] = wish;
      at.scalar(kRho) = rho;
      at.scalar(kBest) = merit.worst();
      at.scalar(kIterations) += static_cast<double>(iterations);
    });
  }

 private:
  /// Farkas' proof in the scaled problem by the last difference of multipliers.
  template <class Lanes>
  CAROM_HOST_DEVICE bool infeasible(const Lanes& lanes, const Slot& at, double tolerance) const {
    using P = QpLargeParts;
    const Memory change = at[&P::change_y];
    const Memory work = at[&P::work_n];
    lanes.for_each(at.n(), [&](int j) { work[j] = at.pull(j, change); });
    double support = 0.0;
    double worst = 0.0;
    for (int i = 0; i < at.m(); ++i) {
      const double bound = change[i] > 0.0 ? at[&P::upper][i] : at[&P::lower][i];
      if (magnitude(bound) < kInfinity) {
        support = fused(bound, change[i], support);
      } else {
        worst = larger(magnitude(change[i]), worst);
      }
    }
    for (int j = 0; j < at.n(); ++j) worst = larger(magnitude(work[j]), worst);
    return support < 0.0 &&
           at.scalar(kBounds) * worst <= kProofShare * tolerance * magnitude(support);
  }

  /// A direction without end, by the last difference of the unknowns.
  template <class Lanes>
  CAROM_HOST_DEVICE bool unbounded(const Lanes& lanes, const Slot& at, double tolerance) const {
    using P = QpLargeParts;
    const Memory change = at[&P::change_x];
    const Memory bent = at[&P::work_n];
    const Memory along = at[&P::work_p];
    at.rows(lanes).gradient(change, bent);
    lanes.for_each(at.m(), [&](int i) { along[i] = at.times(i, change); });
    double slope = 0.0;
    double worst = 0.0;
    for (int j = 0; j < at.n(); ++j) {
      const double q = at[&P::gradient][j];
      slope = fused(q, change[j], slope);
      worst = larger(magnitude(bent[j] - q), worst);
    }
    for (int i = 0; i < at.m(); ++i) {
      worst = larger(presence(at[&P::upper][i]) * along[i], worst);
      worst = larger(presence(at[&P::lower][i]) * -along[i], worst);
    }
    return slope < 0.0 && worst <= kProofShare * tolerance * magnitude(slope);
  }
};

/// The rows whose multipliers outweigh their distance become equations of large weight.
struct Identify {
  QpLargeArrays arrays;

  template <class Lanes>
  CAROM_HOST_DEVICE void operator()(const Lanes& lanes, int slot, int) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    lanes.for_each(at.n(), [&](int j) { at[&P::polished_x][j] = at[&P::x][j]; });
    lanes.for_each(at.m(), [&](int i) {
      const double value = at.times(i, at[&P::x]);
      const double y = at[&P::y][i];
      const double l = at[&P::lower][i];
      const double u = at[&P::upper][i];
      const bool up = l == u || u - value < y;
      const bool tight = up || value - l < -y;
      at[&P::tight][i] = tight ? kPolishPenalty : 0.0;
      at[&P::target][i] = up ? u : l;
      at[&P::polished_y][i] = tight ? y : 0.0;
    });
    lanes.for_each(1, [&](int) { at.scalar(kBest) = kInfinity; });
  }
};

/// push = -(P x + q + A'(y + w (A x - target))): K step = push is for the library.
struct PolishPush {
  QpLargeArrays arrays;

  template <class Lanes>
  CAROM_HOST_DEVICE void operator()(const Lanes& lanes, int slot, int) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    const Memory x = at[&P::polished_x];
    const Memory push = at[&P::push];
    const Memory forces = at[&P::work_p];
    lanes.for_each(at.m(), [&](int i) {
      const double tight = at[&P::tight][i];
      const double force = fused(tight, at.times(i, x) - at[&P::target][i], at[&P::polished_y][i]);
      forces[i] = tight > 0.0 ? force : 0.0;
    });
    at.rows(lanes).gradient(x, push);
    lanes.for_each(at.n(), [&](int j) { push[j] = -(push[j] + at.pull(j, forces)); });
  }
};

/// Takes the step, and keeps the best of all passes.
struct PolishMove {
  QpLargeArrays arrays;

  template <class Lanes>
  CAROM_HOST_DEVICE void operator()(const Lanes& lanes, int slot, int) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    const Memory x = at[&P::polished_x];
    const Memory y = at[&P::polished_y];
    const Memory step = at[&P::push];
    const Memory forces = at[&P::work_p];
    lanes.for_each(at.m(), [&](int i) {
      const double tight = at[&P::tight][i];
      if (tight > 0.0) y[i] = fused(tight, at.times(i, step), forces[i]);
    });
    lanes.for_each(at.n(), [&](int j) { x[j] += step[j]; });
    const Memory judge = at[&P::judge];
    const QpMerit<double> merit =
        qp_merit<double>(at.rows(lanes), x, y, at[&P::work_n], at[&P::work_p], judge);
    const bool better = merit.worst() < at.scalar(kBest);
    if (!better) return;
    lanes.for_each(at.n(), [&](int j) { at[&P::best_x][j] = x[j]; });
    lanes.for_each(at.m(), [&](int i) { at[&P::best_y][i] = y[i]; });
    lanes.for_each(1, [&](int) { at.scalar(kBest) = merit.worst(); });
  }
};

/// An answer that the polish has brought to the tolerance ends a problem.
struct PolishEnd {
  QpLargeArrays arrays;

  template <class Lanes>
  CAROM_HOST_DEVICE void operator()(const Lanes& lanes, int slot, int) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    const bool good =
        arrays.broken[slot] == 0 && at.scalar(kBest) <= kShare * arrays.task.settings.tolerance;
    lanes.for_each(1, [&](int) { arrays.wish[slot] &= ~kPolish; });
    if (!good) return;
    lanes.for_each(at.n(), [&](int j) { at[&P::x][j] = at[&P::best_x][j]; });
    lanes.for_each(at.m(), [&](int i) { at[&P::y][i] = at[&P::best_y][i]; });
    lanes.for_each(1, [&](int) { arrays.end[slot] = static_cast<int>(qp_end::kConverged); });
  }
};

/// The answer in the problem's units, judged from only the problem. end: 0 where it is certified,
/// 1 where others are to go on.
struct Finish {
  QpLargeArrays arrays;

  template <class Lanes>
  CAROM_HOST_DEVICE void operator()(const Lanes& lanes, int slot, int) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    const QpTaskArrays& task = arrays.task;
    const double length = at.scalar(kLength);
    const double cost = at.scalar(kCost);
    const Memory x = at[&P::x];
    const Memory y = at[&P::y];
    lanes.for_each(at.n(), [&](int j) { x[j] *= length * at[&P::column_scale][j]; });
    lanes.for_each(at.m(), [&](int i) { y[i] *= at[&P::row_scale][i] / cost; });
    const auto view = at.view();
    const certificate::QpJudge<double, Lanes, Input, Memory> judge(lanes, task.shape, view,
                                                                   at[&P::judge]);
    const auto judged = judge.residual(x, y, qp_leaning(task.shape), false);
    QpTaskParts parts;
    parts.x = arrays.parts.x;
    parts.y = arrays.parts.y;
    const QpLeft left =
        QpTaskProblem<Lanes, Memory>(lanes, task, parts, arrays.at(slot, 0))
            .conclude(at.problem(), QpMethod::admm, static_cast<std::uint8_t>(arrays.end[slot]),
                      static_cast<int>(at.scalar(kIterations)), judged.value(), judged.objective,
                      qp_doubt::kNone);
    lanes.for_each(1, [&](int) { arrays.end[slot] = left == QpLeft::nothing ? 0 : 1; });
  }
};

}  // namespace carom::kernels::qp_large
