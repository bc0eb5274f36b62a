#pragma once

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <carom/impact.hpp>

#include "cli/bounce_options.hpp"
#include "cli/enclosure_options.hpp"
#include "cli/interval_options.hpp"
#include "cli/judge_options.hpp"
#include "cli/setting_options.hpp"
#include "cli/target.hpp"
#include "cli/text_options.hpp"
#include "cli/variations.hpp"
#include "run/impact_runner.hpp"

namespace carom::cli {

/// Command-line options of ImpactSettings that differ from its list of settings.
std::span<const OptionForm> sampling_forms();

/// Texts of the options that the sampling commands share; numbers are read once the whole line is
/// known.
struct SamplingOptions : TargetOptions, TextOptions {
  SettingOptions settings{sampling_forms()};
  IntervalOptions intervals;
  VariationOptions variations;
  std::string backend = "auto";
  std::string precision;
  std::string keep;
  std::string output;
  std::string plot;
  bool no_check = false;
  EnclosureOptions enclosure;
  JudgeOptions judging;
  BounceOptions bounces;  ///< of impact-models
};

/// Target, problem, physics, sampling and common options.
void add_sampling_options(CLI::App& command, SamplingOptions& options);
/// --epsilon, --keep, --paths, --output, --plot and what belongs to them.
void add_result_options(CLI::App& command, SamplingOptions& options);

/// The model or the file's problems that the options ask for.
/// Errors: InvalidInput; a target that is neither a model nor a file names both.
std::vector<run::ImpactTask> load_tasks(const SamplingOptions& options);

/// What they ask of the tasks. Errors: InvalidInput.
run::ImpactRequest request_of(const SamplingOptions& options);

/// Samples the tasks as the options ask for, with a progress bar, until an interrupt.
/// Errors: InvalidInput, BackendUnavailable.
std::vector<run::ImpactRun> run_impacts(const std::vector<run::ImpactTask>& tasks,
                                        const SamplingOptions& options);

}  // namespace carom::cli
