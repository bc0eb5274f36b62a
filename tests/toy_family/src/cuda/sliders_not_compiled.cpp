// Stands in for the kernel where no CUDA compiler was present. A family of the library needs none:
// its entry is a line of src/cuda/device.cpp.
#include "core/backends.hpp"
#include "programs/sliders/backends.hpp"

namespace carom::cuda {

SliderResult solve_sliders(const SliderBatch&, const SliderSettings&) {
  throw BackendUnavailable(kWithoutCuda);
}

}  // namespace carom::cuda
