#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/setting_options.hpp"
#include "cli/text_options.hpp"
#include "cli/variations.hpp"
#include "run/stability_run.hpp"

namespace carom::cli {

/// Command-line options of StabilitySettings that differ from its list of settings.
std::span<const OptionForm> stability_forms();

/// Texts of the options of `carom stability`.
struct StabilityOptions : TextOptions {
  std::string target;
  std::vector<std::string> set;
  VariationOptions variations;
  std::string impact;
  std::string start;
  std::string count;  ///< --events: recorded ones of --start
  SettingOptions settings{stability_forms()};
  std::string backend = "auto";
  std::string output;
  std::string plot;
};

void add_stability_options(CLI::App& command, StabilityOptions& options);

/// The points that target, --set, --sweep and --random ask for. Errors: InvalidInput naming the
/// option.
run::StancePoints stance_points(const StabilityOptions& options);

/// Errors: InvalidInput naming the option.
run::StanceQuestions stance_questions(const StabilityOptions& options,
                                      const run::StancePoints& points);

}  // namespace carom::cli
