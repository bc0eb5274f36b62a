#pragma once

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/setting_options.hpp"
#include "cli/target.hpp"
#include "cli/text_options.hpp"
#include "cli/variations.hpp"
#include "run/equilibrium_runner.hpp"

namespace carom::cli {

/// Command-line options of PlanarSettings and SpatialSettings that differ from their lists.
std::span<const OptionForm> posture_forms();

/// Texts of the options; numbers are read once the whole line is known.
struct EquilibriumOptions : TargetOptions, TextOptions {
  std::string centre_of_mass;
  VariationOptions variations;
  std::string critical;
  SettingOptions settings{posture_forms()};
  std::string height;
  std::string p;
  std::string q;
  std::string backend = "auto";
  std::string output;
  std::string plot;
};

/// Target, settings and common options, without --backend.
void add_posture_options(CLI::App& command, EquilibriumOptions& options);

/// The postures that the options name. Errors: InvalidInput.
std::vector<run::PostureTask> load_postures(const EquilibriumOptions& options);

/// Computes the postures as the options ask for, with a progress bar, until an interrupt.
/// Errors: InvalidInput, BackendUnavailable.
std::vector<run::EquilibriumRun> run_postures(const std::vector<run::PostureTask>& tasks,
                                              const EquilibriumOptions& options, Backend backend);

/// Answers --critical for the only run. Errors: InvalidInput naming the option.
void find_critical(std::vector<run::EquilibriumRun>& runs, const EquilibriumOptions& options,
                   Backend backend);

}  // namespace carom::cli
