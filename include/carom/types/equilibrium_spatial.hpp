#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/fields.hpp>
#include <carom/types/posture.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/words.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/equilibrium_spatial.hpp.
namespace carom {

inline constexpr int kMaxSupportDirections = 4096;
/// Most directions of one region.
inline constexpr int kMaxRegionVertices = 64 * kMaxSupportDirections;
/// Most sides of a polygon for a friction cone.
inline constexpr int kMaxConeSides = 64;

/// Which friction cones the support function is computed over. n + mu t(theta) are the exact cone's
/// extreme rays; polygons have `cone_sides` rays at theta_j = 2 pi j / sides in the tangents of
/// kernels::orthonormal_frame.
enum class ConeModel : std::uint8_t {
  exact,          ///< the quadratic cone of (2)
  inscribed,      ///< the polygon inside: its region lies inside the true one
  circumscribed,  ///< the polygon around (section 4.3): its region contains the true one
  pair,           ///< lower bounds and points inscribed, upper bounds circumscribed
};

template <>
inline constexpr auto words<ConeModel> = std::to_array<Word<ConeModel>>({
    {ConeModel::exact, "exact"},
    {ConeModel::inscribed, "inscribed"},
    {ConeModel::circumscribed, "circumscribed"},
    {ConeModel::pair, "pair"},
});

struct SpatialSettings {
  ConeModel cones = ConeModel::exact;
  int cone_sides = 0;   ///< 3..kMaxConeSides, of the polygons; 0: 8. Cones that are exact become a
                        ///< pair where it is given
  int directions = 64;  ///< D, first directions of a region, 3..kMaxSupportDirections
  /// [m^2], area_outer - area_inner at which a region is finished; never finer than rounding
  /// leaves it, 1e-12 of the contacts' squared extent.
  double area_tolerance = 1e-4;
  int max_vertices = 1024;  ///< most directions of a region, >= directions
  double tolerance = 1e-9;  ///< of residuals, and of upper - lower relative to the contacts'
                            ///< extent
  int max_pivots = 0;       ///< a direction; 0: 300 + 8 k
  int threads = 0;          ///< cpu: 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"cones", "Spatial friction cones"}, tables.cones...);
    visit({"cone_sides", "Sides of the polygons for the cones; exact cones become a pair",
           Range::between(0, kMaxConeSides), "", "8, and exact cones stay exact"},
          tables.cone_sides...);
    visit({"directions", "Directions of the first sweep of a spatial region",
           Range::between(3, kMaxSupportDirections)},
          tables.directions...);
    visit({"area_tolerance", "Largest area between inner and outer polygon of a finished region",
           Range::above(0), "m^2"},
          tables.area_tolerance...);
    visit({"max_vertices", "Largest number of directions of a spatial region",
           Range::between(3, kMaxRegionVertices)},
          tables.max_vertices...);
    visit({"tolerance", "Largest residual of an answer", Range::tolerance()}, tables.tolerance...);
    visit({"max_pivots", "Largest number of pivots per direction", Range::at_least(0), "",
           "300 + 8 k"},
          tables.max_pivots...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
  /// With what is left open here decided: how many sides polygons have, and that a number of sides
  /// asks for polygons.
  [[nodiscard]] SpatialSettings decided() const;
};

struct SupportSizes {
  std::int64_t problems = 0;
  int directions = 0;  ///< n
  int contacts = 0;    ///< k
};

template <template <class> class Array>
struct SupportArrays {
  using Sizes = SupportSizes;

  Array<double> lower;         ///< [problems, n], [m]: d . point
  Array<double> upper;         ///< [problems, n], [m]: offset of the half-plane that `dual` proves
  Array<double> point;         ///< [problems, n, 2], [m]
  Array<double> forces;        ///< [problems, n, k, 3], [N]: hold the centre of mass at `point`
  Array<double> dual;          ///< [problems, n, 6]: (a, b) of equilibrium_certificate.hpp
  Array<double> slack;         ///< [problems, n]: smallest dual slack; >= 0 is a proof
  Array<double> residual;      ///< [problems, n]: of balance and cones, recomputed, relative
  Array<Status> status;        ///< [problems, n]
  Array<std::int32_t> pivots;  ///< [problems, n]

  /// See batch.hpp.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, n, k] = sizes;
    visit("lower", Extents{p, n}, tables.lower...);
    visit("upper", Extents{p, n}, tables.upper...);
    visit("point", Extents{p, n, 2}, tables.point...);
    visit("forces", Extents{p, n, k, 3}, tables.forces...);
    visit("dual", Extents{p, n, 6}, tables.dual...);
    visit("slack", Extents{p, n}, tables.slack...);
    visit("residual", Extents{p, n}, tables.residual...);
    visit("status", Extents{p, n}, tables.status...);
    visit("pivots", Extents{p, n}, tables.pivots...);
  }
};

/// The support function h(d) = max d . x of the cross-section, n directions of each posture.
/// Status::solved: lower <= h <= upper, both proven, closer than the tolerance (of a pair: proven).
/// unbounded: `forces` is the proof, contact forces without resultant whose torque moves the centre
/// of mass along d; infeasible: `dual` is the proof, with f x b = 0 and a negative offset.
struct SupportResult : SupportArrays<Buffer> {};

/// One direction of a region.
struct RegionSupport {
  double direction[2];
  double lower;
  double upper;
  double point[2];
  Status status;
};

/// Cross-section between two polygons.
struct SpatialRegion {
  /// solved: area_outer - area_inner is within the tolerance (of a pair: both polygons are
  /// finished); inaccurate: max_vertices reached first; infeasible: no centre of mass can be held;
  /// unbounded: see `support`.
  Status status = Status::numerical_error;
  int dimension = -1;                  ///< of the cross-section: -1 empty, 0 point, 1 segment, 2
  double frame[3][3] = {};             ///< u, v, e
  std::vector<double> inner;           ///< [m, 2], counter-clockwise, each held by `forces`
  std::vector<double> forces;          ///< [m, k, 3]
  std::vector<double> outer;           ///< [q, 2], vertices of the intersection of the half-planes
  std::vector<double> half_plane;      ///< [h, 3]: direction, offset
  std::vector<double> dual;            ///< [h, 6]: the proof of each half-plane; infeasible: [1, 6]
  double area_inner = 0.0;             ///< [m^2]
  double area_outer = 0.0;             ///< [m^2]
  std::vector<RegionSupport> support;  ///< every direction probed, by angle
  double residual = 0.0;               ///< largest of the directions
  std::int64_t pivots = 0;

  /// See fields.hpp.
  template <class Visit, class... Tables>
  static void each_field(Visit&& visit, Tables&&... tables) {
    visit(Field{"area_inner", "number", "m^2", "area of inner"}, tables.area_inner...);
    visit(Field{"area_outer", "number", "m^2", "area of outer"}, tables.area_outer...);
    visit(Field{"residual", "number", "", "largest residual of the answers, recomputed"},
          tables.residual...);
    visit(Field{"pivots", "number", "", "pivots of all directions"}, tables.pivots...);
  }
};

}  // namespace carom
