#pragma once

#include <cstdint>
#include <vector>

#include <carom/types/posture.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/words.hpp>

/// The plain structs of carom/equilibrium_three_contacts.hpp.
namespace carom {

struct ThreeContactSettings {
  int directions = 180;  ///< of the exact boundary's numeric search, 8..4096
  int grid = 24;         ///< samples of an edge and of each axis of a piece of P, 4..512
  double reach = 1e4;    ///< P is cut off at this many extents of the contacts, > 1

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"directions", "Directions of the numerical search for the exact boundary",
           Range::between(8, 4096)},
          tables.directions...);
    visit({"grid", "Samples of an edge and of each axis of a piece of P", Range::between(4, 512)},
          tables.grid...);
    visit({"reach", "Distance at which P is cut off, in extents of the contacts", Range::above(1)},
          tables.reach...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// Where a point of the exact boundary comes from (Proposition 3.4).
enum class CriticalType : std::uint8_t {
  contact,   ///< type 2a: above a contact whose cone contains e
  edge,      ///< types 1 and 3a: r on an edge of a piece of P; NaN for only two contacts
  interior,  ///< type 3b: r inside, all forces on their cones, det D Phi = 0
};

template <>
inline constexpr auto words<CriticalType> = std::to_array<Word<CriticalType>>({
    {CriticalType::contact, "contact"},
    {CriticalType::edge, "edge"},
    {CriticalType::interior, "interior"},
});

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

}  // namespace carom
