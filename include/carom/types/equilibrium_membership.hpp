#pragma once

#include <span>
#include <vector>

#include <carom/types/equilibrium_spatial.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/equilibrium_membership.hpp.
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

/// Cross-section of a robust region at one height.
struct RobustSection {
  std::vector<double> inner;  ///< (x, y) [m, 2], counter-clockwise; empty: no point is certain
  std::vector<double> outer;  ///< [m, 2]; empty: the section is empty
  bool bounded = true;        ///< false where `outer` was cut off at 1000 extents
  double area_inner = 0.0;
  double area_outer = 0.0;
};

}  // namespace carom
