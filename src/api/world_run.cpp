#include "api/world_run.hpp"

#include <algorithm>
#include <utility>

#include <carom/models/scenarios.hpp>

#include "core/constants.hpp"
#include "core/settings.hpp"

namespace carom {

namespace {

Status status_of(const kernels::WorldRecord& record, bool refused, bool cancelled) {
  if (refused) return Status::invalid_input;
  if (record.broken) return Status::numerical_error;
  if (cancelled && !record.finished) return Status::cancelled;
  return record.failed > 0 ? Status::inaccurate : Status::solved;
}

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

}  // namespace

WorldRunner::WorldRunner(const models::Scenario& scenario, std::int64_t worlds,
                         std::vector<double> parameters, std::vector<bool> refused,
                         const kernels::WorldSettings& settings, const CompliantSettings& step)
    : model_(world_model(scenario.kind)), refused_(std::move(refused)), step_(step) {
  const std::size_t count = scenario.parameters.size();
  states_.scenario = &scenario;
  states_.worlds = worlds;
  states_.parameter_stride = parameters.size() == count ? 0 : static_cast<std::int64_t>(count);
  states_.parameters = std::move(parameters);
  states_.settings = settings;
  std::int64_t head = 0;
  while (refused_[static_cast<std::size_t>(head)]) ++head;
  const models::ScenarioSizes sizes =
      models::scenario_sizes(scenario, {this->parameters(head), count});
  states_.sizes = {sizes.positions, sizes.velocities, sizes.rows};
  const auto all = static_cast<std::size_t>(worlds);
  states_.position.assign(all * static_cast<std::size_t>(sizes.positions), kNan);
  states_.velocity.assign(all * static_cast<std::size_t>(sizes.velocities), kNan);
  states_.impulse.assign(all * static_cast<std::size_t>(sizes.rows), 0.0);
  states_.record.resize(all);
  for (std::int64_t w = 0; w < worlds; ++w) {
    if (refused_[static_cast<std::size_t>(w)]) {
      states_.record[static_cast<std::size_t>(w)].broken = true;
      std::fill_n(states_.impulse.data() + w * sizes.rows, sizes.rows, kNan);
      continue;
    }
    model_.start(this->parameters(w), states_.position.data() + w * sizes.positions,
                 states_.velocity.data() + w * sizes.velocities);
  }
}

/// After `done` steps of a smooth scenario: v' belongs to half a step before, and one more step,
/// taken on a copy, gives the one half a step after.
std::vector<double> WorldRunner::velocities_at_positions(std::int64_t done) const {
  WorldStates next = states_;
  cpu::make_stepper(step_)->advance(next, done, 1);
  for (std::size_t j = 0; j < next.velocity.size(); ++j) {
    next.velocity[j] = 0.5 * (next.velocity[j] + states_.velocity[j]);
  }
  return std::move(next.velocity);
}

std::vector<double> WorldRunner::energies(std::int64_t done) const {
  std::vector<double> energy(static_cast<std::size_t>(states_.worlds), kNan);
  std::vector<double> velocity;
  if (model_.smooth && done > 0) velocity = velocities_at_positions(done);
  for (std::int64_t w = 0; w < states_.worlds; ++w) {
    if (refused_[static_cast<std::size_t>(w)]) continue;
    energy[static_cast<std::size_t>(w)] =
        model_.energy(parameters(w), q(w),
                      velocity.empty() ? v(w) : velocity.data() + w * states_.sizes.velocities);
  }
  return energy;
}

void WorldRunner::add_frame(std::int64_t done, WorldsResult& result) const {
  result.frame_time.push_back(static_cast<double>(done) * states_.settings.step_size);
  const kernels::WorldSizes& sizes = states_.sizes;
  for (std::int64_t w = 0; w < states_.worlds; ++w) {
    result.frame_state.insert(result.frame_state.end(), q(w), q(w) + sizes.positions);
    result.frame_state.insert(result.frame_state.end(), v(w), v(w) + sizes.velocities);
  }
  const std::vector<double> energy = energies(done);
  result.frame_energy.insert(result.frame_energy.end(), energy.begin(), energy.end());
}

void WorldRunner::finish(WorldsResult& result) {
  const auto worlds = static_cast<std::size_t>(states_.worlds);
  result.energy = energies(result.steps);
  result.displacement.assign(worlds, kNan);
  for (std::size_t w = 0; w < worlds; ++w) {
    const auto world = static_cast<std::int64_t>(w);
    if (!refused_[w]) result.displacement[w] = model_.displacement(parameters(world), q(world));
    const kernels::WorldRecord& record = states_.record[w];
    result.max_residual.push_back(record.broken ? kNan : record.max_residual);
    result.failed.push_back(record.failed);
    result.steps_taken.push_back(record.steps);
    result.iterations.push_back(record.iterations);
    result.iterations_max.push_back(record.most_iterations);
    result.rows_max.push_back(record.most_rows);
    result.status.push_back(status_of(record, refused_[w], result.cancelled));
  }
  for (double& impulse : states_.impulse) impulse /= states_.settings.step_size;
  result.force = std::move(states_.impulse);
  result.position = std::move(states_.position);
  result.velocity = std::move(states_.velocity);
}

WorldRunner set_up_worlds(const models::Scenario& scenario, const WorldRun& run,
                          const CompliantSettings& settings) {
  require::settings(run);
  WorldRun given = run;
  if (given.parameters.empty()) given.parameters = models::scenario_parameters(scenario);
  std::vector<bool> refused = refused_worlds(scenario, given);
  return {scenario,
          run.worlds,
          std::move(given.parameters),
          std::move(refused),
          {run.step_size > 0.0 ? run.step_size : scenario.step_size, settings.tolerance,
           contact_iterations(settings), settings.centripetal},
          settings};
}

}  // namespace carom
