#pragma once

#include <carom/kernels/qp_factor.hpp>
#include <carom/kernels/qp_problem.hpp>
#include <carom/kernels/qp_scaling.hpp>

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

/// Values of V that a problem needs at most.
CAROM_INLINE constexpr long qp_interior_point_workspace(int n, int rows) {
  return 2L * n * n + static_cast<long>(rows) * n + 8L * n + 34L * rows;
}

template <class V, class Lanes, class Memory>
class QpInteriorPoint {
 public:
  CAROM_HOST_DEVICE QpInteriorPoint(const Lanes& lanes, const QpShape& shape, Memory memory)
      : lanes_(lanes), shape_(shape), n_(shape.variables), rows_(shape.rows) {
    long used = 0;
    const auto take = [&](long count) {
      const Memory part = memory + used;
      used += count;
      return part;
    };
    const long n = n_;
    const long m = rows_;
    scaled_ = {take(n * n), take(n), take(m * n), take(n), take(m), take(m), take(m)};
    factor_ = take(n * n);
    inverse_ = take(n);
    x_ = take(n);
    step_ = take(n);
    gradient_ = take(n);
    best_x_ = take(n);
    transposed_ = take(n);
    best_y_ = take(m);
    y_ = take(m);
    ax_ = take(m);
    adx_ = take(m);
    push_ = take(m);
    weight_ = take(m);
    equation_ = take(shape.equations);
    equation_on_ = take(shape.equations);
    equation_residual_ = take(shape.equations);
    const auto side = [&](long count) {
      return Side{take(count), take(count), take(count), take(count),
                  take(count), take(count), take(count)};
    };
    lower_ = side(shape.lowers);
    upper_ = side(shape.uppers);
    if (shape.cones > 0) {
      cone_ = {take(m), take(m), take(m), take(m), take(m), take(m), take(m), take(m)};
    }
  }

  /// x and the row multipliers y of the best iterate, in the units of the problem.
  CAROM_INLINE V solution(int j) const { return best_x_[j]; }
  CAROM_INLINE V dual(int i) const { return best_y_[i]; }

  template <class Data>
  CAROM_HOST_DEVICE QpOutcome<V> solve(const QpView<Data>& view, const QpOptions& options) {
    using kernels::all_of;
    scale_ = scale_problem<V>(lanes_, shape_, view, scaled_);
    QpOutcome<V> outcome{V(qp_end::kRunning), V(0.0)};
    if (options.check_convexity) {
      const V least = convexity_pivot<V>(lanes_, n_, view.hessian, factor_, inverse_);
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
      const V limit = select(best_merit_ < V(kFarFromSolved), V(kMaxStalls), V(6.0 * kMaxStalls));
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
  static constexpr double kEquationProximity = 1e-9;
  static constexpr double kProximity = 1e-12;
  static constexpr double kShortened = 0.995;
  static constexpr double kMaxStalls = 4.0;
  static constexpr double kStartFloor = 1e-3;
  static constexpr double kResidualShare = 1e-2;
  static constexpr double kGapShare = 1e-3;
  static constexpr double kProofShare = 0.1;
  static constexpr double kFarFromSolved = 1e-6;
  static constexpr double kSmallestPivot = 1e-40;

  struct Side {
    Memory on, bound, slack, dual, residual, slack_step, dual_step;
  };
  struct ConeData {
    Memory slack, dual, residual, slack_step, dual_step, point, lambda, size;
  };

  // G x + s = h with G = sign a', h = sign bound.
  template <class F>
  CAROM_INLINE void for_sides(F&& f) const {
    lanes_.for_each(shape_.lowers, [&](int k) { f(lower_, k, shape_.lower_row[k], V(-1.0)); });
    lanes_.for_each(shape_.uppers, [&](int k) { f(upper_, k, shape_.upper_row[k], V(1.0)); });
  }
  // For sums: every lane runs all of it.
  template <class F>
  CAROM_INLINE void over_sides(F&& f) const {
    for (int k = 0; k < shape_.lowers; ++k) f(lower_, k, shape_.lower_row[k], V(-1.0));
    for (int k = 0; k < shape_.uppers; ++k) f(upper_, k, shape_.upper_row[k], V(1.0));
  }

  CAROM_HOST_DEVICE void mark_present() {
    degree_ = V(0.0);
    lanes_.for_each(shape_.equations, [&](int k) {
      const int i = shape_.equation_row[k];
      const V l = scaled_.lower[i];
      const V u = scaled_.upper[i];
      equation_on_[k] = presence(l) * select(l != u, V(0.0), V(1.0));
      equation_[k] = V(0.0);
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V l = scaled_.lower[i];
      const V u = scaled_.upper[i];
      const V bound = select(sign > V(0.0), u, l);
      const V on = presence(bound) * select(l != u, V(1.0), V(0.0));
      side.on[k] = on;
      side.bound[k] = select(on > V(0.0), sign * bound, V(0.0));
    });
    over_sides([&](const Side& side, int k, int, V) { degree_ = degree_ + side.on[k]; });
    degree_ = larger(degree_ + V(static_cast<double>(shape_.cones)), V(1.0));
  }

  CAROM_INLINE V row_product(int i, const Memory& x) const {
    V sum(0.0);
    for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
      const int j = shape_.column[t];
      sum = fused(scaled_.matrix[static_cast<long>(i) * n_ + j], x[j], sum);
    }
    return sum;
  }

  // transposed_ = A' v
  CAROM_HOST_DEVICE void transpose_product(const Memory& v) {
    lanes_.for_each(n_, [&](int j) { transposed_[j] = V(0.0); });
    for (int i = 0; i < rows_; ++i) {
      const V value = v[i];
      const int first = shape_.row_first[i];
      lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) {
        const int j = shape_.column[first + t];
        transposed_[j] = fused(value, scaled_.matrix[static_cast<long>(i) * n_ + j],
                               transposed_[j]);
      });
    }
  }

  // weight_ -> factor_ = P + A' W A + the cones' part, factorised.
  CAROM_HOST_DEVICE void factorise(bool cones) {
    const long n = n_;
    lanes_.for_each(n_, [&](int j) {
      for (int i = j; i < n_; ++i) factor_[j * n + i] = scaled_.hessian[j * n + i];
      factor_[j * n + j] = factor_[j * n + j] + V(kProximity);
    });
    for (int i = 0; i < rows_; ++i) add_row(i, weight_[i]);
    if (cones) {
      for (int c = 0; c < shape_.cones; ++c) add_cone(shape_.cone[c]);
    }
    factor_symmetric<V>(lanes_, n_, factor_, inverse_, V(kSmallestPivot));
  }

  CAROM_INLINE void add_row(int i, V weight) {
    const long n = n_;
    const int first = shape_.row_first[i];
    const int count = shape_.row_first[i + 1] - first;
    const Memory row = scaled_.matrix + i * n;
    lanes_.for_each(count, [&](int p) {
      const int j = shape_.column[first + p];
      const V value = weight * row[j];
      for (int q = p; q < count; ++q) {
        const int k = shape_.column[first + q];
        factor_[j * n + k] = fused(value, row[k], factor_[j * n + k]);
      }
    });
  }

  // eta^-2 (2 v v' - G'J G), v = G'J w; the rows' own parts came with weight_.
  CAROM_HOST_DEVICE void add_cone(const QpConeSpan& cone) {
    const long n = n_;
    const int count = cone.column_last - cone.column_first;
    const V weight = V(2.0) * weight_[cone.first + 1];
    lanes_.for_each(count, [&](int p) {
      const int j = shape_.cone_column[cone.column_first + p];
      V v = cone_.point[cone.first] * scaled_.matrix[cone.first * n + j];
      for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
        v = fused(-cone_.point[i], scaled_.matrix[i * n + j], v);
      }
      step_[j] = v;
    });
    lanes_.for_each(count, [&](int p) {
      const int j = shape_.cone_column[cone.column_first + p];
      const V value = weight * step_[j];
      for (int q = p; q < count; ++q) {
        const int k = shape_.cone_column[cone.column_first + q];
        factor_[j * n + k] = fused(value, step_[k], factor_[j * n + k]);
      }
    });
  }

  CAROM_INLINE V norm_of_tail(const Memory& values, const QpConeSpan& cone) const {
    V sum(0.0);
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      sum = fused(values[i], values[i], sum);
    }
    return square_root(sum);
  }

  /// Least squares for x with unit weights, slacks and multipliers from its residuals, both moved
  /// into their cones (Mehrotra 1992, section 7).
  CAROM_HOST_DEVICE void start() {
    const V tight(1.0 / kEquationProximity);
    lanes_.for_each(rows_, [&](int i) {
      weight_[i] = V(0.0);
      push_[i] = V(0.0);
    });
    lanes_.for_each(shape_.equations, [&](int k) {
      const int i = shape_.equation_row[k];
      const V on = equation_on_[k] * tight;
      weight_[i] = on;
      push_[i] = on * select(on > V(0.0), scaled_.upper[i], V(0.0));
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      weight_[i] = weight_[i] + side.on[k];
      push_[i] = fused(sign, side.bound[k], push_[i]);
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      lanes_.for_each(cone.size, [&](int t) {
        weight_[cone.first + t] = V(1.0);
        push_[cone.first + t] = scaled_.upper[cone.first + t];
      });
    }
    factorise(false);
    transpose_product(push_);
    lanes_.for_each(n_, [&](int j) { x_[j] = transposed_[j] - scaled_.gradient[j]; });
    solve_symmetric<V>(lanes_, n_, factor_, inverse_, x_);
    lanes_.for_each(rows_, [&](int i) { ax_[i] = row_product(i, x_); });
    for_sides([&](const Side& side, int k, int i, V sign) {
      side.slack[k] = side.bound[k] - sign * ax_[i];
    });
    lanes_.for_each(shape_.equations, [&](int k) {
      const int i = shape_.equation_row[k];
      const V on = equation_on_[k];
      equation_[k] = on * tight * (ax_[i] - select(on > V(0.0), scaled_.upper[i], ax_[i]));
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      lanes_.for_each(cone.size, [&](int t) {
        const int i = cone.first + t;
        cone_.slack[i] = scaled_.upper[i] - ax_[i];
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
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      const V tail = norm_of_tail(cone_.slack, cone);
      least = smaller(least, cone_.slack[cone.first] - tail);
      most = larger(most, cone_.slack[cone.first] + tail);
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
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      const V s = cone_.slack[cone.first] + first_primal;
      const V z = first_dual - cone_.slack[cone.first];
      product = fused(s, z, product);
      for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
        product = fused(-cone_.slack[i], cone_.slack[i], product);
      }
      slacks = slacks + s;
      duals = duals + z;
    }
    const V floor(kStartFloor);
    const V primal = first_primal +
                     select(duals > V(0.0), larger(V(0.5) * product / duals, floor), V(1.0));
    const V dual = first_dual +
                   select(slacks > V(0.0), larger(V(0.5) * product / slacks, floor), V(1.0));
    for_sides([&](const Side& side, int k, int, V) {
      const V s = side.slack[k];
      const V on = side.on[k];
      side.slack[k] = select(on > V(0.0), s + primal, V(1.0));
      side.dual[k] = select(on > V(0.0), dual - s, V(1.0));
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      lanes_.for_each(cone.size, [&](int t) {
        const int i = cone.first + t;
        const V s = cone_.slack[i];
        cone_.slack[i] = t == 0 ? s + primal : s;
        cone_.dual[i] = t == 0 ? dual - s : -s;
      });
    }
  }

  /// Residuals of the optimality conditions at the iterate, its multipliers y_, gradient_ =
  /// P x + q, the gap; ends lanes that have converged or proved that they cannot.
  CAROM_HOST_DEVICE V measure(V tolerance, QpOutcome<V>& outcome) {
    const long n = n_;
    lanes_.for_each(rows_, [&](int i) { y_[i] = V(0.0); });
    lanes_.for_each(shape_.equations, [&](int k) {
      y_[shape_.equation_row[k]] = equation_on_[k] * equation_[k];
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      y_[i] = fused(sign * side.on[k], side.dual[k], y_[i]);
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      lanes_.for_each(cone.size, [&](int t) { y_[cone.first + t] = cone_.dual[cone.first + t]; });
    }
    transpose_product(y_);
    lanes_.for_each(n_, [&](int j) {
      V sum(0.0);
      for (int i = 0; i < j; ++i) sum = fused(scaled_.hessian[i * n + j], x_[i], sum);
      for (int i = j; i < n_; ++i) sum = fused(scaled_.hessian[j * n + i], x_[i], sum);
      step_[j] = sum;
      gradient_[j] = sum + scaled_.gradient[j];
    });
    V dual(0.0);
    V force(1.0);
    V length(1.0);
    V slope(0.0);
    V curved(0.0);
    V balance(0.0);
    for (int j = 0; j < n_; ++j) {
      dual = larger(magnitude(gradient_[j] + transposed_[j]), dual);
      balance = larger(magnitude(transposed_[j]), balance);
      curved = larger(magnitude(step_[j]), curved);
      length = larger(magnitude(x_[j]), length);
      slope = fused(scaled_.gradient[j], x_[j], slope);
    }
    force = larger(force, larger(balance, curved));
    V primal(0.0);
    V gap(0.0);
    V support(0.0);  // h'z + b'y
    V climb(0.0);    // how far x itself, as a direction, points out of the rows
    over_sides([&](const Side& side, int k, int i, V sign) {
      const V on = side.on[k];
      const V gx = sign * ax_[i];
      const V residual = on * (gx + side.slack[k] - side.bound[k]);
      side.residual[k] = residual;
      const V z = on * side.dual[k];
      primal = larger(magnitude(residual) / larger(magnitude(side.bound[k]), length), primal);
      gap = fused(z, side.slack[k], gap);
      support = fused(z, side.bound[k], support);
      climb = larger(on * gx, climb);
    });
    for (int k = 0; k < shape_.equations; ++k) {
      const int i = shape_.equation_row[k];
      const V on = equation_on_[k];
      const V bound = select(on > V(0.0), scaled_.upper[i], V(0.0));
      const V residual = on * (ax_[i] - bound);
      equation_residual_[k] = residual;
      primal = larger(magnitude(residual) / larger(magnitude(bound), length), primal);
      support = fused(on * equation_[k], bound, support);
      climb = larger(on * magnitude(ax_[i]), climb);
    }
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      V size = length;
      V worst(0.0);
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        const V residual = ax_[i] + cone_.slack[i] - scaled_.upper[i];
        cone_.residual[i] = residual;
        worst = larger(magnitude(residual), worst);
        size = larger(magnitude(scaled_.upper[i]), size);
        gap = fused(cone_.dual[i], cone_.slack[i], gap);
        support = fused(cone_.dual[i], scaled_.upper[i], support);
      }
      primal = larger(worst / size, primal);
      climb = larger(norm_of_tail(ax_, cone) + ax_[cone.first], climb);
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
    const V converged = select(primal <= small, V(1.0), V(0.0)) *
                        select(relative_dual <= small, V(1.0), V(0.0)) *
                        select(relative_gap <= V(kGapShare) * tolerance, V(1.0), V(0.0));
    const V infeasible = select(support < V(0.0), V(1.0), V(0.0)) *
                         select(balance * scale_.bounds <= V(kProofShare) * tolerance * magnitude(support),
                                V(1.0), V(0.0));
    const V unbounded = select(slope < V(0.0), V(1.0), V(0.0)) *
                        select(larger(curved, climb) <= V(kProofShare) * tolerance * magnitude(slope), V(1.0),
                               V(0.0));
    finish(infeasible, qp_end::kInfeasible);
    finish(unbounded, qp_end::kUnbounded);
    finish(converged, qp_end::kConverged);
    finish(select(merit < V(kInfinity), V(0.0), V(1.0)), qp_end::kBroken);
    outcome.end = end;
    // A certificate is the iterate itself.
    certified_ = infeasible + unbounded;
    return merit;
  }

  CAROM_HOST_DEVICE void keep_best(V keep) {
    lanes_.for_each(n_, [&](int j) { best_x_[j] = select(keep > V(0.0), x_[j], best_x_[j]); });
    lanes_.for_each(rows_, [&](int i) { best_y_[i] = select(keep > V(0.0), y_[i], best_y_[i]); });
  }

  /// Nesterov-Todd point of one cone: point_ = w with w'J w = 1, size_[first] = eta,
  /// W = eta H(w), lambda = W z = W^-1 s.
  CAROM_HOST_DEVICE void scale_cone(const QpConeSpan& cone) {
    const V s_tail = norm_of_tail(cone_.slack, cone);
    const V z_tail = norm_of_tail(cone_.dual, cone);
    const V s0 = cone_.slack[cone.first];
    const V z0 = cone_.dual[cone.first];
    const V s_size = square_root((s0 - s_tail) * (s0 + s_tail));
    const V z_size = square_root((z0 - z_tail) * (z0 + z_tail));
    V product(0.0);
    for (int i = cone.first; i < cone.first + cone.size; ++i) {
      product = fused(cone_.slack[i], cone_.dual[i], product);
    }
    const V gamma = square_root(V(0.5) + V(0.5) * product / (s_size * z_size));
    const V s_share = V(0.5) / (gamma * s_size);
    const V z_share = V(0.5) / (gamma * z_size);
    const V eta = square_root(s_size / z_size);
    const V weight = z_size / s_size;
    lanes_.for_each(cone.size, [&](int t) {
      const int i = cone.first + t;
      const V z = z_share * cone_.dual[i];
      cone_.point[i] = fused(s_share, cone_.slack[i], t == 0 ? z : -z);
      weight_[i] = t == 0 ? -weight : weight;
      if (t == 0) cone_.size[i] = eta;
    });
    apply_scaling(cone, cone_.dual, cone_.lambda, V(1.0));
  }

  /// to = W from (direction 1) or W^-1 from (direction -1).
  CAROM_INLINE void apply_scaling(const QpConeSpan& cone, const Memory& from, const Memory& to,
                                  V direction) {
    const int f = cone.first;
    const V w0 = cone_.point[f];
    V tail(0.0);
    for (int i = f + 1; i < f + cone.size; ++i) tail = fused(cone_.point[i], from[i], tail);
    tail = direction * tail;
    const V u0 = from[f];
    const V share = direction * (u0 + tail / (V(1.0) + w0));
    const V eta = select(direction > V(0.0), cone_.size[f], V(1.0) / cone_.size[f]);
    lanes_.for_each(cone.size, [&](int t) {
      const int i = f + t;
      to[i] = eta * (t == 0 ? fused(w0, u0, tail) : fused(share, cone_.point[i], from[i]));
    });
  }

  /// to = W^-2 from + plus, W^-2 = eta^-2 (2 (Jw)(Jw)' - J).
  template <class From, class To>
  CAROM_INLINE void apply_weight(const QpConeSpan& cone, From&& from, To&& to) {
    const int f = cone.first;
    V product = cone_.point[f] * from(f);
    for (int i = f + 1; i < f + cone.size; ++i) product = fused(-cone_.point[i], from(i), product);
    product = V(2.0) * product;
    const V weight = weight_[f + 1];
    for (int t = 0; t < cone.size; ++t) {
      const int i = f + t;
      const V u = from(i);
      to(i, weight * (t == 0 ? fused(product, cone_.point[i], -u)
                             : fused(-product, cone_.point[i], u)));
    }
  }

  /// Largest 1 / alpha for which u + alpha d meets the boundary of the cone; 0 where it never does.
  CAROM_INLINE V cone_ratio(const QpConeSpan& cone, const Memory& u, const Memory& d) const {
    const int f = cone.first;
    const V tail = norm_of_tail(u, cone);
    const V c = (u[f] - tail) * (u[f] + tail);
    V a = d[f] * d[f];
    V b = u[f] * d[f];
    for (int i = f + 1; i < f + cone.size; ++i) {
      a = fused(-d[i], d[i], a);
      b = fused(-u[i], d[i], b);
    }
    const V discriminant = fused(b, b, -(a * c));
    const V root = square_root(larger(discriminant, V(0.0)));
    const V ratio = select(b > V(0.0), -a / (b + root), (root - b) / c);
    return select(discriminant >= V(0.0), larger(ratio, V(0.0)), V(0.0));
  }

  /// Solves for dx with right-hand side -(keep (P x + q) + A' push_), then A dx.
  CAROM_HOST_DEVICE void solve_step(V keep) {
    transpose_product(push_);
    lanes_.for_each(n_, [&](int j) { step_[j] = -fused(keep, gradient_[j], transposed_[j]); });
    solve_symmetric<V>(lanes_, n_, factor_, inverse_, step_);
    lanes_.for_each(rows_, [&](int i) { adx_[i] = row_product(i, step_); });
  }

  /// One predictor and corrector.
  CAROM_HOST_DEVICE void iterate() {
    const V tight(1.0 / kEquationProximity);
    lanes_.for_each(rows_, [&](int i) {
      weight_[i] = V(0.0);
      push_[i] = V(0.0);
    });
    lanes_.for_each(shape_.equations, [&](int k) {
      const int i = shape_.equation_row[k];
      weight_[i] = tight * equation_on_[k];
      push_[i] = equation_on_[k] * fused(tight, equation_residual_[k], equation_[k]);
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V w = side.on[k] * side.dual[k] / side.slack[k];
      weight_[i] = weight_[i] + w;
      push_[i] = fused(sign * w, side.residual[k], push_[i]);
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      scale_cone(cone);
      apply_weight(
          cone, [&](int i) { return cone_.residual[i]; }, [&](int i, V v) { push_[i] = v; });
    }
    factorise(true);
    solve_step(V(1.0));
    // Predictor.
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V change = fused(sign, adx_[i], side.residual[k]);
      const V w = side.dual[k] / side.slack[k];
      side.slack_step[k] = -side.on[k] * change;
      side.dual_step[k] = side.on[k] * (fused(w, change, -side.dual[k]));
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      apply_weight(
          cone, [&](int i) { return adx_[i] + cone_.residual[i]; },
          [&](int i, V v) {
            cone_.slack_step[i] = -(adx_[i] + cone_.residual[i]);
            cone_.dual_step[i] = v - cone_.dual[i];
          });
    }
    const V reach = step_length(V(1.0));
    V product(0.0);
    over_sides([&](const Side& side, int k, int, V) {
      const V s = fused(reach, side.slack_step[k], side.slack[k]);
      const V z = fused(reach, side.dual_step[k], side.dual[k]);
      product = fused(side.on[k] * s, z, product);
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        const V s = fused(reach, cone_.slack_step[i], cone_.slack[i]);
        const V z = fused(reach, cone_.dual_step[i], cone_.dual[i]);
        product = fused(s, z, product);
      }
    }
    const V share = smaller(larger(product / (mu_ * degree_), V(0.0)), V(1.0));
    const V sigma = select(mu_ > V(0.0), share * share * share, V(0.0));
    const V target = sigma * mu_;
    const V keep = V(1.0) - sigma;
    // Corrector.
    lanes_.for_each(rows_, [&](int i) { push_[i] = V(0.0); });
    lanes_.for_each(shape_.equations, [&](int k) {
      push_[shape_.equation_row[k]] =
          keep * equation_on_[k] * fused(tight, equation_residual_[k], equation_[k]);
    });
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V inverse = V(1.0) / side.slack[k];
      const V z = side.dual[k];
      const V centre = fused(fused(-side.slack_step[k], side.dual_step[k], target), inverse, -z);
      side.dual_step[k] = centre;
      const V value = fused(keep, fused(z * inverse, side.residual[k], z), centre);
      push_[i] = fused(sign * side.on[k], value, push_[i]);
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      centre_cone(cone, target);
      apply_weight(
          cone, [&](int i) { return cone_.residual[i]; },
          [&](int i, V v) { push_[i] = fused(keep, v + cone_.dual[i], cone_.dual_step[i]); });
    }
    solve_step(keep);
    for_sides([&](const Side& side, int k, int i, V sign) {
      const V change = fused(sign, adx_[i], keep * side.residual[k]);
      const V w = side.dual[k] / side.slack[k];
      side.slack_step[k] = -side.on[k] * change;
      side.dual_step[k] = side.on[k] * fused(w, change, side.dual_step[k]);
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      apply_weight(
          cone, [&](int i) { return fused(keep, cone_.residual[i], adx_[i]); },
          [&](int i, V v) {
            cone_.slack_step[i] = -fused(keep, cone_.residual[i], adx_[i]);
            cone_.dual_step[i] = v + cone_.dual_step[i];
          });
    }
    const V alpha = running_ * step_length(V(kShortened));
    lanes_.for_each(n_, [&](int j) { x_[j] = fused(alpha, step_[j], x_[j]); });
    lanes_.for_each(shape_.equations, [&](int k) {
      const int i = shape_.equation_row[k];
      const V change = fused(keep, equation_residual_[k], adx_[i]);
      equation_[k] = fused(alpha * equation_on_[k], tight * change, equation_[k]);
    });
    lanes_.for_each(rows_, [&](int i) { ax_[i] = fused(alpha, adx_[i], ax_[i]); });
    for_sides([&](const Side& side, int k, int, V) {
      side.slack[k] = fused(alpha, side.slack_step[k], side.slack[k]);
      side.dual[k] = fused(alpha, side.dual_step[k], side.dual[k]);
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      lanes_.for_each(cone.size, [&](int t) {
        const int i = cone.first + t;
        cone_.slack[i] = fused(alpha, cone_.slack_step[i], cone_.slack[i]);
        cone_.dual[i] = fused(alpha, cone_.dual_step[i], cone_.dual[i]);
      });
    }
  }

  /// dual_step = -z + W^-1 (lambda \ (target e - (W^-1 ds) o (W dz))).
  CAROM_HOST_DEVICE void centre_cone(const QpConeSpan& cone, V target) {
    const int f = cone.first;
    apply_scaling(cone, cone_.slack_step, cone_.slack_step, V(-1.0));
    apply_scaling(cone, cone_.dual_step, cone_.dual_step, V(1.0));
    const Memory& a = cone_.slack_step;
    const Memory& b = cone_.dual_step;
    V product(0.0);
    V along(0.0);
    const V a0 = a[f];
    const V b0 = b[f];
    for (int i = f; i < f + cone.size; ++i) product = fused(a[i], b[i], product);
    const V d0 = target - product;
    for (int i = f + 1; i < f + cone.size; ++i) {
      along = fused(cone_.lambda[i], fused(a0, b[i], b0 * a[i]), along);  // -lambda_1'd_1
    }
    const V lambda0 = cone_.lambda[f];
    const V tail = norm_of_tail(cone_.lambda, cone);
    const V u0 = fused(lambda0, d0, along) / ((lambda0 - tail) * (lambda0 + tail));
    const V inverse = V(1.0) / lambda0;
    lanes_.for_each(cone.size, [&](int t) {
      const int i = f + t;
      const V d = -fused(a0, b[i], b0 * a[i]);
      b[i] = t == 0 ? u0 : inverse * fused(-u0, cone_.lambda[i], d);
    });
    apply_scaling(cone, b, b, V(-1.0));
    lanes_.for_each(cone.size, [&](int t) { b[f + t] = b[f + t] - cone_.dual[f + t]; });
  }

  /// `share` of the way to the boundary, at most 1.
  CAROM_HOST_DEVICE V step_length(V share) const {
    V ratio = share;
    over_sides([&](const Side& side, int k, int, V) {
      const V on = side.on[k];
      ratio = larger(on * (-side.slack_step[k] / side.slack[k]), ratio);
      ratio = larger(on * (-side.dual_step[k] / side.dual[k]), ratio);
    });
    for (int c = 0; c < shape_.cones; ++c) {
      ratio = larger(cone_ratio(shape_.cone[c], cone_.slack, cone_.slack_step), ratio);
      ratio = larger(cone_ratio(shape_.cone[c], cone_.dual, cone_.dual_step), ratio);
    }
    return share / ratio;
  }

  CAROM_HOST_DEVICE void unscale() {
    lanes_.for_each(n_, [&](int j) {
      best_x_[j] = best_x_[j] * scale_.length * scaled_.column_scale[j];
    });
    lanes_.for_each(rows_, [&](int i) {
      best_y_[i] = best_y_[i] * scaled_.row_scale[i] / scale_.cost;
    });
  }

  const Lanes& lanes_;
  const QpShape& shape_;
  int n_;
  int rows_;
  ScaledQp<Memory> scaled_;
  QpScale<V> scale_{};
  Memory factor_, inverse_;                               // L D L'
  Memory x_, step_, gradient_, best_x_, transposed_;      // [n]
  Memory best_y_, y_, ax_, adx_, push_, weight_;          // [rows]
  Memory equation_, equation_on_, equation_residual_;     // [equations]
  Side lower_, upper_;
  ConeData cone_;
  V degree_{}, mu_{}, best_merit_{}, running_{}, certified_{};
};

}  // namespace carom::kernels
