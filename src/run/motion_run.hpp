#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <carom/impact.hpp>
#include <carom/models/motions.hpp>

#include "run/control.hpp"
#include "run/parameters.hpp"

namespace carom::run {

/// One mechanism with its start, and the step size and parameters that come with it.
struct MotionTask {
  MotionProblem problem;
  models::MotionModel model;          ///< names of contacts and coordinates
  double step_size = 0.0;             ///< h that comes with the motion [N s]; 0: derived
  std::map<std::string, double> set;  ///< parameters that were given
  Parameters parameters;              ///< what varies between the tasks of a sweep
};

struct MotionPlan {
  std::vector<MotionTask> tasks;
  MotionSettings settings;
  Backend backend = Backend::cpu;
  double epsilon = 0.0;  ///< radius of the nets of last states; 0: none
  std::int64_t net_capacity = std::int64_t{1} << 20;
};

/// What one task's motions did.
struct MotionOutcome {
  MotionSummary summary;
  EpsilonNet net;     ///< of (q, v) at the end, where one was asked for
  MotionResult kept;  ///< of the first samples, with their states and events
};

struct MotionRunResult {
  MotionPlan plan;
  std::vector<MotionOutcome> outcomes;  ///< of each task
  bool complete = true;
  double seconds = 0.0;
};

/// Simulates every task, in chunks that bound the memory.
MotionRunResult run_motions(MotionPlan plan, const Control& control = {});

}  // namespace carom::run
