#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// Rules that all kernels for boxed LCPs share, apart from the path.
namespace carom::kernels {

/// What a path leaves of the v that ought to vanish, relative to the largest constant, and how
/// often it is removed at most.
inline constexpr double kBoxRefined = 2e-16;
inline constexpr int kBoxRefinements = 2;

/// t that is left where no row blocks, relative to where it began, of which that is rounding.
inline constexpr double kBoxVanished = 1e-9;

/// In place of pivots: problems that are to be tried, those that are left to others, and those
/// whose first path has ended, in a point with too few digits or on a ray.
inline constexpr int kBoxWaits = -1, kBoxLeft = -2, kBoxEnded = -3, kBoxOnRay = -4;

/// z_i of a friction row from b+, b- and s: at its limit in bits where it slides.
CAROM_INLINE double friction_of(double plus, double minus, double slide, double limit) {
  const double own = plus - minus;
  if (slide > 0.0 && (plus == 0.0 || minus == 0.0)) {
    return own < 0.0 ? -limit : limit;
  }
  const double above = own < -limit ? -limit : own;
  return limit < above ? limit : above;
}

}  // namespace carom::kernels
