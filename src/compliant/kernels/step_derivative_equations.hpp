#pragma once

#include "compliant/kernels/step_derivative.hpp"

/// The modes of the rows and their equations, polished and solved.
namespace carom::derivatives {

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::modes(const V* force,
                                                                            ReportOf<V>& report) {
  Mask good = take(force);
  if (!any_of(good)) return good;
  report.status = Smoothness::undefined;
  good = good & prepare();
  if (!any_of(good)) return good;
  flow();
  measure();
  Tolerance tolerance{V(kLargestShift), V(kLargestShift)};
  good = good & !wrong(tolerance);
  if (!any_of(good)) {
    report.status = Smoothness::not_solved;
    return good;
  }
  tolerance.impulse = tolerance.flow = V(rules_.margin_tolerance);
  // Polished in the modes that are nearer, however near: which of them are doubtful is told after.
  const Tolerance none{V(0.0), V(0.0)};
  split(kAlone ? none : tolerance);
  report.shift = V(0.0);
  Mask going = good;
  bool stale = true;  // whether the factors are others' than the modes'
  V before(kernels::kInfinity);
  for (int round = 0; round < 5; ++round) {
    if (stale) {
      const Mask regular = assemble();
      good = good & (regular | !going);
      going = going & regular;
      if (!any_of(good)) {
        report.margin = margin_;
        return good;
      }
    }
    const V moved = newton(going);
    report.shift = select(going, larger(report.shift, moved), report.shift);
    // Rows that depend on each other leave impulses far less exact than the flows.
    const V turned = moved_flow();
    V wider = larger(V(rules_.margin_tolerance), V(10.0) * moved);
    // Modes that do not settle have gaps about as large as what polishing moved.
    if (round >= 3) wider = larger(wider, V(10.0) * report.shift);
    tolerance.impulse = select(going, wider, tolerance.impulse);
    wider = larger(V(rules_.margin_tolerance), V(10.0) * turned);
    tolerance.flow = select(going, wider, tolerance.flow);
    const Mask changed = split(kAlone ? none : tolerance);
    // Rounding is also what moves hardly less than before.
    const Mask rests =
        (moved <= V(kSettled)) | ((moved <= V(kFactorsKept)) & (moved > V(0.1) * before));
    before = moved;
    if constexpr (kAlone) {
      stale = changed;
      going = going & (changed | !rests);
    } else {
      // New factors for some lanes would change the last bits of others.
      good = good & !changed;
      stale = false;
      going = going & good & !rests;
    }
    if (!any_of(going)) break;
  }
  const Mask sharp = good & (creeps_ | steeps_);
  if (any_of(sharp)) good = good & (sharpen(sharp) | !sharp);
  if constexpr (kAlone) {
    stale = split(tolerance) || stale;
  } else if (any_of(sharp)) {
    good = good & !split(tolerance);
  }
  report.margin = margin_;
  report.doubtful = doubtfuls_;
  good = good & (report.shift <= V(kLargestShift)) &
         !wrong({V(10.0) * tolerance.impulse, V(10.0) * tolerance.flow});
  if (!any_of(good)) return good;
  // A slide's equation changes with its flow, however little: factors of the one before, with
  // refinement, do for both.
  if constexpr (kAlone) {
    if (stale || (slides_ && report.shift > kFactorsKept)) {
      good = assemble();
    } else if (slides_) {
      fill_matrix(true);
    }
  } else {
    good = good & !(slides_ & (report.shift > V(kFactorsKept)));
    if (any_of(good & slides_)) fill_matrix(true);
  }
  if (!any_of(good)) return good;
  finish(sharp);
  report.condition = condition();
  // The determinant is positive in every mode, unless friction has made this answer one of
  // several.
  const Mask upright = factors_.sign() > V(0.0);
  if constexpr (!kAlone) {
    report.status = Smoothness::smooth;
    return good & upright & !doubted_;
  } else {
    report.status = upright ? Smoothness::smooth : Smoothness::set_valued;
    if (doubtfuls_ > 0) {
      reduce();
      if (!shown_unique(doubtfuls_, at_.schur, at_.size, at_.work)) {
        report.status = Smoothness::set_valued;
      }
    }
    return true;
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::flow() {
  if (by_velocities_) {
    push(at_.impulse, at_.inner);
    for (int k = 0; k < count_; ++k) {
      V sum = at_.constant[k] + at_.impulse[k] * per_eta(k);
      for (int j = first(k); j < last(k); ++j) sum += jacobian(k)[j] * at_.inner[j];
      at_.flow[k] = sum;
    }
    return;
  }
  for (int k = 0; k < count_; ++k) {
    V sum = at_.constant[k];
    for (int l = 0; l < count_; ++l) sum += w(k, l) * at_.impulse[l];
    at_.flow[k] = sum;
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::measure() {
  V energy = V(0.0);
  if (by_velocities_) push_sizes(at_.impulse, at_.inner);
  for (int k = 0; k < count_; ++k) {
    const int i = row_[k];
    V size = magnitude(h_ * problem_.jacobian_dot_v[i]) +
             (magnitude(problem_.stiffness[i] * problem_.phi[i]) + magnitude(at_.moment[k])) *
                 at_.per_rate[k];
    for (int j = first(k); j < last(k); ++j) {
      const V v = problem_.velocity[j];
      size += magnitude(jacobian(k)[j]) * (magnitude(v) + magnitude(at_.push[j] - v));
    }
    size += product_size(k, at_.impulse, at_.inner);
    at_.unit[k] = at_.weight[k] * size;
    at_.extra[k] = square_root(at_.weight[k]);
    energy = larger(energy, at_.extra[k] * size);
  }
  for (int k = 0; k < count_; ++k) {
    at_.unit[k] = larger(at_.unit[k], at_.extra[k] * energy);
    at_.unit[k] = select(at_.unit[k] > V(0.0), at_.unit[k], V(1.0));
  }
  for (int k = 0; k < count_; ++k) {
    if (!is_tangent(k)) continue;
    at_.unit[normal_[k]] = larger(at_.unit[normal_[k]], at_.unit[k]);
  }
  for (int k = 0; k < count_; ++k) {
    at_.unit[k] = at_.unit[normal_[k]];
    at_.per_unit[k] = V(1.0) / at_.unit[k];
  }
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::moved_flow() {
  for (int k = 0; k < count_; ++k) at_.extra[k] = at_.flow[k];
  flow();
  V moved = V(0.0);
  for (int k = 0; k < count_; ++k) {
    moved = larger(moved, at_.weight[k] * magnitude(at_.flow[k] - at_.extra[k]) * at_.per_unit[k]);
  }
  return moved;
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::wrong(
    const Tolerance& most) const {
  Mask found = V(0.0) < V(0.0);
  for (int k = 0; k < count_; ++k) {
    if (is_tangent(k)) continue;
    const V f = at_.weight[k] * at_.flow[k] * at_.per_unit[k];
    const V p = at_.impulse[k] * at_.per_unit[k];
    if (is_bilateral(k)) {
      found = found | !(magnitude(f) <= most.flow);
      continue;
    }
    const Mask closed = magnitude(f) <= most.flow, open = magnitude(p) <= most.impulse;
    found = found | !((closed | open) & (-f <= most.flow) & (-p <= most.impulse));
    const int t = tangents(k);
    if (t == 0) continue;
    const V excess =
        (length(at_.impulse, k, t) - friction(k) * zero_or_more(at_.impulse[k])) * at_.per_unit[k];
    const V slip = at_.weight[k + 1] * length(at_.flow, k, t) * at_.per_unit[k];
    const Mask rubs = (friction(k) > V(0.0)) & (at_.impulse[k] > V(0.0));
    const Mask against = (slip <= most.flow) | (-excess <= most.impulse);
    found = found | !(excess <= most.impulse) | (rubs & !against);
  }
  return found;
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::split(
    const Tolerance& tolerance) {
  const V zero(0.0), one(1.0), two(2.0);
  const Mask no = zero < zero;
  Mask changed = no;
  doubtfuls_ = loose_ = 0;
  doubted_ = slides_ = creeps_ = no;
  margin_ = V(kernels::kInfinity);
  for (int k = 0; k < count_; ++k) {
    at_.before[k] = at_.mode[k] + V(8.0) * at_.doubt[k];
    at_.doubt[k] = zero;
    if (is_tangent(k)) continue;
    at_.mode[k] = V(static_cast<double>(StepMode::closed));
    if (is_bilateral(k)) continue;
    const V open = at_.weight[k] * at_.flow[k] * at_.per_unit[k];
    const V closed = at_.impulse[k] * at_.per_unit[k];
    const V gap = larger(open, closed);
    margin_ = smaller(margin_, zero_or_more(gap));
    const Mask touching = !((open > tolerance.flow) | (closed > tolerance.impulse));
    const Mask is_open = touching | (open > closed);
    at_.mode[k] = select(is_open, zero, one);
    at_.doubt[k] = select(touching, one, zero);
    doubted_ = doubted_ | touching;
    const int t = tangents(k);
    Mask border = no;
    if (t > 0) {
      const V flow_size = length(at_.flow, k, t), impulse_size = length(at_.impulse, k, t);
      const V slip = at_.weight[k + 1] * flow_size * at_.per_unit[k];
      const V inside = (friction(k) * at_.impulse[k] - impulse_size) * at_.per_unit[k];
      const Mask rough = friction(k) != zero;
      const Mask closes = !is_open;
      const Mask decided = closes & rough;
      const V own = larger(inside, slip);
      margin_ = select(decided, smaller(margin_, zero_or_more(own)), margin_);
      border = decided & !((inside > tolerance.impulse) | (slip > tolerance.flow));
      doubted_ = doubted_ | border;
      at_.doubt[k] = select(border, two, at_.doubt[k]);
      const Mask sticks = decided & ((inside >= slip) | border);
      const Mask moves = !sticks;
      const Mask slides = closes & moves & (rough | (slip > tolerance.flow));
      slides_ = slides_ | slides;
      // What slips less than the tolerance is doubtful.
      const Mask creeps = (slip < V(kCreep)) & (slip > V(rules_.margin_tolerance));
      creeps_ = creeps_ | (slides & creeps);
      const V tangent = select(sticks, one, select(slides, two, zero));
      // Directions: of slip, or of the friction that it would begin against.
      const V size = select(border, impulse_size, flow_size);
      const Mask there = size > zero;
      for (int c = 1; c <= t; ++c) {
        at_.mode[k + c] = tangent;
        const V along = select(border, at_.impulse[k + c], at_.flow[k + c]);
        at_.slip[k + c] = select(there, along / select(there, size, one), zero);
      }
      if constexpr (kAlone) {
        if (touching && friction(k) > 0.0 && !(slip > tolerance.flow)) ++loose_;
      }
    }
    if constexpr (kAlone) {
      if (touching || border) doubtful_[doubtfuls_++] = k;
    }
  }
  for (int k = 0; k < count_; ++k) {
    changed = changed | (at_.before[k] != at_.mode[k] + V(8.0) * at_.doubt[k]);
  }
  return changed;
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::assemble() {
  if (by_velocities_) return assemble_by_velocities();
  fill_matrix(false);
  return factors_.factor(count_);
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::fill_matrix(bool sliding) {
  V* a = factors_.matrix();
  for (int k = 0; k < count_; ++k) {
    if (sliding && !any_of(has_mode(k, StepMode::slide))) continue;
    V* to = a + static_cast<long>(k) * count_;
    bool first_share = true;
    each_flow(k, [&](int l, V share) {
      const V* from = at_.delassus + static_cast<long>(l) * count_;
      if (first_share) {
        for (int m = 0; m < count_; ++m) to[m] = share * from[m];
      } else {
        for (int m = 0; m < count_; ++m) to[m] += share * from[m];
      }
      first_share = false;
    });
    for (int l = 0; l < count_ && first_share; ++l) to[l] = V(0.0);
    each_impulse(k, [&](int l, V share) { to[l] += share; });
  }
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::assemble_by_velocities() {
  V* c = factors_.matrix();
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) c[i * n_ + j] = V(i == j ? 1.0 : 0.0);
  }
  for (int k = 0; k < count_; ++k) {
    const Mask open = has_mode(k, StepMode::open);
    at_.soft[k] = select(open, V(1.0), eta(k));
    at_.scale[k] = square_root(at_.weight[k]);
    const V by = select(open, V(0.0), at_.soft[k]);
    for (int i = first(k); i < last(k); ++i) {
      const V own = flexible(k)[i] * by;
      for (int j = first(k); j < last(k); ++j) c[i * n_ + j] += own * jacobian(k)[j];
    }
  }
  return factors_.factor(n_);
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::multiply(const V* x, V* product) const {
  push(x, at_.inner);
  for (int k = 0; k < count_; ++k) {
    V sum = x[k] * per_eta(k);
    for (int j = first(k); j < last(k); ++j) sum += jacobian(k)[j] * at_.inner[j];
    product[k] = select(has_mode(k, StepMode::open), x[k], sum);
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::multiply_transposed(const V* x, V* product) const {
  pull(x, at_.inner);
  for (int k = 0; k < count_; ++k) {
    V sum = select(has_mode(k, StepMode::open), x[k], x[k] * per_eta(k));
    for (int j = first(k); j < last(k); ++j) sum += flexible(k)[j] * at_.inner[j];
    product[k] = sum;
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::pull(const V* x, V* pulled) const {
  for (int j = 0; j < n_; ++j) pulled[j] = V(0.0);
  for (int k = 0; k < count_; ++k) {
    const V own = select(has_mode(k, StepMode::open), V(0.0), x[k]);
    for (int j = first(k); j < last(k); ++j) pulled[j] += jacobian(k)[j] * own;
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::solve_once(V* x) const {
  if (!by_velocities_) return factors_.solve_once(x);
  for (int k = 0; k < count_; ++k) x[k] *= at_.soft[k];
  push(x, at_.inner);
  factors_.solve_once(at_.inner);
  for (int k = 0; k < count_; ++k) {
    V sum = V(0.0);
    for (int j = first(k); j < last(k); ++j) sum += jacobian(k)[j] * at_.inner[j];
    x[k] -= select(has_mode(k, StepMode::open), V(0.0), at_.soft[k] * sum);
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::solve_transposed_once(V* x) const {
  for (int k = 0; k < count_; ++k) x[k] *= at_.soft[k];
  pull(x, at_.inner);
  factors_.solve_transposed(at_.inner);
  for (int k = 0; k < count_; ++k) {
    V sum = V(0.0);
    for (int j = first(k); j < last(k); ++j) sum += flexible(k)[j] * at_.inner[j];
    x[k] -= at_.soft[k] * sum;
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::solve_transposed(V* x) const {
  if (!by_velocities_) return factors_.solve_transposed(x);
  refined(
      x, [&](V* y) { solve_transposed_once(y); },
      [&](const V* y, V* product) { multiply_transposed(y, product); });
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::solve_modes(V* x, bool accurate) {
  for (int k = 0; k < count_; ++k) at_.g[k] = x[k];
  if (!accurate) {
    solve_once(x);
  } else if (by_velocities_) {
    refined(
        x, [&](V* y) { solve_once(y); }, [&](const V* y, V* product) { multiply(y, product); });
  } else {
    factors_.solve(x);
  }
  for (int k = 0; k < count_; ++k) {
    x[k] = select(has_mode(k, StepMode::open), at_.g[k], x[k]);
  }
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::condition() const {
  if (!by_velocities_) return factors_.condition();
  // Columns are those of p / sqrt(rho), so that open rows are divided by what their columns are
  // multiplied by.
  const auto columns = [&](V* x) {
    for (int k = 0; k < count_; ++k) x[k] *= at_.scale[k];
  };
  const auto columns_back = [&](V* x) {
    for (int k = 0; k < count_; ++k) x[k] = x[k] / at_.scale[k];
  };
  const auto rows = [&](V* x) {
    for (int k = 0; k < count_; ++k) {
      const V scale = at_.scale[k];
      x[k] = select(has_mode(k, StepMode::open), x[k] / scale, x[k] * scale);
    }
  };
  const auto rows_back = [&](V* x) {
    for (int k = 0; k < count_; ++k) {
      const V scale = at_.scale[k];
      x[k] = select(has_mode(k, StepMode::open), x[k] * scale, x[k] / scale);
    }
  };
  const auto in_place = [&](V* x, auto&& product_of) {
    for (int k = 0; k < count_; ++k) at_.row[k] = x[k];
    product_of(at_.row, x);
  };
  const V count(static_cast<double>(count_));
  const V size = norm_estimate(
      count_, count, at_.given, at_.rest,
      [&](V* x) {
        columns(x);
        in_place(x, [&](const V* y, V* product) { multiply(y, product); });
        rows(x);
      },
      [&](V* x) {
        rows(x);
        in_place(x, [&](const V* y, V* product) { multiply_transposed(y, product); });
        columns(x);
      });
  const V inverse = norm_estimate(
      count_, count, at_.given, at_.rest,
      [&](V* x) {
        rows_back(x);
        solve_once(x);
        columns_back(x);
      },
      [&](V* x) {
        columns_back(x);
        solve_transposed_once(x);
        rows_back(x);
      });
  return size * inverse;
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::newton(Mask going) {
  V* step = at_.y;
  for (int k = 0; k < count_; ++k) {
    V value = select(has_mode(k, StepMode::open), at_.impulse[k], at_.flow[k]);
    const Mask slides = has_mode(k, StepMode::slide);
    if (any_of(slides)) {
      const int n = normal_[k];
      const V sliding = at_.impulse[k] * length(at_.flow, n, tangents(n)) +
                        friction(k) * at_.impulse[n] * at_.flow[k];
      value = select(slides, sliding, value);
    }
    step[k] = -value;
  }
  solve_once(step);
  V moved = V(0.0);
  for (int k = 0; k < count_; ++k) {
    at_.impulse[k] = select(going, at_.impulse[k] + step[k], at_.impulse[k]);
    moved = larger(moved, magnitude(step[k]) * at_.per_unit[k]);
  }
  return moved;
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::sharpen(Mask going) {
  V* low = at_.psi_other;  // what rounding leaves of the impulses
  V* before = at_.extra;
  for (int k = 0; k < count_; ++k) low[k] = V(0.0);
  long_flow(going, low);
  Mask turns = going;
  for (int round = 0; round < 3 && any_of(turns); ++round) {
    for (int k = 0; k < count_; ++k) {
      before[k] = at_.flow[k];
      at_.given[k] = at_.impulse[k];
    }
    newton(turns);
    for (int k = 0; k < count_; ++k) {
      const V taken = at_.impulse[k] - at_.given[k];
      low[k] += select(turns, at_.y[k] - taken, V(0.0));
    }
    long_flow(turns, low);
    V turned(0.0);
    for (int k = 0; k < count_; ++k) {
      const Mask slides = has_mode(k, StepMode::slide);
      if (!any_of(slides)) continue;
      const int n = normal_[k];
      const V slip = length(at_.flow, n, tangents(n));
      // What slips less is doubtful.
      const Mask counts = at_.weight[k] * slip > V(rules_.margin_tolerance) * at_.unit[k];
      const V by = magnitude(at_.flow[k] - before[k]) / slip;
      turned = select(slides & counts, larger(turned, by), turned);
    }
    turns = turns & !(turned <= V(kSettledEdge));
  }
  for (int j = 0; j < n_; ++j) {
    at_.velocity[j] = problem_.velocity[j] + (at_.lambda[j] + at_.lambda_other[j]);
  }
  return going & !turns;
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::long_flow(Mask going, const V* low) {
  using kernels::fused;
  // v' - v = high + rest by M (v' - v) = h f + G'p.
  V* high = at_.lambda;
  V* rest = at_.lambda_other;
  long_over_mass(
      [&](int j, LongSum<V>& sum) {
        sum.add_product(h_, problem_.force[j]);
        for (int k = 0; k < count_; ++k) {
          if (j < first(k) || j >= last(k)) continue;
          sum.add_product(jacobian(k)[j], at_.impulse[k]);
          sum.add_rest(jacobian(k)[j] * low[k]);
        }
      },
      high, rest);
  for (int k = 0; k < count_; ++k) {
    const int i = row_[k];
    // (p + h (K phi + m)) / (h s)
    LongSum<V> push(at_.impulse[k]), soft;
    push.add_rest(low[k]);
    push.add_product(h_, at_.moment[k]);
    push.add_product_of(h_, problem_.stiffness[i], problem_.phi[i]);
    soft.add_product(h_, problem_.damping[i]);
    soft.add_product_of(h_, h_, problem_.stiffness[i]);
    const V all = soft.value(), quotient = push.value() / all;
    const V left = fused(-quotient, all, push.value()) + push.rest();
    LongSum<V> sum(quotient);
    sum.add_rest((left - quotient * soft.rest()) / all);
    sum.add_product(h_, problem_.jacobian_dot_v[i]);
    for (int j = first(k); j < last(k); ++j) {
      sum.add_product(jacobian(k)[j], problem_.velocity[j]);
      sum.add_product(jacobian(k)[j], high[j]);
      sum.add_rest(jacobian(k)[j] * rest[j]);
    }
    at_.flow[k] = select(going, sum.value(), at_.flow[k]);
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::finish(Mask sharp) {
  V* to = at_.inner;
  for (int j = 0; j < n_; ++j) to[j] = at_.push[j];
  for (int k = 0; k < count_; ++k) {
    for (int j = first(k); j < last(k); ++j) to[j] += flexible(k)[j] * at_.impulse[k];
  }
  for (int j = 0; j < n_; ++j) at_.velocity[j] = select(sharp, at_.velocity[j], to[j]);
}

}  // namespace carom::derivatives
