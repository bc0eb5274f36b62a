#include <carom/equilibrium_spatial.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/message.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/workspace.hpp"
#include "equilibrium/spatial_backends.hpp"

namespace carom {

namespace {

void check_batch(const PostureBatch& batch, Backend chosen) {
  if (batch.dimension != 3) {
    require::refuse({}, "dimension", {}, std::to_string(batch.dimension),
                    "spatial equilibrium takes postures of dimension 3");
  }
  require::at_least("problems", batch.problems, 0);
  require::between("contacts", batch.contacts, 1, kMaxPostureContacts);
  arrays::require_sizes(batch, batch);
  require::reachable(chosen, arrays::common_space("posture batch", batch));
}

}  // namespace

void SpatialSettings::validate() const {
  require::settings(*this);
  static_assert(kMaxConeSides == kernels::kMaxConeSides);
  if (cone_sides != 0) require::between("cone_sides", cone_sides, 3, kMaxConeSides);
  require::between("max_vertices", max_vertices, directions, kMaxRegionVertices);
}

void check_spatial(const PostureBatch& batch, const SpatialSettings& settings) {
  settings.validate();
  check_batch(batch, Backend::cpu);
}

SpatialSettings decided(SpatialSettings settings) {
  constexpr int kSides = 8;
  if (settings.cones == ConeModel::exact && settings.cone_sides > 0) {
    settings.cones = ConeModel::pair;
  }
  if (settings.cones != ConeModel::exact && settings.cone_sides == 0) settings.cone_sides = kSides;
  return settings;
}

int support_pivots(const SpatialSettings& settings, int contacts) {
  return settings.max_pivots > 0 ? settings.max_pivots : 300 + 8 * contacts;
}

double slack_tolerance(const SpatialSettings& settings) {
  return std::min(0.1 * settings.tolerance, 1e-3);
}

SupportRules support_rules(const SpatialSettings& given) {
  const SpatialSettings settings = decided(given);
  SupportRules rules;
  if (settings.cones == ConeModel::exact) return rules;
  const int s = settings.cone_sides;
  const double angle = 2.0 * std::numbers::pi / s;
  // Exact zeros and ones on the axes keep symmetric postures symmetric.
  const auto snap = [](double x) {
    const double nearest = std::round(x);
    return std::abs(x - nearest) < 1e-15 ? nearest : x;
  };
  rules.inner.sides = s;
  for (int j = 0; j < s; ++j) {
    rules.inner.direction[j][0] = snap(std::cos(j * angle));
    rules.inner.direction[j][1] = snap(std::sin(j * angle));
  }
  rules.outer = rules.inner;
  rules.outer.stretch = 1.0 / std::cos(0.5 * angle);
  if (settings.cones == ConeModel::inscribed) rules.outer = rules.inner;
  if (settings.cones == ConeModel::circumscribed) rules.inner = rules.outer;
  rules.two = settings.cones == ConeModel::pair;
  return rules;
}

std::vector<double> equal_directions(int n) {
  require::between("directions", n, 1, kMaxSupportDirections);
  std::vector<double> directions;
  for (int j = 0; j < n; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / n;
    directions.push_back(std::cos(angle));
    directions.push_back(std::sin(angle));
  }
  return directions;
}

SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& given, Backend backend, Workspace* workspace) {
  given.validate();
  const SpatialSettings settings = decided(given);
  const Backend chosen = resolve(backend);
  check_batch(batch, chosen);
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
  return entries(chosen).support(batch, unit, settings, lease.state());
}

std::vector<SpatialRegion> spatial_equilibrium(const PostureBatch& batch,
                                               const SpatialSettings& given, Backend backend,
                                               Workspace* workspace) {
  given.validate();
  const SpatialSettings settings = decided(given);
  const Backend chosen = resolve(backend);
  check_batch(batch, chosen);
  const WorkspaceLease lease(workspace);
  if (chosen == Backend::cpu) return cpu::spatial_equilibrium(batch, settings, lease.state());
  if (chosen == Backend::reference) return reference::spatial_equilibrium(batch, settings);
  const std::vector<double> directions = equal_directions(settings.directions);
  const SupportResult first = entries(chosen).support(batch, directions, settings, lease.state());
  const SupportResult copy = copy_to(first, MemorySpace::host);
  return cpu::regions_from(batch.to(MemorySpace::host), directions, copy, settings);
}

}  // namespace carom
