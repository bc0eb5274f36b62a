#include "cli/sampling_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <carom/models/models.hpp>

#include "cli/choices.hpp"
#include "cli/numbers.hpp"
#include "io/impact_input.hpp"
#include "io/impact_run.hpp"

namespace carom::cli {

namespace {

// Defaults of a run whose results are written or drawn; less for many problems.
constexpr std::int64_t kKeptRows = 16384;
constexpr std::int64_t kKeptPaths = 512;
constexpr std::int64_t kAllKeptRows = std::int64_t{1} << 23;
constexpr std::int64_t kAllKeptPaths = std::int64_t{1} << 16;
constexpr double kDefaultEpsilon = 0.02;  // of the largest contact speed before the impact

// Contacts of a file have no names: A, B, ... as in the papers, then C26, C27, ...
std::vector<std::string> letters(int contacts) {
  std::vector<std::string> names;
  for (int i = 0; i < contacts; ++i) {
    names.push_back(i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("C{}", i));
  }
  return names;
}

std::vector<ImpactTask> file_tasks(const std::string& file) {
  const ImpactSettings defaults;
  std::vector<ImpactTask> tasks;
  std::vector<ImpactProblem> problems = io::read_impact_problems(file);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    ImpactTask task;
    task.model = problems[i].name.empty() ? fmt::format("problem {}", i) : problems[i].name;
    task.contact_names = letters(problems[i].contacts);
    task.problem = std::move(problems[i]);
    task.step_size = defaults.step_size;
    task.max_steps = defaults.max_steps;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
  add_target_options(command, options, {"model", "problem", "MODEL|FILE"});
  command.add_option("--samples", options.samples, "Trajectories per problem, e.g. 16384 or 2^14")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--first-sample", options.first_sample, "Index of the first (shards of a run)")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--step", options.step, "Step size h [N s]; default: the model's, 1 for a file")
      ->type_name("H");
  command
      .add_option("--max-steps", options.max_steps,
                  "Steps per trajectory at most; default: the model's, 10 for a file")
      ->type_name("N");
  command.add_option("--sampler", options.sampler, "uniform or sobol")->capture_default_str();
  command
      .add_option("--selection", options.selection,
                  "Solution of a non-unique step: any, lemke or random")
      ->capture_default_str();
  command
      .add_option("--friction-directions", options.friction_directions,
                  "Per spatial contact, from 4 to 16")
      ->type_name("K")
      ->capture_default_str();
  command
      .add_option("--velocity-tolerance", options.velocity_tolerance,
                  "Slower approach counts as none [m/s]")
      ->capture_default_str();
  command
      .add_option("--residual-tolerance", options.residual_tolerance,
                  "Largest relative residual of a certified step")
      ->capture_default_str();
  command
      .add_option("--mode-tolerance", options.mode_tolerance,
                  "Slower contacts count as sticking [m/s]")
      ->capture_default_str();
  command.add_option("--backend", options.backend, "auto, cpu, cuda or reference")
      ->capture_default_str();
  command.add_option("--precision", options.precision, "double or float")->capture_default_str();
  command.add_option("--threads", options.threads, "CPU threads, 0: all")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the random numbers")
      ->type_name("S")
      ->capture_default_str();
  command.add_flag("--json", options.json, "One JSON document instead of text");
  command.add_flag("--quiet", options.quiet, "No text, no progress bar");
}

void add_result_options(CLI::App& command, SamplingOptions& options) {
  command
      .add_option("--epsilon", options.epsilon,
                  "Radius of the epsilon-net [m/s], 0: none; default: 0.02 of the largest contact "
                  "speed before the impact")
      ->type_name("E");
  command
      .add_option("--net-capacity", options.net_capacity,
                  "Points of the net at most; a fuller one is coarsened")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--keep", options.keep,
                  "Rows of samples that --output writes: a number, all or none; default: 16384")
      ->type_name("N");
  command
      .add_option("--paths", options.paths,
                  "Whole trajectories kept for --output and --plot; default: 512")
      ->type_name("N");
  command.add_flag("--no-check", options.no_check, "Do not look for steps with several solutions");
  command.add_option("--output", options.output, "Write everything to this HDF5 file")
      ->type_name("FILE.h5");
  command.add_option("--plot", options.plot, "Draw the outcomes (needs gnuplot)")
      ->type_name("FILE.svg|.png");
}

std::vector<ImpactTask> load_tasks(const SamplingOptions& options) {
  return tasks_of(
      options, models::all(), "model",
      [&options](const std::map<std::string, double>& overrides) -> ImpactTask {
        const models::Model& model = models::find(options.target);
        return {model.name, model.contact_names, models::build(model.name, overrides),
                model.step_size, model.max_steps};
      },
      [&options] { return file_tasks(options.target); });
}

ImpactSettings settings_for(const SamplingOptions& options, const ImpactTask& task) {
  ImpactSettings settings;
  settings.samples = parse_count("--samples", options.samples, 1);
  settings.first_sample =
      parse_count("--first-sample", options.first_sample, 0, INT64_MAX - settings.samples);
  settings.seed = parse_seed("--seed", options.seed);
  settings.step_size = options.step.empty() ? task.step_size : parse_real("--step", options.step);
  settings.max_steps =
      options.max_steps.empty()
          ? task.max_steps
          : static_cast<int>(parse_count("--max-steps", options.max_steps, 1, INT32_MAX));
  settings.friction_directions = static_cast<int>(
      parse_count("--friction-directions", options.friction_directions, 4, kMaxFrictionDirections));
  settings.sampler = choice<Sampler>("--sampler", options.sampler);
  settings.selection = choice<Selection>("--selection", options.selection);
  settings.precision = choice<Precision>("--precision", options.precision);
  settings.velocity_tolerance = parse_real("--velocity-tolerance", options.velocity_tolerance);
  settings.residual_tolerance = parse_tolerance("--residual-tolerance", options.residual_tolerance);
  settings.mode_tolerance = parse_real("--mode-tolerance", options.mode_tolerance);
  settings.threads = static_cast<int>(parse_count("--threads", options.threads, 0, 4096));
  settings.validate();
  return settings;
}

void with_results(ImpactSettings& settings, const SamplingOptions& options,
                  const std::vector<const ImpactTask*>& batch, std::size_t problems) {
  settings.net_capacity = parse_count("--net-capacity", options.net_capacity, 1);
  if (!options.epsilon.empty()) {
    settings.epsilon = parse_real("--epsilon", options.epsilon);
  } else {
    double speed = 0.0;
    for (const ImpactTask* task : batch) {
      for (const double value :
           io::contact_velocity(task->problem, task->problem.velocity.data())) {
        speed = std::max(speed, std::fabs(value));
      }
      if (!std::isfinite(speed)) {  // numbers near the end of the range of double
        throw InvalidInput(
            fmt::format("{}: {}: the contact speed before the impact is {}: must be finite",
                        options.target, task->model, speed));
      }
    }
    settings.epsilon = kDefaultEpsilon * (speed > 0.0 ? speed : 1.0);
  }

  const bool wanted = !options.output.empty() || !options.plot.empty();
  const auto count = static_cast<std::int64_t>(problems);
  if (options.keep.empty()) {
    settings.keep_samples =
        wanted ? std::clamp<std::int64_t>(kAllKeptRows / count, 1, kKeptRows) : 0;
  } else if (options.keep == "all") {
    settings.keep_samples = -1;
  } else if (options.keep != "none") {
    settings.keep_samples = parse_count("--keep", options.keep, 0);
  }
  if (options.paths.empty()) {
    settings.keep_paths = wanted ? std::min(kAllKeptPaths / count, kKeptPaths) : 0;
  } else {
    settings.keep_paths = parse_count("--paths", options.paths, 0);
  }
  settings.validate();
}

}  // namespace carom::cli
