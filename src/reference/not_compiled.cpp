// Implements the reference backend in builds that leave it out: no entry of any family can be
// called.
#include <carom/types/error.hpp>

#include "core/backends.hpp"

namespace carom {

void reference::require_compiled() {
  throw BackendUnavailable(
      "backend reference: this build leaves it out; cmake -B <build folder> -DCAROM_REFERENCE=ON "
      "and cmake --build <build folder> add it");
}

namespace {

template <class Entries>
const Entries& none() {
  reference::require_compiled();
  static constexpr Entries kNone{};
  return kNone;
}

}  // namespace

}  // namespace carom

// From cmake/CaromNotCompiled.cmake; it uses none().
#include "reference_not_compiled.hpp"
