#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include <carom/compliant.hpp>

#include "compliant/backends.hpp"
#include "core/message.hpp"
#include "models/scenario_kinds.hpp"

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// Steps before the first call of `progress`; later chunks take about kChunkSeconds, so that a
/// caller can stop a run of any length.
constexpr std::int64_t kFirstChunk = 16;
constexpr double kChunkSeconds = 0.1;

struct Setup {
  WorldStates states;
  std::int64_t steps = 0;
  std::vector<bool> refused;  ///< [worlds]

  [[nodiscard]] const double* parameters(std::int64_t world) const {
    return states.parameters.data() + world * states.parameter_stride;
  }
  [[nodiscard]] const double* q(std::int64_t world) const {
    return states.position.data() + world * states.sizes.positions;
  }
  [[nodiscard]] const double* v(std::int64_t world) const {
    return states.velocity.data() + world * states.sizes.velocities;
  }
};

/// Which worlds' parameters are refused; throws unless they may be isolated.
std::vector<bool> refused_worlds(const models::Scenario& scenario, const WorldRun& run) {
  const std::size_t count = scenario.parameters.size();
  std::vector<bool> refused(static_cast<std::size_t>(run.worlds), false);
  const bool shared = run.parameters.size() == count;
  if (!run.isolate || shared || run.parameters.size() != refused.size() * count) {
    models::validate_worlds(scenario, shared ? 1 : run.worlds, run.parameters);
    return refused;
  }
  // The first world that is good by itself fixes the sizes of all.
  std::int64_t head = -1;
  for (std::size_t w = 0; w < refused.size(); ++w) {
    const std::span<const double> own(run.parameters.data() + w * count, count);
    try {
      models::validate_worlds(scenario, 1, own);
      if (head < 0) head = static_cast<std::int64_t>(w);
      std::vector<double> pair(
          run.parameters.begin() + head * static_cast<std::int64_t>(count),
          run.parameters.begin() + (head + 1) * static_cast<std::int64_t>(count));
      pair.insert(pair.end(), own.begin(), own.end());
      models::validate_worlds(scenario, 2, pair);
    } catch (const InvalidInput&) {
      refused[w] = true;
      if (w + 1 == refused.size() && head < 0) throw;
    }
  }
  return refused;
}

Setup set_up(const models::Scenario& scenario, const WorldRun& run,
             const CompliantSettings& settings) {
  if (run.worlds < 1) {
    throw InvalidInput("worlds is " + std::to_string(run.worlds) + ": must be >= 1");
  }
  const auto refuse = [](const char* field, const std::string& value, const char* wanted) {
    throw InvalidInput(std::string(field) + " is " + value + ": must be " + wanted);
  };
  if (!(run.step_size >= 0.0) || !std::isfinite(run.step_size)) {
    refuse("step_size", message::number(run.step_size), "positive and finite");
  }
  if (run.steps < 0) refuse("steps", std::to_string(run.steps), ">= 0");
  if (run.stride < 0) refuse("stride", std::to_string(run.stride), ">= 0");
  if (settings.law != StepLaw::complementarity) {
    throw InvalidInput("law programme: step_worlds takes the law complementarity");
  }
  Setup setup;
  WorldRun given = run;
  if (given.parameters.empty()) given.parameters = models::scenario_parameters(scenario);
  setup.refused = refused_worlds(scenario, given);
  setup.steps = run.steps > 0 ? run.steps : scenario.steps;
  WorldStates& states = setup.states;
  states.scenario = &scenario;
  states.worlds = run.worlds;
  const auto count = static_cast<std::int64_t>(scenario.parameters.size());
  states.parameter_stride = static_cast<std::int64_t>(given.parameters.size()) == count ? 0 : count;
  states.parameters = std::move(given.parameters);
  states.settings = {run.step_size > 0.0 ? run.step_size : scenario.step_size, settings.tolerance,
                     settings.max_iterations > 0 ? settings.max_iterations : 100,
                     settings.centripetal};
  std::int64_t head = 0;
  while (setup.refused[static_cast<std::size_t>(head)]) ++head;
  const models::ScenarioSizes sizes =
      models::scenario_sizes(scenario, {setup.parameters(head), static_cast<std::size_t>(count)});
  states.sizes = {sizes.positions, sizes.velocities, sizes.rows};
  const auto worlds = static_cast<std::size_t>(run.worlds);
  states.position.assign(worlds * static_cast<std::size_t>(sizes.positions), kNan);
  states.velocity.assign(worlds * static_cast<std::size_t>(sizes.velocities), kNan);
  states.impulse.assign(worlds * static_cast<std::size_t>(sizes.rows), 0.0);
  states.record.resize(worlds);
  models::detail::visit_scenario(scenario.kind, [&](auto body) {
    for (std::int64_t w = 0; w < run.worlds; ++w) {
      if (setup.refused[static_cast<std::size_t>(w)]) {
        states.record[static_cast<std::size_t>(w)].broken = true;
        std::fill_n(states.impulse.data() + w * sizes.rows, sizes.rows, kNan);
        continue;
      }
      decltype(body)::start(setup.parameters(w), states.position.data() + w * sizes.positions,
                            states.velocity.data() + w * sizes.velocities);
    }
  });
  return setup;
}

/// Velocities at the positions' time after `done` steps of a smooth scenario: v' belongs to half a
/// step before, and one more step, taken on a copy, gives the one half a step after.
std::vector<double> velocities_at_positions(const Setup& setup, const CompliantSettings& settings,
                                            std::int64_t done) {
  WorldStates next = setup.states;
  cpu::make_stepper(settings)->advance(next, done, 1);
  for (std::size_t j = 0; j < next.velocity.size(); ++j) {
    next.velocity[j] = 0.5 * (next.velocity[j] + setup.states.velocity[j]);
  }
  return std::move(next.velocity);
}

std::vector<double> energies(const Setup& setup, const CompliantSettings& settings,
                             std::int64_t done) {
  std::vector<double> energy(static_cast<std::size_t>(setup.states.worlds), kNan);
  models::detail::visit_scenario(setup.states.scenario->kind, [&](auto body) {
    std::vector<double> velocity;
    if (decltype(body)::kSmooth && done > 0) {
      velocity = velocities_at_positions(setup, settings, done);
    }
    for (std::int64_t w = 0; w < setup.states.worlds; ++w) {
      if (setup.refused[static_cast<std::size_t>(w)]) continue;
      const double* v =
          velocity.empty() ? setup.v(w) : velocity.data() + w * setup.states.sizes.velocities;
      energy[static_cast<std::size_t>(w)] =
          decltype(body)::energy(setup.parameters(w), setup.q(w), v);
    }
  });
  return energy;
}

void add_frame(const Setup& setup, const CompliantSettings& settings, std::int64_t done,
               WorldsResult& result) {
  result.frame_time.push_back(static_cast<double>(done) * setup.states.settings.step_size);
  const kernels::WorldSizes& sizes = setup.states.sizes;
  for (std::int64_t w = 0; w < setup.states.worlds; ++w) {
    result.frame_state.insert(result.frame_state.end(), setup.q(w), setup.q(w) + sizes.positions);
    result.frame_state.insert(result.frame_state.end(), setup.v(w), setup.v(w) + sizes.velocities);
  }
  const std::vector<double> energy = energies(setup, settings, done);
  result.frame_energy.insert(result.frame_energy.end(), energy.begin(), energy.end());
}

Status status_of(const kernels::WorldRecord& record, bool refused, bool cancelled) {
  if (refused) return Status::invalid_input;
  if (record.broken) return Status::numerical_error;
  if (cancelled && !record.finished) return Status::cancelled;
  return record.failed > 0 ? Status::inaccurate : Status::solved;
}

void finish(Setup& setup, const CompliantSettings& settings, WorldsResult& result) {
  WorldStates& states = setup.states;
  const auto worlds = static_cast<std::size_t>(states.worlds);
  result.energy = energies(setup, settings, result.steps);
  result.displacement.assign(worlds, kNan);
  models::detail::visit_scenario(states.scenario->kind, [&](auto body) {
    for (std::size_t w = 0; w < worlds; ++w) {
      const auto world = static_cast<std::int64_t>(w);
      if (setup.refused[w]) continue;
      result.displacement[w] =
          decltype(body)::displacement(setup.parameters(world), setup.q(world));
    }
  });
  for (std::size_t w = 0; w < worlds; ++w) {
    const kernels::WorldRecord& record = states.record[w];
    result.max_residual.push_back(record.broken ? kNan : record.max_residual);
    result.failed.push_back(record.failed);
    result.steps_taken.push_back(record.steps);
    result.iterations.push_back(record.iterations);
    result.iterations_max.push_back(record.most_iterations);
    result.rows_max.push_back(record.most_rows);
    result.status.push_back(status_of(record, setup.refused[w], result.cancelled));
  }
  for (double& impulse : states.impulse) impulse /= states.settings.step_size;
  result.force = std::move(states.impulse);
  result.position = std::move(states.position);
  result.velocity = std::move(states.velocity);
}

}  // namespace

WorldsResult step_worlds(const models::Scenario& scenario, const WorldRun& run,
                         const CompliantSettings& settings, Backend backend) {
  settings.validate();
  Setup setup = set_up(scenario, run, settings);
  WorldStates& states = setup.states;
  WorldsResult result;
  result.backend = resolve(backend);
  result.worlds = run.worlds;
  result.step_size = states.settings.step_size;
  result.positions = states.sizes.positions;
  result.velocities = states.sizes.velocities;
  result.rows = states.sizes.rows;
  result.energy_start = energies(setup, settings, 0);
  const std::unique_ptr<WorldStepper> stepper =
      result.backend == Backend::cuda        ? cuda::make_stepper(settings)
      : result.backend == Backend::reference ? reference::make_stepper(settings)
                                             : cpu::make_stepper(settings);
  const auto start = std::chrono::steady_clock::now();
  if (run.stride > 0) add_frame(setup, settings, 0, result);
  std::int64_t chunk = run.progress ? std::min(kFirstChunk, setup.steps) : setup.steps;
  std::int64_t done = 0;
  while (done < setup.steps) {
    std::int64_t count = std::min(chunk, setup.steps - done);
    if (run.stride > 0) count = std::min(count, run.stride - done % run.stride);
    const auto before = std::chrono::steady_clock::now();
    stepper->advance(states, done, count);
    done += count;
    if (run.progress) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
      if (taken.count() < 0.5 * kChunkSeconds && count == chunk) chunk *= 2;
      if (taken.count() > 2.0 * kChunkSeconds) chunk = std::max<std::int64_t>(1, chunk / 2);
    }
    if (run.stride > 0 && (done % run.stride == 0 || done == setup.steps)) {
      add_frame(setup, settings, done, result);
    }
    if (run.progress && !run.progress({done, setup.steps}) && done < setup.steps) {
      result.cancelled = true;
      break;
    }
  }
  result.steps = done;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  finish(setup, settings, result);
  return result;
}

}  // namespace carom
