#pragma once

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/types/sliders.hpp>

namespace carom {

/// Solves every problem in closed form. One with NaN, infinity or a number of the wrong sign gets
/// Status::invalid_input and leaves its neighbours unchanged. The result lives in the memory space
/// of `batch`. Errors: InvalidInput for shapes that do not fit; BackendUnavailable.
SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings = {},
                           Backend backend = Backend::automatic);

}  // namespace carom
