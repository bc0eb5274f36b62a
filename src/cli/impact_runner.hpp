#pragma once

#include <vector>

#include "cli/sampling_options.hpp"
#include "io/impact_run.hpp"

namespace carom::cli {

/// Samples all tasks, those of one shape as one batch, and returns their runs in the order of the
/// tasks. After an interrupt the remaining batches have no samples.
std::vector<io::ImpactRun> run_impacts(const std::vector<ImpactTask>& tasks,
                                       const SamplingOptions& options);

/// Looks for steps with several solutions in a few trajectories where enumeration is affordable
/// (planar up to 3 contacts, spatial 1), unless the sampling itself did (selection random).
void examine_uniqueness(std::vector<io::ImpactRun>& runs);

/// Outcomes of the simultaneous model and of sequences of single impacts: all orders of up to 4
/// contacts, beyond that the cyclic rotations of the contact order and of its reverse.
io::ComparedModels compare_models(const ImpactProblem& problem, const ImpactSettings& settings);

}  // namespace carom::cli
