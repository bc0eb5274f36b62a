#pragma once

#include <carom/equilibrium_planar.hpp>

/// docs/explanation/equilibrium_planar.md. The terrains were validated.
namespace carom::v_terrain {

CriticalAngles critical_angles(const VTerrain& terrain);
double sliding_height(const VTerrain& terrain);

/// Of the one posture of `batch`, by bisection over strips.
double critical_tilt(PostureBatch batch, double x, double y, double tolerance);

}  // namespace carom::v_terrain
