#pragma once

#include "programs/qp/kernels/qp_cone_scaling.hpp"
#include "programs/qp/kernels/qp_interior_point_data.hpp"
#include "programs/qp/kernels/qp_interior_point_start.hpp"
#include "programs/qp/kernels/qp_normal_equations.hpp"
#include "programs/qp/kernels/qp_scaling.hpp"

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

/// N: the number of variables, ConeSize: the size of all cones, where they are known in advance, or
/// 0. Neither changes a bit of an answer.
template <class V, class Lanes, class Memory, int N = 0, int ConeSize = 0>
class QpInteriorPoint {
 public:
  CAROM_HOST_DEVICE QpInteriorPoint(const Lanes& lanes, const QpShape& shape, Memory memory)
      : data_(lanes, shape, memory) {}

  /// solve() leaves in x: [n], y: [rows], mu: [1] the first iterate that is about feasible, well
  /// inside of all cones still, in the units of the problem.
  CAROM_INLINE void keep_inner(const Memory& x, const Memory& y, const Memory& mu) {
    inner_x_ = x;
    inner_y_ = y;
    inner_mu_ = mu;
    keeps_inner_ = true;
  }
  /// x and the row multipliers y of the best iterate, in the units of the problem.
  CAROM_INLINE V solution(int j) const { return data_.best_x[j]; }
  CAROM_INLINE V dual(int i) const { return data_.best_y[i]; }

  template <class View>
  CAROM_CALL QpOutcome<V> solve(const QpView<View>& view, const QpOptions& options) {
    const Data m = data_;
    using kernels::all_of;
    using kernels::any_of;
    scale_ = scale_problem<V, N>(m.lanes, m.shape, view, m.scaled);
    QpOutcome<V> outcome{V(qp_end::kRunning), V(0.0)};
    if (options.check_convexity) {
      const V least =
          convexity_pivot<V, N>(m.lanes, m.variables(), view.hessian, m.factor, m.inverse);
      outcome.end = select(least >= V(0.0), outcome.end, V(qp_end::kNonconvex));
    }
    degree_ = mark_present(data_);
    start_interior_point(data_);
    best_merit_ = V(kInfinity);
    V stalls(0.0);
    V outer(1.0);  // 0 once there is an inner iterate
    const V tolerance(options.tolerance);
    for (int iteration = 0; iteration <= options.max_iterations; ++iteration) {
      const MaskOf<V> going = !(outcome.end > V(0.0));
      const V merit = measure(tolerance, outcome);
      const MaskOf<V> better = going & (merit < best_merit_);
      keep_best(better | (going & certified_));
      if (keeps_inner_) {
        const MaskOf<V> now = going & (outer > V(0.0));
        if (any_of(now)) keep_inner_iterate(now);
        outer = select(merit < V(kInner), V(0.0), outer);
      }
      stalls = select(merit < V(0.5) * best_merit_, V(0.0), stalls + V(1.0));
      best_merit_ = select(better, merit, best_merit_);
      // Without a solution the multipliers or x itself go on growing.
      const V limit =
          select(best_merit_ < V(kGoodEnough) * tolerance, V(0.5),
                 select(best_merit_ < V(kFarFromSolved), V(kMaxStalls), V(6.0 * kMaxStalls)));
      outcome.end =
          select((stalls > limit) & !(outcome.end > V(0.0)), V(qp_end::kStalled), outcome.end);
      if (all_of(outcome.end > V(0.0)) || iteration == options.max_iterations) break;
      running_ = !(outcome.end > V(0.0));
      outcome.iterations = outcome.iterations + as_number<V>(running_);
      iterate();
    }
    unscale();
    return outcome;
  }

 private:
  using Data = QpInteriorPointData<V, Lanes, Memory, N, ConeSize>;
  using Side = typename Data::Side;
  using Cones = QpConeScaling<Data>;
  using Equations = QpNormalEquations<Data>;

  static constexpr double kShortened = 0.998;
  static constexpr double kConeShortened = 0.995;  // closer, a cone's point loses its digits
  static constexpr double kMaxStalls = 4.0;
  static constexpr double kResidualShare = 5e-2;
  static constexpr double kGapShare = 1e-2;
  static constexpr double kConeGapShare = 5e-2;  // below, cancellation on the boundary sets in
  static constexpr double kProofShare = 0.1;
  static constexpr double kFarFromSolved = 1e-6;
  static constexpr double kGoodEnough = 0.3;
  static constexpr double kInner = 1e-3;  // merit of an iterate that is about feasible

  /// Residuals of the optimality conditions at the iterate, its multipliers y, gradient =
  /// P x + q, the gap; ends lanes that have converged or proved that they cannot.
  CAROM_CALL V measure(V tolerance, QpOutcome<V>& outcome) {
    const Data m = data_;
    const long n = m.variables();
    m.lanes.for_each(m.rows, [&](int i) { m.y[i] = V(0.0); });
    m.lanes.for_each(m.shape.equations, [&](int k) {
      m.y[m.shape.equation_row[k]] = m.equation_on[k] * m.equation[k];
    });
    data_.for_sides([&](const Side& side, int k, int i, V sign) {
      m.y[i] = fused(sign * side.on[k], side.dual[k], m.y[i]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      m.lanes.for_each(m.size_of(cone),
                       [&](int t) { m.y[cone.first + t] = m.cone.dual[cone.first + t]; });
    }
    Equations::transpose_product(data_, m.y);
    m.lanes.for_each(m.variables(), [&](int j) {
      V sum(0.0);
      for (int i = 0; i < j; ++i) sum = fused(m.scaled.hessian[i * n + j], m.x[i], sum);
      for (int i = j; i < m.variables(); ++i) sum = fused(m.scaled.hessian[j * n + i], m.x[i], sum);
      m.step[j] = sum;
      m.gradient[j] = sum + m.scaled.gradient[j];
    });
    V dual(0.0);
    V force(1.0);
    V length(1.0);
    V slope(0.0);
    V curved(0.0);
    V balance(0.0);
    for (int j = 0; j < m.variables(); ++j) {
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
    data_.over_sides([&](const Side& side, int k, int i, V sign) {
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
      for (int i = cone.first; i < cone.first + m.size_of(cone); ++i) {
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
        climb = larger(Cones::norm_of_tail(m, m.ax, cone) + m.ax[cone.first], climb);
      }
    }
    mu_ = gap / degree_;
    const V relative_gap = gap / (force * length);
    const V relative_dual = dual / force;
    const V merit = larger(larger(primal, relative_dual), relative_gap);
    V end = outcome.end;
    const MaskOf<V> going = !(end > V(0.0));
    const auto finish = [&](MaskOf<V> when, double what) {
      end = select(when & going, V(what), end);
    };
    const V small = V(kResidualShare) * tolerance;
    const MaskOf<V> converged =
        (primal <= small) & (relative_dual <= small) &
        (relative_gap <= V(m.shape.cones > 0 ? kConeGapShare : kGapShare) * tolerance);
    const MaskOf<V> infeasible =
        (support < V(0.0)) &
        (balance * scale_.bounds <= V(kProofShare) * tolerance * magnitude(support));
    const MaskOf<V> unbounded = (slope < V(0.0)) & (larger(curved, climb) <= ray_limit);
    finish(infeasible, qp_end::kInfeasible);
    finish(unbounded, qp_end::kUnbounded);
    finish(converged, qp_end::kConverged);
    // Rounding put a cone's point on its boundary: the best iterate so far is what there is.
    const MaskOf<V> broken = !(merit < V(kInfinity));
    finish(broken, qp_end::kBroken);
    finish(broken & (best_merit_ < V(kInfinity)), qp_end::kStalled);
    outcome.end = end;
    // A certificate is the iterate itself.
    certified_ = infeasible | unbounded;
    return merit;
  }

  CAROM_CALL void keep_best(MaskOf<V> keep) {
    const Data m = data_;
    m.lanes.for_each(m.variables(),
                     [&](int j) { m.best_x[j] = select(keep, m.x[j], m.best_x[j]); });
    m.lanes.for_each(m.rows, [&](int i) { m.best_y[i] = select(keep, m.y[i], m.best_y[i]); });
  }

  CAROM_CALL void keep_inner_iterate(MaskOf<V> keep) {
    const Data m = data_;
    m.lanes.for_each(m.variables(),
                     [&](int j) { inner_x_[j] = select(keep, m.x[j], inner_x_[j]); });
    m.lanes.for_each(m.rows, [&](int i) { inner_y_[i] = select(keep, m.y[i], inner_y_[i]); });
    m.lanes.for_each(1, [&](int) { inner_mu_[0] = select(keep, mu_, inner_mu_[0]); });
  }

  /// One predictor and corrector.
  CAROM_CALL void iterate() {
    const Data m = data_;
    const V tight(1.0 / kEquationProximity);
    m.lanes.for_each(m.rows, [&](int i) {
      m.weight[i] = V(0.0);
      m.push[i] = V(0.0);
    });
    m.lanes.for_each(m.shape.equations, [&](int k) {
      const int i = m.shape.equation_row[k];
      m.weight[i] = tight * m.equation_on[k];
      m.push[i] = m.equation_on[k] * fused(tight, m.equation_residual[k], m.equation[k]);
    });
    data_.for_sides([&](const Side& side, int k, int i, V sign) {
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
      Cones::scale(data_, cone);
      Cones::apply_weight(
          m, cone, [&](int i) { return m.cone.residual[i]; }, [&](int i, V v) { m.push[i] = v; });
    }
    Equations::factorise(data_, true);
    Equations::solve_step(data_, V(1.0));
    // Predictor.
    data_.for_sides([&](const Side& side, int k, int i, V sign) {
      const V change = fused(sign, m.adx[i], side.residual[k]);
      const V w = side.dual[k] * side.slack_inverse[k];
      side.slack_step[k] = -side.on[k] * change;
      side.dual_step[k] = side.on[k] * (fused(w, change, -side.dual[k]));
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      Cones::apply_weight(
          m, cone, [&](int i) { return m.adx[i] + m.cone.residual[i]; },
          [&](int i, V v) {
            m.cone.slack_step[i] = -(m.adx[i] + m.cone.residual[i]);
            m.cone.dual_step[i] = v - m.cone.dual[i];
          });
    }
    const V reach = step_length(V(1.0));
    V product(0.0);
    data_.over_sides([&](const Side& side, int k, int, V) {
      const V s = fused(reach, side.slack_step[k], side.slack[k]);
      const V z = fused(reach, side.dual_step[k], side.dual[k]);
      product = fused(side.on[k] * s, z, product);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      for (int i = cone.first; i < cone.first + m.size_of(cone); ++i) {
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
    m.lanes.for_each(m.rows, [&](int i) { m.push[i] = V(0.0); });
    m.lanes.for_each(m.shape.equations, [&](int k) {
      m.push[m.shape.equation_row[k]] =
          keep * m.equation_on[k] * fused(tight, m.equation_residual[k], m.equation[k]);
    });
    data_.for_sides([&](const Side& side, int k, int i, V sign) {
      const V inverse = side.slack_inverse[k];
      const V z = side.dual[k];
      const V centre = fused(fused(-side.slack_step[k], side.dual_step[k], target), inverse, -z);
      side.dual_step[k] = centre;
      const V value = fused(keep, fused(z * inverse, side.residual[k], z), centre);
      m.push[i] = fused(sign * side.on[k], value, m.push[i]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      Cones::centre(data_, cone, target);
      Cones::apply_weight(
          m, cone, [&](int i) { return m.cone.residual[i]; },
          [&](int i, V v) { m.push[i] = fused(keep, v + m.cone.dual[i], m.cone.dual_step[i]); });
    }
    Equations::solve_step(data_, keep);
    data_.for_sides([&](const Side& side, int k, int i, V sign) {
      const V change = fused(sign, m.adx[i], keep * side.residual[k]);
      const V w = side.dual[k] * side.slack_inverse[k];
      side.slack_step[k] = -side.on[k] * change;
      side.dual_step[k] = side.on[k] * fused(w, change, side.dual_step[k]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      Cones::apply_weight(
          m, cone, [&](int i) { return fused(keep, m.cone.residual[i], m.adx[i]); },
          [&](int i, V v) {
            m.cone.slack_step[i] = -fused(keep, m.cone.residual[i], m.adx[i]);
            m.cone.dual_step[i] = v + m.cone.dual_step[i];
          });
    }
    const V length = step_length(V(m.shape.cones > 0 ? kConeShortened : kShortened));
    const V alpha = select(running_, length, V(0.0));
    m.lanes.for_each(m.variables(), [&](int j) { m.x[j] = fused(alpha, m.step[j], m.x[j]); });
    m.lanes.for_each(m.shape.equations, [&](int k) {
      const int i = m.shape.equation_row[k];
      const V change = fused(keep, m.equation_residual[k], m.adx[i]);
      m.equation[k] = fused(alpha * m.equation_on[k], tight * change, m.equation[k]);
    });
    m.lanes.for_each(m.rows, [&](int i) { m.ax[i] = fused(alpha, m.adx[i], m.ax[i]); });
    data_.for_sides([&](const Side& side, int k, int, V) {
      side.slack[k] = fused(alpha, side.slack_step[k], side.slack[k]);
      side.dual[k] = fused(alpha, side.dual_step[k], side.dual[k]);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      m.lanes.for_each(m.size_of(cone), [&](int t) {
        const int i = cone.first + t;
        m.cone.slack[i] = fused(alpha, m.cone.slack_step[i], m.cone.slack[i]);
        m.cone.dual[i] = fused(alpha, m.cone.dual_step[i], m.cone.dual[i]);
      });
    }
  }

  /// `share` of the way to the boundary, at most 1.
  CAROM_CALL V step_length(V share) const {
    const Data m = data_;
    V ratio = share;
    data_.over_sides([&](const Side& side, int k, int, V) {
      const V on = side.on[k];
      ratio = larger(on * (-side.slack_step[k] * side.slack_inverse[k]), ratio);
      ratio = larger(on * (-side.dual_step[k] * side.dual_inverse[k]), ratio);
    });
    for (int c = 0; c < m.shape.cones; ++c) {
      const QpConeSpan& cone = m.shape.cone[c];
      ratio = larger(
          Cones::ratio(m, cone, m.cone.slack, m.cone.slack_step, m.cone.slack_det[cone.first]),
          ratio);
      ratio = larger(
          Cones::ratio(m, cone, m.cone.dual, m.cone.dual_step, m.cone.dual_det[cone.first]), ratio);
    }
    return share / ratio;
  }

  CAROM_CALL void unscale() {
    const Data m = data_;
    m.lanes.for_each(m.variables(), [&](int j) {
      m.best_x[j] = m.best_x[j] * scale_.length * m.scaled.column_scale[j];
    });
    m.lanes.for_each(
        m.rows, [&](int i) { m.best_y[i] = m.best_y[i] * m.scaled.row_scale[i] / scale_.cost; });
    if (!keeps_inner_) return;
    m.lanes.for_each(m.variables(), [&](int j) {
      inner_x_[j] = inner_x_[j] * scale_.length * m.scaled.column_scale[j];
    });
    m.lanes.for_each(
        m.rows, [&](int i) { inner_y_[i] = inner_y_[i] * m.scaled.row_scale[i] / scale_.cost; });
    m.lanes.for_each(1, [&](int) { inner_mu_[0] = inner_mu_[0] * scale_.length / scale_.cost; });
  }

  Data data_;
  QpScale<V> scale_{};
  V degree_{}, mu_{}, best_merit_{};
  MaskOf<V> running_{}, certified_{};
  Memory inner_x_{}, inner_y_{}, inner_mu_{};
  bool keeps_inner_ = false;
};

}  // namespace carom::kernels
