#pragma once

// What each backend offers to spatial postures. Shapes and numbers were validated before.

#include <vector>

#include <carom/equilibrium_membership.hpp>

#include "equilibrium/kernels/support_sweep.hpp"

namespace carom {

/// Cone rules of a call: what points are made of and what half-planes are proven for.
struct SupportRules {
  kernels::ConeRule inner;
  kernels::ConeRule outer;
  bool two = false;  ///< they differ
};
/// Settings and a host batch of spatial postures. Errors: InvalidInput.
void check_spatial(const PostureBatch& batch, const SpatialSettings& settings);

/// With what the settings leave open decided: how many sides polygons have, and that a number of
/// sides asks for polygons.
SpatialSettings decided(SpatialSettings settings);

SupportRules support_rules(const SpatialSettings& settings);

/// Pivots of one direction.
int support_pivots(const SpatialSettings& settings, int contacts);

/// Half of what SpatialSettings::tolerance leaves to the reduced costs, in scaled units.
double slack_tolerance(const SpatialSettings& settings);

namespace cpu {
SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, WorkspaceState* workspace = nullptr);
std::vector<SpatialRegion> spatial_equilibrium(const PostureBatch& batch,
                                               const SpatialSettings& settings,
                                               WorkspaceState* workspace = nullptr);
std::vector<Membership> probe_membership(const PostureBatch& batch,
                                         std::span<const double> centre_of_mass,
                                         const SpatialSettings& settings,
                                         WorkspaceState* workspace = nullptr);
/// Regions whose first sweep another backend made; further directions by the cpu.
std::vector<SpatialRegion> regions_from(const PostureBatch& batch,
                                        std::span<const double> directions,
                                        const SupportResult& first,
                                        const SpatialSettings& settings);
}  // namespace cpu

/// The CUDA kernel's threads one after the other on the host, forwards or backwards.
namespace emulation {
SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, bool backwards);
}  // namespace emulation

namespace reference {
SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings);
std::vector<SpatialRegion> spatial_equilibrium(const PostureBatch& batch,
                                               const SpatialSettings& settings);
}  // namespace reference

namespace cuda {
SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, WorkspaceState* workspace = nullptr);
}  // namespace cuda

}  // namespace carom
