#include "cli/judge_options.hpp"

#include <fmt/format.h>

#include <carom/error.hpp>

#include "cli/variations.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kMostOfGrid = 4096;

}  // namespace

std::span<const OptionForm> judge_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "tolerance",
       .option = "--reached",
       .text = "--measured: distance over |v-|_M up to which an outcome counts as reached"},
      {.setting = "deviations",
       .text =
           "--measured: the same in standard deviations, where the measurement has a covariance"},
      {.setting = "rounds",
       .option = "--refinements",
       .text = "--measured: rounds of samples around the nearest ones"},
      {.setting = "nearest",
       .text = "--measured: number of nearest samples around which a round draws new samples"},
      {.setting = "redraws", .text = "--measured: new samples per round"},
      {.setting = "held_out",
       .text = "--measured: samples that are compared with the others to find the resolution"},
      {.setting = "enclose", .option = kNoOption},  // --enclose
  };
  return kForms;
}

std::span<const OptionForm> identify_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "tolerance",
       .option = "--explained",
       .text = "--identify: distance up to which restitution and friction explain an impact"},
      {.setting = "share",
       .text = "--identify: share of the impacts that the smallest interval explains"},
      {.setting = "samples",
       .option = "--identify-samples",
       .text = "--identify: samples of each impact at each point of the grid; 0: 1 if it has one "
               "contact, otherwise 512"},
      {.setting = "bootstrap",
       .text = "--identify: resampled sets of impacts for the bounds of the smallest interval"},
  };
  return kForms;
}

void add_judge_options(CLI::App& command, JudgeOptions& options) {
  command.add_flag(
      "--measured", options.measured,
      "Compare the file's measured outcomes with their sets: verdict and nearest sample");
  command.add_flag("--relative", options.relative,
                   "Measure distances as |v - measured|_M / |v-|_M, even if the file has "
                   "covariances");
  options.judge.add(command, JudgeSettings{});
  command
      .add_option("--identify", options.identify,
                  "Grid of values that may explain the measured outcomes; give it twice, for "
                  "restitution and friction")
      ->type_name("NAME=LO:HI:N[:log]")
      ->allow_extra_args(false);
  options.identifying.add(command, IdentifySettings{});
}

run::JudgeRequest judge_request(const JudgeOptions& options, bool enclose) {
  run::JudgeRequest request;
  request.judged = options.measured;
  options.judge.read(request.judge);
  request.judge.enclose = enclose;
  options.identifying.read(request.identify);
  GivenOnce given({});
  for (const std::string& text : options.identify) {
    const Variation grid = variation_from("--identify", text, kMostOfGrid);
    given.add(grid.name, grid.option);
    if (grid.name != "restitution" && grid.name != "friction") {
      throw InvalidInput(grid.option + ": must be of restitution or friction");
    }
    std::vector<double>& values =
        grid.name == "restitution" ? request.restitution : request.friction;
    for (std::int64_t i = 0; i < grid.count; ++i) values.push_back(grid.value_of(i));
  }
  if (request.restitution.empty() != request.friction.empty()) {
    throw InvalidInput(fmt::format("--identify: {} has no grid: give --identify twice",
                                   request.friction.empty() ? "friction" : "restitution"));
  }
  return request;
}

}  // namespace carom::cli
