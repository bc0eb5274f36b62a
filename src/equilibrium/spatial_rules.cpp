#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/arrays.hpp"
#include "core/require.hpp"
#include "equilibrium/spatial_backends.hpp"

namespace carom {

void check_spatial(const PostureBatch& batch, Backend chosen) {
  if (batch.dimension != 3) {
    require::refuse({}, "dimension", {}, std::to_string(batch.dimension),
                    "spatial equilibrium takes postures of dimension 3");
  }
  require::at_least("problems", batch.problems, 0);
  require::between("contacts", batch.contacts, 1, kMaxPostureContacts);
  arrays::require_sizes(batch, batch);
  require::reachable(chosen, arrays::common_space("posture batch", batch));
}

SpatialSettings SpatialSettings::decided() const {
  constexpr int kSides = 8;
  SpatialSettings settings = *this;
  if (cones == ConeModel::exact && cone_sides > 0) settings.cones = ConeModel::pair;
  if (settings.cones != ConeModel::exact && cone_sides == 0) settings.cone_sides = kSides;
  return settings;
}

int support_pivots(const SpatialSettings& settings, int contacts) {
  return settings.max_pivots > 0 ? settings.max_pivots : 300 + 8 * contacts;
}

double slack_tolerance(const SpatialSettings& settings) {
  return std::min(0.1 * settings.tolerance, 1e-3);
}

SupportRules support_rules(const SpatialSettings& given) {
  const SpatialSettings settings = given.decided();
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

std::vector<double> spread_directions(int n) {
  std::vector<double> directions;
  for (int j = 0; j < n; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / n;
    directions.push_back(std::cos(angle));
    directions.push_back(std::sin(angle));
  }
  return directions;
}

}  // namespace carom
