#pragma once

#include <nanobind/nanobind.h>

namespace carom::python {

/// The library's exceptions as those of carom.errors, with what a refusal says as attributes.
void register_errors(nanobind::module_& module);

}  // namespace carom::python
