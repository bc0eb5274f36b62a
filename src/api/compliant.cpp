#include <carom/compliant.hpp>

#include "compliant/backends.hpp"
#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/workspace.hpp"

namespace carom {

void CompliantSettings::validate() const { require::settings(*this); }

namespace {

void validate_shapes(const CompliantBatch& batch) {
  require::between("problems", batch.problems, 0, std::int64_t{1} << 40);
  require::between("dimension", batch.dimension, 2, 3);
  require::between("velocities", batch.velocities, 1, kMaxStepVelocities);
  require::between("rows", batch.rows, 0, kMaxStepRows);
  require::between("positions", batch.positions, 0, 2 * kMaxStepVelocities);
  arrays::require_sizes(batch, batch);
}

}  // namespace

std::optional<Refusal> step_refusal(const CompliantBatch& batch, std::int64_t problem) {
  validate_shapes(batch);
  require::between("problem", problem, 0, batch.problems - 1);
  require::reachable(Backend::cpu, arrays::common_space("compliant batch", batch));
  return problem_refusal(batch, problem);
}

CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings,
                                Backend backend, Workspace* workspace) {
  settings.validate();
  validate_shapes(batch);
  const Backend chosen = resolve(backend);
  const MemorySpace space = arrays::common_space("compliant batch", batch);
  require::reachable(chosen, space);
  if (settings.law == StepLaw::programme) {
    if (space == MemorySpace::device) {
      throw InvalidInput(Refusal{.field = "law",
                                 .relation = "",
                                 .value = "programme",
                                 .rule = "the batch must be in host memory"});
    }
    return solve_programme(batch, settings, [&](const QpBatch& qp, const QpSettings& of_qp) {
      return solve_qp(qp, of_qp, chosen, {}, workspace);
    });
  }
  const WorkspaceLease lease(workspace);
  return entries<CompliantEntries>(chosen).solve(batch, settings, lease.state());
}

}  // namespace carom
