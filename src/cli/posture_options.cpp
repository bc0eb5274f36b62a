#include "cli/posture_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <carom/error.hpp>
#include <carom/models/postures.hpp>

#include "cli/numbers.hpp"
#include "cli/progress.hpp"
#include "cli/wrong_command.hpp"
#include "io/posture_input.hpp"

namespace carom::cli {

namespace {

std::vector<double> numbers_of(const char* option, const std::string& text) {
  std::vector<double> values;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    values.push_back(parse_real(option, text.substr(start, comma - start)));
    start = comma + 1;
  }
  return values;
}

std::pair<double, double> interval_of(const char* option, const std::string& text) {
  if (text.empty()) return {0.0, 0.0};
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw InvalidInput(fmt::format("{} is {}: must be LOW:HIGH, e.g. -0.3:0.3", option, text));
  }
  return {parse_real(option, text.substr(0, colon)), parse_real(option, text.substr(colon + 1))};
}

// Contacts are called as in the papers.
std::vector<std::string> numbered(int contacts) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(contacts));
  for (int i = 0; i < contacts; ++i) names.push_back(fmt::format("x{}", i + 1));
  return names;
}

// --p and --q replace the set of wrenches.
void set_neighbourhood(Posture& posture, const EquilibriumOptions& options) {
  if (options.p.empty() && options.q.empty()) return;
  if (posture.dimension != 2) {
    throw InvalidInput("--p and --q: for planar postures; give `neighbourhood` in a file");
  }
  const auto [p1, p2] = interval_of("--p", options.p);
  const auto [q1, q2] = interval_of("--q", options.q);
  const double vertical = posture.wrench.empty() ? -1.0 : posture.wrench[1];
  posture.wrench_vertices = wrench_rectangle(p1, p2, q1, q2, vertical);
}

std::vector<run::PostureTask> file_tasks(const std::string& file) {
  std::vector<run::PostureTask> tasks;
  std::vector<io::PostureEntry> entries =
      read_as(file, io::FileKind::posture, [&file] { return io::read_postures(file); });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    run::PostureTask task;
    task.posture = std::move(entries[i].posture);
    task.name = task.posture.name.empty() ? fmt::format("posture {}", i) : task.posture.name;
    task.contact_names = numbered(task.posture.contacts);
    task.directions = entries[i].directions.value_or(0);
    task.cone_sides = entries[i].cone_sides.value_or(0);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

// Settings are read where a posture has a use for them.
run::PostureRequest request_of(const std::vector<run::PostureTask>& tasks,
                               const EquilibriumOptions& options, Backend backend) {
  const auto any = [&](int dimension) {
    return std::any_of(tasks.begin(), tasks.end(), [dimension](const run::PostureTask& task) {
      return task.posture.dimension == dimension;
    });
  };
  run::PostureRequest request;
  request.backend = backend;
  if (!options.centre_of_mass.empty()) {
    request.centre_of_mass = numbers_of("--centre-of-mass", options.centre_of_mass);
    for (const run::PostureTask& task : tasks) {
      const int dimension = task.posture.dimension;
      if (request.centre_of_mass.size() == static_cast<std::size_t>(dimension)) continue;
      throw InvalidInput(fmt::format("--centre-of-mass has {} numbers: must have {}, as {} is {}",
                                     request.centre_of_mass.size(), dimension, task.name,
                                     dimension == 2 ? "planar" : "spatial"));
    }
  }
  if (any(2)) {
    options.settings.read(request.planar);
    request.planar.validate();
  }
  if (any(3)) {
    options.settings.read(request.spatial);
    request.directions_given = !options.settings["directions"].empty();
    if (!options.height.empty()) request.height = parse_real("--height", options.height);
  }
  return request;
}

}  // namespace

std::span<const OptionForm> posture_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "method", .text = "Planar: {}"},
      {.setting = "cone_sides",
       .type = "S",
       .text = "Sides of the polygons for the cones, from 3 to 64; default: 8",
       .note = "; without --cones: pair",
       .open = true},
      {.setting = "directions", .type = "D", .note = "; default: {}", .open = true},
      {.setting = "max_vertices", .type = "N"},
      {.setting = "max_pivots", .option = kNoOption},
      {.setting = "threads", .most = kMostThreads},
  };
  return kForms;
}

namespace {

using Values = std::map<std::string, double>;

// Parameters that a posture of a file has: friction, of all contacts, and friction_1, friction_2,
// ...
void require_file_parameter(const std::string& name, const Posture& posture) {
  if (name == "friction") return;
  for (int i = 1; i <= posture.contacts; ++i) {
    if (name == fmt::format("friction_{}", i)) return;
  }
  throw InvalidInput(fmt::format(
      "unknown parameter \"{}\" of a file's posture; known are friction (of all contacts) and "
      "friction_1 to friction_{}",
      name, posture.contacts));
}

void change(Posture& posture, const Values& values) {
  if (const auto all = values.find("friction"); all != values.end()) {
    posture.friction.assign(posture.friction.size(), all->second);
  }
  for (std::size_t i = 0; i < posture.friction.size(); ++i) {
    const auto one = values.find(fmt::format("friction_{}", i + 1));
    if (one != values.end()) posture.friction[i] = one->second;
  }
}

// The posture that --problem names; none of a built-in one.
run::PostureTask file_task(const EquilibriumOptions& options) {
  if (is_named(models::postures(), options.target)) return {};
  std::vector<run::PostureTask> tasks = file_tasks(options.target);
  if (tasks.size() > 1 && options.problem.empty()) {
    throw InvalidInput(fmt::format(
        "{} has {} postures: --set, --sweep, --random and --critical are for one: choose it with "
        "--problem",
        options.target, tasks.size()));
  }
  return std::move(tasks[options.problem.empty() ? 0 : chosen_problem(options, tasks.size())]);
}

// The only posture of the options, `file` where it is of a file, with other values than those of
// --set.
run::PostureTask posture_with(const EquilibriumOptions& options, const run::PostureTask& file,
                              Values values, const run::Parameters& parameters) {
  values = values_with(std::move(values), parameters);
  run::PostureTask task;
  if (is_named(models::postures(), options.target)) {
    const models::PostureModel& model = models::find_posture(options.target);
    task = {model.name, model.contact_names, models::build_posture(model.name, values), 0, 0};
  } else {
    task = file;
    for (const auto& [name, value] : values) require_file_parameter(name, task.posture);
    change(task.posture, values);
    validate(task.posture);
  }
  task.name = name_with(task.name, parameters);
  task.parameters = parameters;
  set_neighbourhood(task.posture, options);
  return task;
}

}  // namespace

std::vector<run::PostureTask> load_postures(const EquilibriumOptions& options) {
  const bool named = is_named(models::postures(), options.target);
  if (!named && !file_exists(options.target)) {
    refuse_target(options.target, models::postures(), "posture");
  }
  const VariationOptions& variations = options.variations;
  const bool varied = !variations.sweep.empty() || !variations.random.empty();
  if (!named && !varied && options.critical.empty() && options.set.empty()) {
    std::vector<run::PostureTask> tasks = file_tasks(options.target);
    if (!options.problem.empty()) {
      tasks = {std::move(tasks[chosen_problem(options, tasks.size())])};
    }
    for (run::PostureTask& task : tasks) set_neighbourhood(task.posture, options);
    return tasks;
  }
  if (named && !options.problem.empty()) chosen_problem(options, 1);
  const Values set = overrides_of(options);
  const run::PostureTask file = file_task(options);
  run::PostureTask first = posture_with(options, file, set, {});
  const auto points = varied_points(variations, set, [&](const std::string& name) {
    if (named) {
      require_parameter(models::find_posture(options.target), name,
                        [&](const auto& wrong) { models::build_posture(options.target, wrong); });
    } else {
      require_file_parameter(name, first.posture);
    }
  });
  if (!varied) return {std::move(first)};
  std::vector<run::PostureTask> tasks;
  tasks.reserve(points.size());
  for (const run::Parameters& point : points) {
    tasks.push_back(posture_with(options, file, set, point));
  }
  return tasks;
}

void find_critical(std::vector<run::EquilibriumRun>& runs, const EquilibriumOptions& options,
                   Backend backend) {
  if (options.critical.empty()) return;
  if (options.centre_of_mass.empty()) {
    throw InvalidInput("--critical: needs --centre-of-mass");
  }
  if (runs.size() != 1) {
    throw InvalidInput("--critical: is for one posture, leave --sweep and --random out");
  }
  const std::size_t equals = options.critical.find('=');
  const std::string name = options.critical.substr(0, equals);
  double low = 0.0;
  double high = 10.0;
  if (equals != std::string::npos) {
    const std::vector<std::string> parts = split(options.critical.substr(equals + 1), ':');
    if (parts.size() != 2) {
      throw InvalidInput(fmt::format("--critical {}: must be NAME or NAME=LO:HI, e.g. friction=0:1",
                                     options.critical));
    }
    low = parse_real("--critical: LO", parts[0]);
    high = parse_real("--critical: HI", parts[1]);
  } else if (is_named(models::postures(), options.target)) {
    for (const auto& parameter : models::find_posture(options.target).parameters) {
      if (parameter.name != name) continue;
      low = parameter.minimum + (parameter.minimum_open ? 1e-9 : 0.0);
      high = std::min(parameter.maximum, std::max(10.0, 10.0 * std::fabs(parameter.value)));
    }
  }
  if (!(low < high)) {
    throw InvalidInput(fmt::format("--critical {}: LO must be below HI", options.critical));
  }
  const Values set = overrides_of(options);
  if (set.count(name) != 0) {
    throw InvalidInput(fmt::format("--critical {}: also given by --set: leave one out", name));
  }
  const run::PostureTask file = file_task(options);
  const auto with = [&](double value) { return posture_with(options, file, set, {{name, value}}); };
  runs.front().critical =
      run::critical_value(name, low, high, with, request_of({with(low)}, options, backend));
}

std::vector<run::EquilibriumRun> run_postures(const std::vector<run::PostureTask>& tasks,
                                              const EquilibriumOptions& options, Backend backend) {
  ProgressBar bar(options);
  return run::run_postures(tasks, request_of(tasks, options, backend), follow(bar));
}

}  // namespace carom::cli
