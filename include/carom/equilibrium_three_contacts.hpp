#pragma once

#include <cstdint>
#include <vector>

#include <carom/posture.hpp>
#include <carom/settings.hpp>
#include <carom/types/equilibrium_three_contacts.hpp>

/// Three contacts: section 3 of Or and Rimon's spatial paper. The horizontal parts of the forces
/// meet in a point r of the plane, f_i = sigma lambda_i(r) (r - x_i + zeta_i e), (7); r lies in P =
/// P+ u P- (6) and zeta_i between the roots of (10).
namespace carom {

/// All points are images (9) of forces in their cones, so both polygons lie inside the region.
/// Where to look for r is known from a grid and from the forces of the support function, whose
/// directions leave less than 1e-6 of the area between `searched` and the certified outer polygon.
/// The certified enclosure is spatial_equilibrium's. Coordinates are those of
/// equilibrium_spatial.hpp. Errors: InvalidInput unless there are three contacts, not in one plane
/// with e, all upward pointing (no force of their cones against e), and no torque about e.
ThreeContactRegion three_contact_region(const Posture& posture,
                                        const ThreeContactSettings& settings = {});

}  // namespace carom
