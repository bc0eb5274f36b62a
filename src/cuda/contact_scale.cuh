#pragma once

#include <cmath>

#include <carom/kernels/host_device.hpp>
#include <carom/kernels/numeric.hpp>

namespace carom::cuda {

/// The device's copy of the rule of carom::contact_scale: the power of two that brings a contact's
/// largest diagonal entry near one.
template <int Dim>
CAROM_INLINE double device_contact_scale(const double* delassus, int m, int contact) {
  const long rows = static_cast<long>(Dim) * m;
  double largest = delassus[contact * rows + contact];
  for (int c = 0; c < Dim - 1; ++c) {
    const int t = m + (Dim - 1) * contact + c;
    largest = kernels::larger(largest, delassus[t * rows + t]);
  }
  if (!(largest > 0.0) || !kernels::is_finite(largest)) return 1.0;
  return ::ldexp(1.0, -static_cast<int>(::lround(0.5 * ::log2(largest))));
}

}  // namespace carom::cuda
