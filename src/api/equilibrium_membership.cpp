#include <carom/equilibrium_membership.hpp>

#include <cmath>
#include <string>

#include <carom/error.hpp>

#include "core/message.hpp"
#include "equilibrium/robust_region.hpp"
#include "equilibrium/spatial_backends.hpp"

namespace carom {

std::vector<Membership> probe_membership(const PostureBatch& batch,
                                         std::span<const double> centre_of_mass,
                                         const SpatialSettings& settings) {
  check_spatial(batch, settings);
  const auto problems = static_cast<std::size_t>(batch.problems);
  if (centre_of_mass.size() != 3 * problems) {
    throw InvalidInput("centre_of_mass has " + std::to_string(centre_of_mass.size()) +
                       " values: must have " + std::to_string(3 * problems));
  }
  for (std::size_t i = 0; i < centre_of_mass.size(); ++i) {
    if (!std::isfinite(centre_of_mass[i])) {
      throw InvalidInput("centre_of_mass[" + std::to_string(i / 3) + "][" + std::to_string(i % 3) +
                         "] is " + message::number(centre_of_mass[i]) + ": must be finite");
    }
  }
  return cpu::probe_membership(batch, centre_of_mass, settings);
}

std::vector<RobustRegion> robust_region(const PostureBatch& batch,
                                        const SpatialSettings& settings) {
  check_spatial(batch, settings);
  if (batch.vertices < 1) {
    throw InvalidInput("vertices is " + std::to_string(batch.vertices) +
                       ": a robust region needs wrench_vertices");
  }
  return robust::region(batch, settings);
}

RobustSection robust_section(const RobustRegion& region, double height) {
  return robust::section(region, height);
}

int robust_contains(const RobustRegion& region, std::span<const double> x) {
  if (x.size() != 3) {
    throw InvalidInput("x has " + std::to_string(x.size()) + " values: must have 3");
  }
  return robust::contains(region, x.data());
}

}  // namespace carom
