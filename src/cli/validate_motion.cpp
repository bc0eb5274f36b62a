#include "cli/validate_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include <carom/error.hpp>
#include <carom/motion_replay.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "io/printable.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kReplayed = 16;  // motions of a problem
constexpr double kStepsReach = 1e-6;    // what extrapolated time steps reach

struct Replays {
  std::string name;
  std::int64_t motions = 0, failed = 0;
  std::int64_t set_apart = 0;  ///< differences in motions whose laws had several solutions
  MotionReplay sum;
  double seconds = 0.0;

  [[nodiscard]] std::int64_t disagreements() const {
    return sum.differing + sum.differing_jumps + failed;
  }
};

Replays replay(const run::MotionTask& task, const run::MotionOutcome& outcome,
               const ReplaySettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  Replays all;
  all.name = task.problem.name;
  for (std::int64_t i = 0; i < outcome.kept.kept; ++i) {
    const auto row = static_cast<std::size_t>(i);
    ++all.motions;
    if (outcome.kept.end.host()[row] == MotionEnd::failed) {
      ++all.failed;
      continue;
    }
    const MotionReplay one = replay_motion(task.problem, outcome.kept, i, settings);
    all.sum.pieces += one.pieces;
    all.sum.skipped += one.skipped;
    all.sum.unsettled += one.unsettled;
    all.sum.jumps += one.jumps;
    all.sum.step_error = std::max(all.sum.step_error, one.step_error);
    if (outcome.kept.ambiguous.host()[row] > 0) {
      all.set_apart += one.differing + one.differing_jumps;
      continue;
    }
    all.sum.differing += one.differing;
    all.sum.differing_jumps += one.differing_jumps;
    all.sum.worst = std::max(all.sum.worst, one.worst);
  }
  all.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return all;
}

}  // namespace

int validate_motions(const MotionOptions& options, Backend backend, Backend against,
                     double tolerance) {
  if (against != Backend::reference) {
    throw InvalidInput(
        fmt::format("--against is {}: motions are judged by reference", to_string(against)));
  }
  MotionOptions chosen = options;
  chosen.backend = to_string(backend);
  run::MotionPlan plan = motion_plan(chosen);
  plan.settings.samples = std::min(plan.settings.samples, kReplayed);
  plan.settings.keep_samples = plan.settings.samples;
  plan.settings.keep_events = kept_events(plan.settings);
  const InterruptGuard guard;
  ProgressBar bar(options, "motions");
  const run::MotionRunResult run = run::run_motions(std::move(plan), follow(bar));
  ReplaySettings settings;
  settings.tolerance = std::max(tolerance, kStepsReach);
  std::vector<Replays> all;
  for (std::size_t k = 0; k < run.outcomes.size() && !interrupted(); ++k) {
    all.push_back(replay(run.plan.tasks[k], run.outcomes[k], settings));
  }
  std::int64_t disagreements = 0;
  for (const Replays& one : all) disagreements += one.disagreements();
  if (options.json) {
    nlohmann::ordered_json document = nlohmann::ordered_json::array();
    for (const Replays& one : all) {
      document.push_back({{"model", one.name},
                          {"backends", {to_string(backend), "reference"}},
                          {"motions", one.motions},
                          {"failed", one.failed},
                          {"pieces", one.sum.pieces},
                          {"skipped", one.sum.skipped},
                          {"unsettled", one.sum.unsettled},
                          {"impacts", one.sum.jumps},
                          {"differing_pieces", one.sum.differing},
                          {"differing_impacts", one.sum.differing_jumps},
                          {"set_apart", one.set_apart},
                          {"disagreements", one.disagreements()},
                          {"max_difference", one.sum.worst},
                          {"max_step_error", one.sum.step_error},
                          {"seconds", {run.seconds, one.seconds}}});
    }
    print_document(document);
  } else if (!options.quiet) {
    for (const Replays& one : all) {
      fmt::print("{}: {} motions on {}, replayed by small time steps\n\n", io::printable(one.name),
                 one.motions, to_string(backend));
      TextTable table({"pieces", "impacts", "limits skipped", "not settled", "differing pieces",
                       "differing impacts", "several solutions", "failed", "largest difference",
                       "error of the steps", "time"});
      table.add({fmt::format("{}", one.sum.pieces), fmt::format("{}", one.sum.jumps),
                 fmt::format("{}", one.sum.skipped), fmt::format("{}", one.sum.unsettled),
                 fmt::format("{}", one.sum.differing), fmt::format("{}", one.sum.differing_jumps),
                 fmt::format("{}", one.set_apart), fmt::format("{}", one.failed),
                 fmt::format("{:.1e}", one.sum.worst), fmt::format("{:.1e}", one.sum.step_error),
                 time_words(one.seconds)});
      fmt::print("{}", table.text());
    }
  }
  if (interrupted()) return kInterrupted;
  return disagreements > 0 ? kUnsuccessful : kSuccess;
}

}  // namespace carom::cli
