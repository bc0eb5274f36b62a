#pragma once

#include <algorithm>
#include <cstdint>

#include "core/arrays.hpp"

namespace carom::cuda {

/// Copies a shard's rows, [problems, rows, ..] of each array, to where its problems and samples
/// begin. What the shard does not keep is left as it is.
template <class Result>
void place_rows(Result& whole, std::int64_t problem, std::int64_t sample, const Result& part) {
  Result::each_array(
      part,
      [&](const char*, const Extents& extents, auto& to, const auto& from) {
        if (from.empty()) return;
        const std::int64_t row = extents.stride() / extents[1];
        const auto rows = static_cast<std::int64_t>(to.size()) / (whole.problems * row);
        for (std::int64_t p = 0; p < part.problems; ++p) {
          std::copy_n(from.data() + p * extents.stride(), extents.stride(),
                      to.data() + ((problem + p) * rows + sample) * row);
        }
      },
      whole, part);
}

}  // namespace carom::cuda
