#include "run/judge_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include <carom/error.hpp>

namespace carom::run {

namespace {

/// One batch has one of each.
auto shape_of(const ImpactRun& run) {
  const ImpactProblem& problem = run.problem;
  return std::tuple(problem.dimension, problem.velocities, problem.contacts,
                    problem.restitution_high.empty(), problem.friction_high.empty(),
                    run.settings.law, run.measured.measured_covariance.empty());
}

/// Measured runs of one shape as the library takes them.
struct Group {
  std::vector<std::size_t> members;
  std::vector<ImpactProblem> problems;
  std::vector<double> velocity, covariance;

  void add(std::size_t index, const ImpactRun& run) {
    members.push_back(index);
    problems.push_back(run.problem);
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(velocity, run.measured.measured_velocity);
    append(covariance, run.measured.measured_covariance);
  }
  [[nodiscard]] MeasuredImpacts measured() const {
    MeasuredImpacts all;
    all.measured_velocity = Buffer<double>::from(velocity);
    all.measured_covariance = Buffer<double>::from(covariance);
    return all;
  }
};

template <class Table>
void take(const ImpactSizes& sizes, std::size_t p, const Table& from, auto& to) {
  Table::each_array(
      sizes,
      [p](const char*, const Extents& extents, auto& one, const auto& all) {
        one = slice(all, p, static_cast<std::size_t>(extents.stride()));
      },
      to, from);
}

/// The nearest sample again, without the others.
std::vector<double> path_of(const ImpactProblem& problem, ImpactSettings settings,
                            const ImpactJudgementArrays<Values>& nearest, Backend backend) {
  if (nearest.nearest_sample.front() < 0) return {};
  ImpactProblem one = problem;
  if (!one.restitution_high.empty() || !one.friction_high.empty()) {
    one.restitution_low = nearest.interval_restitution_low;
    one.restitution_high = nearest.interval_restitution_high;
    one.friction = nearest.interval_friction;
    one.friction_high = nearest.interval_friction_high;
  }
  settings.samples = 1;
  settings.keep_paths = 1;
  settings.epsilon = 0.0;
  settings.seed = nearest.nearest_seed.front();
  settings.first_problem = nearest.nearest_problem.front();
  settings.first_sample = nearest.nearest_sample.front();
  settings.progress = nullptr;
  return sample_impacts(make_batch({&one, 1}), settings, backend).paths.front().velocity;
}

}  // namespace

void require_measured(const std::vector<ImpactTask>& tasks, const std::string& source) {
  for (std::size_t p = 0; p < tasks.size(); ++p) {
    if (!tasks[p].measured.measured_velocity.empty()) continue;
    throw InvalidInput(
        fmt::format("{}: problem {} (\"{}\") has no \"measured\" outcome: add \"measured\": "
                    "{{\"velocity\": [...]}}",
                    source, p, tasks[p].model));
  }
}

void judge_runs(const ImpactRequest& request, const JudgeRequest& asked,
                std::vector<ImpactRun>& runs, const Control& control) {
  std::map<decltype(shape_of(runs.front())), Group> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) groups[shape_of(runs[i])].add(i, runs[i]);

  const std::size_t pairs = asked.restitution.size() * asked.friction.size();
  ImpactIdentification all;
  all.restitution = asked.restitution;
  all.friction = asked.friction;
  for (const auto& [shape, group] : groups) {
    if (control.is_stopped()) return;
    const ImpactRun& first = runs[group.members.front()];
    ImpactSettings settings = request.settings;
    settings.law = first.settings.law;
    settings.method = first.settings.method;
    settings.progress = [&control](const ImpactProgress& at) {
      control.show(at.samples_done, at.samples_total);
      return !control.is_stopped();
    };
    const ImpactBatch batch = make_batch(group.problems);
    const MeasuredImpacts measured = group.measured();
    if (asked.judged) {
      const ImpactJudgement found =
          judge_impacts(batch, measured, asked.judge, settings, request.backend);
      if (found.cancelled) return;
      for (std::size_t p = 0; p < group.members.size(); ++p) {
        JudgedRun judged;
        take(batch, p, found.floor, judged.floor);
        take(batch, p, found.samples, judged.samples);
        judged.nearest_path = path_of(group.problems[p], settings, judged.samples, request.backend);
        runs[group.members[p]].judgement = std::move(judged);
      }
    }
    if (pairs == 0) continue;
    if (!request.method_given) settings.method = ImpactMethod::events;
    settings.mode_table = false;  // of one problem under one friction there are few samples
    const ImpactIdentification found =
        identify_impacts(batch, measured, asked.restitution, asked.friction, asked.identify,
                         settings, request.backend);
    if (found.cancelled) return;
    all.distance.insert(all.distance.end(), found.distance.begin(), found.distance.end());
  }
  if (pairs == 0) return;
  smallest_interval(all, asked.identify, request.settings.seed);
  auto distance = all.distance.begin();
  for (const auto& [shape, group] : groups) {
    for (const std::size_t i : group.members) {
      const auto end = distance + static_cast<std::ptrdiff_t>(pairs);
      runs[i].identified =
          IdentifiedRun{all.restitution,          all.friction,          {distance, end},
                        asked.identify.tolerance, all.smallest_interval, all.bounds};
      distance = end;
    }
  }
}

}  // namespace carom::run
