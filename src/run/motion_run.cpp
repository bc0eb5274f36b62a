#include "run/motion_run.hpp"

#include <algorithm>
#include <chrono>

#include "impact/epsilon_net.hpp"

namespace carom::run {

namespace {

constexpr std::int64_t kSamplesAtOnce = 32768;

/// The last states of motions that did not fail.
void add_states(NetBuilder& net, const MotionResult& result, std::int64_t first) {
  const auto nq = static_cast<std::size_t>(result.positions);
  const auto nv = static_cast<std::size_t>(result.velocities);
  std::vector<double> state(nq + nv);
  for (std::int64_t i = 0; i < result.samples; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const MotionEnd end = result.end.host()[row];
    if (end != MotionEnd::duration && end != MotionEnd::rest) {
      net.count_dropped(1);
      continue;
    }
    std::copy_n(result.position.data() + row * nq, nq, state.begin());
    std::copy_n(result.velocity.data() + row * nv, nv,
                state.begin() + static_cast<std::ptrdiff_t>(nq));
    net.add(first + i, state.data(), nullptr, 0);
  }
}

}  // namespace

MotionRunResult run_motions(MotionPlan plan, const Control& control) {
  const auto start = std::chrono::steady_clock::now();
  MotionRunResult run;
  run.plan = std::move(plan);
  const MotionSettings& settings = run.plan.settings;
  for (std::size_t p = 0; p < run.plan.tasks.size(); ++p) {
    try {
      validate(make_batch({&run.plan.tasks[p].problem, 1}));
    } catch (const InvalidInput& error) {
      throw error.with_problem(static_cast<std::int64_t>(p));
    }
  }
  const std::int64_t total = settings.samples * static_cast<std::int64_t>(run.plan.tasks.size());
  std::int64_t done = 0;
  control.show(done, total);
  Workspace workspace;
  for (std::size_t p = 0; p < run.plan.tasks.size(); ++p) {
    const MotionTask& task = run.plan.tasks[p];
    const MotionBatch batch = make_batch({&task.problem, 1});
    MotionOutcome outcome;
    NetBuilder net(batch.positions + batch.velocities, 0, run.plan.epsilon, run.plan.net_capacity);
    for (std::int64_t first = 0; first < settings.samples;) {
      if (control.is_stopped()) {
        run.complete = false;
        break;
      }
      MotionSettings piece = settings;
      piece.first_problem = settings.first_problem + static_cast<std::int64_t>(p);
      piece.first_sample = settings.first_sample + first;
      // Kept motions are a chunk each: their states take much more room.
      const bool keeps = first < settings.keep_samples;
      piece.samples =
          std::min(keeps ? settings.keep_samples : first + kSamplesAtOnce, settings.samples) -
          first;
      piece.keep_samples = keeps ? piece.samples : 0;
      MotionResult result = simulate_motions(batch, piece, run.plan.backend, &workspace);
      outcome.summary.add(summarise(result, 0, piece.first_sample));
      if (net.enabled()) add_states(net, result, piece.first_sample);
      first += piece.samples;
      done += piece.samples;
      if (keeps) outcome.kept = std::move(result);
      control.show(done, total);
    }
    if (net.enabled()) {
      outcome.net = net.finish(settings.first_sample, outcome.summary.samples);
    }
    run.outcomes.push_back(std::move(outcome));
    if (!run.complete) break;
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

}  // namespace carom::run
