#include "run/step_arrays.hpp"

#include "run/control.hpp"

namespace carom::run {

namespace {

std::vector<double> part(const Buffer<double>& values, std::size_t row, std::size_t width,
                         std::size_t kept) {
  const auto all = values.host().subspan(row * width, kept);
  return {all.begin(), all.end()};
}

}  // namespace

int rows_of(const CompliantProblem& problem) {
  std::size_t rows = 0;
  for (const CompliantConstraint& constraint : problem.constraints) {
    if (problem.velocities > 0) {
      rows += constraint.jacobian.size() / static_cast<std::size_t>(problem.velocities);
    }
  }
  return static_cast<int>(rows);
}

std::string ArrayStepRun::name_of(std::size_t problem) const {
  const std::string& name = problems[problem].name;
  return name.empty() ? "problem " + std::to_string(problem) : name;
}

Status ArrayStepRun::status_of(std::size_t problem) const {
  const auto& [batch, row] = place[problem];
  const CompliantResult& result = batches[batch].result;
  return result.status.empty() ? Status::cancelled : result.status.host()[row];
}

ArrayStep step_of(const ArrayStepRun& run, std::size_t problem) {
  const CompliantProblem& data = run.problems[problem];
  const auto& [index, row] = run.place[problem];
  const ArrayStepBatch& batch = run.batches[index];
  const CompliantResult& result = batch.result;
  const auto nv = static_cast<std::size_t>(data.velocities);
  const auto nq = static_cast<std::size_t>(data.positions > 0 ? data.positions : data.velocities);
  const auto m = static_cast<std::size_t>(rows_of(data));
  ArrayStep step;
  step.numbers =
      numbers_of(result, CompliantSizes{static_cast<std::int64_t>(batch.problems.size())}, row);
  if (result.status.empty()) {
    step.velocity.assign(nv, kNone);
    step.increment.assign(nq, kNone);
    step.force.assign(m, kNone);
    return step;
  }
  step.status = result.status.host()[row];
  step.velocity = part(result.velocity, row, nv, nv);
  step.increment = part(result.increment, row, nq, nq);
  step.force = part(result.force, row, static_cast<std::size_t>(batch.rows), m);
  return step;
}

}  // namespace carom::run
