#include "cli/motion_options.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <carom/error.hpp>

#include "cli/backend_options.hpp"
#include "cli/choices.hpp"
#include "cli/numbers.hpp"
#include "io/motion_input.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kKeptForFile = 100;
constexpr std::int64_t kKeptForPicture = 64;
constexpr std::int64_t kKeptForAnimation = 12;
constexpr std::int64_t kGridOfPicture = 2000;
constexpr std::int64_t kKeptEvents = 1000;

/// The tasks of a built-in model, one a point that --sweep and --random ask for.
std::vector<run::MotionTask> model_tasks(const MotionOptions& options) {
  const std::string& name = options.target.target;
  if (!options.target.problem.empty()) chosen_problem(options.target, 1);
  const models::MotionModel& model = models::find_motion(name);
  const std::map<std::string, double> set = overrides_of(options.target);
  VariationOptions variations = options.variations;
  variations.seed = options.settings["seed"];
  variations.first = options.settings["first_problem"];
  const auto points = varied_points(variations, set, [&](const std::string& parameter) {
    require_parameter(model, parameter,
                      [&](const auto& wrong) { models::build_motion(name, wrong); });
  });
  std::vector<run::MotionTask> tasks;
  for (const run::Parameters& point : points) {
    const std::map<std::string, double> values = values_with(set, point);
    tasks.push_back({models::build_motion(name, values), model, 0.0, values, point});
    tasks.back().problem.name = name_with(model.name, point);
  }
  return tasks;
}

std::vector<run::MotionTask> tasks_of_target(const MotionOptions& options) {
  const VariationOptions& variations = options.variations;
  if (is_named(models::motions(), options.target.target)) return model_tasks(options);
  if (!variations.sweep.empty() || !variations.random.empty() || !variations.draws.empty()) {
    if (file_exists(options.target.target)) {
      throw InvalidInput(fmt::format(
          "{}: mechanisms of files have no parameters that vary; leave --sweep and --random out",
          options.target.target));
    }
  }
  const std::string& file = options.target.target;
  return tasks_of_file(options.target, models::motions(), "motion", [&] {
    return read_as(file, io::FileKind::motion, [&file] { return io::read_motions(file); });
  });
}

}  // namespace

std::span<const OptionForm> motion_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "duration", .note = "; default: the model's", .open = true},
      {.setting = "step_size",
       .text = "Step size h of impacts [N s]; default: for each impact the largest impulse that "
               "stops one contact",
       .open = true},
      {.setting = "coefficient", .note = "; default: the model's", .open = true},
      {.setting = "mode_table",
       .text =
           "Solve the first impact without a table of contact modes: for few samples of each of "
           "many problems"},
      {.setting = "grid", .option = "--dt-output", .open = true},
      {.setting = "keep_samples", .note = "; default: what --output and --plot need", .open = true},
      {.setting = "keep_events", .open = true},
      {.setting = "threads", .most = kMostThreads},
  };
  return kForms;
}

void add_motion_options(CLI::App& command, MotionOptions& options) {
  add_target_options(
      command, options.target,
      {"motion", "motion", "MODEL|FILE", "a JSON file, or an output of carom motion"});
  const auto text = [&command](const char* name, std::string& value, const char* type,
                               const char* help) {
    return add_text(command, name, value, type, help);
  };
  options.settings.add(command, MotionSettings{}, [&](std::string_view setting) {
    if (setting == "threads") {
      add_backend_options(command, options.backend);
    }
    return true;
  });
  add_variation_options(command, options.variations, false);
  text("--policy", options.policy, "FILE", "Generalised forces over time, JSON {interval, drive}");
  text("--epsilon", options.epsilon, "E", "Radius of an epsilon-net of the last states (q, v)");
  text("--net-capacity", options.net_capacity, "N", "Points of the net at most; default 2^20");
  text("--sample", options.sample, "I", "Only this motion, with the same seed");
  command.add_flag("--events", options.events, "Print the events of the first motion");
  text("--output", options.output, "FILE.h5",
       "Write states and events of the stored motions to this HDF5 file");
  text("--plot", options.plot, "FILE.svg|.png", "Draw the stored motions (needs gnuplot)");
  text("--animate", options.animate, "FILE.svg", "Write an animation in real time");
  add_text_options(command, options);
}

std::int64_t kept_events(const MotionSettings& settings) {
  return std::min(settings.max_events + 8, kKeptEvents);
}

run::MotionPlan motion_plan(const MotionOptions& options) {
  run::MotionPlan plan;
  plan.tasks = tasks_of_target(options);
  MotionSettings& settings = plan.settings;
  const models::MotionModel& model = plan.tasks.front().model;
  settings.duration = model.duration;
  settings.step_size = plan.tasks.front().step_size;
  settings.coefficient = model.coefficient;
  options.settings.read(settings);
  if (!options.sample.empty()) {
    settings.first_sample = parse_count("--sample", options.sample, 0);
    settings.samples = 1;
  }
  if (!options.policy.empty()) {
    for (run::MotionTask& task : plan.tasks) io::read_policy(options.policy, task.problem);
  }
  if (options.settings["keep_samples"].empty()) {
    if (options.events) settings.keep_samples = 1;
    if (!options.animate.empty()) {
      settings.keep_samples = std::min(settings.samples, kKeptForAnimation);
    }
    if (!options.plot.empty()) settings.keep_samples = std::min(settings.samples, kKeptForPicture);
    if (!options.output.empty()) settings.keep_samples = std::min(settings.samples, kKeptForFile);
  }
  if (settings.keep_samples > 0 && options.settings["keep_events"].empty()) {
    settings.keep_events = kept_events(settings);
  }
  const bool shown = !options.plot.empty() || !options.animate.empty() || !options.output.empty();
  if (options.settings["grid"].empty() && shown) {
    settings.grid = settings.duration / static_cast<double>(kGridOfPicture);
  }
  if (!options.epsilon.empty()) {
    plan.epsilon = parse_real("--epsilon", options.epsilon);
    if (!(plan.epsilon > 0.0)) {
      throw InvalidInput(fmt::format("--epsilon is {}: must be > 0", options.epsilon));
    }
  }
  if (!options.net_capacity.empty()) {
    plan.net_capacity = parse_count("--net-capacity", options.net_capacity, 1, 1 << 30);
  }
  settings.validate();
  plan.backend = backend_named("--backend", options.backend);
  return plan;
}

}  // namespace carom::cli
