#include <carom/equilibrium_membership.hpp>

#include "core/require.hpp"
#include "core/workspace.hpp"
#include "equilibrium/spatial_backends.hpp"

namespace carom {

std::vector<Membership> probe_membership(const PostureBatch& batch,
                                         std::span<const double> centre_of_mass,
                                         const SpatialSettings& settings, Workspace* workspace) {
  settings.validate();
  check_spatial(batch, Backend::cpu);
  const auto problems = static_cast<std::size_t>(batch.problems);
  require::size("centre_of_mass", centre_of_mass.size(), 3 * problems);
  require::finite("centre_of_mass", centre_of_mass.data(), centre_of_mass.size(), 3);
  const WorkspaceLease lease(workspace);
  return cpu::probe_membership(batch, centre_of_mass, settings.decided(), lease.state());
}

}  // namespace carom
