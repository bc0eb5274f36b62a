#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/impact.hpp>

/// Step size of problems that come without one, and the speed that tolerances are relative to
/// (docs/explanation/impact.md, "How to choose h and epsilon").
namespace carom::kernels {

/// Normal speed of contact i per normal impulse there [1/kg], by itself: A_ii of the Delassus
/// matrix [rows, rows] whose entries are scaled by S.
CAROM_INLINE double normal_mobility(int rows, const double* delassus, const double* scale, int i) {
  return delassus[static_cast<long>(i) * rows + i] / (scale[i] * scale[i]);
}

/// Of a problem whose Delassus matrix [rows, rows] is scaled by S; `u`: contact velocities.
CAROM_INLINE StoppingImpulse stopping_impulse(int m, int rows, const double* delassus,
                                              const double* scale, const double* u,
                                              double velocity_tolerance) {
  StoppingImpulse most;
  for (int i = 0; i < m; ++i) {
    if (!(-u[i] > velocity_tolerance)) continue;
    const double impulse = -u[i] / normal_mobility(rows, delassus, scale, i);
    if (is_finite(impulse) && impulse > most.impulse) {
      most.contact = i;
      most.impulse = impulse;
    }
  }
  return most;
}

/// h of such a problem. Where no contact approaches there are no steps and any h serves.
CAROM_INLINE double step_size_of(double given, int m, int rows, const double* delassus,
                                 const double* scale, const double* u, double velocity_tolerance) {
  if (given > 0.0) return given;
  const StoppingImpulse stop = stopping_impulse(m, rows, delassus, scale, u, velocity_tolerance);
  return stop.contact < 0 ? 1.0 : stop.impulse;
}

/// Largest normal impulse that changes a contact's speed by `speed` [N s], each contact by itself;
/// 0 where no impulse does. mobility(i): normal_mobility of contact i.
template <class Mobility>
CAROM_INLINE double longest_push(int m, double speed, const Mobility& mobility) {
  double longest = 0.0;
  for (int i = 0; i < m; ++i) {
    const double own = mobility(i);
    if (own > 0.0) longest = larger(longest, speed / own);
  }
  return longest;
}

/// max |u| of `rows` contact velocities; NaN where one is NaN.
CAROM_INLINE double contact_speed(int rows, const double* u) {
  double largest = 0.0;
  for (int i = 0; i < rows; ++i) {
    const double speed = magnitude(u[i]);
    if (!(speed <= largest)) largest = speed;
  }
  return largest;
}

/// What residuals of steps are relative to, where no contact is faster [m/s]: the fastest contact
/// before the impact, or as far as rounding of the products J v reaches. jacobian: [rows, nv]; v:
/// [nv]; u = J v.
CAROM_INLINE double least_speed(int nv, int rows, const double* jacobian, const double* v,
                                const double* u) {
  constexpr double kShareOfTerms = 1e-4;
  double least = 0.0;
  for (int i = 0; i < rows; ++i) {
    double terms = 0.0;
    for (int j = 0; j < nv; ++j) {
      terms = fused(magnitude(jacobian[static_cast<long>(i) * nv + j]), magnitude(v[j]), terms);
    }
    least = larger(least, larger(magnitude(u[i]), kShareOfTerms * terms));
  }
  return least;
}

}  // namespace carom::kernels
