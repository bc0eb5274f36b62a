#include "cli/sampling_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>

#include <carom/models/models.hpp>

#include "cli/backend_options.hpp"
#include "cli/numbers.hpp"
#include "cli/progress.hpp"
#include "io/impact_input.hpp"

namespace carom::cli {

namespace {

constexpr int kJudgedDirections = 16;

// Settings of what is kept and written, which not every sampling command has.
bool of_results(std::string_view setting) {
  static constexpr std::string_view kResults[] = {"epsilon", "net_capacity", "keep_samples",
                                                  "keep_paths"};
  return std::find(std::begin(kResults), std::end(kResults), setting) != std::end(kResults);
}

// Contacts without names of their own: A, B, ... as in the papers, then C26, C27, ...
std::vector<std::string> letters(int contacts) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(contacts));
  for (int i = 0; i < contacts; ++i) {
    names.push_back(i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("C{}", i));
  }
  return names;
}

std::vector<run::ImpactTask> file_tasks(const std::string& file) {
  std::vector<run::ImpactTask> tasks;
  std::vector<io::NamedImpact> problems =
      read_as(file, io::FileKind::impact, [&file] { return io::read_impact_problems(file); });
  for (std::size_t i = 0; i < problems.size(); ++i) {
    run::ImpactTask task;
    task.model = problems[i].name.empty() ? fmt::format("problem {}", i) : problems[i].name;
    task.contact_names = std::move(problems[i].contact_names);
    if (task.contact_names.empty()) task.contact_names = letters(problems[i].contacts);
    task.law = problems[i].law;
    task.measured = std::move(problems[i].measured);
    task.problem = std::move(problems[i]);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace

run::ImpactRequest request_of(const SamplingOptions& options) {
  run::ImpactRequest request;
  request.backend = backend_named("--backend", options.backend);
  ImpactSettings& settings = request.settings;
  options.settings.read(settings);
  warn_of_precision(options.precision);
  if (settings.first_sample > INT64_MAX - settings.samples) {
    parse_count("--first-sample", options.settings["first_sample"], 0,
                INT64_MAX - settings.samples);
  }
  const auto given = [&](const char* setting) { return !options.settings[setting].empty(); };
  request.law_given = given("law");
  request.method_given = given("method");
  if (given("keep_paths")) request.keep_paths = settings.keep_paths;
  if (options.keep == "all") {
    request.keep_samples = -1;
  } else if (options.keep == "none") {
    request.keep_samples = 0;
  } else if (!options.keep.empty()) {
    request.keep_samples = parse_count("--keep", options.keep, 0);
  }
  request.results_wanted =
      !options.output.empty() || !options.plot.empty() || !options.enclosure.never.empty();
  request.compared = options.enclosure.asked();
  request.source = options.target;
  // Of polygons of fewer directions sets are too small for measurements.
  if (options.judging.asked() && !given("friction_directions")) {
    settings.friction_directions = kJudgedDirections;
  }
  return request;
}

std::span<const OptionForm> sampling_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "method",
       .note = "; default: lcp, or events with restitution or intervals of friction",
       .open = true},
      {.setting = "law", .option = "--restitution-law", .open = true},
      {.setting = "step_size",
       .option = "--step",
       .type = "H",
       .text = "Step size h [N s]; default: the largest impulse that stops one contact",
       .open = true},
      {.setting = "max_steps",
       .text = "Largest number of steps per trajectory; default: 40, with restitution 256",
       .open = true},
      {.setting = "sampler", .text = "{}"},
      {.setting = "friction_directions",
       .type = "K",
       .text = "Per spatial contact, {}",
       .note = "; default: 4, for measured outcomes 16",
       .open = true},
      {.setting = "threads", .most = kMostThreads},
      {.setting = "seed", .type = "S"},
      {.setting = "epsilon",
       .type = "E",
       .text = "Radius of the epsilon-net [m/s], 0: none",
       .note = "; default: 0.05 of the set's extent (if the set is a point, 0.02 of the largest "
               "contact "
               "speed before the impact)",
       .open = true},
      {.setting = "keep_samples", .option = kNoOption},  // --keep
      {.setting = "keep_paths",
       .option = "--paths",
       .text = "Whole trajectories stored for --output and --plot; default: 512",
       .open = true},
      {.setting = "mode_table",
       .text =
           "Solve each step separately, without a table of contact modes; faster for fewer than "
           "30 samples per problem"},
      {.setting = "bad_problem", .option = kNoOption},
      {.setting = "result_space", .option = kNoOption},
  };
  return kForms;
}

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
  add_target_options(command, options, {"model", "problem", "MODEL|FILE"});
  add_variation_options(command, options.variations, false);
  add_interval_options(command, options.intervals);
  options.settings.add(command, ImpactSettings{}, [&](std::string_view setting) {
    if (setting == "threads") {
      add_backend_options(command, options.backend);
      add_precision(command, options.precision);
    }
    return !of_results(setting);
  });
  add_text_options(command, options);
}

void add_result_options(CLI::App& command, SamplingOptions& options) {
  options.settings.add(command, ImpactSettings{}, [&](std::string_view setting) {
    if (setting == "keep_samples") {
      command
          .add_option("--keep", options.keep,
                      "Samples that --output writes: a number, all or none; default: 16384")
          ->type_name("N");
    }
    return of_results(setting);
  });
  command.add_flag("--no-check", options.no_check,
                   "Do not search for steps with several solutions");
  command.add_option("--output", options.output, "Write everything to this HDF5 file")
      ->type_name("FILE.h5");
  command.add_option("--plot", options.plot, "Draw the outcomes (needs gnuplot)")
      ->type_name("FILE.svg|.png");
}

namespace {

// The only problem of a file, whose friction may vary.
std::vector<run::ImpactTask> varied_file(const SamplingOptions& options) {
  std::vector<run::ImpactTask> tasks = file_tasks(options.target);
  if (!options.problem.empty()) {
    tasks = {std::move(tasks[chosen_problem(options, tasks.size())])};
  }
  const auto set = overrides_of(options);
  const auto require_known = [&options](const std::string& name) {
    if (name == "friction") return;
    throw InvalidInput(fmt::format(
        "unknown parameter \"{}\" of {}: of a file's problem friction varies, of all contacts",
        name, options.target));
  };
  for (const auto& [name, value] : set) require_known(name);
  const auto points = varied_points(options.variations, set, require_known);
  if (points.size() > 1 && tasks.size() > 1) {
    throw InvalidInput(fmt::format(
        "{} has {} problems: --sweep and --random are for one: choose it with --problem",
        options.target, tasks.size()));
  }
  std::vector<run::ImpactTask> all;
  for (const run::ImpactTask& task : tasks) {
    for (const run::Parameters& point : points) {
      run::ImpactTask changed = task;
      const auto fixed = set.find("friction");
      const double value = point.empty() ? fixed->second : point.front().second;
      changed.problem.friction.assign(task.problem.friction.size(), value);
      validate(changed.problem);
      changed.parameters = point;
      changed.model = name_with(task.model, point);
      all.push_back(std::move(changed));
    }
  }
  return all;
}

}  // namespace

namespace {

std::vector<run::ImpactTask> tasks_as_they_are(const SamplingOptions& options) {
  SamplingOptions all = options;
  all.variations.seed = options.settings["seed"];
  all.variations.first = options.settings["first_problem"];
  const bool varied = !options.variations.sweep.empty() || !options.variations.random.empty();
  if (!is_named(models::all(), options.target)) {
    if (file_exists(options.target) && (varied || !options.set.empty())) return varied_file(all);
    return tasks_of_file(options, models::all(), "model",
                         [&options] { return file_tasks(options.target); });
  }
  if (!options.problem.empty()) chosen_problem(options, 1);
  const models::Model& model = models::find(options.target);
  const auto set = overrides_of(options);
  const auto points = varied_points(all.variations, set, [&model](const std::string& name) {
    require_parameter(model, name, [&](const auto& wrong) { models::build(model.name, wrong); });
  });
  std::vector<run::ImpactTask> tasks;
  tasks.reserve(points.size());
  for (const run::Parameters& point : points) {
    ImpactProblem problem = models::build(model.name, values_with(set, point));
    const bool named = static_cast<std::size_t>(problem.contacts) == model.contact_names.size();
    tasks.push_back({name_with(model.name, point),
                     named ? model.contact_names : letters(problem.contacts), std::move(problem),
                     point});
  }
  return tasks;
}

}  // namespace

std::vector<run::ImpactTask> load_tasks(const SamplingOptions& options) {
  std::vector<run::ImpactTask> tasks = tasks_as_they_are(options);
  for (run::ImpactTask& task : tasks) {
    set_intervals(options.intervals, task.contact_names, task.problem);
    if (options.judging.relative) task.measured.measured_covariance.clear();
  }
  return tasks;
}

std::vector<run::ImpactRun> run_impacts(const std::vector<run::ImpactTask>& tasks,
                                        const SamplingOptions& options) {
  ProgressBar bar(options);
  return run::run_impacts(tasks, request_of(options), follow(bar));
}

}  // namespace carom::cli
