#pragma once

#include <carom/motion.hpp>

// What each backend offers for motions. Shapes were validated before.
namespace carom {

namespace cpu {
MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings);
}
namespace reference {
MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings);
}
namespace cuda {
MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings);
}

}  // namespace carom
