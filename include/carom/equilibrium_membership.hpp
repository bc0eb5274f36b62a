#pragma once

#include <span>
#include <vector>

#include <carom/equilibrium_spatial.hpp>
#include <carom/workspace.hpp>

/// Spatial postures: is a given centre of mass held, with what margin and which forces, and the
/// region that is robust against a set of wrenches. On the host.
namespace carom {

/// One centre of mass in one posture.
struct Membership {
  /// solved: held by `forces`; infeasible: proven not to be; inaccurate: undecided within rounding;
  /// or what went wrong.
  Status status = Status::numerical_error;
  /// Signed distance to the cross-section's boundary, positive inside: margin_lower <= margin <=
  /// margin_upper [m]. NaN where the cross-section is unbounded; minus infinity where it is empty.
  double margin_lower = 0.0;
  double margin_upper = 0.0;
  std::vector<double> forces;  ///< [k, 3], [N], the least norm sqrt(sum |f_i|^2); NaN unless solved
  double residual = 0.0;       ///< of balance, cones and optimality, recomputed, relative
  std::vector<double> dual;    ///< infeasible: [6], (a, b) of the half-plane beyond which x lies
};

/// centre_of_mass: [problems, 3], world frame [m]. settings.cones applies to the margins; forces
/// and the verdict are those of the exact cones. Errors: as `support`; InvalidInput for a centre of
/// mass that is not finite.
/// `workspace` keeps memory for later calls (workspace.hpp).
std::vector<Membership> probe_membership(const PostureBatch& batch,
                                         std::span<const double> centre_of_mass,
                                         const SpatialSettings& settings = {},
                                         Workspace* workspace = nullptr);

/// Centres of mass that are held against every wrench of a polytope W. For a fixed x the wrenches
/// that contact forces balance form a convex cone, so W is balanced where its vertices are: the
/// region is the intersection of the vertices' prisms, each along its own force. No prism itself
/// unless all forces are parallel, it is given by half-spaces N . x <= offset in R^3.
struct RobustRegion {
  /// solved; infeasible: a vertex holds no centre of mass; otherwise the first vertex's trouble.
  Status status = Status::numerical_error;
  std::vector<double>
      outer;                 ///< [h, 4]: N, offset [m]; contains the region, each half-space proven
  std::vector<double> dual;  ///< [h, 6]: the proofs
  std::vector<int> vertex;   ///< [h]: index of the wrench that each half-space belongs to
  std::vector<double> inner;  ///< [g, 4]: half-spaces whose intersection lies inside the region
  double extent = 0.0;        ///< largest distance of a contact from their mean [m]
  double centre[3] = {};      ///< mean of the contacts
};

/// batch.vertices >= 1 wrenches of each posture. A vertex whose region is unbounded in some
/// directions contributes its bounded ones to `outer`, and makes the status `unbounded`.
/// Errors: InvalidInput where the batch has no vertices; as `support`.
std::vector<RobustRegion> robust_region(const PostureBatch& batch,
                                        const SpatialSettings& settings = {});

/// Cross-section of a robust region at one height.
struct RobustSection {
  std::vector<double> inner;  ///< (x, y) [m, 2], counter-clockwise; empty: no point is certain
  std::vector<double> outer;  ///< [m, 2]; empty: the section is empty
  bool bounded = true;        ///< false where `outer` was cut off at 1000 extents
  double area_inner = 0.0;
  double area_outer = 0.0;
};
RobustSection robust_section(const RobustRegion& region, double height);

/// 1 inside, -1 outside, 0 between the inner and the outer half-spaces. x: [3].
int robust_contains(const RobustRegion& region, std::span<const double> x);

}  // namespace carom
