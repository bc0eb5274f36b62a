#include <carom/lcp.hpp>

#include <cmath>
#include <string>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/workspace.hpp"
#include "programs/lcp/backends.hpp"

namespace carom {

void LcpSettings::validate() const { require::settings(*this); }

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, Backend backend,
                    Workspace* workspace) {
  settings.validate();
  require::between("order", batch.order, 1, kMaxLcpOrder);
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
  const Backend chosen = resolve(backend);
  require::reachable(chosen, arrays::common_space("lcp batch", batch));
  const WorkspaceLease lease(workspace);
  return entries<LcpEntries>(chosen).solve(batch, settings, lease.state());
}

}  // namespace carom
