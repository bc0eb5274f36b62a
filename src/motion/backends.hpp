#pragma once

#include <carom/motion_function.hpp>
#include <carom/motion_replay.hpp>

// What each backend offers for motions. Shapes were validated before.
namespace carom {

struct WorkspaceState;

namespace cpu {
MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings,
                              WorkspaceState* workspace);
/// batch: start and sizes of the mechanism, no parameters.
MotionResult simulate_own(const OwnMechanism& mechanism, const MotionBatch& batch,
                          const MotionSettings& settings);
}  // namespace cpu
namespace reference {
/// As carom::replay_motion.
MotionReplay replay_motion(const MotionProblem& problem, const MotionResult& result,
                           std::int64_t sample, const ReplaySettings& settings);
}  // namespace reference
namespace cuda {
MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings,
                              WorkspaceState* workspace);
}

}  // namespace carom
