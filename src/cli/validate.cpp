#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/error.hpp>
#include <carom/models/motions.hpp>
#include <carom/models/postures.hpp>
#include <carom/models/scenarios.hpp>
#include <carom/models/stances.hpp>

#include "cli/backend_comparison.hpp"
#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/numbers.hpp"
#include "cli/sampling_options.hpp"
#include "cli/table.hpp"
#include "cli/target.hpp"
#include "cli/validate_motion.hpp"
#include "cli/validate_postures.hpp"
#include "cli/validate_stability.hpp"
#include "cli/validate_step.hpp"
#include "io/file_kind.hpp"
#include "io/printable.hpp"

namespace carom::cli {

namespace {

struct ValidateOptions {
  SamplingOptions sampling;
  std::string against = "reference";
  std::string tolerance = "1e-9";
  bool method_given = false;
};

// Two backends, one selection, one problem.
struct Verdict {
  std::string model;
  Selection selection = Selection::any;
  Backend backends[2] = {Backend::cpu, Backend::reference};
  double seconds[2] = {0.0, 0.0};
  BackendComparison comparison;
};

// The selections that were asked for: the one of --selection, or both by default; events have none.
std::vector<std::string> selections(const SamplingOptions& options) {
  const std::string& wanted = options.settings["selection"];
  if (!wanted.empty()) return {wanted};
  if (options.settings["method"] == to_string(ImpactMethod::events)) return {"any"};
  return {"any", "lemke"};
}

std::vector<Verdict> compare(const std::vector<run::ImpactTask>& tasks,
                             const SamplingOptions& options, const ValidateOptions& validate,
                             double tolerance) {
  SamplingOptions other = options;
  other.backend = validate.against;
  std::vector<run::ImpactRun> first = run_impacts(tasks, options);
  const std::vector<run::ImpactRun> second = run_impacts(tasks, other);
  run::examine_uniqueness(first, {{}, interrupted});
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < first.size(); ++i) {
    Verdict verdict;
    verdict.model = first[i].model;
    verdict.selection = first[i].settings.selection;
    verdict.backends[0] = first[i].backend;
    verdict.backends[1] = second[i].backend;
    verdict.seconds[0] = first[i].seconds;
    verdict.seconds[1] = second[i].seconds;
    verdict.comparison = compare_backends(first[i], second[i], tolerance);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

nlohmann::ordered_json to_json(const Verdict& verdict) {
  const BackendComparison& comparison = verdict.comparison;
  nlohmann::ordered_json result;
  result["model"] = verdict.model;
  result["selection"] = to_string(verdict.selection);
  result["backends"] = {to_string(verdict.backends[0]), to_string(verdict.backends[1])};
  result["samples"] = comparison.samples;
  result["status_differences"] = comparison.status_differences;
  result["mode_differences"] = comparison.mode_differences;
  result["velocity_differences"] = comparison.velocity_differences;
  result["explained"] = comparison.explained;
  result["disagreements"] = comparison.disagreements;
  result["max_difference"] = comparison.max_difference;
  result["nonunique_solves"] = comparison.nonunique_solves;
  result["nonunique_examined"] = comparison.nonunique_examined;
  result["seconds"] = verdict.seconds;
  result["worst"] = nullptr;
  if (comparison.worst) {
    const WorstSample& worst = *comparison.worst;
    nlohmann::ordered_json entry;
    entry["sample"] = worst.sample;
    entry["difference"] = worst.difference;
    entry["status"] = {to_string(worst.status[0]), to_string(worst.status[1])};
    entry["residual"] = worst.residual;
    entry["velocity"] = {worst.velocity[0], worst.velocity[1]};
    result["worst"] = entry;
  }
  return result;
}

void print_text(const std::vector<Verdict>& verdicts, double tolerance) {
  fmt::print("{} against {}, velocities compared to {:g} of the largest before the impact\n\n",
             to_string(verdicts.front().backends[0]), to_string(verdicts.front().backends[1]),
             tolerance);
  TextTable table({"problem", "selection", "samples", "status differs", "modes differ",
                   "v+ differs", "non-unique", "disagreements", "largest difference"});
  for (const Verdict& verdict : verdicts) {
    const BackendComparison& comparison = verdict.comparison;
    table.add({verdict.model, std::string(to_string(verdict.selection)),
               fmt::format("{}", comparison.samples),
               fmt::format("{}", comparison.status_differences),
               fmt::format("{}", comparison.mode_differences),
               fmt::format("{}", comparison.velocity_differences),
               fmt::format("{}", comparison.explained), fmt::format("{}", comparison.disagreements),
               fmt::format("{:.2e}", comparison.max_difference)});
  }
  fmt::print("{}", table.text());
  for (const Verdict& verdict : verdicts) {
    if (!verdict.comparison.worst) continue;
    const WorstSample& worst = *verdict.comparison.worst;
    fmt::print("\n{}, selection {}: worst is sample {}, difference {:.3e}\n",
               io::printable(verdict.model), to_string(verdict.selection), worst.sample,
               worst.difference);
    for (int side = 0; side < 2; ++side) {
      fmt::print("  {:<10} {:<11} residual {:.2e}  v+ = ({:.9g})\n",
                 to_string(verdict.backends[side]), to_string(worst.status[side]),
                 worst.residual[side], fmt::join(worst.velocity[side], ", "));
    }
  }
}

// The options of another family's command that a comparison takes.
template <class Options>
Options options_of(const ValidateOptions& options, std::initializer_list<const char*> settings) {
  Options result;
  for (const char* name : settings) result.settings.set(name, options.sampling.settings[name]);
  result.variations = options.sampling.variations;
  result.variations.seed = options.sampling.settings["seed"];
  result.json = options.sampling.json;
  result.quiet = options.sampling.quiet;
  return result;
}

EquilibriumOptions posture_options(const ValidateOptions& options) {
  auto result = options_of<EquilibriumOptions>(options, {"threads"});
  static_cast<TargetOptions&>(result) = options.sampling;
  return result;
}

StepOptions step_options(const ValidateOptions& options) {
  auto result = options_of<StepOptions>(options, {"threads"});
  result.target = options.sampling.target;
  result.set = options.sampling.set;
  return result;
}

StabilityOptions stance_options(const ValidateOptions& options) {
  auto result = options_of<StabilityOptions>(options, {"threads", "seed"});
  result.target = options.sampling.target;
  result.set = options.sampling.set;
  return result;
}

MotionOptions motion_options(const ValidateOptions& options) {
  auto result = options_of<MotionOptions>(options, {"threads", "seed", "samples"});
  static_cast<TargetOptions&>(result.target) = options.sampling;
  return result;
}

int run_validate(const ValidateOptions& options) {
  const double tolerance = parse_real("--tolerance", options.tolerance);
  const Backend first = backend_named("--backend", options.sampling.backend);
  const Backend second = backend_named("--against", options.against);
  if (first == second) {
    throw InvalidInput(fmt::format("--against is {}: must be another backend than --backend ({})",
                                   options.against, to_string(first)));
  }
  const std::string& target = options.sampling.target;
  const io::FileKind kind = io::kind_of_file(target);
  // Families other than impacts, which have no --method to choose.
  const struct {
    const char* name;
    bool wanted;
    std::function<int()> validate;
  } others[] = {
      {"postures", is_named(models::postures(), target) || kind == io::FileKind::posture,
       [&] { return validate_postures(posture_options(options), first, second, tolerance); }},
      {"steps", is_named(models::scenarios(), target) || kind == io::FileKind::step,
       [&] { return validate_steps(step_options(options), first, second, tolerance); }},
      {"stances", is_named(models::stances(), target) || kind == io::FileKind::stance,
       [&] { return validate_stances(stance_options(options), first, second, tolerance); }},
      {"motions", is_named(models::motions(), target) || kind == io::FileKind::motion,
       [&] { return validate_motions(motion_options(options), first, second, tolerance); }},
  };
  for (const auto& family : others) {
    if (!family.wanted) continue;
    if (options.method_given) {
      throw InvalidInput(
          fmt::format("--method: lcp or events of impacts; comparing {} takes none", family.name));
    }
    return family.validate();
  }
  const std::vector<run::ImpactTask> tasks = load_tasks(options.sampling);
  const InterruptGuard guard;
  std::vector<Verdict> verdicts;
  for (const std::string& selection : selections(options.sampling)) {
    SamplingOptions sampling = options.sampling;
    sampling.settings.set("selection", selection);
    sampling.keep = "all";
    sampling.settings.set("epsilon", "0");
    for (Verdict& verdict : compare(tasks, sampling, options, tolerance)) {
      verdicts.push_back(std::move(verdict));
    }
  }
  if (options.sampling.json) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (const Verdict& verdict : verdicts) result.push_back(to_json(verdict));
    print_document(result);
  } else if (!options.sampling.quiet) {
    print_text(verdicts, tolerance);
  }
  if (interrupted()) return kInterrupted;
  for (const Verdict& verdict : verdicts) {
    if (verdict.comparison.disagreements > 0) return kUnsuccessful;
  }
  return kSuccess;
}

}  // namespace

void add_validate(Program& program) {
  CLI::App* command =
      program.app.add_subcommand("validate", "Compare two backends on the same problems");
  command->footer(
      "Impacts: compares statuses, modes and velocities, with selection any and lemke unless\n"
      "--selection names one. A sample on which they differ is a disagreement unless both answers\n"
      "are certified and the problem has steps with several solutions; of --method events every\n"
      "differing sample is one. Postures: compares statuses, strips and proven bounds of regions;\n"
      "solved and inaccurate, a region that --max-vertices left open, agree where their bounds "
      "do.\n"
      "Scenarios and steps: compares statuses and states. Stances: compares verdicts, modes and\n"
      "margins. Motions: sixteen of a problem are replayed from event to event by small time "
      "steps.\n"
      "Exit status 1 where there is a disagreement.\n\n"
      "Example: carom validate rocking_block --samples 4096 --against reference");
  const auto options = std::make_shared<ValidateOptions>();
  options->sampling.settings.set("samples", "2^12");
  options->sampling.settings.set("selection", "");
  options->sampling.backend = "cpu";
  add_sampling_options(*command, options->sampling);
  command->add_option("--against", options->against, "The other backend")
      ->type_name("BACKEND")
      ->capture_default_str();
  command
      ->add_option("--tolerance", options->tolerance,
                   "Largest difference of v+, relative to the largest velocity before")
      ->type_name("X")
      ->capture_default_str();
  command->callback([&program, command, options] {
    options->method_given = command->get_option("--method")->count() > 0;
    program.chosen = [options] { return run_validate(*options); };
  });
}

}  // namespace carom::cli
