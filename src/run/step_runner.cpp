#include "run/step_runner.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <carom/error.hpp>
#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "run/impact_run.hpp"
#include "run/numbers.hpp"

namespace carom::run {

namespace {

constexpr std::int64_t kDefaultFrames = 500;
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 24;  // of all frames kept by default
constexpr std::int64_t kRouthSamples = std::int64_t{1} << 15;

using GroupKey = std::tuple<std::vector<double>, double, std::int64_t>;

std::vector<double> parameters_of(const StepWorlds& worlds, const StepGroup& group) {
  const std::size_t count = worlds.scenario->parameters.size();
  std::vector<double> values;
  values.reserve(group.worlds.size() * count);
  for (const std::int64_t world : group.worlds) {
    const auto begin = worlds.parameters.begin() +
                       static_cast<std::ptrdiff_t>(static_cast<std::size_t>(world) * count);
    values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return values;
}

// Deals the worlds out to groups, in the order in which the groups' first worlds come.
void group_worlds(const StepWorlds& worlds, StepRun& run) {
  const models::Scenario& scenario = *worlds.scenario;
  std::vector<std::size_t> sizes;
  for (const std::string& name : scenario.sizes) {
    sizes.push_back(models::parameter_index(scenario, name));
  }
  std::map<GroupKey, std::size_t> known;
  for (std::int64_t world = 0; world < worlds.worlds; ++world) {
    const auto w = static_cast<std::size_t>(world);
    std::vector<double> shape;
    shape.reserve(sizes.size());
    for (const std::size_t i : sizes) {
      shape.push_back(worlds.parameters[w * scenario.parameters.size() + i]);
    }
    const GroupKey key{std::move(shape), worlds.step_size[w], worlds.steps[w]};
    const auto [found, fresh] = known.emplace(key, run.groups.size());
    if (fresh) {
      StepGroup group;
      group.step_size = worlds.step_size[w];
      group.steps = worlds.steps[w];
      run.groups.push_back(std::move(group));
    }
    StepGroup& group = run.groups[found->second];
    run.place.push_back({found->second, group.worlds.size()});
    group.worlds.push_back(world);
  }
}

std::int64_t stride_for(const StepRequest& request, const StepGroup& group,
                        const models::ScenarioSizes& sizes) {
  if (request.stride) return *request.stride;
  if (!request.results_wanted) return 0;
  const std::int64_t numbers =
      static_cast<std::int64_t>(group.worlds.size()) * (sizes.positions + sizes.velocities + 1);
  const std::int64_t frames = std::clamp<std::int64_t>(kMostNumbers / numbers, 1, kDefaultFrames);
  return std::max<std::int64_t>(1, (group.steps + frames - 1) / frames);
}

// What a group reports that was never reached.
WorldsResult nothing_computed(const StepGroup& group, const models::ScenarioSizes& sizes,
                              Backend backend) {
  const std::size_t worlds = group.worlds.size();
  WorldsResult result;
  result.backend = backend;
  result.cancelled = true;
  result.worlds = static_cast<std::int64_t>(worlds);
  result.step_size = group.step_size;
  result.positions = sizes.positions;
  result.velocities = sizes.velocities;
  result.rows = sizes.rows;
  WorldsResult::each_array(
      result,
      []<class Value>(const char*, const Extents& extents, std::vector<Value>& values) {
        values.assign(static_cast<std::size_t>(extents.count()), no_number<Value>());
      },
      result);
  result.max_residual.assign(worlds, 0.0);
  result.status.assign(worlds, Status::cancelled);
  return result;
}

}  // namespace

StepRun run_worlds(const StepWorlds& worlds, const StepRequest& request, const Control& control) {
  const models::Scenario& scenario = *worlds.scenario;
  StepRun run;
  run.scenario = worlds.scenario;
  run.worlds = worlds.worlds;
  run.parameters = worlds.parameters;
  run.varied = worlds.varied;
  run.seed = request.seed;
  run.settings = request.settings;
  run.backend = request.backend;
  group_worlds(worlds, run);

  std::int64_t total = 0;
  std::vector<models::ScenarioSizes> sizes;
  for (StepGroup& group : run.groups) {
    const std::vector<double> parameters = parameters_of(worlds, group);
    models::validate_worlds(scenario, static_cast<std::int64_t>(group.worlds.size()), parameters);
    sizes.push_back(
        models::scenario_sizes(scenario, std::span(parameters).first(scenario.parameters.size())));
    group.stride = stride_for(request, group, sizes.back());
    total += group.steps * static_cast<std::int64_t>(group.worlds.size());
  }

  Workspace workspace;
  std::int64_t done = 0;
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    StepGroup& group = run.groups[g];
    const auto count = static_cast<std::int64_t>(group.worlds.size());
    if (control.is_stopped()) {
      group.result = nothing_computed(group, sizes[g], request.backend);
    } else {
      WorldRun call;
      call.worlds = count;
      call.parameters = parameters_of(worlds, group);
      call.step_size = group.step_size;
      call.steps = group.steps;
      call.stride = group.stride;
      call.progress = [&control, done, total, count](const WorldProgress& progress) {
        control.show(done + progress.steps_done * count, total);
        return !control.is_stopped();
      };
      group.result = step_worlds(scenario, call, request.settings, request.backend, &workspace);
      run.backend = group.result.backend;
    }
    run.seconds += group.result.seconds;
    run.complete = run.complete && !group.result.cancelled;
    done += group.steps * count;
  }
  return run;
}

RouthSet sample_routh_set(const StepRun& run) {
  const models::Model& model = models::find("rocking_block");
  std::map<std::string, double> shared;
  for (const models::Parameter& parameter : model.parameters) {
    shared[parameter.name] = run.value_of(parameter.name, 0);
  }
  const ImpactProblem problem = models::build(model.name, shared);
  ImpactSettings settings;
  settings.samples = kRouthSamples;
  settings.keep_samples = -1;
  settings.seed = run.seed;
  settings.step_size = model.step_size;
  settings.max_steps = model.max_steps;
  settings.epsilon = 0.0;
  settings.threads = run.settings.threads;
  const ImpactResult result =
      sample_impacts(make_batch(std::span(&problem, 1)), settings, Backend::cpu);
  RouthSet set;
  set.samples = settings.samples;
  const auto velocity = result.samples.velocity.host();
  const auto status = result.samples.status.host();
  for (std::size_t sample = 0; sample < status.size(); ++sample) {
    if (status[sample] != TrajectoryStatus::terminated) continue;
    const auto contact = contact_velocity(problem, velocity.data() + 3 * sample);
    set.normal_velocity.insert(set.normal_velocity.end(), contact.begin(), contact.begin() + 2);
  }
  return set;
}

}  // namespace carom::run
