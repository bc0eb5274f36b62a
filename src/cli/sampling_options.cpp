#include "cli/sampling_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <carom/models/models.hpp>

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

// Settings of what is kept and written, which not every sampling command has.
bool of_results(std::string_view setting) {
  static constexpr std::string_view kResults[] = {"epsilon", "net_capacity", "keep_samples",
                                                  "keep_paths"};
  return std::find(std::begin(kResults), std::end(kResults), setting) != std::end(kResults);
}

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

std::span<const OptionForm> sampling_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "step_size",
       .option = "--step",
       .type = "H",
       .note = "; default: the model's, {} for a file",
       .open = true},
      {.setting = "max_steps", .note = "; default: the model's, {} for a file", .open = true},
      {.setting = "sampler", .text = "{}"},
      {.setting = "friction_directions", .type = "K", .text = "Per spatial contact, {}"},
      {.setting = "precision", .text = "{}"},
      {.setting = "threads", .most = kMostThreads},
      {.setting = "seed", .type = "S"},
      {.setting = "epsilon",
       .type = "E",
       .note = "; default: 0.02 of the largest contact speed before the impact",
       .open = true},
      {.setting = "keep_samples", .option = kNoOption},  // --keep
      {.setting = "keep_paths",
       .option = "--paths",
       .text = "Whole trajectories kept for --output and --plot; default: 512",
       .open = true},
      {.setting = "mode_table", .option = kNoOption},
      {.setting = "bad_problem", .option = kNoOption},
      {.setting = "result_space", .option = kNoOption},
  };
  return kForms;
}

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
  add_target_options(command, options, {"model", "problem", "MODEL|FILE"});
  options.settings.add(command, ImpactSettings{}, [&](std::string_view setting) {
    if (setting == "precision") {
      command.add_option("--backend", options.backend, listed<Backend>(" or "))
          ->capture_default_str();
    }
    return !of_results(setting);
  });
  command.add_flag("--json", options.json, "One JSON document instead of text");
  command.add_flag("--quiet", options.quiet, "No text, no progress bar");
}

void add_result_options(CLI::App& command, SamplingOptions& options) {
  options.settings.add(command, ImpactSettings{}, [&](std::string_view setting) {
    if (setting == "keep_samples") {
      command
          .add_option("--keep", options.keep,
                      "Rows of samples that --output writes: a number, all or none; default: 16384")
          ->type_name("N");
    }
    return of_results(setting);
  });
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
  settings.step_size = task.step_size;
  settings.max_steps = task.max_steps;
  options.settings.read(settings);
  if (settings.first_sample > INT64_MAX - settings.samples) {
    parse_count("--first-sample", options.settings["first_sample"], 0,
                INT64_MAX - settings.samples);
  }
  settings.validate();
  return settings;
}

void with_results(ImpactSettings& settings, const SamplingOptions& options,
                  const std::vector<const ImpactTask*>& batch, std::size_t problems) {
  if (options.settings["epsilon"].empty()) {
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
  if (options.settings["keep_paths"].empty()) {
    settings.keep_paths = wanted ? std::min(kAllKeptPaths / count, kKeptPaths) : 0;
  }
  settings.validate();
}

}  // namespace carom::cli
