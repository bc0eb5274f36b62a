#pragma once

#include <carom/sliders.hpp>

// What each backend offers for sliders. Shapes were validated before.
namespace carom {

namespace cpu {
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings);
}
namespace reference {
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings);
}
namespace cuda {
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings);
}
/// The device's text in plain doubles, one problem after the other; compiled with the tests.
namespace emulation {
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings);
}

}  // namespace carom
