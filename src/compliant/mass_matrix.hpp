#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <carom/device/symmetry.hpp>

namespace carom {

/// The place (i, j) below the diagonal of the first entry of M, [nv, nv], that is not equal to its
/// mirror image.
inline std::optional<std::pair<std::int64_t, std::int64_t>> unmirrored(const double* mass,
                                                                       std::int64_t nv) {
  const auto m = [&](std::int64_t i, std::int64_t j) { return mass[i * nv + j]; };
  for (std::int64_t i = 0; i < nv; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      if (!kernels::is_mirrored(m(i, j), m(j, i), m(i, i), m(j, j))) return std::pair{i, j};
    }
  }
  return std::nullopt;
}

}  // namespace carom
