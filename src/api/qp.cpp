#include <carom/qp.hpp>

#include <string>
#include <vector>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/workspace.hpp"
#include "programs/kernels/convex_lemke.hpp"
#include "programs/lp/backends.hpp"
#include "programs/lp/rescaled.hpp"
#include "programs/qp/backends.hpp"
#include "programs/qp/far_answers.hpp"
#include "programs/qp/linear.hpp"

namespace carom {

namespace {

void require_shapes(const QpBatch& batch) {
  require::between("variables", batch.variables, 1, kMaxQpVariables);
  require::between("rows", batch.rows, 0, kMaxQpRows);
  require::at_least("problems", batch.problems, 0);
  std::int64_t cone_rows = 0;
  for (std::size_t c = 0; c < batch.cones.size(); ++c) {
    const Cone& cone = batch.cones[c];
    const std::string name = "cones[" + std::to_string(c) + "]";
    require::between(name + ".size", cone.size, 1, kMaxQpRows);
    if (cone.kind != ConeKind::zero && cone.kind != ConeKind::nonnegative &&
        cone.kind != ConeKind::second_order) {
      require::refuse({}, name + ".kind", {}, std::to_string(static_cast<int>(cone.kind)),
                      "not a ConeKind");
    }
    cone_rows += cone.size;
  }
  require::between("rows with cone rows", batch.rows + cone_rows, 0, kMaxQpRows);
  arrays::require_sizes(batch, batch);
}

}  // namespace

void QpSettings::validate() const { require::settings(*this); }

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, Backend backend,
                  const QpWarmStart& start, Workspace* workspace) {
  settings.validate();
  require_shapes(batch);
  arrays::require_sizes(start, batch, "start.");
  if (settings.method == QpMethod::active_set || settings.method == QpMethod::lemke) {
    for (std::size_t c = 0; c < batch.cones.size(); ++c) {
      if (batch.cones[c].kind == ConeKind::second_order && batch.cones[c].size > 1) {
        throw InvalidInput(Refusal{.field = "method " + std::string(to_string(settings.method)),
                                   .relation = "does not take",
                                   .value = "cones[" + std::to_string(c) +
                                            "], a second-order cone of size " +
                                            std::to_string(batch.cones[c].size)});
      }
    }
  }
  if (settings.method == QpMethod::lemke &&
      kernels::convex_lemke_order(batch.variables, 2L * (batch.rows + batch.cone_rows())) >
          kernels::kLargestConvexLemke) {
    throw InvalidInput(Refusal{.field = "method lemke",
                               .relation = "does not take",
                               .value = std::to_string(batch.variables) + " variables with " +
                                        std::to_string(batch.rows + batch.cone_rows()) + " rows",
                               .rule = "together they must be at most " +
                                       std::to_string(kernels::kLargestConvexLemke / 2)});
  }
  const Backend chosen = resolve(backend);
  require::reachable(chosen, arrays::common_space("qp batch", batch, start));
  const WorkspaceLease lease(workspace);
  const auto solve = [&](const QpBatch& part, const QpWarmStart& guess) {
    QpResult result = entries<QpEntries>(chosen).solve(part, settings, guess, lease.state());
    judge_far_answers(part, result, settings.threads);
    return result;
  };
  if (chosen == Backend::cpu && settings.method == QpMethod::automatic &&
      settings.max_iterations == 0) {
    const std::vector<std::int64_t> linear = qp_linear::problems(batch);
    if (!linear.empty()) {
      return qp_linear::solve(
          batch, settings, start, linear,
          [&](const LpBatch& lp, const LpSettings& simplex) {
            return lp_rescaled::solve(lp, simplex, [&](const LpBatch& part, const LpSettings& own) {
              return entries<LpEntries>(chosen).solve(part, own, nullptr, lease.state());
            });
          },
          solve);
    }
  }
  return solve(batch, start);
}

}  // namespace carom
