// Stands in for the motion kernels where the build leaves them out: nvcc takes long over them.
#include <carom/error.hpp>

#include "motion/backends.hpp"

namespace carom::cuda {

MotionResult simulate_motions(const MotionBatch&, const MotionSettings&) {
  throw BackendUnavailable(
      "cuda does not simulate motions in this build: configure with -DCAROM_CUDA_MOTION=ON");
}

}  // namespace carom::cuda
