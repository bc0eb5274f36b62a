#include "solve_sliders.hpp"

#include "cpu/programs/sliders_driver.hpp"

namespace carom::emulation {

SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings) {
  return cpu::drive_sliders(batch, settings, [](const cpu::simd::SliderRange& range) {
    for (std::int64_t p = range.begin; p < range.end; ++p) range.solve(p);
  });
}

}  // namespace carom::emulation
