#pragma once

// What each backend offers to planar postures. Shapes and settings were validated before.

#include <carom/equilibrium_planar.hpp>

namespace carom {

namespace cpu {
PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                WorkspaceState* workspace = nullptr);
PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, WorkspaceState* workspace = nullptr);
}  // namespace cpu

/// The device's text, one posture after the other, forwards or backwards.
namespace emulation {
PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                bool backwards);
PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, bool backwards);
}  // namespace emulation

/// LP (4) for points, LP (10) for patches, by a dense simplex with Bland's rule.
namespace reference {
PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings);
PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings);
}  // namespace reference

namespace cuda {
PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                WorkspaceState* workspace = nullptr);
PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, WorkspaceState* workspace = nullptr);
}  // namespace cuda

}  // namespace carom
