#pragma once

#include <carom/types/fields.hpp>

namespace carom {

/// In the place of a name in a result's `each_array` (batch.hpp): name, kind, unit and meaning of
/// the array, as a Field has them. The command's JSON and HDF5 files, docs/reference/files.md and
/// Python's docstrings have it from there. kind: of one problem's value in JSON; empty: the
/// document does not have it by itself.
struct ArrayField : Field {
  constexpr ArrayField(const char* own_name, const char* own_kind, const char* own_unit,
                       const char* own_meaning)
      : Field{own_name, own_kind, own_unit, own_meaning} {}

  /// For those who ask only for names. NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator const char*() const { return name; }
};

}  // namespace carom
