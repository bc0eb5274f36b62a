#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <carom/compliant.hpp>

#include "measure.hpp"

// step_worlds on the built-in scenarios; a problem is one step of one world.
namespace carom::bench {

namespace {

struct WorldSet {
  std::string scenario;
  std::map<std::string, double> overrides = {};
  double step_size = 0.0;  // 0: the scenario's
  std::int64_t steps = 100;
  std::int64_t worlds = 64;
  bool sweep_friction = false;  // from 0 to 0.5 over the worlds
};

WorldRun run_of(const WorldSet& set) {
  const models::Scenario& scenario = models::find_scenario(set.scenario);
  const std::vector<double> one = models::scenario_parameters(scenario, set.overrides);
  WorldRun run;
  run.worlds = set.worlds;
  run.step_size = set.step_size;
  run.steps = set.steps;
  run.parameters = one;
  if (!set.sweep_friction) return run;
  const std::size_t friction = models::parameter_index(scenario, "friction");
  for (std::int64_t w = 1; w < set.worlds; ++w) {
    run.parameters.insert(run.parameters.end(), one.begin(), one.end());
    run.parameters[static_cast<std::size_t>(w) * one.size() + friction] =
        0.5 * static_cast<double>(w) / static_cast<double>(set.worlds);
  }
  return run;
}

CompliantSettings one_thread() {
  CompliantSettings settings;
  settings.threads = 1;
  return settings;
}

/// Way of one inclined block after so many steps of 0.01 s [m].
double way(double friction, std::int64_t steps) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  WorldRun run;
  run.parameters = models::scenario_parameters(scenario, {{"friction", friction}});
  run.step_size = 0.01;
  run.steps = steps;
  return step_worlds(scenario, run, one_thread(), Backend::cpu).displacement.front();
}

/// What bench/mujoco_peer.py says of MuJoCo's inclined block.
struct Slope {
  double slid_error;  // of the way in the first second at mu = 0.25, relative
  double creep;       // speed from 1 s to 11 s at mu = 0.375 > tan 15 degrees [m/s]
};

Slope slope() {
  const double angle = std::numbers::pi / 12.0;
  const double expected = 0.5 * 9.81 * (std::sin(angle) - 0.25 * std::cos(angle));
  return {way(0.25, 100) / expected - 1.0, (way(0.375, 1100) - way(0.375, 100)) / 10.0};
}

void report_worlds(benchmark::State& state, const WorldsResult& result) {
  std::int64_t steps = 0;
  std::int64_t failed = 0;
  std::int64_t iterations = 0;
  double worst = 0.0;
  std::int32_t rows = 0;
  for (std::size_t w = 0; w < result.steps_taken.size(); ++w) {
    steps += result.steps_taken[w];
    failed += result.failed[w];
    iterations += result.iterations[w];
    rows = std::max(rows, result.rows_max[w]);
    worst = std::isnan(result.max_residual[w]) ? INFINITY : std::max(worst, result.max_residual[w]);
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(1, steps));
  state.SetItemsProcessed(state.iterations() * steps);
  state.counters["problems"] = count;
  state.counters["threads"] = 1;
  state.counters["rows"] = rows;
  state.counters["iterations"] = static_cast<double>(iterations) / count;
  state.counters["solved"] = 1.0 - static_cast<double>(failed) / count;
  state.counters["worst_residual"] = worst;
}

benchmark::internal::Benchmark* add_worlds(const std::string& name, const WorldSet& set,
                                           Backend backend = Backend::cpu) {
  const auto run = share([set] { return run_of(set); });
  const bool block = set.scenario == "inclined_block" && name == "worlds/inclined_block/carom";
  const auto slid = share([] { return slope(); });
  return add(name, [=](benchmark::State& state) {
    const models::Scenario& scenario = models::find_scenario(set.scenario);
    WorldsResult result;
    for (auto _ : state) result = step_worlds(scenario, run->get(), one_thread(), backend);
    report_worlds(state, result);
    if (block) {
      state.counters["slid_error"] = slid->get().slid_error;
      state.counters["creep"] = slid->get().creep;
    }
  });
}

std::string padded(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

void add_world_benchmarks() {
  const std::vector<std::pair<std::string, WorldSet>> sets{
      {"spring_mass_damper", {.scenario = "spring_mass_damper", .steps = 1000}},
      {"pendulum_joint", {.scenario = "pendulum_joint", .steps = 1000}},
      {"pendulum_limit", {.scenario = "pendulum_limit", .step_size = 1e-3, .steps = 1000}},
      {"elastic_foundation", {.scenario = "elastic_foundation", .worlds = 16}},
      {"inclined_block", {.scenario = "inclined_block", .worlds = 256}},
      {"inclined_block_stuck",
       {.scenario = "inclined_block", .overrides = {{"friction", 0.375}}, .worlds = 256}},
      {"inclined_block_mixed",
       {.scenario = "inclined_block", .worlds = 256, .sweep_friction = true}},
      {"sphere_stack", {.scenario = "sphere_stack"}},
      {"compliant_block_impact", {.scenario = "compliant_block_impact", .steps = 1000}}};
  const bool device = !cuda_devices().empty();
  for (const auto& [name, set] : sets) {
    add_worlds("worlds/" + name + "/carom", set);
    if (!device) continue;
    WorldSet large = set;
    large.worlds = 1 << 16;
    add_worlds("worlds/" + name + "/carom_cuda", large, Backend::cuda)->UseRealTime();
  }
  // The same step from soft to rigid, and with more and more constraints.
  for (const double k : {1e6, 1e8, 1e10, 1e12, 1e14}) {
    add_worlds("stiffness/inclined_block_" + padded("%.0e", k) + "/carom",
               {.scenario = "inclined_block", .overrides = {{"stiffness", k}}, .worlds = 256});
  }
  for (const double e : {1e7, 1e9, 1e11, 1e13, 1e15}) {
    add_worlds("stiffness/sphere_stack_" + padded("%.0e", e) + "/carom",
               {.scenario = "sphere_stack", .overrides = {{"modulus", e}}, .worlds = 16});
  }
  for (const double spheres : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0}) {
    add_worlds("constraints/sphere_stack_" + padded("%03.0f", spheres) + "/carom",
               {.scenario = "sphere_stack", .overrides = {{"spheres", spheres}}, .worlds = 4});
  }
  for (const double side : {5.0, 10.0, 20.0, 30.0}) {
    add_worlds("constraints/elastic_foundation_" + padded("%03.0f", side * side) + "/carom",
               {.scenario = "elastic_foundation",
                .overrides = {{"elements_per_side", side}},
                .worlds = 4});
  }
}

}  // namespace carom::bench
