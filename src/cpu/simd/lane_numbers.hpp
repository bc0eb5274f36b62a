#pragma once

#include <cstdint>
#include <limits>

#include <carom/certificate.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/status.hpp>

#include "cpu/simd/isa_lane.hpp"

namespace carom::cpu::simd {

/// Checks of the numbers of single problems, in the instructions of the lane.
template <class Lanes>
struct LaneNumbers {
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  static bool finite(const double* values, long count) {
    long i = 0;
    bool all = true;
    if constexpr (IsaOf<Lanes>::kKnown) {
      using Isa = typename IsaOf<Lanes>::Isa;
      using Pack = typename Isa::Pack;
      const Pack largest(std::numeric_limits<double>::max());
      auto none = Isa::Mask::from_bits(0);
      for (; i + Isa::kWidth <= count; i += Isa::kWidth) {
        const Pack x = magnitude(Pack::load(values + i));
        none = none | (x > largest) | (x != x);
      }
      all = none.bits() == 0;
    }
    for (; i < count; ++i) all = all && kernels::is_finite(values[i]);
    return all;
  }
  static bool answered(Status status) {
    return status == Status::solved || status == Status::inaccurate;
  }
  static Status judged(double residual, double tolerance) {
    if (certificate::within(residual, tolerance)) return Status::solved;
    return kernels::is_finite(residual) ? Status::inaccurate : Status::numerical_error;
  }
  static void fill(double* values, int count) {
    for (int i = 0; i < count; ++i) values[i] = kNan;
  }
};

}  // namespace carom::cpu::simd
