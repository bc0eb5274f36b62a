#include "cli/equilibrium_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <carom/error.hpp>
#include <carom/models/postures.hpp>

#include "cli/choices.hpp"
#include "cli/interrupt.hpp"
#include "cli/numbers.hpp"
#include "cli/progress.hpp"
#include "core/buffer_slice.hpp"
#include "io/posture_input.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kSpatialChunk = 256;  // postures between two looks at the clock
constexpr std::int64_t kPlanarChunk = 65536;
constexpr std::size_t kSearchedPostures = 16;  // whose exact boundary is searched too

// What the postures of one batch share: shape, patches, directions, cone sides.
using Shape = std::tuple<int, int, std::size_t, bool, int, int>;

Shape shape_of(const PostureTask& task) {
  const Posture& posture = task.posture;
  return {posture.dimension,       posture.contacts, posture.wrench_vertices.size(),
          !posture.length.empty(), task.directions,  task.cone_sides};
}

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

std::vector<PostureTask> file_tasks(const std::string& file) {
  std::vector<PostureTask> tasks;
  std::vector<io::PostureEntry> entries = io::read_postures(file);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    PostureTask task;
    task.posture = std::move(entries[i].posture);
    task.name = task.posture.name.empty() ? fmt::format("posture {}", i) : task.posture.name;
    task.contact_names = numbered(task.posture.contacts);
    task.directions = entries[i].directions.value_or(0);
    task.cone_sides = entries[i].cone_sides.value_or(0);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

PlanarSettings planar_settings(const EquilibriumOptions& options) {
  PlanarSettings settings;
  options.settings.read(settings);
  settings.validate();
  return settings;
}

SpatialSettings spatial_settings(const EquilibriumOptions& options, const PostureTask& task) {
  SpatialSettings settings = spatial_defaults();
  if (task.cone_sides > 0) settings.cone_sides = task.cone_sides;
  if (task.directions > 0) settings.directions = task.directions;
  options.settings.read(settings);
  // Whoever names a number of sides means polygons.
  const bool sides_named = !options.settings["cone_sides"].empty() || task.cone_sides > 0;
  if (sides_named && settings.cones == ConeModel::exact) settings.cones = ConeModel::pair;
  settings.max_vertices = std::max(settings.max_vertices, settings.directions);
  settings.validate();
  return settings;
}

io::Point2 point_of(const Buffer<double>& buffer, std::size_t problem) {
  return {buffer.host()[2 * problem], buffer.host()[2 * problem + 1]};
}

io::PlanarRegion planar_region(const PlanarResult& result, std::size_t p, std::size_t contacts,
                               std::size_t vertices) {
  io::PlanarRegion region;
  region.status = result.status.host()[p];
  region.torque_min = result.torque_min.host()[p] + 0.0;  // no -0
  region.torque_max = result.torque_max.host()[p] + 0.0;
  region.normal = point_of(result.normal, p);
  region.lower = result.lower.host()[p] + 0.0;
  region.upper = result.upper.host()[p] + 0.0;
  for (const std::int32_t contact : slice(result.essential, p, 4)) {
    if (contact >= 0) region.essential.push_back(contact);
  }
  region.force = slice(result.force, p, 4 * contacts);
  region.torque = slice(result.torque, p, 2 * contacts);
  region.height = point_of(result.height, p);
  region.separation = point_of(result.separation, p);
  region.residual = result.residual.host()[p];
  if (vertices == 0) return region;
  region.robust_status = result.robust_status.host()[p];
  const std::vector<double> strips = slice(result.robust_strip, p, 4 * vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    const double* strip = strips.data() + 4 * v;
    region.strips.push_back({strip[0], strip[1], strip[2], strip[3]});
  }
  region.robust_residual = result.robust_residual.host()[p];
  const auto corners = static_cast<std::size_t>(result.robust_count.host()[p]);
  const std::vector<double> polygon = slice(result.robust_polygon, p, 4 * vertices);
  for (std::size_t c = 0; c < corners; ++c) {
    region.robust_polygon.push_back({polygon[2 * c], polygon[2 * c + 1]});
  }
  return region;
}

// The batch of a chunk of one group, and its runs to fill.
struct Chunk {
  PostureBatch batch;
  std::vector<io::EquilibriumRun*> runs;
};

void run_planar(const Chunk& chunk, const EquilibriumOptions& options,
                const std::vector<double>& centre, Backend backend) {
  const PlanarSettings settings = planar_settings(options);
  const PlanarResult result = planar_equilibrium(chunk.batch, settings, backend);
  const auto k = static_cast<std::size_t>(chunk.batch.contacts);
  const auto vertices = static_cast<std::size_t>(chunk.batch.vertices);
  for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
    chunk.runs[p]->planar_settings = settings;
    chunk.runs[p]->planar = planar_region(result, p, k, vertices);
  }
  if (centre.empty()) return;
  std::vector<double> centres;
  for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
    centres.insert(centres.end(), centre.begin(), centre.end());
  }
  const PlanarMargin margin =
      planar_margins(chunk.batch, Buffer<double>::from(centres), settings, backend);
  for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
    io::MassProbe probe;
    probe.centre_of_mass = centre;
    probe.status = margin.status.host()[p];
    probe.distance = margin.distance.host()[p];
    if (vertices > 0) {
      probe.robust_distance = margin.robust_distance.host()[p];
      probe.scale = margin.scale.host()[p];
    }
    chunk.runs[p]->probe = std::move(probe);
  }
}

// Without --height the cross-section is taken at the asked centre of mass or at the contacts.
io::SpatialRobust robust_of(RobustRegion region, const EquilibriumOptions& options,
                            const std::vector<double>& centre) {
  io::SpatialRobust robust;
  robust.height = !options.height.empty() ? parse_real("--height", options.height)
                  : !centre.empty()       ? centre[2]
                                          : region.centre[2];
  robust.section = robust_section(region, robust.height);
  robust.region = std::move(region);
  return robust;
}

// Nothing where the paper's construction does not apply: contacts that are not upward pointing, ...
std::optional<ThreeContactRegion> three_contacts_of(const Posture& posture) {
  if (posture.contacts != 3) return std::nullopt;
  try {
    return three_contact_region(posture);
  } catch (const InvalidInput&) {
    return std::nullopt;
  }
}

void run_spatial(const Chunk& chunk, const SpatialSettings& settings,
                 const EquilibriumOptions& options, const std::vector<double>& centre,
                 Backend backend) {
  std::vector<SpatialRegion> regions = spatial_equilibrium(chunk.batch, settings, backend);
  std::vector<RobustRegion> robust;
  if (chunk.batch.vertices > 0) robust = robust_region(chunk.batch, settings);
  std::vector<Membership> members;
  if (!centre.empty()) {
    std::vector<double> centres;
    for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
      centres.insert(centres.end(), centre.begin(), centre.end());
    }
    members = probe_membership(chunk.batch, centres, settings);
  }
  for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
    io::EquilibriumRun& run = *chunk.runs[p];
    run.spatial_settings = settings;
    run.spatial = std::move(regions[p]);
    if (chunk.runs.size() <= kSearchedPostures) run.three = three_contacts_of(run.posture);
    if (!robust.empty()) run.robust = robust_of(std::move(robust[p]), options, centre);
    if (members.empty()) continue;
    io::MassProbe probe;
    probe.centre_of_mass = centre;
    probe.status = members[p].status;
    probe.distance = members[p].margin_lower;
    if (members[p].status == Status::solved) probe.forces = std::move(members[p].forces);
    if (run.robust) probe.robust_contains = robust_contains(run.robust->region, centre);
    run.probe = std::move(probe);
  }
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

std::vector<PostureTask> load_postures(const EquilibriumOptions& options) {
  std::vector<PostureTask> tasks = tasks_of(
      options, models::postures(), "posture",
      [&options](const std::map<std::string, double>& overrides) -> PostureTask {
        const models::PostureModel& model = models::find_posture(options.target);
        return {model.name, model.contact_names, models::build_posture(model.name, overrides), 0,
                0};
      },
      [&options] { return file_tasks(options.target); });
  for (PostureTask& task : tasks) set_neighbourhood(task.posture, options);
  return tasks;
}

std::vector<io::EquilibriumRun> run_postures(const std::vector<PostureTask>& tasks,
                                             const EquilibriumOptions& options, Backend backend) {
  std::vector<double> centre;
  if (!options.centre_of_mass.empty()) {
    centre = numbers_of("--centre-of-mass", options.centre_of_mass);
  }
  std::map<Shape, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const int dimension = tasks[i].posture.dimension;
    if (!centre.empty() && centre.size() != static_cast<std::size_t>(dimension)) {
      throw InvalidInput(fmt::format("--centre-of-mass has {} numbers: must have {}, as {} is {}",
                                     centre.size(), dimension, tasks[i].name,
                                     dimension == 2 ? "planar" : "spatial"));
    }
    groups[shape_of(tasks[i])].push_back(i);
  }
  std::vector<io::EquilibriumRun> runs(tasks.size());
  ProgressBar bar(!options.json && !options.quiet);
  std::int64_t done = 0;
  for (const auto& [shape, members] : groups) {
    const bool planar = std::get<0>(shape) == 2;
    const auto chunk_size = static_cast<std::size_t>(planar ? kPlanarChunk : kSpatialChunk);
    for (std::size_t begin = 0; begin < members.size(); begin += chunk_size) {
      const std::size_t end = std::min(members.size(), begin + chunk_size);
      Chunk chunk;
      std::vector<Posture> postures;
      for (std::size_t p = begin; p < end; ++p) {
        const PostureTask& task = tasks[members[p]];
        io::EquilibriumRun& run = runs[members[p]];
        run.name = task.name;
        run.contact_names = task.contact_names;
        run.posture = task.posture;
        run.backend = backend;
        run.batch = static_cast<std::int64_t>(end - begin);
        postures.push_back(task.posture);
        chunk.runs.push_back(&run);
      }
      if (interrupted()) {
        for (io::EquilibriumRun* run : chunk.runs) run->spatial.status = Status::cancelled;
        continue;
      }
      chunk.batch = make_batch(postures);
      const auto start = std::chrono::steady_clock::now();
      if (planar) {
        run_planar(chunk, options, centre, backend);
      } else {
        run_spatial(chunk, spatial_settings(options, tasks[members[begin]]), options, centre,
                    backend);
      }
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      for (io::EquilibriumRun* run : chunk.runs) run->seconds = elapsed.count();
      done += static_cast<std::int64_t>(end - begin);
      bar.show(done, static_cast<std::int64_t>(tasks.size()));
    }
  }
  return runs;
}

}  // namespace carom::cli
