#pragma once

#include <cstdint>
#include <string_view>

#include <carom/types/array_field.hpp>
#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/posture.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/words.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/equilibrium_planar.hpp.
namespace carom {

/// Method for the strip of one wrench. All give the same strip; cuda has only `lp`, and
/// reference always solves the linear program with a dense simplex of its own.
enum class PlanarMethod : std::uint8_t {
  lp,          ///< LP (4), on packs of postures
  pairs,       ///< Proposition 2.1: all pairs of cone edges
  graphic,     ///< Lemma 2.3: intersections of double cones, for all pairs of contacts
  line_sweep,  ///< the paper's appendix; a posture with a contact that does not point against the
               ///< force gets Status::nonconvex
};

template <>
inline constexpr auto words<PlanarMethod> = std::to_array<Word<PlanarMethod>>({
    {PlanarMethod::lp, "lp"},
    {PlanarMethod::pairs, "pairs"},
    {PlanarMethod::graphic, "graphic"},
    {PlanarMethod::line_sweep, "line_sweep"},
});

struct PlanarSettings {
  PlanarMethod method = PlanarMethod::lp;
  double tolerance = 1e-9;  ///< on PlanarResult::residual
  int threads = 0;          ///< cpu, reference: 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"method", "Method for the strip of one wrench"}, tables.method...);
    visit({"tolerance", "Largest residual of an answer", Range::tolerance()}, tables.tolerance...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

template <template <class> class Array>
struct PlanarResultArrays {
  using Sizes = PostureSizes;

  Array<Status> status;      ///< [problems]
  Array<double> torque_min;  ///< tau_min of LP (4) [N m], [problems]
  Array<double> torque_max;  ///< tau_max, [problems]
  Array<double> normal;      ///< n, [problems, 2]; also known where the region is empty
  Array<double> lower;       ///< [problems]
  Array<double> upper;       ///< [problems]
  /// Contact forces that hold a centre of mass at the lower and at the upper end,
  /// [problems, 2, k, 2]; at an infinite end a ray: forces of total size 1 N that balance each
  /// other and turn the body without limit.
  Array<double> force;
  /// Torque of each force about its contact's position, which only a patch can bear [N m],
  /// [problems, 2, k].
  Array<double> torque;
  /// Dual certificate of the two ends, [problems, 2]: with x . n = end - tau / |f| and x . up =
  /// height, no force of any contact turns outward about x. NaN at an infinite end.
  Array<double> height;
  /// Where infeasible: a unit vector at no acute angle with any contact force, but with -f,
  /// [problems, 2]; NaN elsewhere.
  Array<double> separation;
  /// Corollary 2.2: contacts that bear a force at one of the two ends, ascending, -1 after the
  /// last; the others can be removed without any change of the region, [problems, 4]. At infinite
  /// ends the ray's contacts count, the first four of them.
  Array<std::int32_t> essential;
  /// Largest violation, recomputed from the posture: of balance and cones by the forces (relative
  /// to |f| and to the largest coordinate), of the dual certificate (in lengths), [problems].
  Array<double> residual;

  /// Robust region R(W), the intersection of the strips of all vertices of W; where batch.vertices
  /// > 0, otherwise empty buffers. Status: solved; infeasible: empty; unbounded: not a polygon,
  /// because all strips are parallel or infinite on the same side (the strips say what it is);
  /// otherwise the status of the first strip without answer.
  Array<Status> robust_status;    ///< [problems]
  Array<double> robust_strip;     ///< normal, lower, upper of each, [problems, vertices, 4]
  Array<double> robust_residual;  ///< largest of the strips' residuals, [problems]
  /// Number of the polygon's vertices, [problems]; 1 or 2 where the region is a point or a segment.
  Array<std::int32_t> robust_count;
  /// Vertices, counter-clockwise, NaN after the last, [problems, 2 vertices, 2].
  Array<double> robust_polygon;

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems, k = sizes.contacts, m = sizes.vertices;
    visit("status", Extents{p}, tables.status...);
    visit("torque_min", Extents{p}, tables.torque_min...);
    visit("torque_max", Extents{p}, tables.torque_max...);
    visit("normal", Extents{p, 2}, tables.normal...);
    visit("lower", Extents{p}, tables.lower...);
    visit("upper", Extents{p}, tables.upper...);
    visit("force", Extents{p, 2, k, 2}, tables.force...);
    visit("torque", Extents{p, 2, k}, tables.torque...);
    visit("height", Extents{p, 2}, tables.height...);
    visit("separation", Extents{p, 2}, tables.separation...);
    visit("essential", Extents{p, 4}, tables.essential...);
    visit(ArrayField{"residual", "number", "", "largest residual of the answers, recomputed"},
          Extents{p}, tables.residual...);
    const std::int64_t robust = m > 0 ? 1 : 0;
    visit("robust_status", Extents{p, robust}, tables.robust_status...);
    visit("robust_strip", Extents{p, m, 4}, tables.robust_strip...);
    visit("robust_residual", Extents{p, robust}, tables.robust_residual...);
    visit("robust_count", Extents{p, robust}, tables.robust_count...);
    visit("robust_polygon", Extents{p, 2 * m, 2}, tables.robust_polygon...);
  }
};
/// Strips of a batch of postures and what proves them. Lengths in m, forces in N. With the external
/// force f and the torque tau, n = J f / |f| points across the force (to the right under gravity)
/// and up = -f / |f| against it; the region is R(w) = {x : lower <= x . n <= upper}.
///
/// Status: solved; inaccurate: found, but the residual exceeds the tolerance; infeasible: no centre
/// of mass can be held, proven by `separation`; unbounded: lower is -infinity or upper is +infinity
/// or both (a half plane or the whole plane), proven by contact forces that add up to nothing but a
/// torque; a finite end is certified as in `solved`. Outputs of any other status, and of an empty
/// region, are NaN.
struct PlanarResult : PlanarResultArrays<Buffer> {};

template <template <class> class Array>
struct PlanarMarginArrays {
  using Sizes = PostureSizes;

  Array<Status> status;    ///< as of the strip of the nominal wrench, [problems]
  Array<double> distance;  ///< to the nearer end of R(w), negative outside [m], [problems]
  /// Smallest of the distances to the ends of the strips of W's vertices [m]; negative outside
  /// R(W), -infinity where a vertex has no strip, NaN without vertices, [problems].
  Array<double> robust_distance;
  /// Largest s <= kMaxDisturbanceScale with x in R(s W), where s W has the vertices
  /// w + s (w_v - w); infinity where even that one is held; NaN where x is not in R(w) or there are
  /// no vertices, [problems].
  Array<double> scale;
  Array<std::int32_t> limiting_vertex;  ///< the vertex that limits s, -1 where none, [problems]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    visit("status", Extents{p}, tables.status...);
    visit("distance", Extents{p}, tables.distance...);
    visit("robust_distance", Extents{p}, tables.robust_distance...);
    visit("scale", Extents{p}, tables.scale...);
    visit("limiting_vertex", Extents{p}, tables.limiting_vertex...);
  }
};
/// How far given centres of mass are from the ends of their regions.
struct PlanarMargin : PlanarMarginArrays<Buffer> {};

inline constexpr double kMaxDisturbanceScale = 1e6;

/// The symmetric V terrain of section 5: two contacts at distance l on slopes of angle alpha that
/// rise outwards, with friction angle gamma, under a force that acts at height h above the
/// contacts, halfway between them.
struct VTerrain {
  double slope = 0.0;           ///< alpha [rad]
  double friction_angle = 0.0;  ///< gamma [rad]
  double distance = 1.0;        ///< l [m]
  double height = 0.0;          ///< h [m]

  /// Errors: InvalidInput unless l > 0, h >= 0, gamma >= 0 and |alpha| + gamma < pi / 2.
  void validate() const;
};

/// Tilts of the force from the vertical at which equilibrium is lost [rad].
struct CriticalAngles {
  double rolling = 0.0;   ///< beta_1: the force's line reaches a contact
  double sliding = 0.0;   ///< beta_2: it reaches a lateral vertex of the cones' intersection
  double critical = 0.0;  ///< the smaller one
};

}  // namespace carom
