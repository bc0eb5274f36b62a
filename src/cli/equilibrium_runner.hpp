#pragma once

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/setting_options.hpp"
#include "cli/target.hpp"
#include "io/equilibrium_run.hpp"

namespace carom::cli {

/// Where the options of PlanarSettings and SpatialSettings differ from their lists.
std::span<const OptionForm> posture_forms();

/// Texts of the options; numbers are read once the whole line is known.
struct EquilibriumOptions : TargetOptions {
  std::string centre_of_mass;
  SettingOptions settings{posture_forms()};
  std::string height;
  std::string p;
  std::string q;
  std::string backend = "auto";
  std::string output;
  std::string plot;
  bool json = false;
  bool quiet = false;
};

/// A picture of a region takes more than the library's defaults.
SpatialSettings spatial_defaults();

/// Target, settings and common options, without --backend.
void add_posture_options(CLI::App& command, EquilibriumOptions& options);

/// One posture with what its file or model says about it.
struct PostureTask {
  std::string name;
  std::vector<std::string> contact_names;
  Posture posture;
  int directions = 0;  ///< 0: not said
  int cone_sides = 0;
};

/// Errors: InvalidInput.
std::vector<PostureTask> load_postures(const EquilibriumOptions& options);

/// Computes every posture; those of one shape and one setting are one batch.
/// Errors: InvalidInput (options), BackendUnavailable.
std::vector<io::EquilibriumRun> run_postures(const std::vector<PostureTask>& tasks,
                                             const EquilibriumOptions& options, Backend backend);

}  // namespace carom::cli
