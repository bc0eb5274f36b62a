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
#include "impact/derived_settings.hpp"

namespace carom::run {

namespace {

constexpr std::int64_t kExaminedTrajectories = 64;  // a problem; fewer where there are many
constexpr int kAllOrdersUpTo = 4;                   // contacts

// Defaults of a run whose results are written or drawn; less for many problems.
constexpr std::int64_t kKeptRows = 16384;
constexpr std::int64_t kKeptPaths = 512;
constexpr std::int64_t kAllKeptRows = std::int64_t{1} << 23;
constexpr std::int64_t kAllKeptPaths = std::int64_t{1} << 16;

/// Dimension, nv and m; whether there are stores, and the law of a file: one batch has one of each.
using ImpactShape = std::tuple<int, int, int, bool, std::optional<RestitutionLaw>>;

ImpactShape shape_of(const ImpactTask& task) {
  const ImpactProblem& problem = task.problem;
  return {problem.dimension, problem.velocities, problem.contacts,
          !problem.restitution_high.empty() || !problem.friction_high.empty(), task.law};
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
        if (from.empty()) return;
        to = slice(from, problem, static_cast<std::size_t>(extents.stride()));
      },
      rows, samples);
  return rows;
}

// Reasons for the step size and the epsilon, if the user did not choose them.
void give_reasons(ImpactRun& run, const ImpactSettings& asked) {
  if (asked.step_size == 0.0) {
    const StoppingImpulse stop = stopping_impulse(run.problem, asked.velocity_tolerance);
    run.step_size_reason = stop.contact < 0
                               ? "no contact approaches"
                               : "the impulse that stops contact " +
                                     run.contact_names[static_cast<std::size_t>(stop.contact)];
  }
  if (asked.epsilon < 0.0) {
    run.epsilon_reason = run.summary.epsilon == epsilon_of_speed(run.summary.contact_speed)
                             ? "0.02 of the largest contact speed before the impact"
                             : "0.05 of the set's extent in a first sample";
  }
}

// Of a batch out of `problems` problems altogether.
ImpactSettings settings_of(const ImpactRequest& request, std::size_t problems) {
  ImpactSettings settings = request.settings;
  const auto count = static_cast<std::int64_t>(problems);
  const std::int64_t rows = std::clamp<std::int64_t>(kAllKeptRows / count, 1, kKeptRows);
  const std::int64_t paths = std::min(kAllKeptPaths / count, kKeptPaths);
  const bool rows_wanted = request.results_wanted || request.compared;
  settings.keep_samples = request.keep_samples.value_or(rows_wanted ? rows : 0);
  settings.keep_paths = request.keep_paths.value_or(request.results_wanted ? paths : 0);
  settings.validate();
  return settings;
}

bool affordable(const ImpactProblem& problem) {
  return problem.contacts >= 1 && problem.contacts <= (problem.dimension == 2 ? 3 : 1);
}

}  // namespace

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

std::vector<ImpactRun> run_impacts(const std::vector<ImpactTask>& tasks,
                                   const ImpactRequest& request, const Control& control) {
  std::map<ImpactShape, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    groups[shape_of(tasks[i])].push_back(i);
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
    ImpactSettings settings = settings_of(request, tasks.size());
    const std::int64_t total = settings.samples * static_cast<std::int64_t>(tasks.size());
    if (const auto law = std::get<4>(shape); law && !request.law_given) settings.law = *law;
    if (std::get<3>(shape) && !request.method_given) settings.method = ImpactMethod::events;
    settings.progress = [&control, done, total](const ImpactProgress& progress) {
      control.show(done + progress.samples_done + progress.pilot_done,
                   total + progress.pilot_total);
      return !control.is_stopped();
    };

    ImpactResult result;
    const bool skipped = control.is_stopped();
    if (!skipped) {
      try {
        result = sample_impacts(make_batch(problems), settings, request.backend, &workspace);
      } catch (const InvalidInput& error) {
        const auto p = error.refusal().problem;
        if (!p) throw;
        throw error.with_problem(static_cast<std::int64_t>(members[static_cast<std::size_t>(*p)]))
            .with_source(request.source);
      }
    }
    std::int64_t computed = 0;
    for (const ImpactSummary& summary : result.summary) computed += summary.samples;
    done += computed;
    for (std::size_t p = 0; p < members.size(); ++p) {
      ImpactRun& run = runs[members[p]];
      run.model = batch[p]->model;
      run.contact_names = batch[p]->contact_names;
      run.parameters = batch[p]->parameters;
      run.measured = batch[p]->measured;
      run.problem = std::move(problems[p]);
      run.settings = settings;
      run.settings.progress = nullptr;
      run.backend = skipped ? request.backend : result.backend;
      run.complete = !skipped && !result.cancelled;
      run.summary = skipped ? nothing_computed(run.problem) : std::move(result.summary[p]);
      if (!skipped) {
        run.settings.step_size = run.summary.step_size;
        run.settings.max_steps = run.summary.max_steps;
        run.settings.epsilon = run.summary.epsilon;
        give_reasons(run, settings);
      }
      if (p < result.net.size()) run.net = std::move(result.net[p]);
      if (p < result.paths.size()) run.paths = std::move(result.paths[p]);
      if (!skipped) run.rows = rows_of(result.samples, p);
      run.seconds = result.seconds;
      run.samples_per_second =
          result.seconds > 0.0 ? static_cast<double>(computed) / result.seconds : 0.0;
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
    run.summary.nonunique_solves = report.nonunique;
    run.summary.nonunique_examined = report.steps;
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

SetExtent set_extent(const ImpactRun& run) {
  const double extent = extent_of(run.summary);
  return {extent, extent > 0.0 && is_rounding(extent, run.summary, run.settings),
          kExtentShare * extent};
}

}  // namespace carom::run
