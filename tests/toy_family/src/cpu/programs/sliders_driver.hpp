#pragma once

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "cpu/simd/programs/sliders_range.hpp"

namespace carom::cpu {

/// Threads over ranges of problems; `solve` takes a SliderRange.
template <class Solve>
SliderResult drive_sliders(const SliderBatch& batch, const SliderSettings& settings,
                           Solve&& solve) {
  auto result = allocate<SliderResult>(batch);
  parallel_for(batch.problems, 4096, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    simd::SliderRange range{};
    arrays::bind(range, batch);
    arrays::bind(range, result);
    range.tolerance = settings.tolerance;
    range.begin = begin;
    range.end = end;
    solve(range);
  });
  return result;
}

}  // namespace carom::cpu
