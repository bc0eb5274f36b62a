#pragma once

#include "programs/qp/kernels/qp_task.hpp"

/// Operator splitting for large quadratic programs with interval rows, in steps between which a
/// library factors and multiplies: K = P + sigma I + A'R A and its inverse are formed once for each
/// penalty, then an iteration is a product with K^-1 and what these steps do entry by entry. The
/// same method as AdmmQp with the same scaling and certificate; the polish ends it likewise.
namespace carom::kernels {

/// What a problem under way keeps, as offsets in its slot: the scaled problem, its factor and the
/// inverse column by column, vectors of n and of m values, what judges them, and scalars.
template <class Memory>
struct QpLargeLayout {
  Memory hessian;
  Memory factor;
  Memory inverse;
  Memory matrix;
  Memory gradient;
  Memory column_scale;
  Memory x;
  Memory next;
  Memory push;
  Memory change_x;
  Memory work_n;
  Memory polished_x;
  Memory best_x;
  Memory row_scale;
  Memory lower;
  Memory upper;
  Memory z;
  Memory y;
  Memory penalty;
  Memory change_y;
  Memory work_m;
  Memory work_p;
  Memory polished_y;
  Memory tight;
  Memory target;
  Memory best_y;
  Memory judge;
  Memory scalars;
  long end = 0;  ///< even, so that slots stay aligned

  QpLargeLayout() = default;
  CAROM_INLINE constexpr QpLargeLayout(Arena<Memory>& arena, long n, long m)
      : hessian(arena.take(n * n)),
        factor(arena.take(n * n)),
        inverse(arena.take(n * n)),
        matrix(arena.take(m * n)),
        gradient(arena.take(n)),
        column_scale(arena.take(n)),
        x(arena.take(n)),
        next(arena.take(n)),
        push(arena.take(n)),
        change_x(arena.take(n)),
        work_n(arena.take(n)),
        polished_x(arena.take(n)),
        best_x(arena.take(n)),
        row_scale(arena.take(m)),
        lower(arena.take(m)),
        upper(arena.take(m)),
        z(arena.take(m)),
        y(arena.take(m)),
        penalty(arena.take(m)),
        change_y(arena.take(m)),
        work_m(arena.take(m)),
        work_p(arena.take(m)),
        polished_y(arena.take(m)),
        tight(arena.take(m)),
        target(arena.take(m)),
        best_y(arena.take(m)),
        judge(arena.take(certificate::qp_judge_workspace(n, m))),
        scalars(arena.take(8)),
        end(arena.used() + (arena.used() & 1)) {}
};
using QpLargeParts = QpLargeLayout<long>;
CAROM_INLINE constexpr QpLargeParts qp_large_parts(long n, long m) {
  return placed<QpLargeLayout>(0L, n, m);
}

using QpLargePart = long QpLargeParts::*;

/// Problems [base, base + slots) of a batch without cone rows.
struct QpLargeArrays {
  QpTaskArrays task;
  QpLargeParts parts;
  long base;
  const int* column_first;  ///< [n + 1]; rows where column j is nonzero: column_row[..], ascending
  const int* column_row;
  double* slots;  ///< [slots, parts.end]
  int* end;       ///< [slots], qp_end
  int* wish;      ///< [slots], what is to be done before the next iteration
  int* broken;    ///< [slots], not zero where the last factorisation failed

  CAROM_INLINE PlainMemory<double> at(int slot, long part) const {
    return {slots + slot * parts.end + part};
  }
};

namespace qp_large {

inline constexpr int kNothing = 0;
inline constexpr int kRefactor = 1;
inline constexpr int kPolish = 2;

inline constexpr double kSigma = 1e-9;
inline constexpr double kEquationWeight = 1e3;
inline constexpr double kShare = 1e-2;
inline constexpr double kProofShare = 0.1;
inline constexpr double kPolishFrom = 1e-5;
inline constexpr double kAdaptRatio = 3.0;
inline constexpr int kCheckEvery = 20;
inline constexpr int kAdaptEvery = 60;
inline constexpr int kPolishPasses = 8;
/// Weaker than the small problems' polish, so that Cholesky without pivots does not break.
inline constexpr double kPolishPenalty = 1e6;
inline constexpr double kPolishProximity = 1e-8;

// Scalars of a slot.
inline constexpr int kRho = 0;
inline constexpr int kLength = 1;
inline constexpr int kCost = 2;
inline constexpr int kBounds = 3;
inline constexpr int kBest = 4;
inline constexpr int kIterations = 5;

using Memory = PlainMemory<double>;
using Input = PlainMemory<const double>;

/// What all steps see of a slot.
struct Slot {
  const QpLargeArrays& arrays;
  int slot;

  CAROM_INLINE int n() const { return arrays.task.shape.variables; }
  CAROM_INLINE int m() const { return arrays.task.shape.rows; }
  CAROM_INLINE long problem() const { return arrays.base + slot; }
  CAROM_INLINE Memory operator[](QpLargePart part) const {
    return arrays.at(slot, arrays.parts.*part);
  }
  CAROM_INLINE double& scalar(int which) const {
    return arrays.at(slot, arrays.parts.scalars)[which];
  }
  CAROM_INLINE QpView<Input> view() const {
    const QpTaskArrays& task = arrays.task;
    const long p = problem();
    const long size = n();
    const long rows = m();
    return {Input{task.hessian + p * size * size}, Input{task.vector + p * size},
            Input{task.matrix + p * rows * size}, Input{task.lower + p * rows},
            Input{task.upper + p * rows}};
  }
  CAROM_INLINE ScaledQp<Memory> scaled() const {
    using P = QpLargeParts;
    return {(*this)[&P::hessian],      (*this)[&P::gradient],  (*this)[&P::matrix],
            (*this)[&P::column_scale], (*this)[&P::row_scale], (*this)[&P::lower],
            (*this)[&P::upper]};
  }
  template <class Lanes>
  CAROM_INLINE QpRows<double, Lanes, Memory> rows(const Lanes& lanes) const {
    return {lanes, arrays.task.shape, scaled()};
  }
  /// Row i of A times x.
  CAROM_INLINE double times(int i, const Memory& x) const {
    const SingleLane lane;
    return rows(lane).times(i, x);
  }
  /// Column j of A times v.
  CAROM_INLINE double pull(int j, const Memory& v) const {
    const Memory matrix = (*this)[&QpLargeParts::matrix];
    double sum = 0.0;
    for (int t = arrays.column_first[j]; t < arrays.column_first[j + 1]; ++t) {
      const int i = arrays.column_row[t];
      sum = fused(matrix[static_cast<long>(i) * n() + j], v[i], sum);
    }
    return sum;
  }
};

/// Refuses what is no number, scales, starts, and leaves in `factor` what is positive definite
/// where the problem is convex.
struct Prepare {
  QpLargeArrays arrays;

  template <class Lanes>
  CAROM_HOST_DEVICE void operator()(const Lanes& lanes, int slot, int) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    const int n = at.n();
    const int m = at.m();
    const QpView<Input> view = at.view();
    const QpShape& shape = arrays.task.shape;
    const Memory refused = at[&P::judge];
    lanes.for_each(n, [&](int j) {
      double sum = view.gradient[j] * 0.0;
      for (int i = 0; i < n; ++i) sum += view.hessian[static_cast<long>(i) * n + j] * 0.0;
      refused[j] = sum;
    });
    lanes.for_each(m, [&](int i) {
      double sum = 0.0;
      for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
        sum += view.matrix[static_cast<long>(i) * n + shape.column[t]] * 0.0;
      }
      if (!(view.lower[i] < kInfinity) || !(view.upper[i] > -kInfinity)) sum = kInfinity;
      if (view.lower[i] > view.upper[i]) sum = kInfinity;  // others prove it
      refused[n + i] = sum;
    });
    double sum = 0.0;
    for (int e = 0; e < n + m; ++e) sum += refused[e];
    const QpScale<double> scale = scale_problem<double>(lanes, shape, view, at.scaled());
    raise_hessian<double>(lanes, n, view.hessian, at[&P::factor], at[&P::work_n]);
    lanes.for_each(n, [&](int j) {  // no curvature at all is convex
      double& diagonal = at[&P::factor][j * (n + 1L)];
      if (diagonal == 0.0) diagonal = 1.0;
    });
    const Memory x = at[&P::x];
    const Memory z = at[&P::z];
    const Memory y = at[&P::y];
    const double* start_x = arrays.task.start.solution;
    const double* start_y = arrays.task.start.dual;
    lanes.for_each(n, [&](int j) {
      const double from = start_x == nullptr ? 0.0 : start_x[at.problem() * n + j];
      x[j] = from / (scale.length * at.scaled().column_scale[j]);
      at[&P::change_x][j] = 0.0;
    });
    lanes.for_each(m, [&](int i) {
      const double from = start_y == nullptr ? 0.0 : start_y[at.problem() * m + i];
      z[i] = at.times(i, x);
      y[i] = from * scale.cost / at.scaled().row_scale[i];
      at[&P::change_y][i] = 0.0;
    });
    lanes.for_each(1, [&](int) {
      at.scalar(kRho) = arrays.task.settings.penalty;
      at.scalar(kLength) = scale.length;
      at.scalar(kCost) = scale.cost;
      at.scalar(kBounds) = scale.bounds;
      at.scalar(kIterations) = 0.0;
      arrays.end[slot] = static_cast<int>(sum == 0.0 ? qp_end::kRunning : qp_end::kBroken);
      arrays.wish[slot] = kRefactor;
    });
  }
};

/// After the factorisation that tests convexity, or one that iterations need.
struct JudgeFactor {
  QpLargeArrays arrays;
  double what;  ///< qp_end of a failure

  CAROM_HOST_DEVICE void operator()(int slot, int) const {
    if (arrays.broken[slot] != 0 && arrays.end[slot] == 0) {
      arrays.end[slot] = static_cast<int>(what);
    }
  }
};

/// The penalty of row i, and work_m = R z - y.
struct SetPenalty {
  QpLargeArrays arrays;

  CAROM_HOST_DEVICE void operator()(int slot, int i) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    if (i == 0) arrays.wish[slot] = kNothing;
    if (i >= at.m()) return;
    const bool equation = at[&P::lower][i] == at[&P::upper][i];
    const double penalty = at.scalar(kRho) * (equation ? kEquationWeight : 1.0);
    at[&P::penalty][i] = penalty;
    at[&P::work_m][i] = fused(penalty, at[&P::z][i], -at[&P::y][i]);
  }
};

/// Column j of factor = P + sigma I + A' diag(weights) A, below the diagonal.
struct Assemble {
  QpLargeArrays arrays;
  long weights;  ///< part of the slot, [rows]
  double sigma;

  template <class Lanes>
  CAROM_HOST_DEVICE void operator()(const Lanes& lanes, int slot, int j) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    const QpShape& shape = arrays.task.shape;
    const long n = at.n();
    const Memory hessian = at[&P::hessian] + j * n;
    const Memory column = at[&P::factor] + j * n;
    const Memory matrix = at[&P::matrix];
    const Memory weights_of = arrays.at(slot, weights);
    lanes.for_each(at.n() - j,
                   [&](int t) { column[j + t] = hessian[j + t] + (t == 0 ? sigma : 0.0); });
    for (int s = arrays.column_first[j]; s < arrays.column_first[j + 1]; ++s) {
      const int i = arrays.column_row[s];
      const double value = weights_of[i] * matrix[i * n + j];
      if (value == 0.0) continue;
      const int first = shape.row_first[i];
      lanes.for_each(shape.row_first[i + 1] - first, [&](int t) {
        const int k = shape.column[first + t];
        if (k >= j) column[k] = fused(value, matrix[i * n + k], column[k]);
      });
    }
  }
};

/// push = sigma x - q + A'(R z - y); next = K^-1 push is for the library.
struct Push {
  QpLargeArrays arrays;

  CAROM_HOST_DEVICE void operator()(int slot, int j) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    at[&P::push][j] =
        fused(kSigma, at[&P::x][j], -at[&P::gradient][j]) + at.pull(j, at[&P::work_m]);
  }
};

/// Rows, projected onto their intervals, with work_m for the next iteration; then the unknowns.
struct Move {
  QpLargeArrays arrays;

  CAROM_HOST_DEVICE void operator()(int slot, int e) const {
    using P = QpLargeParts;
    const Slot at{arrays, slot};
    const double relax = arrays.task.settings.over_relaxation;
    if (e >= at.m()) {
      const int j = e - at.m();
      const double change = relax * (at[&P::next][j] - at[&P::x][j]);
      at[&P::change_x][j] = change;
      at[&P::x][j] += change;
      return;
    }
    const double penalty = at[&P::penalty][e];
    const double kept = (1.0 - relax) * at[&P::z][e];
    const double mixed = fused(relax, at.times(e, at[&P::next]), kept);
    const double shifted = mixed + at[&P::y][e] / penalty;
    const double inside = smaller(larger(shifted, at[&P::lower][e]), at[&P::upper][e]);
    const double change = penalty * (mixed - inside);
    const double y = at[&P::y][e] + change;
    at[&P::change_y][e] = change;
    at[&P::y][e] = y;
    at[&P::z][e] = inside;
    at[&P::work_m][e] = fused(penalty, inside, -y);
  }
};

}  // namespace qp_large
}  // namespace carom::kernels
