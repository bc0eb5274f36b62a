#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <carom/compliant.hpp>

#include "cli/setting_options.hpp"
#include "cli/text_options.hpp"
#include "cli/variations.hpp"
#include "run/step_runner.hpp"

namespace carom::cli {

/// Command-line options of CompliantSettings that differ from its list of settings.
std::span<const OptionForm> step_forms();

/// Texts of the options of `carom step`; numbers are read once the whole line is known.
struct StepOptions : TextOptions {
  std::string target;
  std::vector<std::string> set;
  VariationOptions variations;
  std::string worlds;
  std::string first_world;
  std::string steps;
  std::string time;
  std::string dt;
  std::string stride;
  SettingOptions settings{step_forms()};
  std::string backend = "auto";
  std::string precision;
  std::string output;
  std::string plot;
};

void add_step_options(CLI::App& command, StepOptions& options);

/// Law, tolerance, threads and the like. Errors: InvalidInput.
CompliantSettings step_settings(const StepOptions& options);

/// Errors: InvalidInput where an option is given that a file says itself, or that belongs to worlds
/// that go on for many steps.
void refuse_world_options(const StepOptions& options);

/// The sweeps' values form a grid, the first sweep the slowest; with --random every grid point may
/// be taken by several worlds. A drawn value is a function of seed, the world's index and the
/// position of its --random on the line.
/// Errors: InvalidInput naming the option, for unknown names with the known ones.
run::StepWorlds step_worlds_of(const StepOptions& options);

/// Steps the worlds as the options ask for, with a progress bar, until an interrupt.
/// Errors: InvalidInput, BackendUnavailable.
run::StepRun run_worlds(const run::StepWorlds& worlds, const CompliantSettings& settings,
                        const StepOptions& options, Backend backend);

}  // namespace carom::cli
