#pragma once

#include "programs/derivatives/kernels/qp_derivative.hpp"

/// An answer from a point near it, whatever modes the point has.
namespace carom::derivatives {

CAROM_HOST_DEVICE inline bool QpDerivative::approach(double& shift) {
  shift = 0.0;
  double moved = kernels::kInfinity;
  for (int round = 0; round < kMostApproaches; ++round) {
    if (!descend(shift)) return false;
    const double before = moved;
    moved = 0.0;
    for (int i = 0; i < r_; ++i) {
      const double change = magnitude(at_.theta[i] - at_.multiplier[i]);
      moved = kernels::larger(moved, at_.feel[i] * change);
      at_.multiplier[i] = at_.theta[i];
    }
    if (!kernels::is_finite(moved)) return false;
    shift = kernels::larger(shift, moved);
    if (moved <= kApproached || (round > 1 && moved > 0.5 * before)) break;
  }
  return moved <= kLargestShift;
}

CAROM_HOST_DEVICE inline bool QpDerivative::descend(double& shift) {
  double* x = at_.x;
  double* step = at_.extra;
  double* start = at_.rest;
  press();
  for (int round = 0; round < kMostDescents; ++round) {
    if (!assemble_pressed()) return false;
    for (int j = 0; j < n_; ++j) step[j] = -at_.sum[j];
    factors_.solve(step);
    double before = 0.0, moved = 0.0;
    for (int j = 0; j < n_; ++j) before += at_.sum[j] * step[j];
    each_row_times(step, [&](int i, double change) {
      if (has_bound(i)) moved = kernels::larger(moved, magnitude(change) / at_.unit[i]);
    });
    if (!kernels::is_finite(before) || !kernels::is_finite(moved)) return false;
    if (!(before < 0.0)) return true;  // rounding is all that is left
    for (int j = 0; j < n_; ++j) start[j] = x[j];
    // Along the step the slope of what is minimised rises from `before` < 0.
    double low = 0.0, high = 1.0, at = 1.0;
    for (int trial = 0; trial < kMostTrials; ++trial) {
      for (int j = 0; j < n_; ++j) x[j] = start[j] + at * step[j];
      press();
      double slope = 0.0;
      for (int j = 0; j < n_; ++j) slope += at_.sum[j] * step[j];
      if (magnitude(slope) <= -0.5 * before || (slope < 0.0 && trial == 0)) break;
      if (slope < 0.0) {
        low = at;
      } else {
        high = at;
      }
      at = 0.5 * (low + high);
    }
    shift = kernels::larger(shift, at * moved);
    if (moved <= kApproached) break;
  }
  return true;
}

CAROM_HOST_DEVICE inline void QpDerivative::press() {
  for (int j = 0; j < n_; ++j) at_.sum[j] = problem_.vector[j];
  add_hessian_times(at_.x, at_.sum);
  each_row_times(at_.x, [&](int i, double value) {
    const double y = at_.multiplier[i], by = penalty(i);
    double& pressed = at_.theta[i];
    pressed = 0.0;
    if (in_cone(i) || is_equation(i)) {
      pressed = y + by * (value - bound(i));
    } else if (i >= m_) {
      pressed = kernels::larger(y + by * (value - bound(i)), 0.0);
    } else if (has_bound(i) && by > 0.0) {
      pressed = kernels::larger(y + by * (value - problem_.upper[i]), 0.0) +
                kernels::smaller(y + by * (value - problem_.lower[i]), 0.0);
    }
  });
  for (int first = m_; first < r_; ++first) {
    if (!in_cone(first) || owner_[first] != first) continue;
    double* w = at_.theta;
    const double side = length(w, first), top = w[first];
    at_.target[first] = 0.0;
    if (side <= top) continue;
    const double mean = side > -top ? 0.5 * (top + side) : 0.0;
    at_.target[first] = mean / side;
    w[first] = mean;
    for (int k = first + 1; k < r_ && owner_[k] == first; ++k) w[k] *= mean / side;
  }
  add_rows_times(at_.theta, at_.sum);
}

CAROM_HOST_DEVICE inline bool QpDerivative::assemble_pressed() {
  double* a = factors_.matrix();
  double* h = at_.scratch;
  const auto add = [&](const double* of, double by) {
    for (int j = 0; j < n_; ++j) {
      const double share = by * of[j];
      if (share == 0.0) continue;
      for (int k = 0; k < n_; ++k) a[static_cast<long>(j) * n_ + k] += share * of[k];
    }
  };
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) a[static_cast<long>(i) * n_ + j] = hessian(i, j);
  }
  for (int i = 0; i < r_; ++i) {
    const int first = owner_[i];
    const double by = penalty(i);
    if (!in_cone(i) || at_.target[first] == 0.0) {
      if (at_.theta[i] != 0.0 || is_equation(i)) add(row(i), by);
      continue;
    }
    if (i != first) continue;
    // V = (c_0 + h)(c_0 + h)' / 2 + share (C_v'C_v - h h'), h = C_v'v / |v|
    const double share = at_.target[first], side = length(at_.theta, first);
    for (int j = 0; j < n_; ++j) h[j] = 0.0;
    for (int k = first + 1; k < r_ && owner_[k] == first; ++k) {
      add(row(k), by * share);
      for (int j = 0; j < n_; ++j) h[j] += row(k)[j] * (at_.theta[k] / side);
    }
    add(h, -by * share);
    for (int j = 0; j < n_; ++j) h[j] += row(first)[j];
    add(h, 0.5 * by);
  }
  return factors_.factor(n_);
}

}  // namespace carom::derivatives
