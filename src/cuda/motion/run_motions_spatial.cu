#include "cuda/motion/motion_kernel.cuh"

namespace carom::cuda {

template void run_motions<3>(const MotionBatch&, const MotionSettings&, FirstImpacts&,
                             MotionResult&, WorkspaceState*);

}  // namespace carom::cuda
