#include "run/step_array_runner.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

namespace carom::run {

namespace {

constexpr std::size_t kMostProblems = std::size_t{1} << 14;  // of a batch: then Ctrl-C is heard

using StepShape = std::tuple<int, int, int>;

StepShape shape_of(const CompliantProblem& problem) {
  return {problem.dimension, problem.velocities, problem.positions};
}

}  // namespace

ArrayStepRun run_array_steps(std::vector<CompliantProblem> problems,
                             const CompliantSettings& settings, Backend backend,
                             const Control& control) {
  ArrayStepRun run;
  run.problems = std::move(problems);
  run.settings = settings;
  run.backend = backend;
  run.place.resize(run.problems.size());
  std::map<StepShape, std::size_t> open;  // batch that a problem of this shape still fits into
  for (std::size_t i = 0; i < run.problems.size(); ++i) {
    auto [at, fresh] = open.emplace(shape_of(run.problems[i]), run.batches.size());
    if (!fresh && run.batches[at->second].problems.size() == kMostProblems) {
      at->second = run.batches.size();
      fresh = true;
    }
    if (fresh) run.batches.emplace_back();
    ArrayStepBatch& batch = run.batches[at->second];
    run.place[i] = {at->second, batch.problems.size()};
    batch.problems.push_back(i);
    batch.rows = std::max(batch.rows, rows_of(run.problems[i]));
  }

  Workspace workspace;
  std::int64_t done = 0;
  for (ArrayStepBatch& batch : run.batches) {
    if (control.is_stopped()) {
      run.complete = false;
      break;
    }
    std::vector<CompliantProblem> members;
    for (const std::size_t problem : batch.problems) members.push_back(run.problems[problem]);
    const CompliantBatch arrays = make_batch(members);
    const auto start = std::chrono::steady_clock::now();
    batch.result = solve_compliant(arrays, settings, backend, &workspace);
    run.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    done += static_cast<std::int64_t>(members.size());
    control.show(done, static_cast<std::int64_t>(run.problems.size()));
  }
  return run;
}

}  // namespace carom::run
