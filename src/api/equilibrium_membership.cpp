#include <carom/equilibrium_membership.hpp>

#include <string>

#include "core/require.hpp"
#include "core/workspace.hpp"
#include "equilibrium/robust_region.hpp"
#include "equilibrium/spatial_backends.hpp"

namespace carom {

std::vector<Membership> probe_membership(const PostureBatch& batch,
                                         std::span<const double> centre_of_mass,
                                         const SpatialSettings& settings, Workspace* workspace) {
  check_spatial(batch, settings);
  const auto problems = static_cast<std::size_t>(batch.problems);
  require::size("centre_of_mass", centre_of_mass.size(), 3 * problems);
  require::finite("centre_of_mass", centre_of_mass.data(), centre_of_mass.size(), 3);
  const WorkspaceLease lease(workspace);
  return cpu::probe_membership(batch, centre_of_mass, decided(settings), lease.state());
}

std::vector<RobustRegion> robust_region(const PostureBatch& batch,
                                        const SpatialSettings& settings) {
  check_spatial(batch, settings);
  if (batch.vertices < 1) {
    require::refuse({}, "vertices", {}, std::to_string(batch.vertices),
                    "a robust region needs wrench_vertices");
  }
  return robust::region(batch, decided(settings));
}

RobustSection robust_section(const RobustRegion& region, double height) {
  return robust::section(region, height);
}

int robust_contains(const RobustRegion& region, std::span<const double> x) {
  require::size("x", x.size(), 3);
  return robust::contains(region, x.data());
}

}  // namespace carom
