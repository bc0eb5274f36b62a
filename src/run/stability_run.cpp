#include "run/stability_run.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include <carom/error.hpp>

#include "core/arrays.hpp"

namespace carom::run {

namespace {

constexpr std::int64_t kStancesAtOnce = 16384;
constexpr std::int64_t kProgrammes = 1024;  // a piece of methods sos and single: milliseconds each

void append(StabilityResult& to, StabilityResult& from, std::int64_t first, std::int64_t count) {
  const StanceSizes sizes{count, 2};
  StabilityResult::each_array(
      sizes,
      [&](const char*, const Extents& extents, auto& all, auto& part) {
        std::copy(part.host().begin(), part.host().end(),
                  all.host().begin() + first * extents.stride());
      },
      to, from);
}

/// A certificate that exact arithmetic does not confirm is none.
void withdraw_unproven(StabilityRun& run) {
  StabilityResult& result = run.result;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t p = 0; p < static_cast<std::size_t>(run.done); ++p) {
    if (result.certificate.host()[p] == CertificateKind::none || run.exact[p] != 0) continue;
    result.verdict.host()[p] = StabilityVerdict::undecided;
    result.certificate.host()[p] = CertificateKind::none;
    result.s.host()[p] = result.kappa.host()[p] = result.margin.host()[p] = nan;
    std::fill_n(result.coefficients.data() + 24 * p, 24, nan);
  }
}

void ask(StabilityRun& run, const StanceQuestions& questions) {
  const Stance& stance = run.points.stances.front();
  if (questions.contact) {
    run.impact = stance_impact(stance, *questions.contact, questions.impact);
  }
  if (!questions.start) return;
  const auto& s = *questions.start;
  run.events = stance_trajectory(stance, {s[0], s[1], s[2]}, {s[3], s[4], s[5]}, questions.events,
                                 run.settings.seed);
}

}  // namespace

StabilityVerdict StabilityRun::verdict(std::size_t i) const {
  if (row[i] >= 0) {
    return row[i] < done ? result.verdict.host()[static_cast<std::size_t>(row[i])]
                         : StabilityVerdict::undecided;
  }
  StabilityVerdict verdict = StabilityVerdict::undecided;
  for (const StanceMode& mode : contact_modes(points.stances[i])) {
    const bool rests = mode.word.find_first_not_of('S') == std::string::npos;
    if (rests && !(mode.solvable && mode.margin >= 0.0)) return StabilityVerdict::no_equilibrium;
    if (!rests && mode.admissible && mode.consistent) verdict = StabilityVerdict::ambiguous;
  }
  return verdict;
}

StabilityRun run_stability(StancePoints points, const StabilitySettings& settings, Backend backend,
                           const StanceQuestions& questions, const Control& control) {
  const auto start = std::chrono::steady_clock::now();
  StabilityRun run;
  run.points = std::move(points);
  run.settings = settings;
  run.backend = backend;
  std::vector<Stance> pairs;
  const auto& stances = run.points.stances;
  for (std::size_t i = 0; i < stances.size(); ++i) {
    validate(stances[i], stances.size() > 1 ? static_cast<std::int64_t>(i) : -1);
    const bool two = stances[i].contacts.size() == 2;
    run.row.push_back(two ? static_cast<std::int64_t>(pairs.size()) : -1);
    if (two) pairs.push_back(stances[i]);
  }
  ask(run, questions);
  const auto rows = static_cast<std::int64_t>(pairs.size());
  run.result = allocate<StabilityResult>(StanceSizes{rows, 2});
  const StanceBatch all = stance_batch(pairs);
  const std::int64_t at_once = poses_a_programme(settings.method) ? kProgrammes : kStancesAtOnce;
  StabilitySettings part_settings = settings;  // of the piece: random states by the chart's index
  Workspace workspace;
  control.show(0, rows);
  while (run.done < rows && !control.is_stopped()) {
    const std::int64_t end = std::min(rows, run.done + at_once);
    part_settings.first_problem = settings.first_problem + run.done;
    auto part =
        analyse_stability(arrays::slice(all, run.done, end), part_settings, backend, &workspace);
    append(run.result, part, run.done, end - run.done);
    run.done = end;
    control.show(end, rows);
  }
  run.exact = verify_certificates(arrays::slice(all, 0, run.done), run.result, settings.threads);
  run.exact.resize(static_cast<std::size_t>(rows), 0);
  withdraw_unproven(run);
  run.complete = run.done == rows;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

}  // namespace carom::run
