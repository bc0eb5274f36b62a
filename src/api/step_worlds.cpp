#include <algorithm>
#include <chrono>

#include <carom/compliant.hpp>

#include "api/world_run.hpp"
#include "compliant/programme_worlds.hpp"
#include "core/backends.hpp"
#include "core/workspace.hpp"

namespace carom {

namespace {

/// Steps, of a world and of all, before the first call of `progress`; later chunks take about
/// kChunkSeconds, so that a caller can stop a run of any length.
constexpr std::int64_t kFirstChunk = 16, kFirstSteps = 1 << 16;
constexpr double kChunkSeconds = 0.1;

}  // namespace

WorldsResult step_worlds(const models::Scenario& scenario, const WorldRun& run,
                         const CompliantSettings& settings, Backend backend, Workspace* workspace) {
  settings.validate();
  WorldRunner runner = set_up_worlds(scenario, run, settings);
  WorldStates& states = runner.states();
  const std::int64_t steps = run.steps > 0 ? run.steps : scenario.steps;
  WorldsResult result;
  result.backend = resolve(backend);
  result.worlds = run.worlds;
  result.step_size = states.settings.step_size;
  result.positions = states.sizes.positions;
  result.velocities = states.sizes.velocities;
  result.rows = states.sizes.rows;
  result.energy_start = runner.energies(0);
  const WorkspaceLease lease(workspace);
  Workspace qp_memory;
  const std::unique_ptr<WorldStepper> stepper =
      settings.law == StepLaw::programme
          ? make_programme_stepper(settings,
                                   [&](const QpBatch& qp, const QpSettings& of_qp) {
                                     return solve_qp(qp, of_qp, result.backend, {}, &qp_memory);
                                   })
          : entries<CompliantEntries>(result.backend).make_stepper(settings, lease.state());
  const auto start = std::chrono::steady_clock::now();
  if (run.stride > 0) runner.add_frame(0, result);
  const std::int64_t first =
      std::clamp<std::int64_t>(kFirstSteps / std::max<std::int64_t>(1, run.worlds), 1, kFirstChunk);
  std::int64_t chunk = run.progress ? std::min(first, steps) : steps;
  std::int64_t done = 0;
  while (done < steps) {
    std::int64_t count = std::min(chunk, steps - done);
    if (run.stride > 0) count = std::min(count, run.stride - done % run.stride);
    const auto before = std::chrono::steady_clock::now();
    stepper->advance(states, done, count);
    done += count;
    if (run.progress) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
      if (taken.count() < 0.5 * kChunkSeconds && count == chunk) chunk *= 2;
      if (taken.count() > 2.0 * kChunkSeconds) chunk = std::max<std::int64_t>(1, chunk / 2);
    }
    if (run.stride > 0 && (done % run.stride == 0 || done == steps)) {
      runner.add_frame(done, result);
    }
    if (run.progress && !run.progress({done, steps}) && done < steps) {
      result.cancelled = true;
      break;
    }
  }
  result.steps = done;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  runner.finish(result);
  return result;
}

}  // namespace carom
