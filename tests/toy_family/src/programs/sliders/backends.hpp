#pragma once

#include <carom/types/sliders.hpp>

#include "core/backends.hpp"

// What each backend offers for sliders. Shapes were validated before.
namespace carom {

struct SliderEntries {
  SliderResult (*solve)(const SliderBatch&, const SliderSettings&);
};

namespace cpu {
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings);
template <>
const SliderEntries& entries();
}  // namespace cpu
namespace reference {
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings);
template <>
const SliderEntries& entries();
}  // namespace reference
namespace cuda {
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings);
template <>
const SliderEntries& entries();
}  // namespace cuda

}  // namespace carom
