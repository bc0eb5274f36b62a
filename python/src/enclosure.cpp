#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <carom/error.hpp>
#include <carom/impact_enclosure.hpp>

#include "call.hpp"
#include "core/words.hpp"
#include "families.hpp"
#include "impacts.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

nb::dict dict_of(ImpactEnclosure&& enclosure, std::size_t contacts) {
  nb::dict result;
  result["status"] = static_cast<int>(enclosure.status);
  result["law"] = std::string(word_of(enclosure.law));
  result["exact"] = enclosure.exact;
  result["rounding"] = enclosure.rounding;
  result["data_rounding"] = enclosure.data_rounding;
  result["made"] = enclosure.made;
  result["faces"] = enclosure.faces;
  result["seconds"] = enclosure.seconds;
  result["normal_velocity_min"] = array_of(std::move(enclosure.normal_velocity_min));
  result["normal_velocity_max"] = array_of(std::move(enclosure.normal_velocity_max));
  result["tangent_velocity_min"] = array_of(std::move(enclosure.tangent_velocity_min));
  result["tangent_velocity_max"] = array_of(std::move(enclosure.tangent_velocity_max));
  const std::size_t rows = 2 * contacts;
  std::vector<std::uint64_t> modes;
  nb::list vertices, constraints;
  for (EnclosedMode& mode : enclosure.modes) {
    modes.push_back(mode.modes);
    const std::size_t corners = mode.vertices.size() / rows;
    vertices.append(array_of(std::move(mode.vertices), {corners, rows}));
    const std::size_t sides = mode.constraints.size() / (rows + 1);
    constraints.append(array_of(std::move(mode.constraints), {sides, rows + 1}));
  }
  result["modes"] = array_of(std::move(modes));
  result["vertices"] = nb::tuple(vertices);
  result["constraints"] = nb::tuple(constraints);
  result["impossible_modes"] = array_of(std::move(enclosure.impossible_modes));
  result["invariant"] = enclosure.invariant;
  return result;
}

RestitutionLaw law_of(const std::string& word) {
  if (const auto law = value_of<RestitutionLaw>(word)) return *law;
  throw InvalidInput("law is \"" + word + "\": must be one of " + listed<RestitutionLaw>());
}

/// What dict_of gave, for the questions that are asked of an enclosure.
ImpactEnclosure from_dict(const nb::dict& given) {
  ImpactEnclosure enclosure;
  enclosure.status = static_cast<EnclosureStatus>(nb::cast<int>(given["status"]));
  enclosure.law = law_of(nb::cast<std::string>(given["law"]));
  enclosure.exact = nb::cast<bool>(given["exact"]);
  enclosure.rounding = nb::cast<double>(given["rounding"]);
  enclosure.data_rounding = nb::cast<double>(given["data_rounding"]);
  enclosure.made = nb::cast<std::int64_t>(given["made"]);
  enclosure.faces = nb::cast<std::int64_t>(given["faces"]);
  enclosure.normal_velocity_min = copied<double>(given["normal_velocity_min"]);
  enclosure.normal_velocity_max = copied<double>(given["normal_velocity_max"]);
  enclosure.tangent_velocity_min = copied<double>(given["tangent_velocity_min"]);
  enclosure.tangent_velocity_max = copied<double>(given["tangent_velocity_max"]);
  const std::vector<std::uint64_t> modes = copied<std::uint64_t>(given["modes"]);
  const nb::tuple vertices(given["vertices"]), constraints(given["constraints"]);
  for (std::size_t i = 0; i < modes.size(); ++i) {
    enclosure.modes.push_back(
        {modes[i], copied<double>(vertices[i]), copied<double>(constraints[i])});
  }
  enclosure.impossible_modes = copied<std::uint64_t>(given["impossible_modes"]);
  enclosure.invariant = nb::cast<std::string>(given["invariant"]);
  return enclosure;
}

nb::list enclose(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
                 int contacts, const nb::dict& settings) {
  const ImpactBatch batch = impact_batch(arrays, problems, dimension, velocities, contacts);
  const auto chosen = settings_from<EnclosureSettings>(settings);
  std::vector<ImpactEnclosure> found = list_in_pieces(
      batch, [&](const ImpactBatch& piece, std::int64_t) { return enclose_impacts(piece, chosen); },
      4);
  nb::list result;
  for (ImpactEnclosure& enclosure : found) {
    result.append(dict_of(std::move(enclosure), static_cast<std::size_t>(contacts)));
  }
  return result;
}

nb::list decide(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
                int contacts, const std::string& text, const std::vector<std::string>& names,
                const nb::dict& settings) {
  const ImpactBatch batch = impact_batch(arrays, problems, dimension, velocities, contacts);
  const auto chosen = settings_from<EnclosureSettings>(settings);
  const ImpactEvent event = impact_event(text, names, dimension);
  std::vector<ImpactDecision> found = list_in_pieces(
      batch,
      [&](const ImpactBatch& piece, std::int64_t) { return decide_impacts(piece, event, chosen); },
      4);
  nb::list result;
  for (ImpactDecision& decision : found) {
    nb::dict each;
    each["answer"] = static_cast<int>(decision.answer);
    each["made"] = decision.made;
    each["seconds"] = decision.seconds;
    each["proof"] =
        decision.answer == ImpactAnswer::never
            ? nb::object(dict_of(std::move(decision.proof), static_cast<std::size_t>(contacts)))
            : nb::none();
    result.append(each);
  }
  return result;
}

bool proves(const nb::dict& arrays, int dimension, int velocities, int contacts,
            const nb::dict& given) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  const ImpactEnclosure enclosure = from_dict(given);
  return without_gil([&] { return proves_enclosure(problem, enclosure); });
}

nb::dict proven(const nb::dict& arrays, int dimension, int velocities, int contacts,
                const std::string& invariant, bool outer, const std::string& law) {
  const ImpactProblem problem = impact_problem(arrays, dimension, velocities, contacts);
  ImpactEnclosure given;
  given.status = outer ? EnclosureStatus::outer : EnclosureStatus::enclosed;
  given.law = law_of(law);
  given.invariant = invariant;
  return dict_of(without_gil([&] { return proven_enclosure(problem, given); }),
                 static_cast<std::size_t>(contacts));
}

}  // namespace

void add_enclosure(nb::module_& module) {
  module.def("enclose_impacts", enclose);
  module.def("decide_impacts", decide);
  module.def("proves_enclosure", proves);
  module.def("proven_enclosure", proven);
  module.def("never_happens", [](const nb::dict& given, const std::string& event,
                                 const std::vector<std::string>& contacts, int dimension) {
    return never_happens(from_dict(given), impact_event(event, contacts, dimension));
  });
  module.def("filled_share", [](const nb::dict& given, nb::handle low, nb::handle high) {
    return filled_share(from_dict(given), copied<double>(low), copied<double>(high));
  });
  module.def("enclosure_settings", described<EnclosureSettings>);
}

}  // namespace carom::python
