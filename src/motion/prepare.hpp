#pragma once

#include <cstdint>
#include <string>

#include <carom/error.hpp>
#include <carom/motion.hpp>

#include "motion/body/motion_view.hpp"

namespace carom::motion {

kernels::motion::MotionRun run_of(const MotionBatch& batch, const MotionSettings& settings);

/// Numbers of one problem, in place.
kernels::motion::MotionProblemView problem_view(const MotionBatch& batch, std::int64_t problem);

/// Result of the batch's and the settings' sizes, all of it zero.
MotionResult empty_result(const MotionBatch& batch, const MotionSettings& settings);

/// Where the numbers of (problem, sample) of a result go.
kernels::motion::MotionSampleView sample_view(MotionResult& result, std::int64_t problem,
                                              std::int64_t sample);

/// What is refused of a problem; empty field where nothing is.
Refusal refused(const MotionBatch& batch, std::int64_t problem, const std::string& name = {});

/// The numbers of a problem that is refused.
void mark_refused(MotionResult& result, std::int64_t problem);

}  // namespace carom::motion
