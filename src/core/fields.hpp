#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include <carom/types/fields.hpp>

namespace carom {

/// Adds to `whole` what `part` says of other samples of the same problem, field by field.
template <class Result>
void merge_fields(Result& whole, const Result& part) {
  const auto join = [](Merge merge, auto& to, const auto& from) {
    if (merge == Merge::sum) to += from;
    if (merge == Merge::least) to = std::min(to, from);
    if (merge == Merge::most) to = std::max(to, from);
  };
  Result::each_field(
      [&](const Field& field, auto& to, const auto& from) {
        using Value = std::remove_cvref_t<decltype(to)>;
        if constexpr (std::is_arithmetic_v<Value>) {
          join(field.merge, to, from);
        } else if constexpr (!std::is_enum_v<Value>) {
          if (to.empty()) {
            to = from;
            return;
          }
          for (std::size_t i = 0; i < from.size(); ++i) join(field.merge, to[i], from[i]);
        }
      },
      whole, part);
}

}  // namespace carom
