#pragma once

#include "compliant/kernels/step_derivative.hpp"

/// Doubtful conditions: 0 <= theta perp N dp + .. >= 0, J dp = .. + U theta.
namespace carom::derivatives {

template <class V>
CAROM_HOST_DEVICE void StepDerivative<V>::reduce() {
  const int b = doubtfuls_;
  for (int d = 0; d < b; ++d) {
    const int k = doubtful_[d], t = tangents(k);
    double* source = at_.source + static_cast<long>(d) * count_;
    double* test = at_.test + static_cast<long>(d) * count_;
    for (int l = 0; l < count_; ++l) source[l] = test[l] = 0.0;
    if (at_.doubt[k] == 1.0) {
      source[k] = 1.0;
      for (int c = 1; c <= t; ++c) source[k + c] = -friction(k) * at_.slip[k + c];
      for (int l = 0; l < count_; ++l) test[l] = w(k, l);
    } else {
      test[k] = friction(k);
      for (int c = 1; c <= t; ++c) {
        source[k + c] = -at_.slip[k + c];
        test[k + c] = -at_.slip[k + c];
      }
    }
  }
  for (int l = 0; l < b; ++l) {
    for (int k = 0; k < count_; ++k) at_.extra[k] = at_.source[static_cast<long>(l) * count_ + k];
    solve_modes(at_.extra);
    for (int d = 0; d < b; ++d) {
      double sum = 0.0, size = 0.0;
      for (int k = 0; k < count_; ++k) {
        const double term = at_.test[static_cast<long>(d) * count_ + k] * at_.extra[k];
        sum += term;
        size += magnitude(term);
      }
      at_.schur[d * b + l] = sum;
      if (d == l) at_.size[d] = size;
    }
  }
}

template <class V>
CAROM_HOST_DEVICE bool StepDerivative<V>::add_element(bool held, double share, double* total) {
  const int b = doubtfuls_;
  int n = 0;
  for (int d = 0; d < b; ++d) basic_[d] = (at_.doubt[doubtful_[d]] == 1.0) == held ? 1 : 0;
  for (int d = 0; d < b; ++d) n += basic_[d];
  double* a = at_.work;
  double* e = at_.theta;
  int place = 0;
  for (int d = 0; d < b; ++d) {
    if (basic_[d] == 0) continue;
    e[place] = at_.touch[d];
    int column = 0;
    for (int l = 0; l < b; ++l) {
      if (basic_[l] != 0) a[place * n + column++] = at_.schur[l * b + d];
    }
    ++place;
  }
  if (!eliminate(n, a, e)) return false;
  double* more = at_.row;
  for (int k = 0; k < count_; ++k) more[k] = 0.0;
  place = 0;
  for (int d = 0; d < b; ++d) {
    if (basic_[d] == 0) continue;
    for (int k = 0; k < count_; ++k) {
      more[k] += at_.test[static_cast<long>(d) * count_ + k] * e[place];
    }
    at_.direct[d] += share * e[place++];
  }
  solve_transposed(more);
  for (int k = 0; k < count_; ++k) total[k] += share * (at_.y[k] - more[k]);
  return true;
}

template <class V>
CAROM_HOST_DEVICE bool StepDerivative<V>::adjoint_in_doubt(double* total, Report& report) {
  bool seen = false;
  const int b = doubtfuls_;
  for (int d = 0; d < b; ++d) {
    double value = 0.0, size = 0.0;
    for (int k = 0; k < count_; ++k) {
      const double term = at_.source[d * count_ + k] * at_.y[k];
      value += term;
      size += magnitude(term);
    }
    at_.touch[d] = value;
    seen = seen || magnitude(value) > (kUnseen + 4e-16 * report.condition) * size;
  }
  // A contact that touches without slip may take any direction of friction.
  const bool open_ended = loose_ > 0 && any_seen(at_.y);
  if (report.status == Smoothness::smooth && (seen || open_ended)) {
    report.status = Smoothness::kink;
  }
  AtKink element = AtKink::free;
  const bool kink = report.status == Smoothness::kink;
  if (kink) element = rules_.at_kink;
  if (element == AtKink::nan) return false;
  for (int k = 0; k < count_; ++k) at_.psi[k] = 0.0;
  for (int d = 0; d < b; ++d) at_.direct[d] = 0.0;
  for (int k = 0; k < count_; ++k) total[k] = 0.0;
  if (!kink || b == 0) {
    for (int k = 0; k < count_; ++k) total[k] = at_.y[k];
  } else {
    const bool both = element == AtKink::mean;
    const double share = both ? 0.5 : 1.0;
    for (int part = 0; part < 2; ++part) {
      const bool held = part == 0;
      if (!both && held != (element == AtKink::held)) continue;
      if (!add_element(held, share, total)) {
        report.status = Smoothness::undefined;
        return false;
      }
    }
  }
  return true;
}

template <class V>
CAROM_HOST_DEVICE bool StepDerivative<V>::tangent_in_doubt(const StepDirectionView<double>& d,
                                                           Report& report) {
  const int b = doubtfuls_;
  bool moved = false;
  for (int i = 0; i < b; ++i) {
    double size = 0.0;
    const double value = condition_of(i, at_.y, d, size);
    at_.touch[i] = magnitude(value) > kUnseen * size ? value : 0.0;
    at_.theta[i] = 0.0;
    moved = moved || at_.touch[i] != 0.0;
  }
  if (loose_ > 0) return false;
  if (report.status == Smoothness::smooth && moved) report.status = Smoothness::kink;
  if (report.status != Smoothness::kink) return true;
  const bool found = solve_doubtful(b, at_.schur, at_.touch, at_.theta, basic_, at_.work);
  for (int i = 0; i < b; ++i) {
    if (!(at_.theta[i] > 0.0)) continue;
    for (int k = 0; k < count_; ++k) at_.extra[k] = at_.source[i * count_ + k];
    solve_modes(at_.extra);
    for (int k = 0; k < count_; ++k) at_.y[k] += at_.theta[i] * at_.extra[k];
  }
  return found;
}

template <class V>
CAROM_HOST_DEVICE V StepDerivative<V>::condition_of(int i, const V* dp,
                                                    const StepDirectionView<V>& d, V& size) const {
  const int k = doubtful_[i];
  V sum = at_.doubt[k] == 1.0 ? at_.row[k] : at_.impulse[k] * friction_change(d, k);
  size = magnitude(sum);
  for (int l = 0; l < count_; ++l) {
    const V term = at_.test[static_cast<long>(i) * count_ + l] * dp[l];
    sum += term;
    size += magnitude(term);
  }
  return sum;
}

}  // namespace carom::derivatives
