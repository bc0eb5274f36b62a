#pragma once

#include <string>
#include <vector>

#include <carom/impact_judge.hpp>

#include "run/impact_runner.hpp"

namespace carom::run {

/// Options of the comparison of measured outcomes with samples.
struct JudgeRequest {
  bool judged = false;
  JudgeSettings judge;
  std::vector<double> restitution, friction;  ///< grids to identify with; empty: not wanted
  IdentifySettings identify;
};

/// Errors: InvalidInput naming source and problem, where nothing was measured of a task.
void require_measured(const std::vector<ImpactTask>& tasks, const std::string& source);

/// Judges what was measured of every run, those of one shape together, and puts the answers into
/// them. request: with which they were made. Where `control` stops, the remaining runs have none.
/// Errors: InvalidInput.
void judge_runs(const ImpactRequest& request, const JudgeRequest& asked,
                std::vector<ImpactRun>& runs, const Control& control);

}  // namespace carom::run
