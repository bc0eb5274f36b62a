#include "cli/posture_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include <carom/error.hpp>
#include <carom/models/postures.hpp>

#include "cli/numbers.hpp"
#include "cli/progress.hpp"
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
    throw InvalidInput(fmt::format("{} is {}: must be LOW:HIGH", option, text));
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
  std::vector<io::PostureEntry> entries = io::read_postures(file);
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
    request.spatial = spatial_defaults();
    options.settings.read(request.spatial);
    request.cone_sides_given = !options.settings["cone_sides"].empty();
    request.directions_given = !options.settings["directions"].empty();
    if (!options.height.empty()) request.height = parse_real("--height", options.height);
  }
  return request;
}

}  // namespace

std::span<const OptionForm> posture_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "method", .text = "Planar: {}"},
      {.setting = "cone_sides", .type = "S", .note = "; without --cones: pair", .open = true},
      {.setting = "directions", .type = "D", .note = "; default: {}", .open = true},
      {.setting = "max_vertices", .type = "TEXT"},
      {.setting = "max_pivots", .option = kNoOption},
      {.setting = "threads", .most = kMostThreads},
  };
  return kForms;
}

SpatialSettings spatial_defaults() {
  SpatialSettings settings;
  settings.area_tolerance = 1e-4;
  settings.max_vertices = 1024;
  return settings;
}

std::vector<run::PostureTask> load_postures(const EquilibriumOptions& options) {
  std::vector<run::PostureTask> tasks = tasks_of(
      options, models::postures(), "posture",
      [&options](const std::map<std::string, double>& overrides) -> run::PostureTask {
        const models::PostureModel& model = models::find_posture(options.target);
        return {model.name, model.contact_names, models::build_posture(model.name, overrides), 0,
                0};
      },
      [&options] { return file_tasks(options.target); });
  for (run::PostureTask& task : tasks) set_neighbourhood(task.posture, options);
  return tasks;
}

std::vector<run::EquilibriumRun> run_postures(const std::vector<run::PostureTask>& tasks,
                                              const EquilibriumOptions& options, Backend backend) {
  ProgressBar bar(!options.json && !options.quiet);
  return run::run_postures(tasks, request_of(tasks, options, backend), follow(bar));
}

}  // namespace carom::cli
