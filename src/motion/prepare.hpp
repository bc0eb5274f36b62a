#pragma once

#include <cstdint>
#include <string>

#include <carom/types/error.hpp>
#include <carom/types/motion.hpp>

#include "motion/kernels/motion_view.hpp"

namespace carom::motion {

/// All but the arrays' pointers. result: of the batch's and the settings' sizes.
kernels::motion::MotionView view_of(const MotionBatch& batch, const MotionSettings& settings,
                                    const MotionResult& result);

/// Result of the batch's and the settings' sizes, not filled in.
MotionResult empty_result(const MotionBatch& batch, const MotionSettings& settings,
                          MemorySpace space = MemorySpace::host);

/// What is refused of a problem; empty field where nothing is.
Refusal refused(const MotionBatch& batch, std::int64_t problem, const std::string& name = {});

/// The numbers of a problem that is refused.
void mark_refused(MotionResult& result, std::int64_t problem);

}  // namespace carom::motion
