#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <carom/impact_models.hpp>

#include "cli/bounce_options.hpp"
#include "cli/impact_command.hpp"
#include "cli/impact_report.hpp"
#include "cli/json_output.hpp"
#include "cli/sampling_options.hpp"
#include "io/impact_json.hpp"

namespace carom::cli {

namespace {

constexpr double kRare = 0.01;  // probability that theory leaves to longer trajectories

// What the paper's theory says of an impact: Lemma 6, of Theorem 8 the fewest steps that at most
// kRare of the trajectories exceed, and Assumption 6.
struct Theory {
  Pointedness cone;
  std::optional<TerminationBound> bound;
  std::optional<StepUniqueness> steps;  // Assumption 6, where it can be decided
};

Theory theory_of(const run::ImpactRun& run) {
  const int directions = run.settings.friction_directions;
  Theory theory{pointedness(run.problem, directions), {}, {}};
  if (run.problem.dimension == 2 && run.problem.contacts <= kMaxUniqueContacts)
    theory.steps = decide_unique_step(run.problem);
  if (!theory.cone.pointed || !(run.summary.step_size > 0.0)) return theory;  // events have no h
  const auto at = [&](std::int64_t k) {
    return termination_bound(run.problem, run.summary.step_size, k, directions);
  };
  std::int64_t high = 1;
  while (at(high).probability > kRare && high < (std::int64_t{1} << 40)) high *= 2;
  std::int64_t low = high / 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (at(middle).probability > kRare ? low : high) = middle;
  }
  theory.bound = at(high);
  return theory;
}

nlohmann::ordered_json steps_json(const StepUniqueness& steps) {
  nlohmann::ordered_json result;
  result["decided"] = steps.decided;
  result["unique"] = steps.unique;
  result["pairs"] = steps.pairs;
  result["difference"] = steps.difference;
  if (!steps.decided || steps.unique) return result;
  result["velocity"] = steps.velocity;
  result["max_impulse"] = steps.max_impulse;
  result["outcomes"] = steps.outcomes;
  return result;
}

nlohmann::ordered_json theory_json(const Theory& theory) {
  nlohmann::ordered_json result;
  result["pointed"] = theory.cone.pointed;
  result["margin"] = theory.cone.margin;
  if (theory.steps) result["unique_step"] = steps_json(*theory.steps);
  if (!theory.bound) return result;
  result["c"] = theory.bound->c;
  result["steps"] = theory.bound->steps;
  result["probability"] = theory.bound->probability;
  return result;
}

std::string steps_report(const StepUniqueness& steps) {
  if (!steps.decided) return "  theory: whether a step has one v' (Assumption 6) is not decided\n";
  if (steps.unique) {
    return fmt::format(
        "  theory: every step has one v' (Assumption 6): {} pairs of contact modes compared\n",
        steps.pairs);
  }
  return fmt::format(
      "  theory: steps may have several v' (Assumption 6 fails): {} at v = ({:.4g}), lambda_max = "
      "({:.4g}) N s\n",
      steps.outcomes.size(), fmt::join(steps.velocity, ", "), fmt::join(steps.max_impulse, ", "));
}

std::string cone_report(const Theory& theory) {
  if (!theory.cone.pointed) {
    return "  theory: the friction cone is not pointed (Lemma 6), impacts need not end\n";
  }
  if (!theory.bound) {
    return fmt::format("  theory: the friction cone is pointed, margin {:.3g} (Lemma 6)\n",
                       theory.cone.margin);
  }
  return fmt::format(
      "  theory: the friction cone is pointed, margin {:.3g} (Lemma 6); at most {:.2g} % of the "
      "trajectories take more than {:.0f} steps (Theorem 8)\n",
      theory.cone.margin, 100.0 * theory.bound->probability, theory.bound->steps);
}

std::string theory_report(const Theory& theory) {
  return cone_report(theory) + (theory.steps ? steps_report(*theory.steps) : "");
}

nlohmann::ordered_json to_json(const run::ImpactRun& run) {
  nlohmann::ordered_json result;
  result["model"] = run.model;
  result["approaching"] = run::approaching_contacts(run);
  result.update(io::models_json(*run.models));
  result["theory"] = theory_json(theory_of(run));
  if (!run.bounces.empty()) result["bounces"] = io::bounces_json(run);
  result["sampled"] = io::impact_json(run);
  return result;
}

void report_models(std::vector<run::ImpactRun>& runs, const SamplingOptions& options) {
  for (run::ImpactRun& run : runs) {
    run.models = run::compare_models(run.problem, run.settings);
    if (!options.bounces.asked()) continue;
    run::add_bounces(request_of(options), bounce_request(options.bounces, run.problem.contacts),
                     run);
  }
  if (options.json) return print_documents(runs, to_json);
  if (options.quiet) return;
  for (const run::ImpactRun& run : runs)
    fmt::print("{}\n{}{}{}\n", run_report(run, options.verbose), models_report(run),
               bounces_report(run), theory_report(theory_of(run)));
}

}  // namespace

void add_impact_models(Program& program) {
  add_impact_command(program, "impact-models",
                     "Compare simultaneous and sequential impact models with the sampled set",
                     "Example: carom impact-models compass_gait --plot gait.svg\n"
                     "         carom impact-models rocking_block --restitution 0.5 --sequential "
                     "--rounds poisson --lzb 1:4",
                     report_models, [](CLI::App& command, SamplingOptions& options) {
                       add_bounce_options(command, options.bounces);
                     });
}

}  // namespace carom::cli
