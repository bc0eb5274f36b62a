#include "cli/validate_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <carom/models/scenarios.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "cli/target.hpp"
#include "io/printable.hpp"
#include "io/step_input.hpp"
#include "run/step_array_runner.hpp"

namespace carom::cli {

namespace {

constexpr double kSmallestStepShare = 0.1;  // of the recommended step size

// One world or one problem on both backends.
struct StepPair {
  std::string name;
  std::array<Status, 2> status{};
  std::array<double, 2> residual{};
  std::array<std::vector<double>, 2> velocity;
  double difference = 0.0;  // of the states, relative
};

struct StepComparison {
  std::string target;
  std::array<Backend, 2> backends{};
  std::array<double, 2> seconds{};
  std::vector<StepPair> pairs;
};

double largest(std::span<const double> values) {
  double result = 0.0;
  for (const double value : values) {
    if (std::isfinite(value)) result = std::max(result, std::fabs(value));
  }
  return result;
}

// Largest distance of two states over `scale`; infinite where one is NaN and the other is not.
double distance(std::span<const double> a, std::span<const double> b, double scale) {
  double result = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double apart = std::fabs(a[i] - b[i]);
    if (!(apart <= result)) result = apart;
    if (!std::isfinite(result)) return std::numeric_limits<double>::infinity();
  }
  return result > 0.0 ? result / (scale > 0.0 ? scale : 1.0) : 0.0;
}

bool disagrees(const StepPair& pair, double tolerance) {
  return pair.status[0] != pair.status[1] || !(pair.difference <= tolerance);
}

StepComparison compare_worlds(StepOptions options, Backend first, Backend second) {
  if (options.steps.empty() && options.time.empty()) options.steps = "50";
  VariationOptions& varied = options.variations;
  if (varied.sweep.empty() && varied.random.empty() && options.dt.empty()) {
    const double h = models::find_scenario(options.target).step_size;
    varied.sweep.push_back(fmt::format("dt={}:{}:4:log", kSmallestStepShare * h, h));
  }
  options.output.clear();
  options.plot.clear();
  const run::StepWorlds worlds = step_worlds_of(options);
  const CompliantSettings settings = step_settings(options);
  const std::array<run::StepRun, 2> runs = {run_worlds(worlds, settings, options, first),
                                            run_worlds(worlds, settings, options, second)};
  StepComparison comparison;
  comparison.target = worlds.scenario->name;
  for (std::size_t side = 0; side < 2; ++side) {
    comparison.backends[side] = runs[side].backend;
    comparison.seconds[side] = runs[side].seconds;
  }
  const std::array<std::vector<Status>, 2> status = {runs[0].gather(&WorldsResult::status),
                                                     runs[1].gather(&WorldsResult::status)};
  const std::array<std::vector<double>, 2> residual = {runs[0].gather(&WorldsResult::max_residual),
                                                       runs[1].gather(&WorldsResult::max_residual)};
  for (std::int64_t world = 0; world < worlds.worlds; ++world) {
    const auto w = static_cast<std::size_t>(world);
    StepPair pair;
    pair.name = fmt::format("world {}", world);
    // what comes to rest is compared with the speed that crosses it in the simulated time
    const run::StepGroup& group = runs[0].group_of(world);
    const double time = static_cast<double>(group.steps) * group.step_size;
    const double size =
        std::max(largest(runs[0].position_of(world)), largest(runs[1].position_of(world)));
    const double speed = std::max(
        {largest(runs[0].velocity_of(world)), largest(runs[1].velocity_of(world)), size / time});
    for (std::size_t side = 0; side < 2; ++side) {
      pair.status[side] = status[side][w];
      pair.residual[side] = residual[side][w];
      const auto v = runs[side].velocity_of(world);
      pair.velocity[side].assign(v.begin(), v.end());
    }
    pair.difference =
        std::max(distance(runs[0].position_of(world), runs[1].position_of(world), size),
                 distance(runs[0].velocity_of(world), runs[1].velocity_of(world), speed));
    comparison.pairs.push_back(std::move(pair));
  }
  return comparison;
}

StepComparison compare_files(const StepOptions& options, Backend first, Backend second) {
  refuse_world_options(options);
  const CompliantSettings settings = step_settings(options);
  const std::vector<CompliantProblem> problems = io::read_steps(options.target);
  const std::array<run::ArrayStepRun, 2> runs = {
      run::run_array_steps(problems, settings, first, {}),
      run::run_array_steps(problems, settings, second, {})};
  StepComparison comparison;
  comparison.target = options.target;
  for (std::size_t side = 0; side < 2; ++side) {
    comparison.backends[side] = runs[side].backend;
    comparison.seconds[side] = runs[side].seconds;
  }
  for (std::size_t i = 0; i < problems.size(); ++i) {
    StepPair pair;
    pair.name = runs[0].name_of(i);
    double speed = largest(problems[i].velocity);
    for (std::size_t side = 0; side < 2; ++side) {
      const run::ArrayStep step = run::step_of(runs[side], i);
      pair.status[side] = step.status;
      pair.residual[side] = step.number("residual");
      pair.velocity[side] = step.velocity;
      speed = std::max(speed, largest(step.velocity));
    }
    pair.difference = distance(pair.velocity[0], pair.velocity[1], speed);
    comparison.pairs.push_back(std::move(pair));
  }
  return comparison;
}

const StepPair& worst_of(const StepComparison& comparison) {
  return *std::max_element(comparison.pairs.begin(), comparison.pairs.end(),
                           [](const StepPair& a, const StepPair& b) {
                             const auto key = [](const StepPair& pair) {
                               return std::pair(pair.status[0] != pair.status[1], pair.difference);
                             };
                             return key(a) < key(b);
                           });
}

std::int64_t disagreements(const StepComparison& comparison, double tolerance) {
  return std::count_if(comparison.pairs.begin(), comparison.pairs.end(),
                       [&](const StepPair& pair) { return disagrees(pair, tolerance); });
}

std::int64_t status_differences(const StepComparison& comparison) {
  return std::count_if(comparison.pairs.begin(), comparison.pairs.end(),
                       [](const StepPair& pair) { return pair.status[0] != pair.status[1]; });
}

nlohmann::ordered_json to_json(const StepComparison& comparison, double tolerance) {
  const StepPair& worst = worst_of(comparison);
  nlohmann::ordered_json result;
  result["model"] = comparison.target;
  result["backends"] = {to_string(comparison.backends[0]), to_string(comparison.backends[1])};
  result["worlds"] = comparison.pairs.size();
  result["status_differences"] = status_differences(comparison);
  result["disagreements"] = disagreements(comparison, tolerance);
  result["max_difference"] = worst.difference;
  result["seconds"] = comparison.seconds;
  nlohmann::ordered_json entry;
  entry["name"] = worst.name;
  entry["difference"] = worst.difference;
  entry["status"] = {to_string(worst.status[0]), to_string(worst.status[1])};
  entry["residual"] = worst.residual;
  entry["velocity"] = {worst.velocity[0], worst.velocity[1]};
  result["worst"] = std::move(entry);
  return result;
}

void print_text(const StepComparison& comparison, double tolerance) {
  const StepPair& worst = worst_of(comparison);
  fmt::print("{}: {} against {}, states compared to {:g} of the largest\n\n",
             io::printable(comparison.target), to_string(comparison.backends[0]),
             to_string(comparison.backends[1]), tolerance);
  TextTable table({"compared", "status differs", "disagreements", "largest difference", "time",
                   "time of the other"});
  table.add({fmt::format("{}", comparison.pairs.size()),
             fmt::format("{}", status_differences(comparison)),
             fmt::format("{}", disagreements(comparison, tolerance)),
             fmt::format("{:.2e}", worst.difference), time_words(comparison.seconds[0]),
             time_words(comparison.seconds[1])});
  fmt::print("{}\nworst is {}, difference {:.3e}\n", table.text(), io::printable(worst.name),
             worst.difference);
  for (std::size_t side = 0; side < 2; ++side) {
    const std::span<const double> v(worst.velocity[side]);
    fmt::print("  {:<10} {:<11} residual {:.2e}  v' = ({:.9g}{})\n",
               to_string(comparison.backends[side]), to_string(worst.status[side]),
               worst.residual[side], fmt::join(v.first(std::min<std::size_t>(v.size(), 6)), ", "),
               v.size() > 6 ? ", ..." : "");
  }
}

}  // namespace

int validate_steps(const StepOptions& options, Backend first, Backend second, double tolerance) {
  const InterruptGuard guard;
  const StepComparison comparison = is_named(models::scenarios(), options.target)
                                        ? compare_worlds(options, first, second)
                                        : compare_files(options, first, second);
  if (options.json) {
    print_document(nlohmann::ordered_json::array({to_json(comparison, tolerance)}));
  } else if (!options.quiet) {
    print_text(comparison, tolerance);
  }
  if (interrupted()) return kInterrupted;
  return disagreements(comparison, tolerance) > 0 ? kUnsuccessful : kSuccess;
}

}  // namespace carom::cli
