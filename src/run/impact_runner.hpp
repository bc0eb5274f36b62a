#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/control.hpp"
#include "run/impact_run.hpp"

namespace carom::run {

/// One problem to sample, with the name and the contacts' names that reports use.
struct ImpactTask {
  std::string model;
  std::vector<std::string> contact_names;
  ImpactProblem problem;
  Parameters parameters = {};                  ///< swept or drawn
  std::optional<RestitutionLaw> law = {};      ///< of a file
  MeasuredImpactArrays<Values> measured = {};  ///< its outcome, if it is known
};

/// What is asked of a run.
struct ImpactRequest {
  ImpactSettings settings;  ///< but for those below
  std::optional<std::int64_t> keep_samples;
  std::optional<std::int64_t> keep_paths;
  bool law_given = false;       ///< settings.law goes before a file's
  bool method_given = false;    ///< else restitution and intervals of friction take events
  bool results_wanted = false;  ///< rows and paths are kept where their numbers are not given
  bool compared = false;        ///< likewise: rows are compared with an enclosure
  Backend backend = Backend::cpu;
  std::string source;  ///< what a refusal names first: a model or a file
};

/// Samples all tasks, those of one shape as one batch, and returns their runs in the order of the
/// tasks. Once stopped the remaining batches have no samples.
/// Errors: InvalidInput, BackendUnavailable.
std::vector<ImpactRun> run_impacts(const std::vector<ImpactTask>& tasks,
                                   const ImpactRequest& request, const Control& control);

/// Looks for steps with several solutions in a few trajectories where enumeration is affordable
/// (planar up to 3 contacts, spatial 1), unless the sampling itself did (selection random).
void examine_uniqueness(std::vector<ImpactRun>& runs, const Control& control);

/// Of the set that a run sampled.
struct SetExtent {
  double extent = 0.0;    ///< diagonal of the smallest box that holds it; 0 where none terminated
  bool rounding = false;  ///< the set is a point
  double epsilon = 0.0;   ///< that shows its shape
};
SetExtent set_extent(const ImpactRun& run);

/// All orders of up to 4 contacts, beyond that the cyclic rotations of the contact order and of its
/// reverse.
std::vector<std::vector<int>> orders_of(int contacts);

/// Outcomes of the simultaneous model and of sequences of single impacts in orders_of.
ComparedModels compare_models(const ImpactProblem& problem, const ImpactSettings& settings);

}  // namespace carom::run
