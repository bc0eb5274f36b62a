#include "run/bounce_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <carom/impact_judge.hpp>

#include "core/words.hpp"

namespace carom::run {

namespace {

/// How far each of them lies from the set, and what was measured from each of them.
void judge(const ImpactRequest& request, ImpactRun& run) {
  std::vector<ModelledBounce*> known;
  std::vector<double> velocity;
  for (ModelledBounce& bounce : run.bounces) {
    if (bounce.outcome.status != Status::solved) continue;
    known.push_back(&bounce);
    velocity.insert(velocity.end(), bounce.outcome.velocity.begin(), bounce.outcome.velocity.end());
  }
  if (known.empty()) return;
  const std::vector<ImpactProblem> same(known.size(), run.problem);
  MeasuredImpacts modelled;
  modelled.measured_velocity = Buffer<double>::from(velocity);
  ImpactSettings settings = request.settings;
  settings.law = run.settings.law;
  settings.method = run.settings.method;
  const ImpactBatch batch = make_batch(same);
  const ImpactJudgement found = judge_impacts(batch, modelled, {}, settings, request.backend);
  for (std::size_t k = 0; k < known.size(); ++k) {
    known[k]->distance = found.samples.distance.data()[k];
    known[k]->resolution = found.samples.resolution.data()[k];
  }
  if (run.measured.measured_velocity.empty()) return;
  MeasuredImpacts measured;
  measured.measured_velocity = Buffer<double>::from(run.measured.measured_velocity);
  measured.measured_covariance = Buffer<double>::from(run.measured.measured_covariance);
  const ImpactBatch one = make_batch({&run.problem, 1});
  for (ModelledBounce* bounce : known) {
    bounce->measured = impact_distance(one, measured, 0, bounce->outcome.velocity);
  }
}

}  // namespace

void add_bounces(const ImpactRequest& request, const BounceRequest& asked, ImpactRun& run) {
  ImpactModelSettings settings;
  settings.friction_directions = run.settings.friction_directions;
  settings.residual_tolerance = run.settings.residual_tolerance;
  settings.velocity_tolerance = run.settings.velocity_tolerance;
  settings.mode_tolerance = run.settings.mode_tolerance;
  double before = 0.0;
  const auto nv = static_cast<std::size_t>(run.problem.velocities);
  for (std::size_t i = 0; i < nv; ++i) {
    for (std::size_t j = 0; j < nv; ++j) {
      before += 0.5 * run.problem.velocity[i] * run.problem.mass_matrix[i * nv + j] *
                run.problem.velocity[j];
    }
  }
  const auto add = [&](std::string model, SequentialOutcome outcome) {
    const double ratio = outcome.kinetic_energy / before;
    run.bounces.push_back({std::move(model), std::move(outcome), ratio, kNone, kNone, kNone});
  };
  if (asked.sequential) {
    for (const std::vector<int>& order : orders_of(run.problem.contacts)) {
      std::vector<std::string> names;
      for (const int contact : order) {
        names.push_back(run.contact_names[static_cast<std::size_t>(contact)]);
      }
      add(fmt::format("{}, ...", fmt::join(names, ", ")),
          bouncing_sequence(run.problem, order, settings));
    }
  }
  for (const BounceRounds rounds : asked.rounds) {
    add(fmt::format("rounds {}", word_of(rounds)), bouncing_rounds(run.problem, rounds, settings));
  }
  if (asked.springs) {
    add(asked.springs->gaps.empty() ? "springs" : "springs with gaps",
        compliant_bounce(run.problem, *asked.springs, settings));
  }
  judge(request, run);
}

}  // namespace carom::run
