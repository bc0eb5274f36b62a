#include "run/enclosure_run.hpp"

#include <algorithm>
#include <mutex>

#include "core/parallel.hpp"
#include "core/require.hpp"

namespace carom::run {

namespace {

/// The kept rows of one run as the library takes them.
ImpactSamples samples_of(const ImpactRun& run) {
  ImpactSamples samples = allocate<ImpactSamples>(
      {1, run.rows.count, run.problem.velocities, run.problem.dimension * run.problem.contacts});
  std::copy(run.rows.velocity.begin(), run.rows.velocity.end(), samples.velocity.data());
  std::copy(run.rows.status.begin(), run.rows.status.end(), samples.status.data());
  return samples;
}

/// Compares stored samples, and samples of events, with the enclosure; where the run has no events,
/// it follows some of the same seed.
void compare(ImpactRun& run, int threads) {
  EnclosedRun& enclosed = *run.enclosure;
  if (run.rows.count > 0) {
    enclosed.samples = compare_samples(run.problem, samples_of(run), 0, enclosed.set);
  }
  if (run.settings.method == ImpactMethod::events &&
      run.rows.count >= std::min(kComparedSamples, run.summary.samples)) {
    enclosed.followed = check_by_samples(run.problem, samples_of(run), 0, enclosed.set);
  } else if (run.problem.contacts <= kMaxFollowedContacts) {
    ImpactSettings settings;
    settings.method = ImpactMethod::events;
    settings.samples = settings.keep_samples = kComparedSamples;
    settings.epsilon = 0.0;
    settings.seed = run.settings.seed;
    settings.law = run.settings.law;
    settings.vary = run.settings.vary;
    settings.friction_directions = run.settings.friction_directions;
    settings.threads = threads;
    const ImpactResult followed =
        sample_impacts(make_batch({&run.problem, 1}), settings, Backend::cpu);
    enclosed.followed = check_by_samples(run.problem, followed.samples, 0, enclosed.set);
  }
}

/// Outcomes that samples have by mode_tolerance only are not called impossible.
void compare_outcomes(ImpactRun& run) {
  EnclosedRun& enclosed = *run.enclosure;
  std::vector<std::uint64_t> sampled;
  for (const auto& [modes, count] : run.summary.mode_counts) sampled.push_back(modes);
  const double tolerance = run.settings.mode_tolerance;
  const bool steps = run.settings.method != ImpactMethod::events;
  enclosed.within_tolerance =
      (steps ? compare_modes(run.problem, sampled, tolerance, enclosed.set)
             : check_by_modes(run.problem, sampled, tolerance, enclosed.set))
          .within_tolerance;
  std::erase_if(enclosed.set.impossible_modes, [&](std::uint64_t modes) {
    return std::find(enclosed.within_tolerance.begin(), enclosed.within_tolerance.end(), modes) !=
           enclosed.within_tolerance.end();
  });
}

void answer(ImpactRun& run, const std::vector<std::string>& never) {
  EnclosedRun& enclosed = *run.enclosure;
  for (const std::string& text : never) {
    const ImpactEvent event = impact_event(text, run.contact_names, run.problem.dimension);
    NeverAnswer given;
    given.question = text;
    given.proven = never_happens(enclosed.set, event);
    given.in_doubt = is_in_doubt(enclosed.set, event, enclosed.within_tolerance);
    if ((!given.proven || given.in_doubt) && run.rows.count > 0) {
      const std::int64_t row =
          first_happening(run.problem, samples_of(run), 0, event, run.settings.mode_tolerance);
      if (row >= 0) given.sample = run.settings.first_sample + row;
    }
    enclosed.answers.push_back(std::move(given));
  }
}

}  // namespace

void require_questions(const ImpactProblem& problem, const std::vector<std::string>& contact_names,
                       const std::vector<std::string>& never) {
  for (const std::string& text : never) impact_event(text, contact_names, problem.dimension);
}

void enclose_runs(std::vector<ImpactRun>& runs, const EnclosureSettings& settings,
                  const std::vector<std::string>& never, const Control& control) {
  EnclosureSettings own = settings;
  if (runs.size() > 1) own.threads = 1;
  own.validate();
  std::mutex counting;
  std::int64_t done = 0;
  parallel_for_each(static_cast<std::int64_t>(runs.size()), settings.threads, [&](std::int64_t i) {
    ImpactRun& run = runs[static_cast<std::size_t>(i)];
    if (control.is_stopped()) return;
    EnclosureSettings of_run = own;
    of_run.friction_directions = run.settings.friction_directions;
    of_run.law = run.settings.law;
    run.enclosure = EnclosedRun{enclose_impact(run.problem, of_run), 0.0, {}, {}, {}, {}};
    compare(run, own.threads);
    compare_outcomes(run);
    const ImpactSummary& summary = run.summary;
    std::vector<double> low = summary.normal_velocity_min, high = summary.normal_velocity_max;
    low.insert(low.end(), summary.tangent_velocity_min.begin(), summary.tangent_velocity_min.end());
    high.insert(high.end(), summary.tangent_velocity_max.begin(),
                summary.tangent_velocity_max.end());
    const bool known = run.enclosure->set.status == EnclosureStatus::enclosed ||
                       run.enclosure->set.status == EnclosureStatus::outer;
    if (known && summary.terminated > 0) {
      run.enclosure->filled = filled_share(run.enclosure->set, low, high);
    }
    answer(run, never);
    const std::lock_guard lock(counting);
    control.show(++done, static_cast<std::int64_t>(runs.size()));
  });
}

}  // namespace carom::run
