#include "run/impact_runner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include <carom/error.hpp>

#include "core/buffer_slice.hpp"
#include "core/message.hpp"
#include "run/impact_defaults.hpp"

namespace carom::run {

namespace {

constexpr std::int64_t kExaminedTrajectories = 64;  // a problem; fewer where there are many
constexpr int kAllOrdersUpTo = 4;                   // contacts

// Defaults of a run whose results are written or drawn; less for many problems.
constexpr std::int64_t kKeptRows = 16384;
constexpr std::int64_t kKeptPaths = 512;
constexpr std::int64_t kAllKeptRows = std::int64_t{1} << 23;
constexpr std::int64_t kAllKeptPaths = std::int64_t{1} << 16;
constexpr double kDefaultEpsilon = 0.02;  // of the largest contact speed before the impact

// Shape of the problem, and to within a factor of two the step size that follows from it: a batch
// has one.
using ImpactShape = std::tuple<int, int, int, int>;

bool derived(const ImpactTask& task, const ImpactRequest& request) {
  return !task.step_size && !request.step_size;
}

ImpactShape shape_of(const ImpactTask& task, const ImpactRequest& request) {
  const ImpactProblem& problem = task.problem;
  int octave = 0;
  if (derived(task, request)) {
    const Stop stop = stopping_impulse(problem, request.settings.velocity_tolerance);
    octave = stop.contact < 0 ? std::numeric_limits<int>::min() : std::ilogb(stop.impulse);
  }
  return {problem.dimension, problem.velocities, problem.contacts, octave};
}

// What a problem reports whose batch was never reached.
ImpactSummary nothing_computed(const ImpactProblem& problem) {
  ImpactSummary summary;
  summary.status = Status::cancelled;
  const auto contacts = static_cast<std::size_t>(problem.contacts);
  const std::size_t tangents = contacts * static_cast<std::size_t>(problem.dimension - 1);
  summary.normal_velocity_min.assign(contacts, kNone);
  summary.normal_velocity_max.assign(contacts, kNone);
  summary.tangent_velocity_min.assign(tangents, kNone);
  summary.tangent_velocity_max.assign(tangents, kNone);
  return summary;
}

SampleRows rows_of(const ImpactSamples& samples, std::size_t problem) {
  SampleRows rows;
  rows.count = samples.count;
  if (samples.count == 0) return rows;
  ImpactSamples::each_array(
      samples,
      [problem](const char*, const Extents& extents, auto& to, const auto& from) {
        to = slice(from, problem, static_cast<std::size_t>(extents.stride()));
      },
      rows, samples);
  return rows;
}

double default_epsilon(const std::vector<const ImpactTask*>& batch, const std::string& source) {
  double speed = 0.0;
  for (const ImpactTask* task : batch) {
    for (const double value : contact_velocity(task->problem, task->problem.velocity.data())) {
      speed = std::max(speed, std::fabs(value));
    }
    if (!std::isfinite(speed)) {  // numbers near the end of the range of double
      throw InvalidInput(source + ": " + task->model + ": the contact speed before the impact is " +
                         message::number(speed) + ": must be finite");
    }
  }
  return kDefaultEpsilon * (speed > 0.0 ? speed : 1.0);
}

struct Reasons {
  std::string step_size;
  std::string epsilon;
};

// Of the problem of the batch that takes the largest impulse; any h serves where none approaches.
double derived_step(const std::vector<const ImpactTask*>& batch, double velocity_tolerance,
                    std::string& reason) {
  Stop most;
  const ImpactTask* of = nullptr;
  for (const ImpactTask* task : batch) {
    const Stop stop = stopping_impulse(task->problem, velocity_tolerance);
    if (stop.impulse > most.impulse) {
      most = stop;
      of = task;
    }
  }
  if (of == nullptr) {
    reason = "no contact approaches";
    return ImpactSettings{}.step_size;
  }
  reason =
      "the impulse that stops contact " + of->contact_names[static_cast<std::size_t>(most.contact)];
  if (batch.size() > 1) reason += " of " + of->model;
  return most.impulse;
}

// Of a batch out of `problems` problems altogether; epsilon may still be open.
ImpactSettings settings_of(const ImpactRequest& request,
                           const std::vector<const ImpactTask*>& batch, std::size_t problems,
                           Reasons& reasons) {
  ImpactSettings settings = request.settings;
  settings.step_size = request.step_size ? *request.step_size
                       : batch.front()->step_size
                           ? *batch.front()->step_size
                           : derived_step(batch, settings.velocity_tolerance, reasons.step_size);
  settings.max_steps = request.max_steps.value_or(batch.front()->max_steps);
  const auto count = static_cast<std::int64_t>(problems);
  const std::int64_t rows = std::clamp<std::int64_t>(kAllKeptRows / count, 1, kKeptRows);
  const std::int64_t paths = std::min(kAllKeptPaths / count, kKeptPaths);
  const bool rows_wanted = request.results_wanted || request.compared;
  settings.keep_samples = request.keep_samples.value_or(rows_wanted ? rows : 0);
  settings.keep_paths = request.keep_paths.value_or(request.results_wanted ? paths : 0);
  if (request.epsilon) settings.epsilon = *request.epsilon;
  settings.validate();
  if (!request.epsilon) {
    settings.epsilon = default_epsilon(batch, request.source);
    reasons.epsilon = "0.02 of the largest contact speed before the impact";
  }
  return settings;
}

// What the set itself says, where it has any extent beside rounding.
void epsilon_of_set(double extent, ImpactSettings& settings, Reasons& reasons) {
  if (is_rounding(extent, settings) || !std::isfinite(extent)) return;
  settings.epsilon = kExtentShare * extent;
  reasons.epsilon = "0.05 of the set's extent in a first sample";
}

bool affordable(const ImpactProblem& problem) {
  return problem.contacts >= 1 && problem.contacts <= (problem.dimension == 2 ? 3 : 1);
}

std::vector<std::vector<int>> orders_of(int contacts) {
  std::vector<int> order(static_cast<std::size_t>(contacts));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int>> orders;
  if (contacts == 0) return orders;
  if (contacts <= kAllOrdersUpTo) {
    do {
      orders.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    return orders;
  }
  for (int direction = 0; direction < 2; ++direction) {
    for (int turn = 0; turn < contacts; ++turn) {
      orders.push_back(order);
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    std::reverse(order.begin(), order.end());
  }
  return orders;
}

}  // namespace

std::vector<ImpactRun> run_impacts(const std::vector<ImpactTask>& tasks,
                                   const ImpactRequest& request, const Control& control) {
  std::map<ImpactShape, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    groups[shape_of(tasks[i], request)].push_back(i);
  }

  std::vector<ImpactRun> runs(tasks.size());
  ImpactWorkspace workspace;
  std::int64_t done = 0;
  for (const auto& [shape, members] : groups) {
    std::vector<const ImpactTask*> batch;
    std::vector<ImpactProblem> problems;
    for (const std::size_t i : members) {
      batch.push_back(&tasks[i]);
      problems.push_back(tasks[i].problem);
    }
    Reasons reasons;
    ImpactSettings settings = settings_of(request, batch, tasks.size(), reasons);
    if (!request.epsilon && !batch.front()->step_size && !control.is_stopped()) {
      epsilon_of_set(pilot_extent(problems, settings, request.backend, workspace), settings,
                     reasons);
    }
    const std::int64_t total = settings.samples * static_cast<std::int64_t>(tasks.size());
    settings.progress = [&control, done, total](const ImpactProgress& progress) {
      control.show(done + progress.samples_done, total);
      return !control.is_stopped();
    };

    ImpactResult result;
    const bool skipped = control.is_stopped();
    if (!skipped)
      result = sample_impacts(make_batch(problems), settings, request.backend, &workspace);
    std::int64_t computed = 0;
    for (const ImpactSummary& summary : result.summary) computed += summary.samples;
    done += computed;
    for (std::size_t p = 0; p < members.size(); ++p) {
      ImpactRun& run = runs[members[p]];
      run.model = batch[p]->model;
      run.contact_names = batch[p]->contact_names;
      run.parameters = batch[p]->parameters;
      run.problem = std::move(problems[p]);
      run.settings = settings;
      run.settings.progress = nullptr;
      run.step_size_reason = reasons.step_size;
      run.epsilon_reason = reasons.epsilon;
      run.backend = skipped ? request.backend : result.backend;
      run.complete = !skipped && !result.cancelled;
      run.summary = skipped ? nothing_computed(run.problem) : std::move(result.summary[p]);
      if (p < result.net.size()) run.net = std::move(result.net[p]);
      if (p < result.paths.size()) run.paths = std::move(result.paths[p]);
      if (!skipped) run.rows = rows_of(result.samples, p);
      run.seconds = result.seconds;
      run.samples_per_second =
          result.seconds > 0.0 ? static_cast<double>(computed) / result.seconds : 0.0;
      run.nonunique_solves = run.summary.nonunique_solves;
      run.nonunique_examined = run.summary.examined_solves;
    }
  }
  return runs;
}

void examine_uniqueness(std::vector<ImpactRun>& runs, const Control& control) {
  const std::int64_t trajectories =
      std::min(kExaminedTrajectories, 4096 / static_cast<std::int64_t>(runs.size()));
  for (ImpactRun& run : runs) {
    const bool wanted = run.settings.method == ImpactMethod::lcp &&
                        run.settings.selection != Selection::random && affordable(run.problem) &&
                        trajectories > 0;
    if (!wanted || control.is_stopped()) continue;
    const UniquenessReport report =
        check_unique_step(run.problem, run.settings, std::min(trajectories, run.settings.samples));
    run.nonunique_solves = report.nonunique;
    run.nonunique_examined = report.steps;
  }
}

ComparedModels compare_models(const ImpactProblem& problem, const ImpactSettings& settings) {
  ImpactModelSettings model;
  model.friction_directions = settings.friction_directions;
  model.residual_tolerance = settings.residual_tolerance;
  model.velocity_tolerance = settings.velocity_tolerance;
  model.mode_tolerance = settings.mode_tolerance;
  ComparedModels result;
  try {
    result.simultaneous = simultaneous_impacts(problem, model);
  } catch (const InvalidInput&) {  // too many modes to enumerate
    result.simultaneous_complete = false;
    result.simultaneous.push_back(simultaneous_impact(problem, model));
  }
  for (const std::vector<int>& order : orders_of(problem.contacts)) {
    result.sequential.push_back(sequential_impact(problem, order, model));
  }
  return result;
}

}  // namespace carom::run
