#include <carom/lp.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/workspace.hpp"
#include "programs/lp/backends.hpp"
#include "programs/lp/rescaled.hpp"

namespace carom {

namespace {

void require_shapes(const LpBatch& batch) {
  require::between("rows", batch.rows, 0, kMaxLpRows);
  require::between("columns", batch.columns, 1, kMaxLpColumns);
  require::at_least("objectives", batch.objectives, 1);
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
}

}  // namespace

void LpSettings::validate() const { require::settings(*this); }

LpResult solve_lp(const LpBatch& batch, const LpSettings& settings, Backend backend,
                  const Buffer<BasisStatus>* start, Workspace* workspace) {
  settings.validate();
  require_shapes(batch);
  const MemorySpace space = arrays::common_space("lp batch", batch);
  if (start != nullptr) {
    const auto expected = static_cast<std::size_t>(batch.problems * (batch.rows + batch.columns));
    if (start->size() != expected) {
      require::refuse(
          {.relation = "has"}, "start", {}, std::to_string(start->size()) + " values",
          "must have " + std::to_string(expected) + ", as LpResult::basis of this shape");
    }
    if (start->space() != space) {
      throw InvalidInput("start must live in the memory space of the batch");
    }
  }
  const Backend chosen = resolve(backend);
  require::reachable(chosen, space);
  const WorkspaceLease lease(workspace);
  const auto solve = [&](const LpBatch& part, const LpSettings& own) {
    return entries<LpEntries>(chosen).solve(part, own, &part == &batch ? start : nullptr,
                                            lease.state());
  };
  // By reference: a function with a lambda of this size would be allocated.
  return chosen == Backend::reference ? solve(batch, settings)
                                      : lp_rescaled::solve(batch, settings, std::cref(solve));
}

}  // namespace carom
