#pragma once

#include <carom/device/qp_problem.hpp>

#include "programs/qp/body/qp_factor.hpp"
#include "programs/qp/body/qp_scaling.hpp"

/// Primal-dual interior point for convex quadratic programs with second-order cones: Mehrotra's
/// predictor and corrector (1992), Nesterov-Todd scaling of the cones (1997), equations and the
/// Hessian regularised by proximal terms that vanish at the solution. The control flow is the same
/// for every problem but for the number of iterations, so that packs and warps stay together.
namespace carom::kernels {

struct QpOptions {
  double tolerance = 1e-9;
  int max_iterations = 100;
  bool check_convexity = true;
};

/// What the method aims at, in its own measure of the whole problem, so that the certificate finds
/// every row and column within `tolerance` of its own unit: with many of them units differ more.
CAROM_INLINE constexpr double interior_point_aim(int n, double tolerance) {
  return n > 24 ? 1e-3 * tolerance : 0.1 * tolerance;
}

/// Values of V that a problem needs at most.
CAROM_INLINE constexpr long qp_interior_point_workspace(int n, int rows) {
  return 2L * n * n + static_cast<long>(rows) * n + 8L * n + 44L * rows;
}

/// N: the number of variables, ConeSize: the size of all cones, where they are known in advance, or
/// 0. Neither changes a bit of an answer.
template <class V, class Lanes, class Memory, int N = 0, int ConeSize = 0>
class QpInteriorPoint {
 public:
  CAROM_HOST_DEVICE QpInteriorPoint(const Lanes& lanes, const QpShape& shape, Memory memory)
      : lanes_(lanes) {
    Parts& m = parts_;
    m.shape = shape;
    m.n = shape.variables;
    m.rows = shape.rows;
    long used = 0;
    const auto take = [&](long count) {
      const Memory part = memory + used;
      used += count;
      return part;
    };
    const long n = m.n;
    const long rows = m.rows;
    m.scaled = {take(n * n), take(n), take(rows * n), take(n), take(rows), take(rows), take(rows)};
    m.factor = take(n * n);
    m.inverse = take(n);
    m.x = take(n);
    m.step = take(n);
    m.gradient = take(n);
    m.best_x = take(n);
    m.transposed = take(n);
    m.best_y = take(rows);
    m.y = take(rows);
    m.ax = take(rows);
    m.adx = take(rows);
    m.push = take(rows);
    m.weight = take(rows);
    m.equation = take(shape.equations);
    m.equation_on = take(shape.equations);
    m.equation_residual = take(shape.equations);
    const auto side = [&](long count) {
      return Side{take(count), take(count), take(count), take(count), take(count),
                  take(count), take(count), take(count), take(count), take(count)};
    };
    m.lower = side(shape.lowers);
    m.upper = side(shape.uppers);
    if (shape.cones > 0) {
      m.cone = {take(rows), take(rows), take(rows), take(rows), take(rows),
                take(rows), take(rows), take(rows), take(rows), take(rows)};
    }
  }

  /// x and the row multipliers y of the best iterate, in the units of the problem.
  CAROM_INLINE V solution(int j) const { return parts_.best_x[j]; }
  CAROM_INLINE V dual(int i) const { return parts_.best_y[i]; }

  template <class Data>
  CAROM_HOST_DEVICE QpOutcome<V> solve(const QpView<Data>& view, const QpOptions& options) {
    const Parts m = parts_;
    using kernels::all_of;
    scale_ = scale_problem<V, N>(lanes_, m.shape, view, m.scaled);
    QpOutcome<V> outcome{V(qp_end::kRunning), V(0.0)};
    if (options.check_convexity) {
      const V least = convexity_pivot<V, N>(lanes_, variables(), view.hessian, m.factor, m.inverse);
      outcome.end = select(least >= V(0.0), outcome.end, V(qp_end::kNonconvex));
    }
    mark_present();
    start();
    best_merit_ = V(kInfinity);
    V stalls(0.0);
    const V tolerance(options.tolerance);
    for (int iteration = 0; iteration <= options.max_iterations; ++iteration) {
      const V going = select(outcome.end > V(0.0), V(0.0), V(1.0));
      const V merit = measure(tolerance, outcome);
      const V better = going * select(merit < best_merit_, V(1.0), V(0.0));
      keep_best(larger(better, going * certified_));
      stalls = select(merit < V(0.5) * best_merit_, V(0.0), stalls + V(1.0));
      best_merit_ = select(better > V(0.0), merit, best_merit_);
      // Without a solution the multipliers or x itself go on growing.
      const V limit =
          select(best_merit_ < V(kGoodEnough) * tolerance, V(0.5),
                 select(best_merit_ < V(kFarFromSolved), V(kMaxStalls), V(6.0 * kMaxStalls)));
      outcome.end = select(outcome.end > V(0.0), outcome.end,
                           select(stalls > limit, V(qp_end::kStalled), outcome.end));
      if (all_of(outcome.end > V(0.0)) || iteration == options.max_iterations) break;
      running_ = select(outcome.end > V(0.0), V(0.0), V(1.0));
      outcome.iterations = outcome.iterations + running_;
      iterate();
    }
    unscale();
    return outcome;
  }

 private:
  [[nodiscard]] CAROM_INLINE int variables() const { return N > 0 ? N : parts_.n; }
  [[nodiscard]] CAROM_INLINE int size_of(const QpConeSpan& cone) const {
    return ConeSize > 0 ? ConeSize : cone.size;
  }

  static constexpr double kEquationProximity = 1e-9;
  static constexpr double kProximity = 1e-12;
  static constexpr double kShortened = 0.998;
  static constexpr double kConeShortened = 0.995;  // closer, a cone's point loses its digits
  static constexpr double kMaxStalls = 4.0;
  static constexpr double kStartFloor = 1e-3;
  static constexpr double kResidualShare = 5e-2;
  static constexpr double kGapShare = 1e-2;
  static constexpr double kConeGapShare = 5e-2;  // below, cancellation on the boundary sets in
  static constexpr double kProofShare = 0.1;
  static constexpr double kFarFromSolved = 1e-6;
  static constexpr double kGoodEnough = 0.3;
  static constexpr double kSmallestPivot = 1e-40;

  struct Side {
    Memory on, bound, slack, dual, residual, slack_step, dual_step;
    Memory slack_inverse, dual_inverse;
    Memory size_inverse;  // 1 / max(|bound|, 1)
  };
  struct ConeData {
    Memory slack, dual, residual, slack_step, dual_step, point, lambda;
    /// Of a cone's first row: 1 / (1 + w_0), 1 / det s, 1 / det z.
    Memory head_inverse, slack_det, dual_det;
  };

  /// Everything that methods read through a copy of their own: a store of a pack may alias members,
  /// but never a local variable.
  struct Parts {
    QpShape shape;
    int n, rows;
    ScaledQp<Memory> scaled;
    Memory factor, inverse;                           // L D L'
    Memory x, step, gradient, best_x, transposed;     // [n]
    Memory best_y, y, ax, adx, push, weight;          // [rows]
    Memory equation, equation_on, equation_residual;  // [equations]
    Side lower, upper;
    ConeData cone;
  };

  // G x + s = h with G = sign a', h = sign bound.
  template <class F>
  CAROM_INLINE void for_sides(F&& f) const {
    const Parts m = parts_;
    lanes_.for_each(m.shape.lowers, [&](int k) { f(m.lower, k, m.shape.lower_row[k], V(-1.0)); });
    lanes_.for_each(m.shape.uppers, [&](int k) { f(m.upper, k, m.shape.upper_row[k], V(1.0)); });
  }
  // For sums: every lane runs all of it.
  template <class F>
  CAROM_INLINE void over_sides(F&& f) const {
    const Parts m = parts_;
    for (int k = 0; k < m.shape.lowers; ++k) f(m.lower, k, m.shape.lower_row[k], V(-1.0));
    for (int k = 0; k < m.shape.uppers; ++k) f(m.upper, k, m.shape.upper_row[k], V(1.0));
  }

  CAROM_HOST_DEVICE void mark_present() {
    const Parts m = parts_;
    degree_ = V(0.0);
    lanes_.for_each(m.shape.equations, [&](int k) {
      const int i = m.shape.equation_row[k];
      const V l = m.scaled.lower[i];
      const V u = m.scaled.upper[i];
      m.equation_on[k] = presence(l) * select(l != u, V(0.0), V(1.0));
      m.equation[k] = V(0.0);
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V l = m.scaled.lower[i];
      const V u = m.scaled.upper[i];
      const V bound = select(sign > V(0.0), u, l);
      const V on = presence(bound) * select(l != u, V(1.0), V(0.0));
      side.on[k] = on;
      const V value = select(on > V(0.0), sign * bound, V(0.0));
      side.bound[k] = value;
      side.size_inverse[k] = V(1.0) / larger(magnitude(value), V(1.0));
    });
    over_sides([&](const Side& side, int k, int, V) { degree_ = degree_ + side.on[k]; });
    degree_ = larger(degree_ + V(static_cast<double>(m.shape.cones)), V(1.0));
  }

  CAROM_INLINE V row_product(int i, const Memory& x) const {
    const Parts m = parts_;
    V sum(0.0);
    if constexpr (N > 0) {
      if (count_of(i) == N) {
        const Memory row = m.scaled.matrix + static_cast<long>(i) * N;
        for (int j = 0; j < N; ++j) sum = fused(row[j], x[j], sum);
        return sum;
      }
    }
    for (int t = m.shape.row_first[i]; t < m.shape.row_first[i + 1]; ++t) {
      const int j = m.shape.column[t];
      sum = fused(m.scaled.matrix[static_cast<long>(i) * variables() + j], x[j], sum);
    }
    return sum;
  }

  // m.transposed = A' v
  CAROM_HOST_DEVICE void transpose_product(const Memory& v) {
    const Parts m = parts_;
    lanes_.for_each(variables(), [&](int j) { m.transposed[j] = V(0.0); });
    for (int i = 0; i < m.rows; ++i) {
      const V value = v[i];
      const int first = m.shape.row_first[i];
      if constexpr (N > 0) {
        if (count_of(i) == N) {
          const Memory row = m.scaled.matrix + static_cast<long>(i) * N;
          for (int j = 0; j < N; ++j) m.transposed[j] = fused(value, row[j], m.transposed[j]);
          continue;
        }
      }
      lanes_.for_each(m.shape.row_first[i + 1] - first, [&](int t) {
        const int j = m.shape.column[first + t];
        m.transposed[j] =
            fused(value, m.scaled.matrix[static_cast<long>(i) * variables() + j], m.transposed[j]);
      });
    }
  }

  // m.weight -> m.factor = P + A' W A + the cones' part, factorised.
  CAROM_HOST_DEVICE void factorise(bool cones) {
    const Parts m = parts_;
    const long n = variables();
    lanes_.for_each(variables(), [&](int j) {
      for (int i = j; i < variables(); ++i) m.factor[j * n + i] = m.scaled.hessian[j * n + i];
      m.factor[j * n + j] = m.factor[j * n + j] + V(kProximity);
    });
    int i = 0;
    while (i < m.rows) {
      int end = i;
      if constexpr (N > 0) {
        while (end < m.rows && count_of(end) == N) ++end;
      }
      if (end > i) {
        add_dense_rows<0>(i, end);
        i = end;
      } else {
        add_row(i, m.weight[i]);
        ++i;
      }
    }
    if (cones) {
      for (int c = 0; c < m.shape.cones; ++c) add_cone(m.shape.cone[c]);
    }
    factor_symmetric<V, N>(lanes_, variables(), m.factor, m.inverse, V(kSmallestPivot));
  }

  [[nodiscard]] CAROM_INLINE int count_of(int i) const {
    return parts_.shape.row_first[i + 1] - parts_.shape.row_first[i];
  }

  /// Columns J.. of the parts of rows [first, last), all of them full: one column at a time stays
  /// in registers.
  template <int J>
  CAROM_INLINE void add_dense_rows(int first, int last) {
    if constexpr (J < N) {
      const Parts m = parts_;
      V column[N - J];
      for (int k = J; k < N; ++k) column[k - J] = m.factor[J * N + k];
      for (int i = first; i < last; ++i) {
        const Memory row = m.scaled.matrix + static_cast<long>(i) * N;
        const V value = m.weight[i] * row[J];
        for (int k = J; k < N; ++k) column[k - J] = fused(value, row[k], column[k - J]);
      }
      for (int k = J; k < N; ++k) m.factor[J * N + k] = column[k - J];
      add_dense_rows<J + 1>(first, last);
    }
  }

  template <int Count>
  CAROM_INLINE void add_short_row(int i, V weight) {
    const Parts m = parts_;
    const Memory row = m.scaled.matrix + static_cast<long>(i) * N;
    const int* column = m.shape.column + m.shape.row_first[i];
    V entry[Count];
    for (int p = 0; p < Count; ++p) entry[p] = row[column[p]];
    for (int p = 0; p < Count; ++p) {
      const V value = weight * entry[p];
      const Memory to = m.factor + static_cast<long>(column[p]) * N;
      for (int q = p; q < Count; ++q) to[column[q]] = fused(value, entry[q], to[column[q]]);
    }
  }

  CAROM_INLINE void add_row(int i, V weight) {
    const Parts m = parts_;
    const long n = variables();
    const int first = m.shape.row_first[i];
    const int count = m.shape.row_first[i + 1] - first;
    if constexpr (N > 0) {
      if (count == 1) return add_short_row<1>(i, weight);
      if (count == 3) return add_short_row<3>(i, weight);
    }
    const Memory row = m.scaled.matrix + i * n;
    lanes_.for_each(count, [&](int p) {
      const int j = m.shape.column[first + p];
      const V value = weight * row[j];
      for (int q = p; q < count; ++q) {
        const int k = m.shape.column[first + q];
        m.factor[j * n + k] = fused(value, row[k], m.factor[j * n + k]);
      }
    });
  }

  // eta^-2 (2 v v' - G'J G), v = G'J w; the rows' own parts came with m.weight.
  CAROM_HOST_DEVICE void add_cone(const QpConeSpan& cone) {
    const Parts m = parts_;
    const long n = variables();
    const int count = cone.column_last - cone.column_first;
    const V weight = V(2.0) * m.weight[cone.first + 1];
    lanes_.for_each(count, [&](int p) {
      const int j = m.shape.cone_column[cone.column_first + p];
      V v = m.cone.point[cone.first] * m.scaled.matrix[cone.first * n + j];
      for (int i = cone.first + 1; i < cone.first + size_of(cone); ++i) {
        v = fused(-m.cone.point[i], m.scaled.matrix[i * n + j], v);
      }
      m.step[j] = v;
    });
    lanes_.for_each(count, [&](int p) {
      const int j = m.shape.cone_column[cone.column_first + p];
      const V value = weight * m.step[j];
      for (int q = p; q < count; ++q) {
        const int k = m.shape.cone_column[cone.column_first + q];
        m.factor[j * n + k] = fused(value, m.step[k], m.factor[j * n + k]);
      }
    });
  }

  CAROM_INLINE V norm_of_tail(const Memory& values, const QpConeSpan& cone) const {
    V sum(0.0);
    for (int i = cone.first + 1; i < cone.first + size_of(cone); ++i) {
      sum = fused(values[i], values[i], sum);
    }
    return square_root(sum);
  }

  /// Least squares for x with unit weights, slacks and multipliers from its residuals, both moved
  /// into their cones (Mehrotra 1992, section 7).
  CAROM_HOST_DEVICE void start() {
    const Parts m = parts_;
    const V tight(1.0 / kEquationProximity);
    lanes_.for_each(m.rows, [&](int i) {
      m.weight[i] = V(0.0);
      m.push[i] = V(0.0);
    });
    lanes_.for_each(m.shape.equations, [&](int k) {
      const int i = m.shape.equation_row[k];
      const V on = m.equation_on[k] * tight;
      m.weight[i] = on;
      m.push[i] = on * select(on > V(0.0), m.scaled.upper[i], V(0.0));
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      m.weight[i] = m.weight[i] + side.on[k];
      m.push[i] = fused(sign, side.bound[k], m.push[i]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      lanes_.for_each(size_of(cone), [&](int t) {
        m.weight[cone.first + t] = V(1.0);
        m.push[cone.first + t] = m.scaled.upper[cone.first + t];
      });
    }
    factorise(false);
    transpose_product(m.push);
    lanes_.for_each(variables(), [&](int j) { m.x[j] = m.transposed[j] - m.scaled.gradient[j]; });
    solve_symmetric<V, N>(lanes_, variables(), m.factor, m.inverse, m.x);
    lanes_.for_each(m.rows, [&](int i) { m.ax[i] = row_product(i, m.x); });
    for_sides([&](const Side& side, int k, int i, V sign) {
      side.slack[k] = side.bound[k] - sign * m.ax[i];
    });
    lanes_.for_each(m.shape.equations, [&](int k) {
      const int i = m.shape.equation_row[k];
      const V on = m.equation_on[k];
      m.equation[k] = on * tight * (m.ax[i] - select(on > V(0.0), m.scaled.upper[i], m.ax[i]));
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      lanes_.for_each(size_of(cone), [&](int t) {
        const int i = cone.first + t;
        m.cone.slack[i] = m.scaled.upper[i] - m.ax[i];
      });
    }
    // z = -s; the shifts that bring either inside.
    V least(kInfinity);
    V most(-kInfinity);
    over_sides([&](const Side& side, int k, int, V) {
      const V s = side.slack[k];
      least = select(side.on[k] > V(0.0), smaller(least, s), least);
      most = select(side.on[k] > V(0.0), larger(most, s), most);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      const V tail = norm_of_tail(m.cone.slack, cone);
      least = smaller(least, m.cone.slack[cone.first] - tail);
      most = larger(most, m.cone.slack[cone.first] + tail);
    }
    const V first_primal = larger(V(-1.5) * least, V(0.0));
    const V first_dual = larger(V(1.5) * most, V(0.0));
    V product(0.0);
    V slacks(0.0);
    V duals(0.0);
    over_sides([&](const Side& side, int k, int, V) {
      const V on = side.on[k];
      const V s = side.slack[k] + first_primal;
      const V z = first_dual - side.slack[k];
      product = select(on > V(0.0), fused(s, z, product), product);
      slacks = select(on > V(0.0), slacks + s, slacks);
      duals = select(on > V(0.0), duals + z, duals);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      const V s = m.cone.slack[cone.first] + first_primal;
      const V z = first_dual - m.cone.slack[cone.first];
      product = fused(s, z, product);
      for (int i = cone.first + 1; i < cone.first + size_of(cone); ++i) {
        product = fused(-m.cone.slack[i], m.cone.slack[i], product);
      }
      slacks = slacks + s;
      duals = duals + z;
    }
    const V floor(kStartFloor);
    const V primal =
        first_primal + select(duals > V(0.0), larger(V(0.5) * product / duals, floor), V(1.0));
    const V dual =
        first_dual + select(slacks > V(0.0), larger(V(0.5) * product / slacks, floor), V(1.0));
    for_sides([&](const Side& side, int k, int, V) {
      const V s = side.slack[k];
      const V on = side.on[k];
      side.slack[k] = select(on > V(0.0), s + primal, V(1.0));
      side.dual[k] = select(on > V(0.0), dual - s, V(1.0));
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      lanes_.for_each(size_of(cone), [&](int t) {
        const int i = cone.first + t;
        const V s = m.cone.slack[i];
        m.cone.slack[i] = t == 0 ? s + primal : s;
        m.cone.dual[i] = t == 0 ? dual - s : -s;
      });
    }
  }

  /// Residuals of the optimality conditions at the iterate, its multipliers m.y, m.gradient =
  /// P x + q, the gap; ends lanes that have converged or proved that they cannot.
  CAROM_HOST_DEVICE V measure(V tolerance, QpOutcome<V>& outcome) {
    const Parts m = parts_;
    const long n = variables();
    lanes_.for_each(m.rows, [&](int i) { m.y[i] = V(0.0); });
    lanes_.for_each(m.shape.equations, [&](int k) {
      m.y[m.shape.equation_row[k]] = m.equation_on[k] * m.equation[k];
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      m.y[i] = fused(sign * side.on[k], side.dual[k], m.y[i]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      lanes_.for_each(size_of(cone),
                      [&](int t) { m.y[cone.first + t] = m.cone.dual[cone.first + t]; });
    }
    transpose_product(m.y);
    lanes_.for_each(variables(), [&](int j) {
      V sum(0.0);
      for (int i = 0; i < j; ++i) sum = fused(m.scaled.hessian[i * n + j], m.x[i], sum);
      for (int i = j; i < variables(); ++i) sum = fused(m.scaled.hessian[j * n + i], m.x[i], sum);
      m.step[j] = sum;
      m.gradient[j] = sum + m.scaled.gradient[j];
    });
    V dual(0.0);
    V force(1.0);
    V length(1.0);
    V slope(0.0);
    V curved(0.0);
    V balance(0.0);
    for (int j = 0; j < variables(); ++j) {
      dual = larger(magnitude(m.gradient[j] + m.transposed[j]), dual);
      balance = larger(magnitude(m.transposed[j]), balance);
      curved = larger(magnitude(m.step[j]), curved);
      length = larger(magnitude(m.x[j]), length);
      slope = fused(m.scaled.gradient[j], m.x[j], slope);
    }
    force = larger(force, larger(balance, curved));
    V primal(0.0);
    V gap(0.0);
    V support(0.0);  // h'z + b'y
    V climb(0.0);    // how far x itself, as a direction, points out of the rows
    const V length_inverse = V(1.0) / length;
    over_sides([&](const Side& side, int k, int i, V sign) {
      const V on = side.on[k];
      const V gx = sign * m.ax[i];
      const V residual = on * (gx + side.slack[k] - side.bound[k]);
      side.residual[k] = residual;
      const V z = on * side.dual[k];
      primal = larger(magnitude(residual) * smaller(side.size_inverse[k], length_inverse), primal);
      gap = fused(z, side.slack[k], gap);
      support = fused(z, side.bound[k], support);
      climb = larger(on * gx, climb);
    });
    for (int k = 0; k < m.shape.equations; ++k) {
      const int i = m.shape.equation_row[k];
      const V on = m.equation_on[k];
      const V bound = select(on > V(0.0), m.scaled.upper[i], V(0.0));
      const V residual = on * (m.ax[i] - bound);
      m.equation_residual[k] = residual;
      primal = larger(magnitude(residual) / larger(magnitude(bound), length), primal);
      support = fused(on * m.equation[k], bound, support);
      climb = larger(on * magnitude(m.ax[i]), climb);
    }
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      V size = length;
      V worst(0.0);
      for (int i = cone.first; i < cone.first + size_of(cone); ++i) {
        const V residual = m.ax[i] + m.cone.slack[i] - m.scaled.upper[i];
        m.cone.residual[i] = residual;
        worst = larger(magnitude(residual), worst);
        size = larger(magnitude(m.scaled.upper[i]), size);
        gap = fused(m.cone.dual[i], m.cone.slack[i], gap);
        support = fused(m.cone.dual[i], m.scaled.upper[i], support);
      }
      primal = larger(worst / size, primal);
    }
    const V ray_limit = V(kProofShare) * tolerance * magnitude(slope);
    if (any_of(select(slope < V(0.0), curved, V(kInfinity)) <= ray_limit)) {
      for (int c = 0; c < m.shape.cones; ++c) {
        const QpConeSpan& cone = m.shape.cone[c];
        climb = larger(norm_of_tail(m.ax, cone) + m.ax[cone.first], climb);
      }
    }
    mu_ = gap / degree_;
    const V relative_gap = gap / (force * length);
    const V relative_dual = dual / force;
    const V merit = larger(larger(primal, relative_dual), relative_gap);
    V end = outcome.end;
    const V going = select(end > V(0.0), V(0.0), V(1.0));
    const auto finish = [&](V when, double what) {
      end = select(when * going > V(0.0), V(what), end);
    };
    const V small = V(kResidualShare) * tolerance;
    const V converged =
        select(primal <= small, V(1.0), V(0.0)) * select(relative_dual <= small, V(1.0), V(0.0)) *
        select(relative_gap <= V(m.shape.cones > 0 ? kConeGapShare : kGapShare) * tolerance, V(1.0),
               V(0.0));
    const V infeasible =
        select(support < V(0.0), V(1.0), V(0.0)) *
        select(balance * scale_.bounds <= V(kProofShare) * tolerance * magnitude(support), V(1.0),
               V(0.0));
    const V unbounded = select(slope < V(0.0), V(1.0), V(0.0)) *
                        select(larger(curved, climb) <= ray_limit, V(1.0), V(0.0));
    finish(infeasible, qp_end::kInfeasible);
    finish(unbounded, qp_end::kUnbounded);
    finish(converged, qp_end::kConverged);
    // Rounding put a cone's point on its boundary: the best iterate so far is what there is.
    const V broken = select(merit < V(kInfinity), V(0.0), V(1.0));
    finish(broken, qp_end::kBroken);
    finish(broken * select(best_merit_ < V(kInfinity), V(1.0), V(0.0)), qp_end::kStalled);
    outcome.end = end;
    // A certificate is the iterate itself.
    certified_ = infeasible + unbounded;
    return merit;
  }

  CAROM_HOST_DEVICE void keep_best(V keep) {
    const Parts m = parts_;
    lanes_.for_each(variables(),
                    [&](int j) { m.best_x[j] = select(keep > V(0.0), m.x[j], m.best_x[j]); });
    lanes_.for_each(m.rows,
                    [&](int i) { m.best_y[i] = select(keep > V(0.0), m.y[i], m.best_y[i]); });
  }

  /// Nesterov-Todd point of one cone: point = w with w'J w = 1, weight = eta^-2, W = eta H(w),
  /// lambda = H z = eta^-2 H^-1 s.
  CAROM_HOST_DEVICE void scale_cone(const QpConeSpan& cone) {
    const Parts m = parts_;
    V s_det = m.cone.slack[cone.first] * m.cone.slack[cone.first];
    V z_det = m.cone.dual[cone.first] * m.cone.dual[cone.first];
    V product = m.cone.slack[cone.first] * m.cone.dual[cone.first];
    for (int i = cone.first + 1; i < cone.first + size_of(cone); ++i) {
      const V s = m.cone.slack[i];
      const V z = m.cone.dual[i];
      s_det = fused(-s, s, s_det);
      z_det = fused(-z, z, z_det);
      product = fused(s, z, product);
    }
    const V s_root = square_root(s_det);
    const V z_root = square_root(z_det);
    const V both = V(1.0) / (s_root * z_root);
    const V s_inverse = z_root * both;
    const V z_inverse = s_root * both;
    const V gamma = square_root(fused(V(0.5) * product, both, V(0.5)));
    const V share = V(0.5) / gamma;
    const V s_share = share * s_inverse;
    const V z_share = share * z_inverse;
    const V weight = z_root * s_inverse;
    const V head = fused(s_share, m.cone.slack[cone.first], z_share * m.cone.dual[cone.first]);
    const V head_inverse = V(1.0) / (V(1.0) + head);
    lanes_.for_each(size_of(cone), [&](int t) {
      const int i = cone.first + t;
      const V z = z_share * m.cone.dual[i];
      m.cone.point[i] = fused(s_share, m.cone.slack[i], t == 0 ? z : -z);
      m.weight[i] = t == 0 ? -weight : weight;
      if (t == 0) {
        m.cone.head_inverse[i] = head_inverse;
        m.cone.slack_det[i] = s_inverse * s_inverse;
        m.cone.dual_det[i] = z_inverse * z_inverse;
      }
    });
    apply_scaling(cone, m.cone.dual, m.cone.lambda, V(1.0), V(1.0));
  }

  /// to = size H from (direction 1) or size H^-1 from (direction -1).
  CAROM_INLINE void apply_scaling(const QpConeSpan& cone, const Memory& from, const Memory& to,
                                  V direction, V size) const {
    const Parts m = parts_;
    const int f = cone.first;
    const V w0 = m.cone.point[f];
    V tail(0.0);
    for (int i = f + 1; i < f + size_of(cone); ++i) tail = fused(m.cone.point[i], from[i], tail);
    tail = direction * tail;
    const V u0 = from[f];
    const V share = direction * fused(tail, m.cone.head_inverse[f], u0);
    lanes_.for_each(size_of(cone), [&](int t) {
      const int i = f + t;
      to[i] = size * (t == 0 ? fused(w0, u0, tail) : fused(share, m.cone.point[i], from[i]));
    });
  }

  /// to = W^-2 from, W^-2 = eta^-2 (2 (Jw)(Jw)' - J); `to` may add, but not to what `from` reads.
  template <class From, class To>
  CAROM_INLINE void apply_weight(const QpConeSpan& cone, From&& from, To&& to) {
    const Parts m = parts_;
    const int f = cone.first;
    V product = m.cone.point[f] * from(f);
    for (int i = f + 1; i < f + size_of(cone); ++i)
      product = fused(-m.cone.point[i], from(i), product);
    product = V(2.0) * product;
    const V weight = m.weight[f + 1];
    lanes_.for_each(size_of(cone), [&](int t) {
      const int i = f + t;
      const V u = from(i);
      to(i, weight * (t == 0 ? fused(product, m.cone.point[i], -u)
                             : fused(-product, m.cone.point[i], u)));
    });
  }

  /// Largest 1 / alpha for which u + alpha d meets the boundary of the cone, 0 where it never does:
  /// the larger root of det(u) r^2 + 2 (u'J d) r + det(d) = 0.
  CAROM_INLINE V cone_ratio(const QpConeSpan& cone, const Memory& u, const Memory& d,
                            V inverse_det) const {
    const int f = cone.first;
    V a = d[f] * d[f];
    V b = u[f] * d[f];
    for (int i = f + 1; i < f + size_of(cone); ++i) {
      a = fused(-d[i], d[i], a);
      b = fused(-u[i], d[i], b);
    }
    a = a * inverse_det;
    b = b * inverse_det;
    const V discriminant = fused(b, b, -a);
    const V root = square_root(larger(discriminant, V(0.0)));
    return select(discriminant >= V(0.0), larger(root - b, V(0.0)), V(0.0));
  }

  /// Solves for dx with right-hand side -(keep (P x + q) + A' m.push), then A dx.
  CAROM_HOST_DEVICE void solve_step(V keep) {
    const Parts m = parts_;
    transpose_product(m.push);
    lanes_.for_each(variables(),
                    [&](int j) { m.step[j] = -fused(keep, m.gradient[j], m.transposed[j]); });
    solve_symmetric<V, N>(lanes_, variables(), m.factor, m.inverse, m.step);
    lanes_.for_each(m.rows, [&](int i) { m.adx[i] = row_product(i, m.step); });
  }

  /// One predictor and corrector.
  CAROM_HOST_DEVICE void iterate() {
    const Parts m = parts_;
    const V tight(1.0 / kEquationProximity);
    lanes_.for_each(m.rows, [&](int i) {
      m.weight[i] = V(0.0);
      m.push[i] = V(0.0);
    });
    lanes_.for_each(m.shape.equations, [&](int k) {
      const int i = m.shape.equation_row[k];
      m.weight[i] = tight * m.equation_on[k];
      m.push[i] = m.equation_on[k] * fused(tight, m.equation_residual[k], m.equation[k]);
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V s = side.slack[k];
      const V z = side.dual[k];
      const V both = V(1.0) / (s * z);
      const V inverse = z * both;
      const V w = side.on[k] * (z * inverse);
      side.slack_inverse[k] = inverse;
      side.dual_inverse[k] = s * both;
      m.weight[i] = m.weight[i] + w;
      m.push[i] = fused(sign * w, side.residual[k], m.push[i]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      scale_cone(cone);
      apply_weight(
          cone, [&](int i) { return m.cone.residual[i]; }, [&](int i, V v) { m.push[i] = v; });
    }
    factorise(true);
    solve_step(V(1.0));
    // Predictor.
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V change = fused(sign, m.adx[i], side.residual[k]);
      const V w = side.dual[k] * side.slack_inverse[k];
      side.slack_step[k] = -side.on[k] * change;
      side.dual_step[k] = side.on[k] * (fused(w, change, -side.dual[k]));
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      apply_weight(
          cone, [&](int i) { return m.adx[i] + m.cone.residual[i]; },
          [&](int i, V v) {
            m.cone.slack_step[i] = -(m.adx[i] + m.cone.residual[i]);
            m.cone.dual_step[i] = v - m.cone.dual[i];
          });
    }
    const V reach = step_length(V(1.0));
    V product(0.0);
    over_sides([&](const Side& side, int k, int, V) {
      const V s = fused(reach, side.slack_step[k], side.slack[k]);
      const V z = fused(reach, side.dual_step[k], side.dual[k]);
      product = fused(side.on[k] * s, z, product);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      for (int i = cone.first; i < cone.first + size_of(cone); ++i) {
        const V s = fused(reach, m.cone.slack_step[i], m.cone.slack[i]);
        const V z = fused(reach, m.cone.dual_step[i], m.cone.dual[i]);
        product = fused(s, z, product);
      }
    }
    const V share = smaller(larger(product / (mu_ * degree_), V(0.0)), V(1.0));
    // Cones want more centring than Mehrotra's cube.
    const V square = share * share;
    const V sigma = select(mu_ > V(0.0), m.shape.cones > 0 ? square : square * share, V(0.0));
    const V target = sigma * mu_;
    const V keep = V(1.0) - sigma;
    // Corrector.
    lanes_.for_each(m.rows, [&](int i) { m.push[i] = V(0.0); });
    lanes_.for_each(m.shape.equations, [&](int k) {
      m.push[m.shape.equation_row[k]] =
          keep * m.equation_on[k] * fused(tight, m.equation_residual[k], m.equation[k]);
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V inverse = side.slack_inverse[k];
      const V z = side.dual[k];
      const V centre = fused(fused(-side.slack_step[k], side.dual_step[k], target), inverse, -z);
      side.dual_step[k] = centre;
      const V value = fused(keep, fused(z * inverse, side.residual[k], z), centre);
      m.push[i] = fused(sign * side.on[k], value, m.push[i]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      centre_cone(cone, target);
      apply_weight(
          cone, [&](int i) { return m.cone.residual[i]; },
          [&](int i, V v) { m.push[i] = fused(keep, v + m.cone.dual[i], m.cone.dual_step[i]); });
    }
    solve_step(keep);
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V change = fused(sign, m.adx[i], keep * side.residual[k]);
      const V w = side.dual[k] * side.slack_inverse[k];
      side.slack_step[k] = -side.on[k] * change;
      side.dual_step[k] = side.on[k] * fused(w, change, side.dual_step[k]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      apply_weight(
          cone, [&](int i) { return fused(keep, m.cone.residual[i], m.adx[i]); },
          [&](int i, V v) {
            m.cone.slack_step[i] = -fused(keep, m.cone.residual[i], m.adx[i]);
            m.cone.dual_step[i] = v + m.cone.dual_step[i];
          });
    }
    const V alpha = running_ * step_length(V(m.shape.cones > 0 ? kConeShortened : kShortened));
    lanes_.for_each(variables(), [&](int j) { m.x[j] = fused(alpha, m.step[j], m.x[j]); });
    lanes_.for_each(m.shape.equations, [&](int k) {
      const int i = m.shape.equation_row[k];
      const V change = fused(keep, m.equation_residual[k], m.adx[i]);
      m.equation[k] = fused(alpha * m.equation_on[k], tight * change, m.equation[k]);
    });
    lanes_.for_each(m.rows, [&](int i) { m.ax[i] = fused(alpha, m.adx[i], m.ax[i]); });
    for_sides([&](const Side& side, int k, int, V) {
      side.slack[k] = fused(alpha, side.slack_step[k], side.slack[k]);
      side.dual[k] = fused(alpha, side.dual_step[k], side.dual[k]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      lanes_.for_each(size_of(cone), [&](int t) {
        const int i = cone.first + t;
        m.cone.slack[i] = fused(alpha, m.cone.slack_step[i], m.cone.slack[i]);
        m.cone.dual[i] = fused(alpha, m.cone.dual_step[i], m.cone.dual[i]);
      });
    }
  }

  /// dual_step = -z + W^-1 (W z \ (target e - (W^-1 ds) o (W dz))), where eta drops out but for
  /// eta^-2.
  CAROM_HOST_DEVICE void centre_cone(const QpConeSpan& cone, V target) {
    const Parts m = parts_;
    const int f = cone.first;
    apply_scaling(cone, m.cone.slack_step, m.cone.slack_step, V(-1.0), V(1.0));
    apply_scaling(cone, m.cone.dual_step, m.cone.dual_step, V(1.0), V(1.0));
    const Memory a = m.cone.slack_step;
    const Memory b = m.cone.dual_step;
    V product(0.0);
    V along(0.0);
    const V a0 = a[f];
    const V b0 = b[f];
    for (int i = f; i < f + size_of(cone); ++i) product = fused(a[i], b[i], product);
    const V d0 = target - product;
    for (int i = f + 1; i < f + size_of(cone); ++i) {
      along = fused(m.cone.lambda[i], fused(a0, b[i], b0 * a[i]), along);  // -lambda_1'd_1
    }
    const V lambda0 = m.cone.lambda[f];
    const V u0 = fused(lambda0, d0, along) * m.cone.dual_det[f];  // det lambda = det z
    const V inverse = V(1.0) / lambda0;
    lanes_.for_each(size_of(cone), [&](int t) {
      const int i = f + t;
      const V d = -fused(a0, b[i], b0 * a[i]);
      b[i] = t == 0 ? u0 : inverse * fused(-u0, m.cone.lambda[i], d);
    });
    apply_scaling(cone, b, b, V(-1.0), m.weight[f + 1]);
    lanes_.for_each(size_of(cone), [&](int t) { b[f + t] = b[f + t] - m.cone.dual[f + t]; });
  }

  /// `share` of the way to the boundary, at most 1.
  CAROM_HOST_DEVICE V step_length(V share) const {
    const Parts m = parts_;
    V ratio = share;
    over_sides([&](const Side& side, int k, int, V) {
      const V on = side.on[k];
      ratio = larger(on * (-side.slack_step[k] * side.slack_inverse[k]), ratio);
      ratio = larger(on * (-side.dual_step[k] * side.dual_inverse[k]), ratio);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      ratio = larger(
          cone_ratio(cone, m.cone.slack, m.cone.slack_step, m.cone.slack_det[cone.first]), ratio);
      ratio = larger(cone_ratio(cone, m.cone.dual, m.cone.dual_step, m.cone.dual_det[cone.first]),
                     ratio);
    }
    return share / ratio;
  }

  CAROM_HOST_DEVICE void unscale() {
    const Parts m = parts_;
    lanes_.for_each(variables(), [&](int j) {
      m.best_x[j] = m.best_x[j] * scale_.length * m.scaled.column_scale[j];
    });
    lanes_.for_each(
        m.rows, [&](int i) { m.best_y[i] = m.best_y[i] * m.scaled.row_scale[i] / scale_.cost; });
  }

  const Lanes& lanes_;
  Parts parts_;
  QpScale<V> scale_{};
  V degree_{}, mu_{}, best_merit_{}, running_{}, certified_{};
};

}  // namespace carom::kernels
