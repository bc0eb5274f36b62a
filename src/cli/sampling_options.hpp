#pragma once

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <carom/impact.hpp>

#include "cli/setting_options.hpp"
#include "cli/target.hpp"

namespace carom::cli {

/// Where the options of ImpactSettings differ from its list.
std::span<const OptionForm> sampling_forms();

/// Texts of the options that the sampling commands share; numbers are read once the whole line is
/// known.
struct SamplingOptions : TargetOptions {
  SettingOptions settings{sampling_forms()};
  std::string backend = "auto";
  std::string keep;
  std::string output;
  std::string plot;
  bool json = false;
  bool quiet = false;
  bool no_check = false;
};

/// Target, problem, physics, sampling and common options.
void add_sampling_options(CLI::App& command, SamplingOptions& options);
/// --epsilon, --keep, --paths, --output, --plot and what belongs to them.
void add_result_options(CLI::App& command, SamplingOptions& options);

/// One problem to sample, with the name and the contacts' names that reports use.
struct ImpactTask {
  std::string model;
  std::vector<std::string> contact_names;
  ImpactProblem problem;
  double step_size = 1.0;
  int max_steps = 10;
};

/// The model or the file's problems that the options ask for.
/// Errors: InvalidInput; a target that is neither a model nor a file names both.
std::vector<ImpactTask> load_tasks(const SamplingOptions& options);

/// Settings of the tasks, which share step size and limits; epsilon and the numbers of kept rows
/// and paths are set by `with_results`. Errors: InvalidInput.
ImpactSettings settings_for(const SamplingOptions& options, const ImpactTask& task);

/// Completes `settings` for a batch of tasks of `problems` problems altogether. Without --epsilon
/// the net's radius is 0.02 of the largest contact speed before the impact.
void with_results(ImpactSettings& settings, const SamplingOptions& options,
                  const std::vector<const ImpactTask*>& batch, std::size_t problems);

}  // namespace carom::cli
