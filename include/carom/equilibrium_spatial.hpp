#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/posture.hpp>
#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/equilibrium_spatial.hpp>
#include <carom/workspace.hpp>

/// Spatial postures: where may the centre of mass be (Or and Rimon, "Computation of
/// Multiple-Contact Frictional Equilibrium Postures in Three-Dimensional Gravitational
/// Environments")?
///
/// Frame of the cross-section: e = -f_ext / |f_ext|, and unit vectors u, v with (u, v, e)
/// right-handed. For e_z >= 0 they are the images of x and y under the smallest rotation that takes
/// z to e (below: of x and -y, taking -z to e); under gravity they are x and y themselves.
/// The region is a prism along e (Lemma 2.1); points of its cross-section are (u . x, v . x) [m].
namespace carom {

/// directions: [n, 2], unit vectors in (u, v), the same for every posture; a sweep in order of
/// angle is fastest. Postures with NaN get Status::invalid_input. The result lives in the memory
/// space of `batch`. Errors: InvalidInput for a planar batch, shapes, a direction whose length is
/// off by more than 1e-6; BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings = {}, Backend backend = Backend::automatic,
                      Workspace* workspace = nullptr);

/// n unit vectors at equal angles, beginning with (1, 0), [n, 2].
std::vector<double> equal_directions(int n);

/// The region of every posture by contour tracking: D equal directions, then normals of the inner
/// polygon's edges, those with the largest gap first. CUDA: probes on the device, polygons on the
/// host. Errors: as `support`.
/// `workspace` keeps memory for later calls (workspace.hpp).
std::vector<SpatialRegion> spatial_equilibrium(const PostureBatch& batch,
                                               const SpatialSettings& settings = {},
                                               Backend backend = Backend::automatic,
                                               Workspace* workspace = nullptr);

}  // namespace carom
