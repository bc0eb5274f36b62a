#include "io/step_json.hpp"

#include "io/fields.hpp"
#include "io/setting_json.hpp"

#include <algorithm>

namespace carom::io {

using nlohmann::ordered_json;

namespace {

// Least, mean and largest over a group's worlds of each component; `values` is [worlds, width].
ordered_json component_ranges(const std::vector<double>& values, std::size_t worlds,
                              std::size_t width) {
  ordered_json result;
  for (const char* key : {"min", "mean", "max"}) result[key] = ordered_json::array();
  std::vector<double> column(worlds);
  for (std::size_t j = 0; j < width; ++j) {
    for (std::size_t w = 0; w < worlds; ++w) column[w] = values[w * width + j];
    const run::Range range = run::range_of(column);
    result["min"].push_back(range.min);
    result["mean"].push_back(range.mean);
    result["max"].push_back(range.max);
  }
  return result;
}

ordered_json final_state(const run::StepRun& run) {
  if (run.worlds <= kListedWorlds) {
    ordered_json states = ordered_json::array();
    for (std::int64_t world = 0; world < run.worlds; ++world) {
      ordered_json state;
      state["q"] = run.position_of(world);
      state["v"] = run.velocity_of(world);
      states.push_back(std::move(state));
    }
    return states;
  }
  ordered_json ranges = ordered_json::array();
  for (const run::StepGroup& group : run.groups) {
    const WorldsResult& result = group.result;
    ordered_json entry;
    if (run.groups.size() > 1) entry["worlds"] = group.worlds;
    entry["q"] = component_ranges(result.position, group.worlds.size(),
                                  static_cast<std::size_t>(result.positions));
    entry["v"] = component_ranges(result.velocity, group.worlds.size(),
                                  static_cast<std::size_t>(result.velocities));
    ranges.push_back(std::move(entry));
  }
  return ranges.size() == 1 ? ranges[0] : ranges;
}

// One value where the groups agree, otherwise one for every world.
template <class Value>
ordered_json shared_or_listed(const run::StepRun& run, Value run::StepGroup::*of) {
  const bool shared =
      std::all_of(run.groups.begin(), run.groups.end(),
                  [&](const run::StepGroup& g) { return g.*of == run.groups.front().*of; });
  if (shared) return run.groups.front().*of;
  ordered_json list = ordered_json::array();
  for (std::int64_t world = 0; world < run.worlds; ++world) {
    list.push_back(run.group_of(world).*of);
  }
  return list;
}

bool varies(const run::StepRun& run, const std::string& name) {
  return std::find(run.varied.begin(), run.varied.end(), name) != run.varied.end();
}

ordered_json parameters_json(const run::StepRun& run) {
  ordered_json result = ordered_json::object();
  for (const models::Parameter& parameter : run.scenario->parameters) {
    if (!varies(run, parameter.name)) {
      result[parameter.name] = run.value_of(parameter.name, 0);
      continue;
    }
    ordered_json list = ordered_json::array();
    for (std::int64_t world = 0; world < run.worlds; ++world) {
      list.push_back(run.value_of(parameter.name, world));
    }
    result[parameter.name] = std::move(list);
  }
  return result;
}

// Normal velocities of the corners, per world.
ordered_json corner_velocities(const run::StepRun& run) {
  ordered_json list = ordered_json::array();
  for (std::int64_t world = 0; world < run.worlds; ++world) {
    list.push_back(models::corner_velocity(run.parameters_of(world), run.position_of(world),
                                           run.velocity_of(world)));
  }
  return list;
}

/// Lists of what WorldsResult describes with a kind, in the worlds' order.
void add_world_numbers(ordered_json& result, const run::StepRun& run) {
  each_described<WorldsResult>([&](const Field& field, const Extents&) {
    if (*field.kind != '\0') result[field.name] = ordered_json::array();
  });
  for (const run::StepRun::Place& at : run.place) {
    const WorldsResult& own = run.groups[at.group].result;
    for (const run::Number& number : run::numbers_of(own, own, at.row)) {
      std::visit([&](const auto& value) { result[number.field.name].push_back(value); },
                 number.value);
    }
  }
}

}  // namespace

ordered_json step_json(const run::StepRun& run) {
  ordered_json result;
  result["scenario"] = run.scenario->name;
  result["worlds"] = run.worlds;
  result["steps"] = shared_or_listed(run, &run::StepGroup::steps);
  result["dt"] = shared_or_listed(run, &run::StepGroup::step_size);
  result["method"] = to_string(run.settings.law);
  result["backend"] = to_string(run.backend);
  result["seed"] = run.seed;
  result["swept"] = run.varied;
  result["parameters"] = parameters_json(run);
  result["final_state"] = final_state(run);
  add_world_numbers(result, run);
  if (run::has_height(*run.scenario)) {
    const run::Heights heights = run::heights_of(run);
    result["height"] = heights.end;
    result["height_largest"] = heights.largest;
  }
  if (run.scenario->kind == models::ScenarioKind::compliant_block_impact) {
    result["normal_velocity"] = corner_velocities(run);
  }
  result["max_kkt_residual"] = run.max_residual();
  result["iterations_mean"] = run.iterations_per_step();
  result["iterations_max"] = run.iterations_max();
  result["failed"] = run.failed_worlds();
  result["status_counts"] = run.status_counts();
  result["settings"] = settings_json(run.settings);
  result["seconds"] = run.seconds;
  result["world_steps_per_second"] = run.steps_per_second();
  if (!run.complete) result["cancelled"] = true;
  return result;
}

ordered_json array_step_json(const run::ArrayStepRun& run, std::size_t problem) {
  const run::ArrayStep step = step_of(run, problem);
  ordered_json result;
  result["name"] = run.name_of(problem);
  result["status"] = to_string(step.status);
  result["velocity"] = step.velocity;
  result["increment"] = step.increment;
  result["force"] = step.force;
  add_fields(result, step.numbers);
  result["settings"] = settings_json(run.settings);
  result["settings"]["backend"] = to_string(run.backend);
  return result;
}

}  // namespace carom::io
