#pragma once

// What each backend offers to spatial postures. Shapes and numbers were validated before.

#include <vector>

#include <carom/types/derivative_margin.hpp>
#include <carom/types/equilibrium_membership.hpp>

#include "core/backends.hpp"
#include "equilibrium/kernels/support_sweep.hpp"

namespace carom {

/// Cone rules of a call: what points are made of and what half-planes are proven for.
struct SupportRules {
  kernels::ConeRule inner;
  kernels::ConeRule outer;
  bool two = false;  ///< they differ
};

/// Refuses planar batches, shapes that do not fit, and memory that the backend does not reach.
/// Errors: InvalidInput.
void check_spatial(const PostureBatch& batch, Backend chosen);

/// Unit vectors of n equal angles, [n, 2], (1, 0) first.
std::vector<double> spread_directions(int n);

SupportRules support_rules(const SpatialSettings& settings);

/// Pivots of one direction.
int support_pivots(const SpatialSettings& settings, int contacts);

/// Half of what SpatialSettings::tolerance leaves to the reduced costs, in scaled units.
double slack_tolerance(const SpatialSettings& settings);

struct SpatialEntries {
  SupportResult (*support)(const PostureBatch&, std::span<const double> directions,
                           const SpatialSettings&, WorkspaceState*);
  /// Null on cuda: the cpu makes regions of its support functions.
  std::vector<SpatialRegion> (*equilibrium)(const PostureBatch&, const SpatialSettings&,
                                            WorkspaceState*);
};

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
/// carom/derivative_margin.hpp.
MarginGradient differentiate_margins(const PostureBatch& batch,
                                     std::span<const double> centre_of_mass,
                                     const SpatialSettings& settings,
                                     const DerivativeSettings& derivative,
                                     const MarginWanted& wanted);
/// Regions whose first sweep another backend made; further directions by the cpu.
std::vector<SpatialRegion> regions_from(const PostureBatch& batch,
                                        std::span<const double> directions,
                                        const SupportResult& first,
                                        const SpatialSettings& settings);
template <>
const SpatialEntries& entries();
}  // namespace cpu

namespace reference {
SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, WorkspaceState* workspace = nullptr);
std::vector<SpatialRegion> spatial_equilibrium(const PostureBatch& batch,
                                               const SpatialSettings& settings,
                                               WorkspaceState* workspace = nullptr);
template <>
const SpatialEntries& entries();
}  // namespace reference

namespace cuda {
SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, WorkspaceState* workspace = nullptr);
template <>
const SpatialEntries& entries();
}  // namespace cuda

}  // namespace carom
