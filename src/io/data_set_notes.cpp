#include "io/data_set_notes.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <iterator>
#include <vector>

#include <carom/compliant.hpp>
#include <carom/equilibrium_planar.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/stability.hpp>

#include "io/fields.hpp"
#include "run/cases.hpp"

namespace carom::io {

namespace {

constexpr const char* kRows =
    "total contact impulse: normals of all contacts first, then tangents in contact order";
constexpr const char* kModes =
    "contact modes, two bits per contact, contact 0 lowest: 0 separating, 1 sticking, 2 sliding "
    "(planar: sliding+), 3 sliding-";

const DataSetNote kNotes[] = {
    {"/input/*", "bytes", "", "a file that the command read, byte for byte; `name` is its path"},
    {"/name", "problems", "", "names of the steps of the file"},
    {"/varied", "names", "", "parameters that differ between worlds or points"},
    // impacts
    {"/impact_*/problem/mass_matrix", "nv, nv", "", "M"},
    {"/impact_*/problem/normal_jacobian", "contacts, nv", "",
     "Jn: Jn v is the normal velocity, negative for a contact that approaches"},
    {"/impact_*/problem/tangent_jacobian", "(dimension - 1) contacts, nv", "",
     "Jt: one row per planar contact, two per spatial one, in contact order"},
    {"/impact_*/problem/friction", "contacts | contacts, 2", "", "mu, or its intervals"},
    {"/impact_*/problem/restitution", "contacts, 2", "", "intervals of e, if there are any"},
    {"/impact_*/problem/velocity", "nv", "generalised velocity", "v before the impact"},
    {"/impact_*/problem/contact_names", "contacts", "", "names of the contacts in reports"},
    {"/impact_*/samples/velocity", "kept, nv", "generalised velocity",
     "v after the impact, of the first samples; unfinished samples: v where they stopped"},
    {"/impact_*/samples/impulse", "kept, dimension contacts", "N s", kRows},
    {"/impact_*/samples/modes", "kept", "", kModes},
    {"/impact_*/samples/residual", "kept", "", "largest certified residual of the sample's steps"},
    {"/impact_*/samples/status", "kept", "", "how the trajectory ended"},
    {"/impact_*/samples/steps", "kept", "", "steps taken"},
    {"/impact_*/samples/restitution", "kept, contacts", "",
     "e of the sample; nan if it varies within the sample. This and the next five data sets: with "
     "restitution or intervals of friction"},
    {"/impact_*/samples/friction", "kept, contacts", "",
     "mu of the sample; nan if it varies within the sample"},
    {"/impact_*/samples/stored", "kept, contacts", "J", "work of compression that was stored"},
    {"/impact_*/samples/released", "kept, contacts", "J", "stored work that was returned"},
    {"/impact_*/samples/lost_compression", "kept, contacts", "J",
     "work of compression that was not returned"},
    {"/impact_*/samples/lost_friction", "kept, contacts", "J", "work of friction"},
    {"/impact_*/net/velocity", "points, nv", "generalised velocity", "v after the impact"},
    {"/impact_*/net/impulse", "points, dimension contacts", "N s", kRows},
    {"/impact_*/net/modes", "points", "", kModes},
    {"/impact_*/net/multiplicity", "points", "", "samples in the cube of the point"},
    {"/impact_*/net/first_sample", "points", "", "index of the sample at this point"},
    {"/impact_*/net/coverage", "doublings", "", "[i]: points found after 2^i samples"},
    {"/impact_*/paths/offset", "paths + 1", "",
     "path p is rows [offset[p], offset[p + 1]) of paths/velocity"},
    {"/impact_*/paths/velocity", "rows, nv", "generalised velocity", "v_0, v_1, .. of every path"},
    {"/impact_*/paths/impulse", "rows, dimension contacts", "N s",
     "with restitution: impulse of the piece that ends at this row; 0 at v_0"},
    {"/impact_*/paths/restitution", "rows, contacts", "", "e of the piece that ends at this row"},
    {"/impact_*/paths/friction", "rows, contacts", "", "mu of the piece that ends at this row"},
    {"/impact_*/mode_counts/modes", "outcomes", "", "mode names, one per contact"},
    {"/impact_*/mode_counts/count", "outcomes", "", "samples with this outcome"},
    {"/impact_*/enclosure/bounds", "low and high, d contacts", "m/s",
     "bounds of J v after the impact, normals first; nan if the enclosure was not finished"},
    {"/impact_*/enclosure/vertices", "vertices, 2 contacts", "m/s",
     "vertices of the polyhedra of possible outcomes"},
    {"/impact_*/enclosure/vertex_modes", "vertices", "", kModes},
    {"/impact_*/enclosure/impossible_modes", "modes", "", kModes},
    {"/impact_*/enclosure/modes_within_tolerance", "modes", "", kModes},
    {"/impact_*/enclosure/invariant", "1", "",
     "the proof as text (docs/explanation/enclosure.md), verified by carom verify"},
    {"/impact_*/judgement/distance", "1", "",
     "--measured: distance of the nearest sample, |.|_M over |v-|_M or standard deviations"},
    {"/impact_*/judgement/sampled_distance", "1", "",
     "distance of the nearest sample before refinement"},
    {"/impact_*/judgement/resolution", "1", "",
     "median distance of held-out samples to the others"},
    {"/impact_*/judgement/allowed", "1", "", "distance up to which an outcome counts as reached"},
    {"/impact_*/judgement/verdict", "1", "", "verdict on the measured outcome"},
    {"/impact_*/judgement/nearest_velocity", "nv", "generalised velocity",
     "v of the nearest sample"},
    {"/impact_*/judgement/nearest_impulse", "dimension contacts", "N s", kRows},
    {"/impact_*/judgement/nearest_restitution", "contacts", "", "e of the nearest sample"},
    {"/impact_*/judgement/nearest_friction", "contacts", "", "mu of the nearest sample"},
    {"/impact_*/judgement/nearest_sample", "1", "",
     "index of the nearest sample in the run of nearest_problem and nearest_seed; -1: none"},
    {"/impact_*/judgement/nearest_problem", "1", "", "problem index of the nearest sample"},
    {"/impact_*/judgement/nearest_seed", "1", "", "seed of the run of the nearest sample"},
    {"/impact_*/judgement/interval_restitution_low", "contacts", "",
     "interval of e of that run: low end"},
    {"/impact_*/judgement/interval_restitution_high", "contacts", "",
     "interval of e of that run: high end"},
    {"/impact_*/judgement/interval_friction", "contacts", "",
     "interval of mu of that run: low end"},
    {"/impact_*/judgement/interval_friction_high", "contacts", "",
     "interval of mu of that run: high end"},
    {"/impact_*/judgement/floor", "1", "",
     "smallest distance of the measured outcome to what impulses in the friction cones reach"},
    {"/impact_*/judgement/floor_impulse", "dimension contacts", "N s", kRows},
    {"/impact_*/judgement/floor_status", "1", "", "status of the cone program for floor"},
    {"/impact_*/judgement/floor_residual", "1", "",
     "certified residual of the cone program for floor"},
    {"/impact_*/judgement/nearest_path", "pieces + 1, nv", "generalised velocity",
     "v_0, v_1, .. of the nearest sample"},
    {"/identify/restitution", "grid", "", "--identify: values of e"},
    {"/identify/friction", "grid", "", "values of mu"},
    {"/identify/distance", "problems, e, mu", "",
     "distance of the nearest sample with this e and mu"},
    {"/identify/explains", "problems, e, mu", "", "1: distance <= tolerance"},
    {"/identify/smallest_interval", "2, 2", "",
     "[low, high] of e and of mu: the smallest box that explains the share of the problems"},
    {"/identify/bounds", "2, 2, 2", "",
     "5 and 95 % quantiles of the ends of smallest_interval over resampled problems"},
    {"/impact_*/models/simultaneous/velocity", "outcomes, nv", "generalised velocity",
     "v after the simultaneous impact"},
    {"/impact_*/models/simultaneous/impulse", "outcomes, dimension contacts", "N s", kRows},
    {"/impact_*/models/simultaneous/contact_velocity", "outcomes, dimension contacts", "m/s",
     "J v after the impact, normals first"},
    {"/impact_*/models/simultaneous/kinetic_energy", "outcomes", "J", "after the impact"},
    {"/impact_*/models/sequential/velocity", "orders, nv", "generalised velocity",
     "v after the sequence"},
    {"/impact_*/models/sequential/impulse", "orders, dimension contacts", "N s", kRows},
    {"/impact_*/models/sequential/contact_velocity", "orders, dimension contacts", "m/s",
     "J v after the sequence, normals first"},
    {"/impact_*/models/sequential/kinetic_energy", "orders", "J", "after the sequence"},
    {"/impact_*/models/sequential/order", "orders, contacts", "",
     "order in which the contacts are resolved, repeatedly"},
    {"/impact_*/models/sequential/impacts", "orders", "",
     "single impacts until no contact approaches"},
    {"/impact_*/bounces/model", "models", "", "model of restitution: order, rounds or springs"},
    {"/impact_*/bounces/status", "models", "", "solved, or why there is no outcome"},
    {"/impact_*/bounces/impacts", "models", "", "single impacts, rounds or steps"},
    {"/impact_*/bounces/velocity", "models, nv", "generalised velocity", "v after the impact"},
    {"/impact_*/bounces/contact_velocity", "models, dimension contacts", "m/s",
     "J v after the impact, normals first"},
    {"/impact_*/bounces/energy_ratio", "models", "", "kinetic energy after over before"},
    {"/impact_*/bounces/distance", "models", "",
     "distance from the nearest sample of the set, |.|_M over |v-|_M"},
    {"/impact_*/bounces/resolution", "models", "", "distance between samples of the set"},
    {"/impact_*/bounces/from_measured", "models", "",
     "distance from the measured outcome; nan if there is none"},
    // postures
    {"/postures_*/index", "postures", "", "index in the input"},
    {"/postures_*/name", "postures", "", "names"},
    {"/postures_*/status", "postures", "",
     "solved; infeasible: no centre of mass is held; unbounded; or an error"},
    {"/postures_*/posture/position", "postures, contacts, dimension", "m",
     "contact points; of a planar patch its start"},
    {"/postures_*/posture/normal", "postures, contacts, dimension", "",
     "unit normals into the body"},
    {"/postures_*/posture/friction", "postures, contacts", "", "mu"},
    {"/postures_*/posture/length", "postures, contacts", "m",
     "lengths of planar patches; 0: points"},
    {"/postures_*/posture/wrench", "postures, 3 | 6", "N, N m",
     "external force, then torque about the centre of mass"},
    {"/postures_*/posture/wrench_vertices", "postures, vertices, 3 | 6", "N, N m",
     "corners of the set of wrenches"},
    {"/postures_*/torque_min", "postures", "N m", "least torque about the origin that is held"},
    {"/postures_*/torque_max", "postures", "N m", "largest torque about the origin that is held"},
    {"/postures_*/strip/normal", "postures, 2", "",
     "a centre of mass x is held where lower <= normal . x <= upper"},
    {"/postures_*/strip/lower", "postures", "m", "lower end of the strip"},
    {"/postures_*/strip/upper", "postures", "m", "upper end of the strip"},
    {"/postures_*/force", "postures, 2, contacts, 2 | points, contacts, 3", "N",
     "planar: contact forces at the lower and the upper end; spatial: at each point of inner"},
    {"/postures_*/torque", "postures, 2, contacts", "N m", "torques of patches at both ends"},
    {"/postures_*/height", "postures, 2", "",
     "multipliers of the balance equations at both ends: the proof of torque_min and torque_max"},
    {"/postures_*/essential_contacts", "entries", "", "contacts that bound the strip, 0 first"},
    {"/postures_*/region_dimension", "postures", "", "-1 empty, 0 point, 1 segment, 2 area"},
    {"/postures_*/frame", "postures, 3, 3", "",
     "rows u, v, e: horizontal axes and the direction against the force; points are (u, v)"},
    {"/postures_*/inner", "points, 2", "m",
     "corners in (u, v), counter-clockwise, each held by `force`"},
    {"/postures_*/outer", "points, 2", "m",
     "corners in (u, v); points outside are proven not to be held"},
    {"/postures_*/half_plane", "half-planes, 3", "m",
     "direction d and offset c: held only if d . (u, v) <= c"},
    {"/postures_*/dual", "half-planes, 6", "", "the proof of each half-plane"},
    {"/postures_*/support", "directions, 6", "m",
     "direction, proven lower and upper bound of the support, a point that attains the lower"},
    {"/postures_*/robust/status", "postures", "",
     "status of the region in which all wrenches are held"},
    {"/postures_*/robust/residual", "postures", "",
     "residual of the region in which all wrenches are held"},
    {"/postures_*/robust/polygon", "corners, 2", "m", "planar: corners, counter-clockwise"},
    {"/postures_*/robust/half_space", "half-spaces, 4", "m",
     "spatial: direction d and offset c, robust only if d . x <= c"},
    {"/postures_*/robust/height", "postures", "m", "z of the cross-section below"},
    {"/postures_*/robust/inner", "corners, 2", "m", "inner approximation of the cross-section"},
    {"/postures_*/robust/outer", "corners, 2", "m", "outer approximation of the cross-section"},
    {"/postures_*/probe/centre_of_mass", "postures, dimension", "m",
     "centre of mass that is tested"},
    {"/postures_*/probe/distance", "postures", "m",
     "distance to the region's boundary, negative if it is not held"},
    {"/postures_*/probe/held", "postures", "", "1 held, 0 not, both proven; 2 undecided"},
    {"/postures_*/probe/robust_distance", "postures", "m",
     "distance to the robust region's boundary"},
    {"/postures_*/probe/disturbance_scale", "postures", "",
     "largest multiple of the set of wrenches that is held"},
    {"/postures_*/*_offset", "postures + 1", "",
     "rows [offset[p], offset[p + 1]) of the data set of that name belong to posture p"},
    {"/postures_*/robust/*_offset", "postures + 1", "", "the same for data sets of robust"},
    {"/postures_*/varied/*", "postures", "", "values of a swept or drawn parameter"},
    // worlds and steps
    {"/parameters/*", "worlds", "", "the scenario's parameter, with its own unit and meaning"},
    {"/normal_velocity", "worlds, 2", "m/s", "normal velocities of the block's corners A and B"},
    {"/routh_set/normal_velocity", "samples, 2", "m/s",
     "the same for sampled impacts of the rigid block"},
    {"/worlds_*/world", "worlds", "", "index in the grid of worlds"},
    {"/worlds_*/position_names", "nq", "", "names of the components of position"},
    {"/worlds_*/velocity_names", "nv", "", "names of the components of velocity"},
    {"/worlds_*/states/time", "frames", "s", "time of the stored states"},
    {"/worlds_*/states/position", "frames, worlds, nq", "m, rad", "q; quaternions w, x, y, z"},
    {"/worlds_*/states/velocity", "frames, worlds, nv", "m/s, rad/s", "v"},
    {"/worlds_*/states/energy", "frames, worlds", "J",
     "kinetic, potential (0 at the origin of the scenario) and elastic"},
    {"/worlds_*/final/position", "worlds, nq", "m, rad", "q after the last step"},
    {"/worlds_*/final/velocity", "worlds, nv", "m/s, rad/s", "v after the last step"},
    {"/worlds_*/final/force", "worlds, rows", "N", "constraint forces of the last step"},
    {"/worlds_*/final/failed_steps", "worlds", "", "steps that were not certified"},
    {"/worlds_*/final/status", "worlds", "", "status of the world"},
    {"/steps_*/problem", "problems", "", "index in the input"},
    {"/steps_*/dt", "problems", "s", "step size"},
    {"/steps_*/velocity", "problems, nv", "", "v after the step"},
    {"/steps_*/increment", "problems, nq", "", "dt times the position map times v"},
    {"/steps_*/force", "problems, rows", "N",
     "force of every constraint row; 0 for a row that a problem does not have"},
    {"/steps_*/status", "problems", "", "status of the step"},
    // stances
    {"/axes/*", "values", "", "values of a swept parameter"},
    {"/parameter/*", "points", "", "drawn value at every point"},
    {"/point", "points", "", "index in the grid, the last axis fastest"},
    {"/stance/l", "points, contacts", "m", "the contact is the body's point (l, -h)"},
    {"/stance/h", "points, contacts", "m", "see l"},
    {"/stance/slope", "points, contacts", "rad", "phi: the normal is (-sin phi, cos phi)"},
    {"/stance/friction", "points, contacts", "", "mu"},
    {"/stance/restitution", "points, contacts", "", "e"},
    {"/stance/force", "points", "N", "F"},
    {"/stance/angle", "points", "rad", "alpha: the force is F (sin alpha, -cos alpha)"},
    {"/stance/torque", "points", "N m", "T"},
    {"/result/exact", "points", "", "1: interval arithmetic confirms the certificate"},
    // motions
    {"/time", "times", "s", "time of the stored states"},
    {"/motion/*/positions", "positions", "", "names of q"},
    {"/motion/*/velocities", "velocities", "", "names of v"},
    {"/motion/*/contacts", "contacts", "", "names of the contacts"},
    {"/motion/*/problem/parameters", "1, parameters", "",
     "parameters of the mechanism, in its order (docs/explanation/motion.md)"},
    {"/motion/*/problem/position", "1, positions", "", "q at t = 0"},
    {"/motion/*/problem/velocity", "1, velocities", "", "v at t = 0"},
    {"/motion/*/problem/position_spread", "1, positions", "", "half widths of the range of q"},
    {"/motion/*/problem/velocity_spread", "1, velocities", "", "half widths of the range of v"},
    {"/motion/*/problem/drive", "1, knots, velocities", "",
     "generalised forces, held from knot to knot"},
    {"/motion/*/samples/end", "1, samples", "", "how the motion ended"},
    {"/motion/*/samples/time", "1, samples", "s", "when it ended; for rest, when rest began"},
    {"/motion/*/samples/s", "1, samples", "", "arc length s (the paper's clock) at the end"},
    {"/motion/*/samples/position", "1, samples, positions", "", "q at the end; nan if failed"},
    {"/motion/*/samples/velocity", "1, samples, velocities", "", "v at the end; nan if failed"},
    {"/motion/*/samples/first_impact", "1, samples, velocities", "",
     "v just after the first impact; nan if there was none"},
    {"/motion/*/samples/events", "1, samples", "", "number of events"},
    {"/motion/*/samples/impacts", "1, samples", "", "number of impacts"},
    {"/motion/*/samples/pushes", "1, samples", "", "impacts without collision"},
    {"/motion/*/samples/ambiguous", "1, samples", "",
     "number of times that the contact laws had several solutions"},
    {"/motion/*/samples/zeno", "1, samples", "", "accumulations of impacts"},
    {"/motion/*/samples/zeno_time", "1, samples", "s",
     "time of the first accumulation; nan if there was none"},
    {"/motion/*/samples/zeno_s", "1, samples", "", "arc length s at zeno_time"},
    {"/motion/*/samples/residual", "1, samples", "",
     "largest relative residual of contact laws and impact steps"},
    {"/motion/*/samples/gap_drift", "1, samples", "m",
     "largest |gap| of a contact held closed and -gap of any"},
    {"/motion/*/samples/energy_gain", "1, samples", "J",
     "largest gain of energy beyond the work of the drive"},
    {"/motion/*/samples/energy_error", "1, samples", "J",
     "error of the energy balance in free motion and contact"},
    {"/motion/*/samples/load", "1, samples, contacts", "N", "normal forces at the end of rest"},
    {"/motion/*/samples/state", "1, kept, times, positions + velocities + 1", "",
     "(q, v, s) at /time"},
    {"/motion/*/samples/event_count", "1, kept", "", "number of stored events"},
    {"/motion/*/samples/event_kind", "1, kept, rows", "", "kind of event"},
    {"/motion/*/samples/event_contacts", "1, kept, rows", "",
     "bits of the contacts concerned, contact 0 lowest"},
    {"/motion/*/samples/event_time", "1, kept, rows", "s", "time t of the event"},
    {"/motion/*/samples/event_s", "1, kept, rows", "", "arc length s of the event"},
    {"/motion/*/samples/event_state", "1, kept, rows, positions + velocities", "",
     "(q, v) after the event"},
    {"/motion/*/net/state", "points, positions + velocities", "", "(q, v) at the end"},
    {"/motion/*/net/first_sample", "points", "", "index of the sample at this point"},
    {"/motion/*/net/multiplicity", "points", "", "samples in the cube of the point"},
    {"/motion/*/net/coverage", "doublings", "", "[i]: points found after 2^i samples"},
    // carom solve
    {"/problems_*/index", "problems", "", "index in the input"},
    {"/problems_*/problem/name", "problems", "", "names"},
    {"/problems_*/problem/kind", "problems", "",
     "lcp, boxed_lcp, mixed_lcp, lp, qp, socp or coulomb_friction"},
    {"/problems_*/problem/M", "problems, n, n", "", "lcp and boxed_lcp: w = M z + q"},
    {"/problems_*/problem/q", "problems, n", "",
     "lcp, boxed_lcp and coulomb_friction: constant term; qp and socp: linear cost"},
    {"/problems_*/problem/lo", "problems, n", "", "boxed_lcp: of z; -inf: none"},
    {"/problems_*/problem/hi", "problems, n", "", "boxed_lcp: of z; inf: none"},
    {"/problems_*/problem/findex", "problems, n", "",
     "boxed_lcp: j of friction rows, -1 of others"},
    {"/problems_*/problem/friction_law", "problems", "", "boxed_lcp with findex"},
    {"/problems_*/problem/B", "problems, k, k", "", "mixed_lcp: 0 <= v perp D u + B v + b >= 0"},
    {"/problems_*/problem/C", "problems, e, k", "", "mixed_lcp: A u + C v + a = 0"},
    {"/problems_*/problem/D", "problems, k, e", "", "mixed_lcp: see B"},
    {"/problems_*/problem/a", "problems, e", "", "mixed_lcp: see C"},
    {"/problems_*/problem/c", "problems, n", "", "lp: cost"},
    {"/problems_*/problem/A", "problems, m, n", "",
     "rows of lp and qp; of socp the cones' matrix; mixed_lcp: see C"},
    {"/problems_*/problem/row_lower", "problems, m", "", "lp: of A x; -inf: none"},
    {"/problems_*/problem/row_upper", "problems, m", "", "lp: of A x; inf: none"},
    {"/problems_*/problem/col_lower", "problems, n", "", "lp: of x; -inf: none"},
    {"/problems_*/problem/col_upper", "problems, n", "", "lp: of x; inf: none"},
    {"/problems_*/problem/sense", "problems", "", "lp: min or max"},
    {"/problems_*/problem/offset", "problems", "", "lp: added to the objective"},
    {"/problems_*/problem/P", "problems, n, n", "", "qp and socp: Hessian of the cost"},
    {"/problems_*/problem/l", "problems, m", "", "qp: of A x; -inf: none"},
    {"/problems_*/problem/u", "problems, m", "", "qp: of A x; inf: none"},
    {"/problems_*/problem/b", "problems, m", "",
     "socp: b - A x lies in the cones; mixed_lcp: see B"},
    {"/problems_*/problem/cone_kinds", "cones", "", "socp: zero, nonneg or second_order, in order"},
    {"/problems_*/problem/cone_sizes", "cones", "", "socp: rows of each cone"},
    {"/problems_*/problem/r", "problems", "", "qp and socp: added to the objective"},
    {"/problems_*/problem/W", "problems, n, n", "", "coulomb_friction: u = W r + q"},
    {"/problems_*/problem/mu", "problems, contacts", "",
     "coulomb_friction: friction; boxed_lcp: of all rows"},
    {"/problems_*/problem/dim", "problems", "", "coulomb_friction: components of a contact"},
    {"/problems_*/answer/status", "problems", "", "status of the problem"},
    {"/problems_*/answer/x", "problems, n", "",
     "z of an lcp, x, or the contact forces r; rows of NaN here and below: none"},
    {"/problems_*/answer/w", "problems, n", "", "lcp, boxed_lcp and mixed_lcp: M z + q"},
    {"/problems_*/answer/tree", "problems, 3 nodes", "",
     "(boxed) lcp: parent, pair k, side (0: z_k = lo_k, 1: w_k = 0, 2: z_k = hi_k) of each node, "
     "then NaN"},
    {"/problems_*/answer/leaf_farkas", "problems, (n + 2 f) leaves", "",
     "(boxed) lcp: Farkas' vectors of the nodes without children, then NaN; f friction rows"},
    {"/problems_*/answer/bound", "problems, 1", "",
     "with tree: no answer has all |z_i| without a bound <= bound; inf: none at all"},
    {"/problems_*/answer/limit", "problems, n", "", "boxed_lcp: largest |z_i| of friction rows"},
    {"/problems_*/answer/dual", "problems, m", "", "multipliers of the rows of A"},
    {"/problems_*/answer/reduced_costs", "problems, n", "", "lp: c - A'dual"},
    {"/problems_*/answer/cone_dual", "problems, m", "", "socp: multipliers in the dual cones"},
    {"/problems_*/answer/farkas", "problems, m", "", "proof that nothing is feasible"},
    {"/problems_*/answer/point", "problems, n", "",
     "unbounded, no_interior with a ray: a feasible point"},
    {"/problems_*/answer/ray", "problems, n", "",
     "unbounded: an unbounded direction from the point; no_interior: a direction with constant "
     "objective"},
    {"/problems_*/answer/face", "problems, m", "",
     "socp without interior: vector in the dual cones, orthogonal to every slack"},
    {"/problems_*/answer/direction", "problems, n", "", "nonconvex: d with d'P d < 0"},
};

/// What the list of a result describes, after the other data sets whose paths begin with `group`.
template <class Result>
void add_described(std::vector<DataSetNote>& notes, const std::string& group,
                   const std::string& rows) {
  each_described<Result>([&](const Field& field, const Extents& extents) {
    const std::string path = group + field.name;
    std::size_t place = 0;
    for (std::size_t i = 0; i < notes.size(); ++i) {
      if (notes[i].path == path) return;  // of another kind of problem
      if (notes[i].path.starts_with(group)) place = i + 1;
    }
    std::string axes = rows;
    for (std::size_t k = 1; k < extents.rank(); ++k) axes += fmt::format(", {}", extents[k]);
    notes.insert(notes.begin() + static_cast<std::ptrdiff_t>(place),
                 {path, axes, field.unit, field.meaning});
  });
}

bool matches(std::string_view pattern, std::string_view path) {
  std::size_t i = 0;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (pattern[k] != '*') {
      if (i == path.size() || path[i++] != pattern[k]) return false;
      continue;
    }
    const std::string_view rest = pattern.substr(k + 1);
    const bool number = (k > 0 && pattern[k - 1] == '_') || rest.starts_with('/');
    if (number) {
      const std::size_t first = i;
      while (i < path.size() && std::isdigit(static_cast<unsigned char>(path[i])) != 0) ++i;
      if (i == first) return false;
      continue;
    }
    // a name, up to what the pattern ends with
    const std::string_view name = path.substr(i);
    if (name.find('/') != std::string_view::npos || name.size() <= rest.size()) return false;
    return name.substr(name.size() - rest.size()) == rest;
  }
  return i == path.size();
}

}  // namespace

std::span<const DataSetNote> data_set_notes() {
  static const std::vector<DataSetNote> all = [] {
    std::vector<DataSetNote> notes(std::begin(kNotes), std::end(kNotes));
    const std::string answer = "/problems_*/answer/";
    add_described<run::CaseAnswer>(notes, answer, "problems");
    add_described<LcpResult>(notes, answer, "problems");
    add_described<BoxedLcpResult>(notes, answer, "problems");
    add_described<LpResult>(notes, answer, "problems");
    add_described<QpResult>(notes, answer, "problems");
    add_described<PlanarResult>(notes, "/postures_*/", "postures");
    add_described<SpatialRegion>(notes, "/postures_*/", "postures");
    add_described<WorldsResult>(notes, "/worlds_*/final/", "worlds");
    add_described<CompliantResult>(notes, "/steps_*/", "problems");
    add_described<StabilityResult>(notes, "/result/", "points");
    return notes;
  }();
  return all;
}

const DataSetNote* data_set_note(std::string_view path) {
  for (const DataSetNote& note : data_set_notes()) {
    if (matches(note.path, path)) return &note;
  }
  return nullptr;
}

}  // namespace carom::io
