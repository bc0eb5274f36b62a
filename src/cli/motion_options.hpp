#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/setting_options.hpp"
#include "cli/target.hpp"
#include "cli/text_options.hpp"
#include "cli/variations.hpp"
#include "run/motion_run.hpp"

namespace carom::cli {

/// Command-line options of MotionSettings that differ from its list of settings.
std::span<const OptionForm> motion_forms();

/// Texts of the options of `carom motion`.
struct MotionOptions : TextOptions {
  TargetOptions target;
  VariationOptions variations;
  SettingOptions settings{motion_forms()};
  std::string backend = "auto";
  std::string policy;
  std::string epsilon;
  std::string net_capacity;
  std::string sample;
  bool events = false;
  std::string output;
  std::string plot;
  std::string animate;
};

void add_motion_options(CLI::App& command, MotionOptions& options);

/// Events of a kept motion that there is room for unless the options say.
std::int64_t kept_events(const MotionSettings& settings);

/// What target and options ask for. Errors: InvalidInput naming the option.
run::MotionPlan motion_plan(const MotionOptions& options);

}  // namespace carom::cli
