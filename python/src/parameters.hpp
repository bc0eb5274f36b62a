#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <carom/error.hpp>
#include <carom/models/models.hpp>

namespace carom::python {

/// Values of parameters by name, one for all problems or one each.
using Columns = std::map<std::string, std::vector<double>>;

std::map<std::string, double> row_of(const Columns& columns, std::size_t p);

/// Throws what was refused of a model, as of problem p of many.
[[noreturn]] void of_problem(const InvalidInput& error, std::size_t p, std::size_t problems);

/// What a model says of its parameters.
nanobind::list parameters_of(const std::vector<models::Parameter>& parameters);

nanobind::tuple words_of(const std::vector<std::string>& words);

/// What every registry's entries have.
template <class Model>
nanobind::dict entry_of(const Model& model) {
  nanobind::dict entry;
  entry["name"] = model.name;
  entry["summary"] = model.summary;
  entry["source"] = model.source;
  entry["parameters"] = parameters_of(model.parameters);
  return entry;
}

}  // namespace carom::python
