#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <carom/equilibrium_planar.hpp>
#include <carom/error.hpp>

#include "core/message.hpp"
#include "core/require.hpp"

namespace carom {

namespace {

void refuse(const char* field, double value, const char* rule) {
  throw InvalidInput(Refusal{.field = field,
                             .whole = "the V terrain",
                             .value = message::number(value),
                             .rule = std::string("must be ") + rule});
}

/// Whether the strip of a unit force that leans by `tilt` to the right holds (x, y).
bool held_at(PostureBatch& batch, double tilt, double x, double y) {
  const std::span<double> wrench = batch.wrench.host();
  wrench[0] = std::sin(tilt);
  wrench[1] = -std::cos(tilt);
  wrench[2] = 0.0;
  const PlanarResult result = planar_equilibrium(batch, {.threads = 1}, Backend::cpu);
  const double at = x * result.normal.host()[0] + y * result.normal.host()[1];
  return at >= result.lower.host()[0] && at <= result.upper.host()[0];
}

}  // namespace

void VTerrain::validate() const {
  if (!(distance > 0.0) || !std::isfinite(distance)) {
    refuse("distance", distance, "positive and finite");
  }
  if (!(height >= 0.0) || !std::isfinite(height)) refuse("height", height, ">= 0 and finite");
  if (!(friction_angle >= 0.0)) refuse("friction_angle", friction_angle, ">= 0");
  if (!(std::abs(slope) + friction_angle < std::numbers::pi / 2)) {
    refuse("slope", slope, "less than pi / 2 - friction_angle in size");
  }
}

CriticalAngles v_terrain_critical_angles(const VTerrain& terrain) {
  terrain.validate();
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

double v_terrain_sliding_height(const VTerrain& terrain) {
  terrain.validate();
  const double lean = terrain.slope - terrain.friction_angle;
  if (!(lean > 0.0)) return std::numeric_limits<double>::infinity();
  return terrain.distance / (2.0 * std::tan(lean));
}

double critical_tilt(const Posture& posture, double x, double y, double tolerance) {
  if (!(tolerance > 0.0)) {
    require::refuse({}, "tolerance", {}, message::number(tolerance), "must be positive");
  }
  if (posture.dimension != 2) {
    require::refuse({}, "dimension", {}, std::to_string(posture.dimension),
                    "must be 2 for a planar equilibrium");
  }
  PostureBatch batch = make_batch(std::array{posture});
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

}  // namespace carom
