#include <carom/equilibrium_membership.hpp>

#include "core/workspace.hpp"
#include "equilibrium/centres.hpp"
#include "equilibrium/spatial_backends.hpp"

namespace carom {

std::vector<Membership> probe_membership(const PostureBatch& batch,
                                         std::span<const double> centre_of_mass,
                                         const SpatialSettings& settings, Workspace* workspace) {
  settings.validate();
  check_spatial(batch, Backend::cpu);
  check_centres(batch, centre_of_mass);
  const WorkspaceLease lease(workspace);
  return cpu::probe_membership(batch, centre_of_mass, settings.decided(), lease.state());
}

}  // namespace carom
