#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <string>

#include <carom/error.hpp>
#include <carom/log.hpp>

#include "families.hpp"

namespace nb = nanobind;

namespace carom::python {

namespace {

void set_callback(nb::object callback, const std::string& level) {
  const std::optional<LogLevel> most = value_of<LogLevel>(level);
  if (!most) {
    throw InvalidInput(
        Refusal{.field = "level", .value = level, .rule = "must be off, warning, info or debug"});
  }
  if (callback.is_none()) {
    set_log({});
    return;
  }
  // The last owner may let go in a thread that does not hold Python's lock.
  const std::shared_ptr<nb::object> kept(new nb::object(std::move(callback)), [](nb::object* held) {
    const nb::gil_scoped_acquire locked;
    delete held;
  });
  set_log(
      [kept](LogLevel at, std::string_view text) {
        const nb::gil_scoped_acquire locked;
        (*kept)(word_of(at), text);
      },
      *most);
}

}  // namespace

void add_log(nb::module_& module) {
  module.def("set_log", set_callback, nb::arg("callback").none(), nb::arg("level"));
}

}  // namespace carom::python
