#include "io/data_set_notes.hpp"

#include <cctype>
#include <cstddef>

namespace carom::io {

namespace {

constexpr const char* kRows =
    "total contact impulse: normals of all contacts first, then tangents in contact order";
constexpr const char* kModes =
    "contact modes, two bits a contact, contact 0 lowest: 0 separating, 1 sticking, 2 sliding "
    "(planar: sliding+), 3 sliding-";

constexpr DataSetNote kNotes[] = {
    {"/input/*", "bytes", "", "a file that the command read, byte for byte; `name` is its path"},
    {"/name", "problems", "", "names of the steps of the file"},
    {"/varied", "names", "", "parameters that differ between worlds or points"},
    // impacts
    {"/impact_*/problem/mass_matrix", "nv, nv", "", "M"},
    {"/impact_*/problem/normal_jacobian", "contacts, nv", "",
     "Jn: Jn v is the normal velocity, negative where a contact approaches"},
    {"/impact_*/problem/tangent_jacobian", "(dimension - 1) contacts, nv", "",
     "Jt: one row a planar contact, two a spatial one, in contact order"},
    {"/impact_*/problem/friction", "contacts", "", "mu"},
    {"/impact_*/problem/velocity", "nv", "generalised velocity", "v before the impact"},
    {"/impact_*/problem/contact_names", "contacts", "", "names that reports use"},
    {"/impact_*/samples/velocity", "kept, nv", "generalised velocity",
     "v after the impact of the first samples; of unfinished ones where they stopped"},
    {"/impact_*/samples/impulse", "kept, dimension contacts", "N s", kRows},
    {"/impact_*/samples/modes", "kept", "", kModes},
    {"/impact_*/samples/residual", "kept", "", "largest certified residual of the sample's steps"},
    {"/impact_*/samples/status", "kept", "", "how the trajectory ended"},
    {"/impact_*/samples/steps", "kept", "", "steps taken"},
    {"/impact_*/net/velocity", "points, nv", "generalised velocity", "v after the impact"},
    {"/impact_*/net/impulse", "points, dimension contacts", "N s", kRows},
    {"/impact_*/net/modes", "points", "", kModes},
    {"/impact_*/net/multiplicity", "points", "", "samples that the point stands for"},
    {"/impact_*/net/first_sample", "points", "", "the sample that the point is"},
    {"/impact_*/net/coverage", "doublings", "", "[i]: points found after 2^i samples"},
    {"/impact_*/paths/offset", "paths + 1", "",
     "path p is rows [offset[p], offset[p + 1]) of paths/velocity"},
    {"/impact_*/paths/velocity", "rows, nv", "generalised velocity", "v_0, v_1, .. of every path"},
    {"/impact_*/mode_counts/modes", "outcomes", "", "modes in words, one a contact"},
    {"/impact_*/mode_counts/count", "outcomes", "", "samples that end so"},
    {"/impact_*/enclosure/bounds", "low and high, 2 contacts", "m/s",
     "of J v after the impact, normals first; nan where the enclosure was not finished"},
    {"/impact_*/enclosure/vertices", "vertices, 2 contacts", "m/s",
     "of the polyhedra of possible outcomes"},
    {"/impact_*/enclosure/vertex_modes", "vertices", "", kModes},
    {"/impact_*/enclosure/impossible_modes", "modes", "", kModes},
    {"/impact_*/enclosure/invariant", "1", "",
     "the proof in text, as docs/algorithms/enclosure.md says; carom verify judges it"},
    {"/impact_*/models/simultaneous/velocity", "outcomes, nv", "generalised velocity",
     "v after the simultaneous impact"},
    {"/impact_*/models/simultaneous/impulse", "outcomes, dimension contacts", "N s", kRows},
    {"/impact_*/models/simultaneous/contact_velocity", "outcomes, dimension contacts", "m/s",
     "J v after it, normals first"},
    {"/impact_*/models/simultaneous/kinetic_energy", "outcomes", "J", "after the impact"},
    {"/impact_*/models/sequential/velocity", "orders, nv", "generalised velocity",
     "v after the sequence"},
    {"/impact_*/models/sequential/impulse", "orders, dimension contacts", "N s", kRows},
    {"/impact_*/models/sequential/contact_velocity", "orders, dimension contacts", "m/s",
     "J v after it, normals first"},
    {"/impact_*/models/sequential/kinetic_energy", "orders", "J", "after the sequence"},
    {"/impact_*/models/sequential/order", "orders, contacts", "",
     "contacts in the order in which they are resolved, again and again"},
    {"/impact_*/models/sequential/impacts", "orders", "", "single impacts until none approaches"},
    // postures
    {"/postures_*/index", "postures", "", "place in the input"},
    {"/postures_*/name", "postures", "", "names"},
    {"/postures_*/status", "postures", "",
     "solved; infeasible: nothing is held; unbounded; or what went wrong"},
    {"/postures_*/posture/position", "postures, contacts, dimension", "m",
     "contact points; of a planar patch its start"},
    {"/postures_*/posture/normal", "postures, contacts, dimension", "",
     "unit normals into the body"},
    {"/postures_*/posture/friction", "postures, contacts", "", "mu"},
    {"/postures_*/posture/length", "postures, contacts", "m", "of planar patches; 0: points"},
    {"/postures_*/posture/wrench", "postures, 3 | 6", "N, N m",
     "external force, then torque about the centre of mass"},
    {"/postures_*/posture/wrench_vertices", "postures, vertices, 3 | 6", "N, N m",
     "corners of the set of wrenches"},
    {"/postures_*/torque_min", "postures", "N m", "least torque about the origin that is held"},
    {"/postures_*/torque_max", "postures", "N m", "largest one"},
    {"/postures_*/strip/normal", "postures, 2", "",
     "a centre of mass x is held where lower <= normal . x <= upper"},
    {"/postures_*/strip/lower", "postures", "m", "of the strip"},
    {"/postures_*/strip/upper", "postures", "m", "of the strip"},
    {"/postures_*/force", "postures, 2, contacts, 2 | points, contacts, 3", "N",
     "planar: contact forces at the lower and the upper end; spatial: at each point of inner"},
    {"/postures_*/torque", "postures, 2, contacts", "N m", "of patches, at both ends"},
    {"/postures_*/height", "postures, 2", "",
     "multipliers of the balance equations at both ends: the proof of torque_min and torque_max"},
    {"/postures_*/essential_contacts", "entries", "", "contacts that bound the strip, 0 first"},
    {"/postures_*/residual", "postures", "", "largest residual of what was solved, recomputed"},
    {"/postures_*/region_dimension", "postures", "", "-1 empty, 0 point, 1 segment, 2 area"},
    {"/postures_*/frame", "postures, 3, 3", "",
     "rows u, v, e: horizontal axes and the direction against the force; points are (u, v)"},
    {"/postures_*/area_inner", "postures", "m^2", "of inner"},
    {"/postures_*/area_outer", "postures", "m^2", "of outer"},
    {"/postures_*/inner", "points, 2", "m",
     "corners in (u, v), counter-clockwise, each held by `force`"},
    {"/postures_*/outer", "points, 2", "m", "corners in (u, v); beyond is proven not to be held"},
    {"/postures_*/half_plane", "half-planes, 3", "m",
     "direction d and offset c: held only where d . (u, v) <= c"},
    {"/postures_*/dual", "half-planes, 6", "", "the proof of each half-plane"},
    {"/postures_*/support", "directions, 6", "m",
     "direction, proven lower and upper bound of the support, a point that attains the lower"},
    {"/postures_*/robust/status", "postures", "", "of the region that holds all wrenches"},
    {"/postures_*/robust/residual", "postures", "", "likewise"},
    {"/postures_*/robust/polygon", "corners, 2", "m", "planar: corners, counter-clockwise"},
    {"/postures_*/robust/half_space", "half-spaces, 4", "m",
     "spatial: direction d and offset c, robust only where d . x <= c"},
    {"/postures_*/robust/height", "postures", "m", "z of the cross-section below"},
    {"/postures_*/robust/inner", "corners, 2", "m", "cross-section from inside"},
    {"/postures_*/robust/outer", "corners, 2", "m", "cross-section from outside"},
    {"/postures_*/probe/centre_of_mass", "postures, dimension", "m", "that was asked for"},
    {"/postures_*/probe/distance", "postures", "m",
     "to the region's boundary, negative where it is not held"},
    {"/postures_*/probe/held", "postures", "", "1 held, 0 not, both proven; 2 undecided"},
    {"/postures_*/probe/robust_distance", "postures", "m", "to the robust region's boundary"},
    {"/postures_*/probe/disturbance_scale", "postures", "",
     "largest multiple of the set of wrenches that is held"},
    {"/postures_*/*_offset", "postures + 1", "",
     "rows [offset[p], offset[p + 1]) of the data set of that name belong to posture p"},
    {"/postures_*/robust/*_offset", "postures + 1", "", "likewise"},
    {"/postures_*/varied/*", "postures", "", "values of a swept or drawn parameter"},
    // worlds and steps
    {"/parameters/*", "worlds", "", "the scenario's parameter, with its own unit and meaning"},
    {"/normal_velocity", "worlds, 2", "m/s", "normal velocities of the block's corners A and B"},
    {"/routh_set/normal_velocity", "samples, 2", "m/s",
     "the same of sampled impacts of the rigid block"},
    {"/worlds_*/world", "worlds", "", "place in the grid of worlds"},
    {"/worlds_*/position_names", "nq", "", "components of position"},
    {"/worlds_*/velocity_names", "nv", "", "components of velocity"},
    {"/worlds_*/states/time", "frames", "s", "of the kept states"},
    {"/worlds_*/states/position", "frames, worlds, nq", "m, rad", "q; quaternions w, x, y, z"},
    {"/worlds_*/states/velocity", "frames, worlds, nv", "m/s, rad/s", "v"},
    {"/worlds_*/states/energy", "frames, worlds", "J",
     "kinetic, potential (0 at the origin of the scenario) and elastic"},
    {"/worlds_*/final/position", "worlds, nq", "m, rad", "q after the last step"},
    {"/worlds_*/final/velocity", "worlds, nv", "m/s, rad/s", "v after the last step"},
    {"/worlds_*/final/force", "worlds, rows", "N", "constraint forces of the last step"},
    {"/worlds_*/final/displacement", "worlds", "", "of the scenario; `meaning` says which"},
    {"/worlds_*/final/energy_start", "worlds", "J", "before the first step, as states/energy"},
    {"/worlds_*/final/energy", "worlds", "J", "after the last step, as states/energy"},
    {"/worlds_*/final/max_residual", "worlds", "", "largest certified residual of the steps"},
    {"/worlds_*/final/failed_steps", "worlds", "", "steps that did not certify"},
    {"/worlds_*/final/steps_taken", "worlds", "", "steps"},
    {"/worlds_*/final/iterations", "worlds", "", "of the contact solver, all steps"},
    {"/worlds_*/final/iterations_max", "worlds", "", "largest number in one step"},
    {"/worlds_*/final/rows_max", "worlds", "", "largest number of active constraint rows"},
    {"/worlds_*/final/status", "worlds", "", "of the world"},
    {"/steps_*/problem", "problems", "", "place in the input"},
    {"/steps_*/dt", "problems", "s", "step size"},
    {"/steps_*/velocity", "problems, nv", "", "v after the step"},
    {"/steps_*/increment", "problems, nq", "", "dt times the position map times v"},
    {"/steps_*/force", "problems, rows", "N",
     "of every constraint row; 0 where a problem has none"},
    {"/steps_*/kinetic_energy", "problems", "J", "after the step"},
    {"/steps_*/residual", "problems", "", "of the step's conditions, recomputed"},
    {"/steps_*/iterations", "problems", "", "of the solver"},
    {"/steps_*/status", "problems", "", "of the step"},
    // stances
    {"/axes/*", "values", "", "values of a swept parameter"},
    {"/parameter/*", "points", "", "its value at every point, where parameters are drawn"},
    {"/point", "points", "", "place in the grid, the last axis fastest"},
    {"/stance/l", "points, contacts", "m", "the contact is the body's point (l, -h)"},
    {"/stance/h", "points, contacts", "m", "likewise"},
    {"/stance/slope", "points, contacts", "rad", "phi: the normal is (-sin phi, cos phi)"},
    {"/stance/friction", "points, contacts", "", "mu"},
    {"/stance/restitution", "points, contacts", "", "e"},
    {"/stance/force", "points", "N", "F"},
    {"/stance/angle", "points", "rad", "alpha: the force is F (sin alpha, -cos alpha)"},
    {"/stance/torque", "points", "N m", "T"},
    {"/result/verdict", "points", "", "what is known of the stance"},
    {"/result/force_margin", "points", "N",
     "largest t with normal forces >= t and mu N - |T| >= t at rest; negative: no equilibrium"},
    {"/result/ambiguous_modes", "points", "",
     "bit 4 a + b: mode (a, b) of letters F 0, S 1, P 2, N 3 is consistent at rest"},
    {"/result/paradox", "points", "", "bits of Painleve's paradox (docs/algorithms/stability.md)"},
    {"/result/growth", "points", "", "factor of velocities of one cycle of inverse chatter"},
    {"/result/certificate", "points", "", "kind of the proof of stability"},
    {"/result/s", "points", "", "of certificate paper"},
    {"/result/kappa", "points", "", "of certificate paper"},
    {"/result/margin", "points", "", "least slack of the certificate's conditions"},
    {"/result/coefficients", "points, 24", "", "of certificate labelled"},
    {"/result/start", "points, 6", "m, rad, m/s, rad/s",
     "unstable: a state (y, z, theta, u, w, omega) from which the motion grows"},
    {"/result/start_growth", "points", "", "by how much it grew"},
    {"/result/start_events", "points", "", "within how many events"},
    {"/result/events", "points", "", "events that were simulated"},
    {"/result/exact", "points", "", "1: interval arithmetic confirms the certificate"},
    // carom solve
    {"/problems_*/index", "problems", "", "place in the input"},
    {"/problems_*/problem/name", "problems", "", "names"},
    {"/problems_*/problem/kind", "problems", "", "lcp, lp, qp, socp or coulomb_friction"},
    {"/problems_*/problem/M", "problems, n, n", "", "lcp: w = M z + q"},
    {"/problems_*/problem/q", "problems, n", "",
     "lcp and coulomb_friction: constant term; qp and socp: linear cost"},
    {"/problems_*/problem/c", "problems, n", "", "lp: cost"},
    {"/problems_*/problem/A", "problems, m, n", "", "rows of lp and qp; of socp the cones' matrix"},
    {"/problems_*/problem/row_lower", "problems, m", "", "lp: of A x; -inf: none"},
    {"/problems_*/problem/row_upper", "problems, m", "", "lp: of A x; inf: none"},
    {"/problems_*/problem/col_lower", "problems, n", "", "lp: of x; -inf: none"},
    {"/problems_*/problem/col_upper", "problems, n", "", "lp: of x; inf: none"},
    {"/problems_*/problem/sense", "problems", "", "lp: min or max"},
    {"/problems_*/problem/offset", "problems", "", "lp: added to the objective"},
    {"/problems_*/problem/P", "problems, n, n", "", "qp and socp: Hessian of the cost"},
    {"/problems_*/problem/l", "problems, m", "", "qp: of A x; -inf: none"},
    {"/problems_*/problem/u", "problems, m", "", "qp: of A x; inf: none"},
    {"/problems_*/problem/b", "problems, m", "", "socp: b - A x lies in the cones"},
    {"/problems_*/problem/cone_kinds", "cones", "", "socp: zero, nonneg or second_order, in order"},
    {"/problems_*/problem/cone_sizes", "cones", "", "socp: rows of each cone"},
    {"/problems_*/problem/r", "problems", "", "qp and socp: added to the objective"},
    {"/problems_*/problem/W", "problems, n, n", "", "coulomb_friction: u = W r + q"},
    {"/problems_*/problem/mu", "problems, contacts", "", "coulomb_friction: friction"},
    {"/problems_*/problem/dim", "problems", "", "coulomb_friction: components of a contact"},
    {"/problems_*/answer/status", "problems", "", "of the problem"},
    {"/problems_*/answer/residual", "problems", "", "of the answer or its proof, recomputed"},
    {"/problems_*/answer/iterations", "problems", "", "pivots or iterations"},
    {"/problems_*/answer/method", "problems", "", "that gave the answer"},
    {"/problems_*/answer/objective", "problems", "", "in the file's own sense, NaN without answer"},
    {"/problems_*/answer/x", "problems, n", "",
     "z of an lcp, x, or the contact forces r; rows of NaN here and below: none"},
    {"/problems_*/answer/w", "problems, n", "", "lcp: M z + q"},
    {"/problems_*/answer/dual", "problems, m", "", "multipliers of the rows of A"},
    {"/problems_*/answer/reduced_costs", "problems, n", "", "lp: c - A'dual"},
    {"/problems_*/answer/cone_dual", "problems, m", "", "socp: multipliers in the dual cones"},
    {"/problems_*/answer/farkas", "problems, m", "", "proof that nothing is feasible"},
    {"/problems_*/answer/point", "problems, n", "", "unbounded: a feasible point"},
    {"/problems_*/answer/ray", "problems, n", "", "unbounded: a direction from there"},
    {"/problems_*/answer/direction", "problems, n", "", "nonconvex: d with d'P d < 0"},
};

bool matches(std::string_view pattern, std::string_view path) {
  std::size_t i = 0;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (pattern[k] != '*') {
      if (i == path.size() || path[i++] != pattern[k]) return false;
      continue;
    }
    const bool number = k > 0 && pattern[k - 1] == '_';
    const std::string_view rest = pattern.substr(k + 1);
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

std::span<const DataSetNote> data_set_notes() { return kNotes; }

const DataSetNote* data_set_note(std::string_view path) {
  for (const DataSetNote& note : kNotes) {
    if (matches(note.path, path)) return &note;
  }
  return nullptr;
}

}  // namespace carom::io
