#pragma once

#include <carom/types/motion.hpp>

namespace carom {
struct WorkspaceState;
}

namespace carom::cuda {

/// Motions on the chosen devices: of at least as many problems as devices by problems, of fewer by
/// samples; what lives in device memory stays on the first.
MotionResult motions_divided(const MotionBatch& batch, const MotionSettings& settings,
                             WorkspaceState* workspace);

}  // namespace carom::cuda
