#pragma once

#include <carom/types/motion_function.hpp>
#include <carom/types/motion_replay.hpp>

#include "core/backends.hpp"

// What each backend offers for motions. Shapes were validated before.
namespace carom {

namespace motion {
/// As carom::motion_terms, of a state whose lengths are the mechanism's.
MotionTerms terms_of(const MotionProblem& problem, std::span<const double> position,
                     std::span<const double> velocity, double time);
}  // namespace motion

struct MotionEntries {
  /// Null on the reference.
  MotionResult (*simulate)(const MotionBatch&, const MotionSettings&, WorkspaceState*);
  /// Null but on the reference.
  MotionReplay (*replay)(const MotionProblem&, const MotionResult&, std::int64_t sample,
                         const ReplaySettings&) = nullptr;
};

namespace cpu {
MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings,
                              WorkspaceState* workspace);
/// batch: start and sizes of the mechanism, no parameters.
MotionResult simulate_own(const OwnMechanism& mechanism, const MotionBatch& batch,
                          const MotionSettings& settings);
template <>
const MotionEntries& entries();
}  // namespace cpu
namespace reference {
/// As carom::replay_motion.
MotionReplay replay_motion(const MotionProblem& problem, const MotionResult& result,
                           std::int64_t sample, const ReplaySettings& settings);
template <>
const MotionEntries& entries();
}  // namespace reference
namespace cuda {
MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings,
                              WorkspaceState* workspace);
template <>
const MotionEntries& entries();
}  // namespace cuda

}  // namespace carom
