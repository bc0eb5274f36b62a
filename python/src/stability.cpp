#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <carom/models/stances.hpp>
#include <carom/stability.hpp>

#include "call.hpp"
#include "families.hpp"
#include "parameters.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

StanceBatch batch_of(const nb::dict& arrays, std::int64_t problems, std::int64_t contacts) {
  StanceBatch batch;
  static_cast<StanceSizes&>(batch) = {problems, contacts};
  borrow(batch, batch, arrays);
  return batch;
}

/// One stance from arrays of one problem.
Stance stance_from(const nb::dict& arrays, std::int64_t contacts) {
  return stance_at(batch_of(arrays, 1, contacts), 0);
}

void validate_all(const nb::dict& arrays, std::int64_t problems, std::int64_t contacts) {
  const StanceBatch batch = batch_of(arrays, problems, contacts);
  without_gil([&] {
    for (std::int64_t p = 0; p < problems; ++p) validate(stance_at(batch, p), p);
  });
}

/// Why each of the given stances has the verdict invalid_input.
nb::dict stance_refusals(const nb::dict& arrays, std::int64_t problems, std::int64_t contacts,
                         const std::vector<std::int64_t>& wanted) {
  return refusals_of(batch_of(arrays, problems, contacts), wanted, stance_refusal);
}

nb::dict analyse(const nb::dict& arrays, std::int64_t problems, std::int64_t contacts,
                 const nb::dict& settings, nb::handle backend, nb::handle workspace) {
  const StanceBatch batch = batch_of(arrays, problems, contacts);
  const auto chosen = settings_from<StabilitySettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  return arrays_of(in_pieces<StabilityResult>(batch, batch,
                                              [&](const StanceBatch& piece, std::int64_t first) {
                                                StabilitySettings part = chosen;
                                                part.first_problem += first;
                                                return analyse_stability(piece, part, where,
                                                                         memory);
                                              }),
                   batch);
}

nb::object verify(const nb::dict& arrays, std::int64_t problems, std::int64_t contacts,
                  const nb::dict& results, int threads) {
  const StanceBatch batch = batch_of(arrays, problems, contacts);
  StabilityResult result;
  borrow(result, batch, results);
  return array_of(without_gil([&] { return verify_certificates(batch, result, threads); }));
}

nb::object replay(const nb::dict& arrays, std::int64_t contacts, const std::array<double, 6>& start,
                  std::int64_t events) {
  const Stance stance = stance_from(arrays, contacts);
  return nb::cast(without_gil([&] { return replayed_growth(stance, start, events); }));
}

nb::list modes(const nb::dict& arrays, std::int64_t contacts) {
  const Stance stance = stance_from(arrays, contacts);
  nb::list result;
  for (const StanceMode& mode : without_gil([&] { return contact_modes(stance); })) {
    nb::dict entry;
    entry["word"] = mode.word;
    entry["admissible"] = mode.admissible;
    entry["solvable"] = mode.solvable;
    entry["consistent"] = mode.consistent;
    entry["acceleration"] =
        array_of(std::vector<double>(mode.acceleration.begin(), mode.acceleration.end()));
    entry["normal_force"] = array_of(std::vector<double>(mode.normal_force));
    entry["tangential_force"] = array_of(std::vector<double>(mode.tangential_force));
    entry["margin"] = mode.margin;
    result.append(entry);
  }
  return result;
}

nb::dict impact(const nb::dict& arrays, std::int64_t contacts, int contact,
                const std::array<double, 3>& velocity) {
  const Stance stance = stance_from(arrays, contacts);
  const StanceImpact found = without_gil([&] { return stance_impact(stance, contact, velocity); });
  nb::dict result;
  result["kind"] = std::string(word_of(found.kind));
  result["normal_impulse"] = found.normal_impulse;
  result["tangential_impulse"] = found.tangential_impulse;
  result["velocity"] = array_of(std::vector<double>(found.velocity.begin(), found.velocity.end()));
  result["consistent"] = found.consistent;
  return result;
}

nb::dict trajectory(const nb::dict& arrays, std::int64_t contacts, const std::array<double, 3>& q,
                    const std::array<double, 3>& v, std::int64_t events, std::uint64_t seed) {
  const Stance stance = stance_from(arrays, contacts);
  const std::vector<StanceEvent> found =
      without_gil([&] { return stance_trajectory(stance, q, v, events, seed); });
  std::vector<double> time, position, velocity;
  std::vector<std::int32_t> contact;
  nb::list kinds, words;
  for (const StanceEvent& event : found) {
    time.push_back(event.time);
    contact.push_back(event.contact);
    position.insert(position.end(), event.position.begin(), event.position.end());
    velocity.insert(velocity.end(), event.velocity.begin(), event.velocity.end());
    kinds.append(std::string(word_of(event.kind)));
    words.append(event.mode);
  }
  const std::size_t n = found.size();
  nb::dict result;
  result["time"] = array_of(std::move(time));
  result["kind"] = nb::tuple(kinds);
  result["contact"] = array_of(std::move(contact));
  result["mode"] = nb::tuple(words);
  result["position"] = array_of(std::move(position), {n, 3});
  result["velocity"] = array_of(std::move(velocity), {n, 3});
  return result;
}

nb::list stance_models() {
  nb::list result;
  for (const models::StanceModel& model : models::stances()) {
    nb::dict entry = entry_of(model);
    nb::list axes;
    for (const models::ChartAxis& axis : model.axes) {
      axes.append(nb::make_tuple(axis.parameter, axis.low, axis.high));
    }
    entry["axes"] = nb::tuple(axes);
    result.append(entry);
  }
  return result;
}

nb::dict build_stances(const std::string& name, const Columns& columns, std::int64_t problems) {
  const models::StanceModel& model = models::find_stance(name);
  std::vector<Stance> built;
  StanceBatch batch = without_gil([&] {
    for (std::size_t p = 0; p < static_cast<std::size_t>(problems); ++p) {
      std::vector<double> values;
      for (const models::Parameter& parameter : model.parameters) {
        values.push_back(parameter.value);
      }
      try {
        for (const auto& [parameter, value] : row_of(columns, p)) {
          values[models::parameter_index(model, parameter)] = value;
        }
        built.push_back(models::stance_of(model, values));
      } catch (const InvalidInput& error) {
        of_problem(error, p, static_cast<std::size_t>(problems));
      }
    }
    return stance_batch(built);
  });
  const StanceSizes sizes = batch;
  return arrays_of(static_cast<StanceBatchArrays<Buffer>&&>(std::move(batch)), sizes);
}

}  // namespace

void add_stability(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("validate_stances", validate_all);
  module.def("stance_refusals", stance_refusals);
  module.def("analyse_stability", analyse, "arrays"_a, "problems"_a, "contacts"_a, "settings"_a,
             "backend"_a, "workspace"_a.none());
  module.def("verify_certificates", verify);
  module.def("replayed_growth", replay);
  module.def("contact_modes", modes);
  module.def("stance_impact", impact);
  module.def("impacts_dissipate", [](const nb::dict& arrays, std::int64_t contacts) {
    const Stance stance = stance_from(arrays, contacts);
    return without_gil([&] { return impacts_dissipate(stance); });
  });
  module.def("proves_ambiguous",
             [](const nb::dict& arrays, std::int64_t contacts, const std::string& word) {
               const Stance stance = stance_from(arrays, contacts);
               return without_gil([&] { return proves_ambiguous(stance, word); });
             });
  module.def("stance_trajectory", trajectory);
  module.def("stance_models", stance_models);
  module.def("build_stances", build_stances);
  module.def("stability_settings", described<StabilitySettings>);
}

}  // namespace carom::python
