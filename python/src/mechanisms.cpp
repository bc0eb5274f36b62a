#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <carom/motion_reachable.hpp>
#include <carom/motion_replay.hpp>
#include <carom/motion_tree.hpp>

#include "call.hpp"
#include "families.hpp"
#include "impacts.hpp"
#include "motions.hpp"
#include "parameters.hpp"
#include "settings.hpp"
#include "tables.hpp"

/// Own mechanisms, their equations at a state, and motions judged or gathered.
namespace carom::python {

namespace {

/// given[name], where it is there.
template <class Value>
void take(const nb::dict& given, const char* name, Value& value) {
  if (given.contains(name)) value = nb::cast<Value>(given[name]);
}

/// A link of a tree in the plane or in space.
template <class Link>
Link link_of(const nb::dict& given) {
  Link link;
  take(given, "name", link.name);
  take(given, "parent", link.parent);
  take(given, "slides", link.slides);
  if constexpr (requires { link.ball; }) take(given, "ball", link.ball);
  if constexpr (requires { link.hinge; }) {
    take(given, "place", link.hinge);
  } else {
    take(given, "place", link.place);
  }
  take(given, "axis", link.axis);
  take(given, "mass", link.mass);
  take(given, "inertia", link.inertia);
  take(given, "mass_centre", link.mass_centre);
  take(given, "stiffness", link.stiffness);
  take(given, "rest", link.rest);
  take(given, "damping", link.damping);
  take(given, "effort", link.effort);
  return link;
}

template <class Contact>
Contact contact_of(const nb::dict& given) {
  Contact contact;
  take(given, "name", contact.name);
  take(given, "link", contact.link);
  take(given, "point", contact.point);
  take(given, "normal", contact.normal);
  take(given, "offset", contact.offset);
  take(given, "friction", contact.friction);
  return contact;
}

TreeSpring spring_of(const nb::dict& given) {
  TreeSpring spring;
  take(given, "from", spring.from);
  take(given, "from_point", spring.from_point);
  take(given, "to", spring.to);
  take(given, "to_point", spring.to_point);
  take(given, "stiffness", spring.stiffness);
  take(given, "length", spring.length);
  take(given, "damping", spring.damping);
  return spring;
}

template <class Tree>
Tree tree_of(const nb::dict& given) {
  Tree tree;
  take(given, "name", tree.name);
  take(given, "floating", tree.floating);
  take(given, "gravity", tree.gravity);
  using Link = typename decltype(tree.links)::value_type;
  using Contact = typename decltype(tree.contacts)::value_type;
  for (const nb::handle each : nb::list(given["links"])) {
    tree.links.push_back(link_of<Link>(nb::cast<nb::dict>(each)));
  }
  for (const nb::handle each : nb::list(given["contacts"])) {
    tree.contacts.push_back(contact_of<Contact>(nb::cast<nb::dict>(each)));
  }
  if constexpr (requires { tree.springs; }) {
    for (const nb::handle each : nb::list(given["springs"])) {
      tree.springs.push_back(spring_of(nb::cast<nb::dict>(each)));
    }
  }
  return tree;
}

/// Starts of a mechanism, position [starts, nq] and velocity [starts, nv].
template <class Tree>
nb::tuple starts_of(const Tree& tree, nb::handle position, nb::handle velocity,
                    std::int64_t starts) {
  const auto q = borrowed<double>(position), v = borrowed<double>(velocity);
  const auto count = static_cast<std::size_t>(starts);
  std::vector<MotionProblem> built;
  for (std::size_t p = 0; p < count; ++p) {
    const auto part = [&](const Buffer<double>& from) {
      const std::size_t width = from.size() / count;
      return std::span<const double>(from.data() + p * width, width);
    };
    try {
      built.push_back(motion_problem(tree, part(q), part(v)));
    } catch (const InvalidInput& error) {
      of_problem(error, p, count);
    }
  }
  return motions_of(make_batch(built));
}

nb::tuple tree(const nb::dict& given, int dimension, nb::handle position, nb::handle velocity,
               std::int64_t starts) {
  if (dimension == 2) return starts_of(tree_of<MechanismTree>(given), position, velocity, starts);
  return starts_of(tree_of<SpatialTree>(given), position, velocity, starts);
}

/// The one problem of a batch.
MotionProblem one_of(const nb::dict& arrays, const nb::dict& given) {
  const MotionBatch batch = motion_batch(arrays, given);
  MotionProblem problem;
  problem.mechanism = batch.mechanism;
  problem.drive_interval = batch.drive_interval;
  MotionBatch::each_array(
      batch, [](const char*, const Extents&, auto& to, const auto& from) { to = from.to_vector(); },
      problem, batch);
  return problem;
}

nb::dict terms(const nb::dict& arrays, const nb::dict& given, nb::handle position,
               nb::handle velocity, double time) {
  const MotionProblem problem = one_of(arrays, given);
  const std::vector<double> q = copied<double>(position), v = copied<double>(velocity);
  MotionTerms found = without_gil([&] { return motion_terms(problem, q, v, time); });
  const std::size_t nv = v.size(), m = found.gap.size();
  const auto rows = static_cast<std::size_t>(found.rows);
  nb::dict result;
  result["mass_matrix"] = array_of(std::move(found.mass), {nv, nv});
  result["force"] = array_of(std::move(found.force));
  result["rates"] = array_of(std::move(found.rates));
  result["gap"] = array_of(std::move(found.gap));
  result["friction"] = array_of(std::move(found.friction));
  result["jacobian"] = array_of(std::move(found.jacobian), {m, rows, nv});
  result["drift"] = array_of(std::move(found.drift), {m, rows});
  result["energy"] = found.energy;
  return result;
}

/// (dimension, arrays) of the impact at one start.
nb::tuple impact(const nb::dict& arrays, const nb::dict& given, double gap) {
  const MotionProblem problem = one_of(arrays, given);
  ImpactBatch batch = without_gil([&] {
    const ImpactProblem found = carom::impact_problem(problem, gap);
    return make_batch({&found, 1});
  });
  const ImpactSizes sizes = batch;
  return nb::make_tuple(
      sizes.dimension,
      arrays_of(static_cast<ImpactBatchArrays<Buffer>&&>(std::move(batch)), sizes));
}

nb::dict replay(const nb::dict& arrays, const nb::dict& given, const nb::dict& results,
                const nb::dict& sizes, std::int64_t sample, double step, double tolerance,
                double longest) {
  const MotionProblem problem = one_of(arrays, given);
  MotionResult result;
  result.problems = 1;
  take(sizes, "samples", result.samples);
  take(sizes, "positions", result.positions);
  take(sizes, "velocities", result.velocities);
  take(sizes, "contacts", result.contacts);
  take(sizes, "kept", result.kept);
  take(sizes, "grid_points", result.grid_points);
  take(sizes, "event_rows", result.event_rows);
  borrow(result, result, results);
  const ReplaySettings settings{step, tolerance, longest};
  const MotionReplay found =
      without_gil([&] { return replay_motion(problem, result, sample, settings); });
  nb::dict counts;
  counts["pieces"] = found.pieces;
  counts["skipped"] = found.skipped;
  counts["unsettled"] = found.unsettled;
  counts["differing"] = found.differing;
  counts["jumps"] = found.jumps;
  counts["differing_jumps"] = found.differing_jumps;
  counts["worst"] = found.worst;
  counts["step_error"] = found.step_error;
  return counts;
}

/// A list of (time, net) for every problem.
nb::list reachable_sets(const nb::dict& arrays, const nb::dict& given, const nb::dict& settings,
                        double epsilon, std::int64_t capacity, nb::handle backend) {
  const MotionBatch batch = motion_batch(arrays, given);
  const auto chosen = settings_from<MotionSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  auto found = without_gil([&] { return reachable(batch, chosen, {epsilon, capacity}, where); });
  nb::list result;
  for (std::vector<ReachableSet>& times : found) {
    nb::list sets;
    for (ReachableSet& set : times) sets.append(nb::make_tuple(set.time, net_of(set.net)));
    result.append(sets);
  }
  return result;
}

}  // namespace

void add_mechanisms(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("build_tree", tree, "tree"_a, "dimension"_a, "position"_a, "velocity"_a, "starts"_a);
  module.def("motion_terms", terms, "arrays"_a, "given"_a, "position"_a, "velocity"_a, "time"_a);
  module.def("motion_impact", impact, "arrays"_a, "given"_a, "gap"_a);
  module.def("replay_motion", replay, "arrays"_a, "given"_a, "results"_a, "sizes"_a, "sample"_a,
             "step"_a, "tolerance"_a, "longest"_a);
  module.def("reachable", reachable_sets, "arrays"_a, "given"_a, "settings"_a, "epsilon"_a,
             "capacity"_a, "backend"_a);
}

}  // namespace carom::python
