#include "errors.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>

#include <carom/error.hpp>

namespace carom::python {

namespace nb = nanobind;

namespace {

void raise(const char* name, const char* message) {
  const nb::object type = nb::module_::import_("carom.errors").attr(name);
  PyErr_SetString(type.ptr(), message);
}

void raise(const InvalidInput& error) {
  const Refusal& refusal = error.refusal();
  const nb::object type = nb::module_::import_("carom.errors").attr("InvalidInput");
  nb::list index;
  for (const std::int64_t i : refusal.index) index.append(i);
  const nb::object problem = refusal.problem ? nb::cast(*refusal.problem) : nb::object(nb::none());
  const nb::object raised =
      type(error.what(), refusal.field, nb::tuple(index), problem, refusal.value, refusal.rule);
  PyErr_SetObject(type.ptr(), raised.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidInput& error) {
    raise(error);
  } catch (const BackendUnavailable& error) {
    raise("BackendUnavailable", error.what());
  } catch (const CudaError& error) {
    raise("CudaError", error.what());
  }
}

}  // namespace

void register_errors(nb::module_& module) {
  nb::register_exception_translator(translate);
  // For checks of the Python side: one text for every refusal.
  module.def(
      "refuse",
      [](const std::string& field, const std::vector<std::int64_t>& index,
         const std::optional<std::int64_t>& problem, const std::string& relation,
         const std::string& value, const std::string& rule) {
        throw InvalidInput(Refusal{.field = field,
                                   .index = index,
                                   .problem = problem,
                                   .relation = relation,
                                   .value = value,
                                   .rule = rule});
      },
      nb::arg("field"), nb::arg("index") = std::vector<std::int64_t>{},
      nb::arg("problem") = nb::none(), nb::arg("relation") = "is", nb::arg("value") = "",
      nb::arg("rule") = "");
}

}  // namespace carom::python
