#pragma once

// What each backend offers to planar postures. Shapes and settings were validated before.

#include <carom/types/equilibrium_planar.hpp>

#include "core/backends.hpp"

namespace carom {

struct PlanarEntries {
  PlanarResult (*equilibrium)(const PostureBatch&, const PlanarSettings&, WorkspaceState*);
  PlanarMargin (*margins)(const PostureBatch&, const Buffer<double>& centre_of_mass,
                          const PlanarSettings&, WorkspaceState*);
};

namespace cpu {
PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                WorkspaceState* workspace = nullptr);
PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, WorkspaceState* workspace = nullptr);
template <>
const PlanarEntries& entries();
}  // namespace cpu

/// LP (4) for points, LP (10) for patches, by a dense simplex with Bland's rule.
namespace reference {
PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                WorkspaceState* workspace = nullptr);
PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, WorkspaceState* workspace = nullptr);
template <>
const PlanarEntries& entries();
}  // namespace reference

namespace cuda {
PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                WorkspaceState* workspace = nullptr);
PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, WorkspaceState* workspace = nullptr);
template <>
const PlanarEntries& entries();
}  // namespace cuda

}  // namespace carom
