#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <carom/batch.hpp>

namespace carom::bench {

/// A batch of `problems`: problem p is problem which(p) of the set.
template <class Batch, class Which>
Batch picked(const Batch& set, std::int64_t problems, const Which& which) {
  Batch batch;
  static_cast<typename Batch::Sizes&>(batch) = set;
  batch.problems = problems;
  Batch::each_array(
      set,
      [&](const char*, const Extents&, auto& to, const auto& from) {
        if (from.empty()) return;
        const auto stride = static_cast<std::int64_t>(from.size()) / set.problems;
        to = std::remove_cvref_t<decltype(to)>(static_cast<std::size_t>(stride * problems));
        for (std::int64_t p = 0; p < problems; ++p) {
          std::copy_n(from.data() + which(p) * stride, stride, to.data() + p * stride);
        }
      },
      batch, set);
  return batch;
}

/// The set over and over.
template <class Batch>
Batch tiled(const Batch& set, std::int64_t problems) {
  return picked(set, problems, [&](std::int64_t p) { return p % set.problems; });
}

}  // namespace carom::bench
