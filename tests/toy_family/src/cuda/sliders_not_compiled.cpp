// Stands in for the kernel where no CUDA compiler was present. A family of the library has a line
// of src/cuda/not_compiled.cpp instead, and one of src/reference/not_compiled.cpp.
#include "programs/sliders/backends.hpp"

namespace carom::cuda {

template <>
const SliderEntries& entries() {
  throw BackendUnavailable(kWithoutCuda);
}

}  // namespace carom::cuda
