#include <carom/equilibrium_spatial.hpp>

#include <cmath>
#include <string>

#include "core/backends.hpp"
#include "core/message.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/workspace.hpp"
#include "equilibrium/spatial_backends.hpp"

namespace carom {

void SpatialSettings::validate() const {
  require::settings(*this);
  static_assert(kMaxConeSides == kernels::kMaxConeSides);
  if (cone_sides != 0) require::between("cone_sides", cone_sides, 3, kMaxConeSides);
  require::between("max_vertices", max_vertices, directions, kMaxRegionVertices);
}

std::vector<double> equal_directions(int n) {
  require::between("directions", n, 1, kMaxSupportDirections);
  return spread_directions(n);
}

SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& given, Backend backend, Workspace* workspace) {
  given.validate();
  const SpatialSettings settings = given.decided();
  const Backend chosen = resolve(backend);
  check_spatial(batch, chosen);
  if (directions.size() % 2 != 0) {
    throw InvalidInput(Refusal{.field = "directions",
                               .relation = "has",
                               .value = std::to_string(directions.size()) + " values",
                               .rule = "must have two a direction"});
  }
  require::between("number of directions", static_cast<int>(directions.size() / 2), 1,
                   kMaxSupportDirections);
  std::vector<double> unit(directions.begin(), directions.end());
  for (std::size_t j = 0; j < unit.size(); j += 2) {
    const double size = std::hypot(unit[j], unit[j + 1]);
    if (!(std::abs(size - 1.0) <= 1e-6)) {
      require::refuse({.relation = "has"}, "directions", {static_cast<std::int64_t>(j / 2)},
                      "length " + message::number(size), "must be a unit vector");
    }
    if (std::abs(size - 1.0) <= 1e-15) continue;  // as good as it gets: left as it is
    unit[j] /= size;
    unit[j + 1] /= size;
  }
  const WorkspaceLease lease(workspace);
  return entries<SpatialEntries>(chosen).support(batch, unit, settings, lease.state());
}

std::vector<SpatialRegion> spatial_equilibrium(const PostureBatch& batch,
                                               const SpatialSettings& given, Backend backend,
                                               Workspace* workspace) {
  given.validate();
  const SpatialSettings settings = given.decided();
  const Backend chosen = resolve(backend);
  check_spatial(batch, chosen);
  const WorkspaceLease lease(workspace);
  const SpatialEntries& backend_entries = entries<SpatialEntries>(chosen);
  if (backend_entries.equilibrium != nullptr) {
    return backend_entries.equilibrium(batch, settings, lease.state());
  }
  const std::vector<double> directions = spread_directions(settings.directions);
  const SupportResult first = backend_entries.support(batch, directions, settings, lease.state());
  const SupportResult copy = copy_to(first, MemorySpace::host);
  return cpu::regions_from(batch.to(MemorySpace::host), directions, copy, settings);
}

}  // namespace carom
