#pragma once

#include <span>

#include <carom/types/posture.hpp>

#include "core/require.hpp"

namespace carom {

/// centre_of_mass: [problems, dimension]. Errors: InvalidInput for another number of values, and
/// for one that is not finite.
inline void check_centres(const PostureBatch& batch, std::span<const double> centre_of_mass) {
  require::size(
      "centre_of_mass", centre_of_mass.size(),
      static_cast<std::size_t>(batch.dimension) * static_cast<std::size_t>(batch.problems));
  require::finite("centre_of_mass", centre_of_mass.data(), centre_of_mass.size(), batch.dimension);
}

}  // namespace carom
