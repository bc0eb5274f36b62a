#include "cli/step_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include <carom/error.hpp>

#include "cli/backend_options.hpp"
#include "cli/choices.hpp"
#include "cli/numbers.hpp"
#include "cli/progress.hpp"
#include "cli/variations.hpp"
#include "core/random.hpp"
#include "run/step_run.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kMostWorlds = std::int64_t{1} << 32;
constexpr std::int64_t kMostKeptSteps = 100'000;  // of all worlds

// A variation and what it varies.
struct WorldVariation : Variation {
  std::optional<std::size_t> parameter;  // none: the step size
};

WorldVariation world_variation(const char* option, const std::string& text,
                               const models::Scenario& scenario) {
  WorldVariation result{variation_from(option, text, kMostWorlds), {}};
  if (result.name == run::kStepSizeName) return result;
  result.parameter = models::parameter_index(scenario, result.name);
  result.whole =
      std::find(scenario.sizes.begin(), scenario.sizes.end(), result.name) != scenario.sizes.end();
  return result;
}

std::vector<WorldVariation> variations_of(const StepOptions& options,
                                          const models::Scenario& scenario,
                                          const std::map<std::string, double>& set) {
  std::vector<WorldVariation> all;
  for (const std::string& text : options.variations.sweep) {
    all.push_back(world_variation("--sweep", text, scenario));
  }
  for (const std::string& text : options.variations.random) {
    all.push_back(world_variation("--random", text, scenario));
    if (all.back().parameter) continue;
    throw InvalidInput(
        fmt::format("{}: the step size is not drawn: --dt sets it, --sweep sweeps "
                    "it",
                    all.back().option));
  }
  GivenOnce given(set);
  if (!options.dt.empty()) given.add(run::kStepSizeName, "--dt " + options.dt);
  for (const WorldVariation& variation : all) given.add(variation.name, variation.option);
  return all;
}

std::int64_t world_count(const StepOptions& options,
                         const std::vector<WorldVariation>& variations) {
  std::int64_t grid = 1;
  std::vector<std::string> sweeps;
  for (const WorldVariation& variation : variations) {
    if (variation.count == 0) continue;
    sweeps.push_back(fmt::format("{} {}", variation.name, variation.count));
    if (__builtin_mul_overflow(grid, variation.count, &grid) || grid > kMostWorlds) {
      throw InvalidInput(
          fmt::format("{}: the sweeps have more than 2^32 worlds", variation.option));
    }
  }
  const std::int64_t draws = draws_of(options.variations, kMostWorlds / grid);
  if (options.worlds.empty()) return grid * draws;
  if (!options.variations.draws.empty()) {
    throw InvalidInput(fmt::format("--draws is {} and --worlds is {}: give one of them",
                                   options.variations.draws, options.worlds));
  }
  const std::int64_t worlds = parse_count("--worlds", options.worlds, 1, kMostWorlds);
  if (!options.first_world.empty() || sweeps.empty() || worlds == grid) return worlds;
  if (options.variations.random.empty()) {
    throw InvalidInput(
        fmt::format("--worlds is {}, but the sweeps ({}) make {}: leave it out, or "
                    "add --random",
                    worlds, fmt::join(sweeps, ", "), grid));
  }
  if (worlds % grid != 0) {
    throw InvalidInput(
        fmt::format("--worlds is {}: must be a multiple of the {} that the sweeps "
                    "({}) make",
                    worlds, grid, fmt::join(sweeps, ", ")));
  }
  return worlds;
}

std::int64_t steps_for(const StepOptions& options, const models::Scenario& scenario, double h) {
  if (!options.steps.empty()) return parse_count("--steps", options.steps, 1);
  if (options.time.empty()) {
    // a step size of the user's own still covers the recommended time
    const bool own = !options.dt.empty() || h != scenario.step_size;
    if (!own) return scenario.steps;
  }
  const double time = options.time.empty()
                          ? static_cast<double>(scenario.steps) * scenario.step_size
                          : parse_real("--time", options.time);
  if (!(time > 0.0)) throw InvalidInput(fmt::format("--time is {}: must be > 0 s", options.time));
  const double steps = std::round(time / h);
  if (!(steps < 9e18)) {
    throw InvalidInput(fmt::format("--time is {}: {} steps of {} s are too many", time, steps, h));
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
}

}  // namespace

void add_step_options(CLI::App& command, StepOptions& options) {
  const auto text = [&command](const char* name, std::string& value, const char* type,
                               const char* help) {
    return add_text(command, name, value, type, help);
  };
  const auto list = [&command](const char* name, std::vector<std::string>& value, const char* type,
                               const char* help) {
    command.add_option(name, value, help)->type_name(type)->allow_extra_args(false);
  };
  text("target", options.target, "SCENARIO|FILE",
       "Name of a scenario, or a JSON or HDF5 file with steps of arrays")
      ->required();
  list("--set", options.set, "NAME=VALUE", "Set a parameter of all worlds; repeat for several");
  list("--sweep", options.variations.sweep, "NAME=LO:HI:N[:log]",
       "Sweep a parameter, or dt; several sweeps make a grid of worlds");
  list("--random", options.variations.random, "NAME=LO:HI[:log]",
       "Draw a parameter for every world");
  text("--draws", options.variations.draws, "N",
       "Worlds of --random for each of the sweeps; default: 1");
  text("--worlds", options.worlds, "W", "Worlds; default: those of the sweeps, else 1");
  text("--first-world", options.first_world, "W",
       "Index of the first world (shards of a run); needs --worlds");
  text("--steps", options.steps, "N", "Steps; default: the scenario's");
  text("--time", options.time, "T", "Seconds to simulate, instead of --steps");
  text("--dt", options.dt, "DT", "Step size [s]; default: the scenario's");
  text("--stride", options.stride, "S",
       "Keep states every S steps; default: about 500 in all where --output or --plot need them");
  options.settings.add(command, CompliantSettings{}, [&](std::string_view setting) {
    if (setting == "threads") {
      add_backend_options(command, options.backend);
      add_precision(command, options.precision);
    }
    return true;
  });
  text("--seed", options.variations.seed, "S", "Seed of --random");
  text("--output", options.output, "FILE.h5", "Write everything to this HDF5 file");
  text("--plot", options.plot, "FILE.svg|.png", "Draw the scenario's figure (needs gnuplot)");
  add_text_options(command, options);
}

std::span<const OptionForm> step_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "law",
       .type = "LAW",
       .text = "complementarity, or programme: the convex program (176)-(182)"},
      {.setting = "method", .type = "METHOD", .text = "Law programme: {}", .without = "lemke"},
      {.setting = "tolerance", .type = "T"},
      {.setting = "max_iterations",
       .text =
           "Of the contact solver, default 100; of the method of law programme, default its own",
       .open = true},
      {.setting = "centripetal", .text = "Omit the term M^ (dG/dt) v of (23)"},
      {.setting = "normal_weight",
       .type = "ZETA",
       .text = "Law programme: weight zeta of normal forces in (99); default 1/h",
       .open = true},
      {.setting = "threads", .most = kMostThreads},
  };
  return kForms;
}

CompliantSettings step_settings(const StepOptions& options) {
  CompliantSettings settings;
  options.settings.read(settings);
  if (settings.law == StepLaw::complementarity && settings.method != QpMethod::automatic) {
    throw InvalidInput(
        fmt::format("--method is {}: belongs to --law programme, the law is complementarity",
                    to_string(settings.method)));
  }
  if (settings.law == StepLaw::complementarity && settings.normal_weight != 0.0) {
    throw InvalidInput(
        fmt::format("--normal-weight is {}: belongs to --law programme, the law is complementarity",
                    settings.normal_weight));
  }
  warn_of_precision(options.precision);
  settings.validate();
  return settings;
}

void refuse_world_options(const StepOptions& options) {
  const auto refuse = [&options](const char* option, bool given) {
    if (!given) return;
    throw InvalidInput(
        fmt::format("{} belongs to a scenario, {} is a file of single steps: leave "
                    "it out",
                    option, options.target));
  };
  refuse("--set", !options.set.empty());
  refuse("--sweep", !options.variations.sweep.empty());
  refuse("--random", !options.variations.random.empty());
  refuse("--draws", !options.variations.draws.empty());
  refuse("--worlds", !options.worlds.empty());
  refuse("--first-world", !options.first_world.empty());
  refuse("--steps", !options.steps.empty());
  refuse("--time", !options.time.empty());
  refuse("--dt", !options.dt.empty());
  refuse("--stride", !options.stride.empty());
  refuse("--plot", !options.plot.empty());
}

run::StepWorlds step_worlds_of(const StepOptions& options) {
  const models::Scenario& scenario = models::find_scenario(options.target);
  const auto set = parse_assignments("--set", options.set);
  const std::vector<double> base = models::scenario_parameters(scenario, set);
  const std::vector<WorldVariation> variations = variations_of(options, scenario, set);
  const std::uint64_t seed = parse_seed("--seed", options.variations.seed);
  if (!options.steps.empty() && !options.time.empty()) {
    throw InvalidInput(fmt::format("--time is {} and --steps is {}: give one of them", options.time,
                                   options.steps));
  }
  const double h = options.dt.empty() ? scenario.step_size : parse_real("--dt", options.dt);

  run::StepWorlds result;
  result.scenario = &scenario;
  result.worlds = world_count(options, variations);
  for (const WorldVariation& variation : variations) result.varied.push_back(variation.name);
  std::int64_t first = 0;
  if (!options.first_world.empty()) {
    if (options.worlds.empty()) {
      throw InvalidInput(fmt::format(
          "--first-world is {}: needs --worlds, the worlds from there on", options.first_world));
    }
    first = parse_count("--first-world", options.first_world, 0, kMostWorlds - result.worlds);
  }
  const auto worlds = static_cast<std::size_t>(result.worlds);
  result.parameters.reserve(worlds * base.size());
  result.step_size.assign(worlds, h);
  std::int64_t grid = 1;
  for (const WorldVariation& variation : variations)
    grid *= std::max<std::int64_t>(variation.count, 1);
  for (std::int64_t world = first; world < first + result.worlds; ++world) {
    std::vector<double> values = base;
    std::int64_t cell = world % grid;  // place in the grid, digit by digit
    std::int64_t below = grid;
    std::uint32_t draw = 0;
    for (const WorldVariation& variation : variations) {
      double value = 0.0;
      if (variation.count > 0) {
        below /= variation.count;
        const std::int64_t digit = cell / below;
        cell %= below;
        value = variation.value_of(digit);
      } else {
        value = variation.at(uniform(seed, 0, static_cast<std::uint64_t>(world), draw++));
      }
      if (variation.parameter) {
        values[*variation.parameter] = value;
      } else {
        result.step_size[static_cast<std::size_t>(world - first)] = value;
      }
    }
    result.parameters.insert(result.parameters.end(), values.begin(), values.end());
  }
  for (const double size : result.step_size) {
    if (!(size > 0.0)) throw InvalidInput(fmt::format("--dt is {}: must be > 0 s", size));
    result.steps.push_back(steps_for(options, scenario, size));
  }
  return result;
}

run::StepRun run_worlds(const run::StepWorlds& worlds, const CompliantSettings& settings,
                        const StepOptions& options, Backend backend) {
  run::StepRequest request;
  request.settings = settings;
  request.seed = parse_seed("--seed", options.variations.seed);
  if (!options.stride.empty()) request.stride = parse_count("--stride", options.stride, 1);
  request.results_wanted = !options.output.empty() || !options.plot.empty();
  request.backend = backend;
  // The greatest height is told of all steps where that takes little memory.
  if (!request.stride && !request.results_wanted && run::has_height(*worlds.scenario)) {
    const std::int64_t steps =
        std::accumulate(worlds.steps.begin(), worlds.steps.end(), std::int64_t{0});
    if (steps <= kMostKeptSteps) request.stride = 1;
  }
  ProgressBar bar(options, "world steps");
  return run::run_worlds(worlds, request, follow(bar));
}

}  // namespace carom::cli
