#include <array>
#include <cmath>
#include <numbers>

#include <carom/equilibrium_planar.hpp>
#include <carom/error.hpp>

#include "core/message.hpp"
#include "core/require.hpp"
#include "equilibrium/v_terrain.hpp"

namespace carom {

namespace {

void refuse(const char* field, double value, const char* rule) {
  throw InvalidInput(Refusal{.field = field,
                             .whole = "the V terrain",
                             .value = message::number(value),
                             .rule = std::string("must be ") + rule});
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
  return v_terrain::critical_angles(terrain);
}

double v_terrain_sliding_height(const VTerrain& terrain) {
  terrain.validate();
  return v_terrain::sliding_height(terrain);
}

double critical_tilt(const Posture& posture, double x, double y, double tolerance) {
  if (!(tolerance > 0.0)) {
    require::refuse({}, "tolerance", {}, message::number(tolerance), "must be positive");
  }
  if (posture.dimension != 2) {
    require::refuse({}, "dimension", {}, std::to_string(posture.dimension),
                    "must be 2 for a planar equilibrium");
  }
  return v_terrain::critical_tilt(make_batch(std::array{posture}), x, y, tolerance);
}

}  // namespace carom
