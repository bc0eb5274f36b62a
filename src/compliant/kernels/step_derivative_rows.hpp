#pragma once

#include "compliant/kernels/step_derivative.hpp"

/// The rows with forces: M^-1 G', W, and the centripetal term of each type of row.
namespace carom::derivatives {

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::carry(double h, const double* stiffness,
                                                const double* damping) {
  count_ = carrying_rows(shape_.rows, problem_.type, h, stiffness, damping, row_, normal_);
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::take(const V* force) {
  if constexpr (kAlone) carry(h_, problem_.stiffness, problem_.damping);
  Mask good = V(0.0) <= V(0.0);
  for (int i = 0; i < shape_.rows; ++i) {
    good = good & (magnitude(force[i]) < V(kernels::kInfinity));
  }
  for (int k = 0; k < count_; ++k) {
    at_.impulse[k] = h_ * force[row_[k]];
    at_.mode[k] = at_.doubt[k] = V(0.0);
  }
  return good;
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::prepare() {
  Mask good = V(0.0) <= V(0.0);
  for (int i = 0; i < n_; ++i) {
    if (shape_.diagonal) {
      good = good & (problem_.mass_matrix[i] > V(0.0));
      at_.mass[i] = V(1.0) / problem_.mass_matrix[i];
      continue;
    }
    for (int j = 0; j <= i; ++j) {
      V sum = mass(i, j);
      for (int l = 0; l < j; ++l) sum -= at_.mass[i * n_ + l] * at_.mass[j * n_ + l];
      if (i == j) {
        good = good & (sum > V(0.0));
        at_.mass[i * n_ + i] = V(1.0) / square_root(sum);
      } else {
        at_.mass[i * n_ + j] = sum * at_.mass[j * n_ + j];
      }
    }
  }
  for (int j = 0; j < n_; ++j) at_.push[j] = problem_.force[j];
  for (int k = 0; k < count_; ++k) {
    for (int j = first(k); j < last(k); ++j) flexible(k)[j] = jacobian(k)[j];
    if (!shape_.diagonal) continue;
    for (int j = first(k); j < last(k); ++j) flexible(k)[j] *= at_.mass[j];
  }
  if (shape_.diagonal) {
    over_mass(at_.push);
  } else {  // several at a time, whose chains of operations run side by side
    V* x[4];
    for (int k = 0; k <= count_; k += 4) {
      const int left = count_ + 1 - k;
      for (int i = 0; i < left && i < 4; ++i) x[i] = k + i < count_ ? flexible(k + i) : at_.push;
      if (left >= 4) {
        vectors_over_mass<4>(x);
      } else if (left == 3) {
        vectors_over_mass<3>(x);
      } else if (left == 2) {
        vectors_over_mass<2>(x);
      } else {
        vectors_over_mass<1>(x);
      }
    }
  }
  for (int j = 0; j < n_; ++j) at_.push[j] = problem_.velocity[j] + h_ * at_.push[j];
  moving_ = V(0.0) < V(0.0);
  for (int k = 0; k < count_; ++k) {
    at_.moment[k] = V(0.0);
    if (centripetal_) moving_ = moving_ | (problem_.jacobian_dot_v[row_[k]] != V(0.0));
  }
  moves_ = any_of(moving_);
  per_h_ = V(1.0) / h_;
  for (int k = 0; k < count_; ++k) at_.per_rate[k] = V(1.0) / rate(k);
  by_velocities_ = count_ > 2 * n_;
  for (int k = 0; k < count_; ++k) by_velocities_ = by_velocities_ && !is_tangent(k);
  for (int k = 0; k < count_; ++k) {
    for (int l = 0; l <= k && !by_velocities_; ++l) {
      const V sum = delassus(k, l);
      at_.delassus[static_cast<long>(k) * count_ + l] = sum;
      at_.delassus[static_cast<long>(l) * count_ + k] = sum;
    }
  }
  kinds_known_ = false;
  steeps_ = moving_ & !moving_;
  if (moves_) {
    factor_kinds();
    if (mixed_) good = good & !moving_;
    for (int k = 0; k < count_; ++k) at_.moment[k] = problem_.jacobian_dot_v[row_[k]];
    over_kinds(at_.moment, at_.along_moment);
    good = good & !(moving_ & unsure_);
    for (const Mask& steep : steep_) steeps_ = steeps_ | (moving_ & steep);
  }
  for (int k = 0; k < count_; ++k) {
    at_.weight[k] = V(1.0) / w(k, k);
    V sum = bias(k);
    for (int j = first(k); j < last(k); ++j) sum += jacobian(k)[j] * at_.push[j];
    at_.constant[k] = sum;
  }
  return good;
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::factor_kinds() {
  if (kinds_known_) return;
  kinds_known_ = true;
  // A row that exerts nothing belongs to its kind all the same, and is not among these.
  mixed_ = false;
  redundant_ = unsure_ = V(0.0) < V(0.0);
  steepest_ = V(1.0);
  for (int i = 0, k = 0; i < shape_.rows; ++i) {
    if (k < count_ && row_[k] == i) {
      ++k;
      continue;
    }
    for (int l = 0; l < count_; ++l) mixed_ = mixed_ || kind_of(row_[l]) == kind_of(i);
  }
  const V zero(0.0), one(1.0), most(static_cast<double>(n_));
  int end = 0;
  for (int kind = 0; kind < kernels::kRowGroups; ++kind) {
    const int begin = end;
    V taken = zero, volume = one, inverse = zero;
    for (int k = 0; k < count_; ++k) {
      if (kind_of(row_[k]) != kind) continue;
      const Mask open = taken < most;
      at_.picked[k] = zero;
      if (!any_of(open)) {
        redundant_ = open | !open;
        continue;
      }
      V* lower = at_.hat + static_cast<long>(k) * count_;
      const V diagonal = coupling(k, k);
      V pivot = diagonal;
      for (int i = begin; i < end; ++i) {
        const int l = independent_[i];
        const V* earlier = at_.hat + static_cast<long>(l) * count_;
        V sum = by_velocities_ ? coupling(k, l) : w(k, l);
        for (int j = begin; j < i; ++j) sum -= lower[independent_[j]] * earlier[independent_[j]];
        lower[l] = select(at_.picked[l] > zero, sum * earlier[l], zero);
        pivot -= lower[l] * lower[l];
      }
      V least(kernels::kIndependent), size(0.0);
      const Mask steep = volume < V(kernels::kRegularKind);
      if (any_of(steep)) {
        const auto place = [&](int i) { return i < end ? independent_[i] : k; };
        const auto entry = [&](int i, int l) -> V& {
          return at_.hat[static_cast<long>(place(i)) * count_ + place(l)];
        };
        size = kernels::combination_size<V>(
            end, [&](int i) { return i >= begin; }, entry,
            [&](V x, int i) { return x * entry(i, i); },
            [&](int i) { return coupling(place(i), place(i)); });
        size = select(steep, size, zero);
        least = larger(V(kernels::kPivotRounding) * size, least);
      }
      const V share = pivot / diagonal;
      unsure_ = unsure_ | (open & (magnitude(share - least) <= V(kUnsurePivot) * least));
      const Mask picks = (pivot > least * diagonal) & open;
      redundant_ = redundant_ | !picks;
      if (!any_of(picks)) continue;
      volume = select(picks, volume * share, volume);
      inverse += select(picks, (one + size) / share, zero);
      independent_[end++] = k;
      at_.picked[k] = select(picks, one, zero);
      taken += at_.picked[k];
      lower[k] = select(picks, one / square_root(select(picks, pivot, one)), zero);
    }
    kind_end_[kind] = end;
    steepest_ = larger(steepest_, inverse);
    steep_[kind] = inverse > select(moving_, V(kSteepMoving), V(kSteepKind));
    unsure_ = unsure_ | (inverse > V(kSteepestKind));
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::over_kinds(V* x, V* pushed) {
  V* given = at_.given;
  V* rest = at_.rest;
  for (int k = 0; k < count_; ++k) given[k] = x[k];
  solve_kinds(x);
  if (pushed != nullptr) push_back(x, pushed);
  // Steep kinds are refined by what D x = given misses in twice the precision.
  constexpr int kRounds = 2;
  V* high = at_.inner;
  V* low = at_.lambda_other;
  const auto push_long = [&](int kind) {
    long_over_mass(
        [&](int j, LongSum<V>& sum) {
          for (int k = 0; k < count_; ++k) {
            if (kind_of(row_[k]) != kind || j < first(k) || j >= last(k)) continue;
            sum.add_product(jacobian(k)[j], x[k]);
          }
        },
        high, low);
  };
  Mask any = V(0.0) < V(0.0);
  for (const Mask& steep : steep_) any = any | steep;
  for (int round = 0; round < kRounds && any_of(any); ++round) {
    for (int k = 0; k < count_; ++k) rest[k] = V(0.0);
    for (int kind = 0; kind < kernels::kRowGroups; ++kind) {
      if (!any_of(steep_[kind])) continue;
      push_long(kind);
      for (int k = 0; k < count_; ++k) {
        if (kind_of(row_[k]) != kind) continue;
        LongSum<V> sum(given[k]);
        for (int j = first(k); j < last(k); ++j) {
          sum.add_product(-jacobian(k)[j], high[j]);
          sum.add_rest(-(jacobian(k)[j] * low[j]));
        }
        rest[k] = select(steep_[kind], sum.value(), V(0.0));
      }
    }
    solve_kinds(rest);
    for (int k = 0; k < count_; ++k) x[k] += rest[k];
  }
  if (pushed == nullptr) return;
  for (int kind = 0; kind < kernels::kRowGroups; ++kind) {
    if (!any_of(steep_[kind])) continue;
    push_long(kind);
    for (int j = 0; j < n_; ++j) {
      V& to = pushed[kind * n_ + j];
      to = select(steep_[kind], high[j], to);
    }
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::solve_kinds(V* x) const {
  const V zero(0.0);
  for (int k = 0; k < count_; ++k) x[k] = select(at_.picked[k] > zero, x[k], zero);
  for (int kind = 0, begin = 0; kind < kernels::kRowGroups; begin = kind_end_[kind++]) {
    const int end = kind_end_[kind];
    for (int i = begin; i < end; ++i) {
      const int k = independent_[i];
      const V* lower = at_.hat + static_cast<long>(k) * count_;
      V value = x[k];
      for (int j = begin; j < i; ++j) value -= lower[independent_[j]] * x[independent_[j]];
      x[k] = select(at_.picked[k] > zero, value * lower[k], zero);
    }
    for (int i = end - 1; i >= begin; --i) {
      const int k = independent_[i];
      const V* column = at_.hat + k;
      V value = x[k];
      for (int j = i + 1; j < end; ++j) {
        const int l = independent_[j];
        value -= column[static_cast<long>(l) * count_] * x[l];
      }
      const V inverse = column[static_cast<long>(k) * count_];
      x[k] = select(at_.picked[k] > zero, value * inverse, zero);
    }
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::push_back(const V* x, V* to) const {
  for (int j = 0; j < kernels::kRowGroups * n_; ++j) to[j] = V(0.0);
  for (int k = 0; k < count_; ++k) {
    V* own = to + kind_of(row_[k]) * n_;
    for (int j = first(k); j < last(k); ++j) own[j] += flexible(k)[j] * x[k];
  }
}

template <class V>
CAROM_HOST_DEVICE typename StepDerivative<V>::Mask StepDerivative<V>::moment_refuses(
    bool rates, bool geometry) {
  const Mask no = V(0.0) < V(0.0);
  if (!centripetal_ || (!rates && !moves_)) return no;
  if (!moves_) factor_kinds();
  const Mask asked = rates ? !no : moving_;
  Mask refused = mixed_ ? asked : asked & unsure_;
  if (geometry && !shape_.fixed_kinds) refused = refused | (moving_ & redundant_);
  return refused;
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::over_mass(V* x) const {
  if (shape_.diagonal) {
    for (int i = 0; i < n_; ++i) x[i] *= at_.mass[i];
    return;
  }
  vectors_over_mass<1>(&x);
}

template <class V>
template <class Right>
CAROM_INLINE void StepDerivative<V>::long_over_mass(Right&& right, V* high, V* low) const {
  const auto missing = [&](int j, bool known) {
    LongSum<V> sum;
    right(j, sum);
    if (known && shape_.diagonal) sum.add_product(-problem_.mass_matrix[j], high[j]);
    for (int l = 0; l < n_ && known && !shape_.diagonal; ++l) {
      sum.add_product(-mass(j, l), high[l]);
    }
    return sum.value();
  };
  for (int j = 0; j < n_; ++j) high[j] = missing(j, false);
  over_mass(high);
  for (int j = 0; j < n_; ++j) low[j] = missing(j, true);
  over_mass(low);
}

template <class V>
template <int kVectors>
CAROM_HOST_DEVICE void StepDerivative<V>::vectors_over_mass(V* const* x) const {
  V sum[kVectors];
  for (int i = 0; i < n_; ++i) {
    for (int k = 0; k < kVectors; ++k) sum[k] = x[k][i];
    for (int j = 0; j < i; ++j) {
      const V entry = at_.mass[i * n_ + j];
      for (int k = 0; k < kVectors; ++k) sum[k] -= entry * x[k][j];
    }
    for (int k = 0; k < kVectors; ++k) x[k][i] = sum[k] * at_.mass[i * n_ + i];
  }
  for (int i = n_ - 1; i >= 0; --i) {
    for (int k = 0; k < kVectors; ++k) sum[k] = x[k][i];
    for (int j = n_ - 1; j > i; --j) {  // what is known last stands last
      const V entry = at_.mass[j * n_ + i];
      for (int k = 0; k < kVectors; ++k) sum[k] -= entry * x[k][j];
    }
    for (int k = 0; k < kVectors; ++k) x[k][i] = sum[k] * at_.mass[i * n_ + i];
  }
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::pressure(int k) const {
  const V turned = at_.moment[k] * at_.per_rate[k], pressed = at_.impulse[k] * per_eta(k);
  if (!moves_) return pressed;
  const int i = row_[k];
  const V shift = problem_.stiffness[i] * problem_.phi[i] * at_.per_rate[k];
  const V drift = h_ * problem_.jacobian_dot_v[i];
  V sum = shift + drift, size = magnitude(shift) + magnitude(drift);
  for (int j = first(k); j < last(k); ++j) {
    const V term = jacobian(k)[j] * at_.velocity[j];
    sum += term;
    size += magnitude(term);
  }
  const Mask less = has_mode(k, StepMode::closed) & (size < magnitude(turned));
  return select(less, -sum, turned + pressed);
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::push(const V* x, V* pushed) const {
  for (int j = 0; j < n_; ++j) pushed[j] = V(0.0);
  for (int k = 0; k < count_; ++k) {
    if (!any_of(x[k] != V(0.0))) continue;
    for (int j = first(k); j < last(k); ++j) pushed[j] += flexible(k)[j] * x[k];
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::push_sizes(const V* x, V* sizes) const {
  for (int j = 0; j < n_; ++j) sizes[j] = V(0.0);
  for (int k = 0; k < count_; ++k) {
    for (int j = first(k); j < last(k); ++j) sizes[j] += magnitude(flexible(k)[j] * x[k]);
  }
}

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::times_delassus(const V* x, V* product, V* size) {
  V* pushed = at_.lambda_other;
  push(x, pushed);
  if (by_velocities_) push_sizes(x, at_.inner);
  for (int k = 0; k < count_; ++k) {
    V sum = x[k] * per_eta(k);
    for (int j = first(k); j < last(k); ++j) sum += jacobian(k)[j] * pushed[j];
    product[k] = sum;
    size[k] = product_size(k, x, at_.inner);
  }
}

}  // namespace carom::derivatives
