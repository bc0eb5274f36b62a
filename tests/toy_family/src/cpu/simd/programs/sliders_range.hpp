#pragma once

#include "programs/sliders/kernels/sliders.hpp"

namespace carom::cpu::simd {

struct SliderRange : kernels::SliderView {
  std::int64_t begin, end;  ///< problems
};

/// Packs of problems, one a lane; the last ones alone, with the same bits.
template <class Isa>
void solve_sliders(const SliderRange& range);

}  // namespace carom::cpu::simd
