#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include <carom/models/models.hpp>

#include "call.hpp"
#include "families.hpp"
#include "parameters.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

nb::list parameters_of(const std::vector<models::Parameter>& parameters) {
  nb::list result;
  for (const models::Parameter& parameter : parameters) {
    nb::dict entry;
    entry["name"] = parameter.name;
    entry["unit"] = parameter.unit;
    entry["value"] = parameter.value;
    entry["minimum"] = parameter.minimum;
    entry["minimum_open"] = parameter.minimum_open;
    entry["maximum"] = parameter.maximum;
    entry["meaning"] = parameter.meaning;
    result.append(entry);
  }
  return result;
}

nb::tuple words_of(const std::vector<std::string>& words) {
  nb::list result;
  for (const std::string& word : words) result.append(word);
  return nb::tuple(result);
}

std::map<std::string, double> row_of(const Columns& columns, std::size_t p) {
  std::map<std::string, double> row;
  for (const auto& [name, values] : columns) {
    row[name] = values.size() == 1 ? values[0] : values[p];
  }
  return row;
}

void of_problem(const InvalidInput& error, std::size_t p, std::size_t problems) {
  if (problems == 1 || error.refusal().field.empty()) throw error;
  Refusal refusal = error.refusal();
  if (!refusal.name.empty()) refusal.whole = refusal.kind + " \"" + refusal.name + "\"";
  refusal.kind = "problem";
  refusal.name.clear();
  refusal.problem = static_cast<std::int64_t>(p);
  throw InvalidInput(std::move(refusal));
}

namespace {

nb::dict model(const models::Model& found) {
  nb::dict entry = entry_of(found);
  entry["dimension"] = found.dimension;
  entry["contact_names"] = words_of(found.contact_names);
  entry["step_size"] = found.step_size;
  entry["max_steps"] = found.max_steps;
  return entry;
}

nb::list impact_models() {
  nb::list result;
  for (const models::Model& each : models::all()) result.append(model(each));
  return result;
}

nb::tuple build_impacts(const std::string& name, const Columns& columns, std::int64_t problems) {
  std::vector<ImpactProblem> built;
  ImpactBatch batch = without_gil([&] {
    for (std::size_t p = 0; p < static_cast<std::size_t>(problems); ++p) {
      try {
        built.push_back(models::build(name, row_of(columns, p)));
      } catch (const InvalidInput& error) {
        of_problem(error, p, static_cast<std::size_t>(problems));
      }
    }
    return make_batch(built);
  });
  const ImpactSizes sizes = batch;
  return nb::make_tuple(
      sizes.dimension,
      arrays_of(static_cast<ImpactBatchArrays<Buffer>&&>(std::move(batch)), sizes));
}

}  // namespace

void add_models(nb::module_& module) {
  module.def("impact_models", impact_models);
  module.def("build_impacts", build_impacts);
}

}  // namespace carom::python
