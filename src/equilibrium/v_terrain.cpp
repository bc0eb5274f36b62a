#include "equilibrium/v_terrain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "equilibrium/planar_backends.hpp"

namespace carom::v_terrain {

namespace {

/// Whether the strip of a unit force that leans by `tilt` to the right holds (x, y).
bool held_at(PostureBatch& batch, double tilt, double x, double y) {
  const std::span<double> wrench = batch.wrench.host();
  wrench[0] = std::sin(tilt);
  wrench[1] = -std::cos(tilt);
  wrench[2] = 0.0;
  const PlanarResult result = cpu::planar_equilibrium(batch, {.threads = 1});
  const double at = x * result.normal.host()[0] + y * result.normal.host()[1];
  return at >= result.lower.host()[0] && at <= result.upper.host()[0];
}

}  // namespace

CriticalAngles critical_angles(const VTerrain& terrain) {
  const double a = 2.0 * terrain.slope;
  const double g = 2.0 * terrain.friction_angle;
  CriticalAngles angles;
  angles.rolling = std::atan2(terrain.distance, 2.0 * terrain.height);
  const double reach =
      2.0 * terrain.height * std::sin(a) / terrain.distance - std::cos(a) - std::cos(g);
  angles.sliding = std::atan2(std::sin(g), std::abs(reach));
  angles.critical = std::min(angles.rolling, angles.sliding);
  return angles;
}

double sliding_height(const VTerrain& terrain) {
  const double lean = terrain.slope - terrain.friction_angle;
  if (!(lean > 0.0)) return std::numeric_limits<double>::infinity();
  return terrain.distance / (2.0 * std::tan(lean));
}

double critical_tilt(PostureBatch batch, double x, double y, double tolerance) {
  batch.vertices = 0;
  batch.wrench_vertices = {};
  if (!held_at(batch, 0.0, x, y)) return 0.0;
  // The wrenches that x is held under are a convex cone: one tilt ends them.
  double low = 0.0;
  double high = std::numbers::pi / 2;
  while (high - low > tolerance) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (held_at(batch, middle, x, y) ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace carom::v_terrain
