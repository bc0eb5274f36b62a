#pragma once

#include <carom/types/sliders.hpp>

namespace carom::emulation {

/// The device's text in plain doubles, one problem after the other.
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings);

}  // namespace carom::emulation
