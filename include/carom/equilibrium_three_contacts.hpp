#pragma once

#include <cstdint>
#include <vector>

#include <carom/posture.hpp>
#include <carom/settings.hpp>

/// Three contacts: section 3 of Or and Rimon's spatial paper. The horizontal parts of the forces
/// meet in a point r of the plane, f_i = sigma lambda_i(r) (r - x_i + zeta_i e), (7); r lies in P =
/// P+ u P- (6) and zeta_i between the roots of (10).
namespace carom {

struct ThreeContactSettings {
  int directions = 180;  ///< of the exact boundary's numeric search, 8..4096
  int grid = 24;         ///< samples of an edge and of each axis of a piece of P, 4..512
  double reach = 1e4;    ///< P is cut off at this many extents of the contacts, > 1

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"directions", "Directions of the exact boundary's numeric search",
           Range::between(8, 4096)},
          tables.directions...);
    visit({"grid", "Samples of an edge and of each axis of a piece of P", Range::between(4, 512)},
          tables.grid...);
    visit({"reach", "P is cut off at this many extents of the contacts", Range::above(1)},
          tables.reach...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// Where a point of the exact boundary comes from (Proposition 3.4).
enum class CriticalType : std::uint8_t {
  contact,   ///< type 2a: above a contact whose cone contains e
  edge,      ///< types 1 and 3a: r on an edge of a piece of P; NaN for two contacts alone
  interior,  ///< type 3b: r inside, all forces on their cones, det D Phi = 0
};

struct BoundaryPoint {
  CriticalType type;
  double direction[2];  ///< d, in which the point is extreme
  double r[2];          ///< NaN for type 2a
  double point[2];      ///< [m]
};

struct ThreeContactRegion {
  /// Convex pieces of P, each [n, 2] counter-clockwise [m]: P+ and P- cut by the lines through two
  /// contacts, which are edges as well.
  std::vector<std::vector<double>> plus, minus;
  std::vector<double> conservative;     ///< [m, 2], Proposition 3.3 sampled: inside the region
  std::vector<BoundaryPoint> boundary;  ///< Corollary 3.5, extreme in each direction searched;
                                        ///< then those from the support function's forces
  std::vector<double> searched;         ///< [q, 2], the convex hull of both
  double area_conservative = 0.0;       ///< [m^2]
  double area_searched = 0.0;           ///< [m^2]
};

/// All points are images (9) of forces in their cones, so both polygons lie inside the region.
/// Where to look for r is known from a grid and from the forces of the support function, whose
/// directions leave less than 1e-6 of the area between `searched` and the certified outer polygon.
/// The certified enclosure is spatial_equilibrium's. Coordinates are those of
/// equilibrium_spatial.hpp. Errors: InvalidInput unless there are three contacts, not in one plane
/// with e, all upward pointing (no force of their cones against e), and no torque about e.
ThreeContactRegion three_contact_region(const Posture& posture,
                                        const ThreeContactSettings& settings = {});

}  // namespace carom
