#include "cli/step_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/table.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kWorldRows = 16;
constexpr std::size_t kProblemRows = 32;
constexpr std::size_t kShownComponents = 8;
constexpr const char* kEnergy =
    "  energy: at the end; kinetic, potential (0 at the origin) and elastic\n";

constexpr const char* kHeight =
    "  height: of the centre above its start, at the end; highest: the largest of all kept "
    "states\n";

// All digits that matter to a state; deviations of 1e-12 are of interest here.
std::string state_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "-";
}

std::string state_words(std::span<const double> values) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < values.size() && i < kShownComponents; ++i) {
    words.push_back(state_number(values[i]));
  }
  if (values.size() > kShownComponents) words.push_back("...");
  return fmt::format("({})", fmt::join(words, ", "));
}

std::string heading(const run::StepRun& run) {
  const models::Scenario& scenario = *run.scenario;
  const run::StepGroup& first = run.groups.front();
  std::string text =
      fmt::format("{}  ({})\n  {}\n", scenario.name, scenario.source, scenario.summary);
  const bool alike = std::all_of(run.groups.begin(), run.groups.end(), [&](const auto& group) {
    return group.step_size == first.step_size && group.steps == first.steps;
  });
  const std::string length = alike ? fmt::format("{} steps of {:g} s", first.steps, first.step_size)
                                   : std::string("steps of different sizes");
  text += fmt::format("  backend {}, law {}, {} {}, {}\n", to_string(run.backend),
                      to_string(run.settings.law), run.worlds, run.worlds == 1 ? "world" : "worlds",
                      length);
  return text;
}

std::string world_table(const run::StepRun& run) {
  std::vector<std::string> head = {"world"};
  head.insert(head.end(), run.varied.begin(), run.varied.end());
  head.emplace_back("displacement");
  const bool heights = run::has_height(*run.scenario);
  if (heights) head.emplace_back("height [m]");
  if (heights) head.emplace_back("highest [m]");
  for (const char* name : {"energy [J]", "residual", "status"}) head.emplace_back(name);
  TextTable table(head);
  const run::Heights height = heights ? run::heights_of(run) : run::Heights{};
  const auto displacement = run.gather(&WorldsResult::displacement);
  const auto energy = run.gather(&WorldsResult::energy);
  const auto residual = run.gather(&WorldsResult::max_residual);
  const auto status = run.gather(&WorldsResult::status);
  for (std::int64_t world = 0; world < run.worlds; ++world) {
    const auto w = static_cast<std::size_t>(world);
    std::vector<std::string> row = {fmt::format("{}", world)};
    for (const std::string& name : run.varied) {
      row.push_back(state_number(run.value_of(name, world)));
    }
    row.push_back(state_number(displacement[w]));
    if (heights) row.push_back(state_number(height.end[w]));
    if (heights) row.push_back(state_number(height.largest[w]));
    row.push_back(state_number(energy[w]));
    row.push_back(std::isfinite(residual[w]) ? fmt::format("{:.1e}", residual[w]) : "-");
    row.emplace_back(to_string(status[w]));
    table.add(row);
  }
  std::string text = table.text();
  text += fmt::format("\n  displacement: {}\n", run.scenario->displacement);
  if (heights) text += kHeight;
  text += kEnergy;
  if (run.worlds == 1) {
    text += fmt::format("  q = {}\n  v = {}\n", state_words(run.position_of(0)),
                        state_words(run.velocity_of(0)));
  }
  return text;
}

std::string range_table(const run::StepRun& run) {
  TextTable table({"over all worlds", "least", "mean", "largest"});
  const auto add = [&table](std::string name, const std::vector<double>& values) {
    const run::Range range = run::range_of(values);
    table.add({std::move(name), state_number(range.min), state_number(range.mean),
               state_number(range.max)});
  };
  for (const std::string& name : run.varied) {
    std::vector<double> values;
    for (std::int64_t world = 0; world < run.worlds; ++world) {
      values.push_back(run.value_of(name, world));
    }
    add(name, values);
  }
  add("displacement", run.gather(&WorldsResult::displacement));
  if (run::has_height(*run.scenario)) {
    const run::Heights height = run::heights_of(run);
    add("height [m]", height.end);
    add("highest [m]", height.largest);
  }
  add("energy [J]", run.gather(&WorldsResult::energy));
  add("largest residual", run.gather(&WorldsResult::max_residual));
  std::string text = table.text();
  text += fmt::format("\n  displacement: {}\n", run.scenario->displacement);
  text += kEnergy;
  for (const auto& [status, count] : run.status_counts()) {
    text += fmt::format("  {}: {} worlds\n", status, count);
  }
  return text;
}

}  // namespace

std::string step_report(const run::StepRun& run, bool verbose) {
  std::string text = heading(run);
  if (!run.complete) {
    std::int64_t wanted = 0;
    for (const run::StepGroup& group : run.groups) {
      wanted += group.steps * static_cast<std::int64_t>(group.worlds.size());
    }
    text += fmt::format("  STOPPED after {} of {} world steps\n", run.steps_taken(), wanted);
  }
  text += '\n';
  text += run.worlds <= kWorldRows ? world_table(run) : range_table(run);
  text += fmt::format("  largest residual {:.2e} (certified up to {:.0e}), worlds failed: {}\n",
                      run.max_residual(), run.settings.tolerance, run.failed_worlds());
  if (verbose) {
    text += fmt::format("  iterations of the contact solver: {:.2f} a step, at most {}\n",
                        run.iterations_per_step(), run.iterations_max());
  }
  text += fmt::format("  {} for {} world steps, {:.3g} a second\n", time_words(run.seconds),
                      run.steps_taken(), run.steps_per_second());
  return text;
}

std::string array_step_report(const run::ArrayStepRun& run) {
  std::string text = fmt::format("{} {} of arrays, backend {}, law {}\n\n", run.problems.size(),
                                 run.problems.size() == 1 ? "step" : "steps",
                                 to_string(run.backend), to_string(run.settings.law));
  TextTable table(
      {"problem", "rows", "v'", "kinetic energy [J]", "iterations", "residual", "status"});
  const std::size_t shown = std::min(run.problems.size(), kProblemRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const run::ArrayStep step = run::step_of(run, i);
    const double residual = step.number("residual");
    table.add({run.name_of(i), fmt::format("{}", step.force.size()), state_words(step.velocity),
               state_number(step.number("kinetic_energy")),
               fmt::format("{}", step.number("iterations")),
               std::isfinite(residual) ? fmt::format("{:.1e}", residual) : "-",
               std::string(to_string(step.status))});
  }
  text += table.text();
  if (shown < run.problems.size()) {
    text += fmt::format("  and {} more: --json or --output has all\n", run.problems.size() - shown);
  }
  std::size_t solved = 0;
  for (std::size_t i = 0; i < run.problems.size(); ++i) {
    if (run.status_of(i) == Status::solved) ++solved;
  }
  text += fmt::format("\n  {} of {} solved (residual up to {:.0e}) in {}\n", solved,
                      run.problems.size(), run.settings.tolerance, time_words(run.seconds));
  return text;
}

}  // namespace carom::cli
