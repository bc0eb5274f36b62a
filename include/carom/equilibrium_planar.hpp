#pragma once

#include <cstdint>
#include <string_view>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/posture.hpp>
#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/equilibrium_planar.hpp>
#include <carom/workspace.hpp>

/// Where may the centre of mass of a planar posture be? (Or and Rimon, "Computation and Graphic
/// Characterization of Robust Multiple-Contact Postures in Gravitational Environments")
namespace carom {

/// Errors: InvalidInput listing the known names.
PlanarMethod planar_method(std::string_view name);

/// Strips and robust regions of planar postures. A posture with NaN, infinity, a negative friction
/// or length, a normal that is no unit vector or no force gets Status::invalid_input and leaves its
/// neighbours unchanged. Everything lives in the memory space of `batch`.
/// Errors: InvalidInput for shapes that do not fit, for a spatial batch, for a method that the
/// backend does not know; BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings = {},
                                Backend backend = Backend::automatic,
                                Workspace* workspace = nullptr);

/// Margins of one centre of mass for each posture; centre_of_mass: [problems, 2], in the memory
/// space of the batch. For a fixed x the wrenches that can be held are a convex cone, so along each
/// vertex of W the scale is a ratio: from outside, the certificate of the violated strip is linear
/// in s, and its root is the next s, until x lies in the strip of that very s. The last
/// certificate proves that no larger s is held, the last strip that this one is.
/// Errors: as planar_equilibrium.
/// `workspace` keeps memory for later calls (workspace.hpp).
PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings = {},
                            Backend backend = Backend::automatic, Workspace* workspace = nullptr);

/// beta_1 = atan(l / 2h) and beta_2 = atan(sin 2 gamma / |2h sin 2 alpha / l - cos 2 alpha -
/// cos 2 gamma|). The paper's text prints sin 2 gamma / l and no absolute value; see
/// docs/explanation/equilibrium_planar.md. Errors: as VTerrain::validate.
CriticalAngles v_terrain_critical_angles(const VTerrain& terrain);

/// Height above which the body slides before it rolls, l / (2 tan(alpha - gamma)); infinity where
/// alpha <= gamma. Errors: as VTerrain::validate.
double v_terrain_sliding_height(const VTerrain& terrain);

/// The same critical angle from strips only: the largest tilt of the wrench's force, in (0, pi /
/// 2), for which the centre of mass stays in the strip of planar_equilibrium, by bisection to
/// `tolerance` [rad]. posture: planar, its wrench is replaced; 0 where x is not held without tilt.
/// Errors: InvalidInput as validate(posture).
double critical_tilt(const Posture& posture, double x, double y, double tolerance = 1e-12);

}  // namespace carom
