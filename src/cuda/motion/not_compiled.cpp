// Stands in for the motion kernels where the build leaves them out: nvcc takes long over them.
#include <carom/types/error.hpp>

#include "motion/backends.hpp"

namespace carom {

// By its qualified name: what the header does not declare does not compile.
MotionResult cuda::simulate_motions(const MotionBatch&, const MotionSettings&, WorkspaceState*) {
  throw BackendUnavailable(
      "cuda does not simulate motions in this build: configure with -DCAROM_CUDA_MOTION=ON");
}

}  // namespace carom
