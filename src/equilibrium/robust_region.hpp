#pragma once

#include <vector>

#include <carom/equilibrium_membership.hpp>

/// Regions against a polytope of wrenches, from those of its vertices. Shapes and settings were
/// validated.
namespace carom::robust {

std::vector<RobustRegion> region(const PostureBatch& batch, const SpatialSettings& settings);
RobustSection section(const RobustRegion& region, double height);
/// 1 inside, -1 outside, 0 between. x: [3].
int contains(const RobustRegion& region, const double* x);

}  // namespace carom::robust
