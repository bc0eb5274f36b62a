#include "run/equilibrium_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <carom/error.hpp>

#include "core/buffer_slice.hpp"

namespace carom::run {

namespace {

constexpr std::int64_t kSpatialChunk = 256;  // postures between two looks at the clock
constexpr std::int64_t kPlanarChunk = 65536;
constexpr std::size_t kSearchedPostures = 16;  // whose exact boundary is searched too

// What the postures of one batch share: shape, patches, directions, cone sides.
using PostureShape = std::tuple<int, int, std::size_t, bool, int, int>;

PostureShape shape_of(const PostureTask& task) {
  const Posture& posture = task.posture;
  return {posture.dimension,       posture.contacts, posture.wrench_vertices.size(),
          !posture.length.empty(), task.directions,  task.cone_sides};
}

SpatialSettings spatial_settings(const PostureRequest& request, const PostureTask& task) {
  SpatialSettings settings = request.spatial;
  if (settings.cone_sides == 0) settings.cone_sides = task.cone_sides;
  if (!request.directions_given && task.directions > 0) settings.directions = task.directions;
  settings.max_vertices = std::max(settings.max_vertices, settings.directions);
  settings.validate();
  return settings.decided();
}

Point2 point_of(const Buffer<double>& buffer, std::size_t problem) {
  return {buffer.host()[2 * problem], buffer.host()[2 * problem + 1]};
}

PlanarRegion planar_region(const PlanarResult& result, std::size_t p, std::size_t contacts,
                           std::size_t vertices) {
  PlanarRegion region;
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
  std::vector<EquilibriumRun*> runs;
};

void run_planar(const Chunk& chunk, const PostureRequest& request, Workspace& workspace) {
  const PlanarSettings& settings = request.planar;
  const std::vector<double>& centre = request.centre_of_mass;
  const Backend backend = request.backend;
  const PlanarResult result = planar_equilibrium(chunk.batch, settings, backend, &workspace);
  const auto k = static_cast<std::size_t>(chunk.batch.contacts);
  const auto vertices = static_cast<std::size_t>(chunk.batch.vertices);
  for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
    chunk.runs[p]->planar_settings = settings;
    chunk.runs[p]->planar = planar_region(result, p, k, vertices);
    chunk.runs[p]->numbers = numbers_of(result, chunk.batch, p);
  }
  if (centre.empty()) return;
  std::vector<double> centres;
  for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
    centres.insert(centres.end(), centre.begin(), centre.end());
  }
  const PlanarMargin margin =
      planar_margins(chunk.batch, Buffer<double>::from(centres), settings, backend, &workspace);
  for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
    MassProbe probe;
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

// Without a height the cross-section is taken at the asked centre of mass or at the contacts.
SpatialRobust robust_of(RobustRegion region, const PostureRequest& request) {
  SpatialRobust robust;
  const std::vector<double>& centre = request.centre_of_mass;
  robust.height = request.height.value_or(!centre.empty() ? centre[2] : region.centre[2]);
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

void run_spatial(const Chunk& chunk, const SpatialSettings& settings, const PostureRequest& request,
                 Workspace& workspace) {
  const std::vector<double>& centre = request.centre_of_mass;
  std::vector<SpatialRegion> regions =
      spatial_equilibrium(chunk.batch, settings, request.backend, &workspace);
  std::vector<RobustRegion> robust;
  if (chunk.batch.vertices > 0) robust = robust_region(chunk.batch, settings);
  std::vector<Membership> members;
  if (!centre.empty()) {
    std::vector<double> centres;
    for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
      centres.insert(centres.end(), centre.begin(), centre.end());
    }
    members = probe_membership(chunk.batch, centres, settings, &workspace);
  }
  for (std::size_t p = 0; p < chunk.runs.size(); ++p) {
    EquilibriumRun& run = *chunk.runs[p];
    run.spatial_settings = settings;
    run.spatial = std::move(regions[p]);
    run.numbers = numbers_of(run.spatial);
    if (chunk.runs.size() <= kSearchedPostures) run.three = three_contacts_of(run.posture);
    if (!robust.empty()) run.robust = robust_of(std::move(robust[p]), request);
    if (members.empty()) continue;
    MassProbe probe;
    probe.centre_of_mass = centre;
    probe.status = members[p].status;
    probe.distance = members[p].margin_lower;
    if (members[p].status == Status::solved) probe.forces = std::move(members[p].forces);
    if (run.robust) probe.robust_contains = robust_contains(run.robust->region, centre);
    run.probe = std::move(probe);
  }
}

}  // namespace

std::vector<EquilibriumRun> run_postures(const std::vector<PostureTask>& tasks,
                                         const PostureRequest& request, const Control& control) {
  std::map<PostureShape, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < tasks.size(); ++i) groups[shape_of(tasks[i])].push_back(i);
  std::vector<EquilibriumRun> runs(tasks.size());
  Workspace workspace;
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
        EquilibriumRun& run = runs[members[p]];
        run.name = task.name;
        run.contact_names = task.contact_names;
        run.posture = task.posture;
        run.parameters = task.parameters;
        run.backend = request.backend;
        run.batch = static_cast<std::int64_t>(end - begin);
        postures.push_back(task.posture);
        chunk.runs.push_back(&run);
      }
      if (control.is_stopped()) {
        for (EquilibriumRun* run : chunk.runs) run->spatial.status = Status::cancelled;
        continue;
      }
      chunk.batch = make_batch(postures);
      const auto start = std::chrono::steady_clock::now();
      if (planar) {
        run_planar(chunk, request, workspace);
      } else {
        run_spatial(chunk, spatial_settings(request, tasks[members[begin]]), request, workspace);
      }
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      for (EquilibriumRun* run : chunk.runs) run->seconds = elapsed.count();
      done += static_cast<std::int64_t>(end - begin);
      control.show(done, static_cast<std::int64_t>(tasks.size()));
    }
  }
  return runs;
}

}  // namespace carom::run
