#pragma once

#include <span>
#include <vector>

#include <carom/equilibrium_spatial.hpp>
#include <carom/types/equilibrium_membership.hpp>
#include <carom/workspace.hpp>

/// Spatial postures: is a given centre of mass held, with what margin and which forces, and the
/// region that is robust against a set of wrenches. On the host.
namespace carom {

/// centre_of_mass: [problems, 3], world frame [m]. settings.cones applies to the margins; forces
/// and the verdict are those of the exact cones. Errors: as `support`; InvalidInput for a centre of
/// mass that is not finite.
/// `workspace` keeps memory for later calls (workspace.hpp).
std::vector<Membership> probe_membership(const PostureBatch& batch,
                                         std::span<const double> centre_of_mass,
                                         const SpatialSettings& settings = {},
                                         Workspace* workspace = nullptr);

/// batch.vertices >= 1 wrenches of each posture. A vertex whose region is unbounded in some
/// directions contributes its bounded ones to `outer`, and makes the status `unbounded`.
/// Errors: InvalidInput where the batch has no vertices; as `support`.
std::vector<RobustRegion> robust_region(const PostureBatch& batch,
                                        const SpatialSettings& settings = {});
RobustSection robust_section(const RobustRegion& region, double height);

/// 1 inside, -1 outside, 0 between the inner and the outer half-spaces. x: [3].
int robust_contains(const RobustRegion& region, std::span<const double> x);

}  // namespace carom
