#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/device/constraint_rows.hpp>
#include <carom/models/scenarios.hpp>
#include <carom/qp.hpp>
#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/compliant.hpp>
#include <carom/workspace.hpp>

/// Steps of multibody systems with compliant bilateral, unilateral and contact constraints, stable
/// at any step size (Drumwright, "An Unconditionally Stable First-Order Constraint Solver for
/// Multibody Systems"; docs/explanation/compliant.md derives what is solved). Equation numbers are
/// that paper's.
namespace carom {

/// Packs problems of one dimension, nv and nq; the number of rows is the largest. Errors:
/// InvalidInput naming the first that is refused by `validate` or differs in shape.
CompliantBatch make_batch(std::span<const CompliantProblem> problems);

/// Errors: InvalidInput naming the field, the constraint, the problem and the value: shapes, NaN or
/// infinity, h <= 0, M not symmetric to 1e-9 relative or not positive definite, K, B or mu < 0.
void validate(const CompliantProblem& problem, std::int64_t index = 0);

/// Takes one step in every problem: v' = v + h M^-1 (G'lambda + f), (37). A problem with refused
/// numbers gets Status::invalid_input (`step_refusal` says why) and leaves its neighbours
/// unchanged. The result lives in the memory space of `batch`. backend reference: the un-eliminated
/// equations, with Eigen. Errors: InvalidInput for shapes and settings; BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings = {},
                                Backend backend = Backend::automatic,
                                Workspace* workspace = nullptr);

/// Why solve_compliant gives a problem of a batch in host memory Status::invalid_input: the first
/// number that is refused, or nothing. Errors: InvalidInput for shapes and for a batch elsewhere.
std::optional<Refusal> step_refusal(const CompliantBatch& batch, std::int64_t problem);

/// Steps every world `run.steps` times, without leaving the device between the chunks of a stride.
/// A world is a function of its parameters, h and the number of steps: the same in any batch and
/// for any number of threads. Law programme: (176)-(182) by solve_qp, rows evaluated on the host,
/// max_residual the programme's. backend reference: one step at a time by the reference solver.
/// Errors: InvalidInput (settings, shapes, parameters by name unless isolated), BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
WorldsResult step_worlds(const models::Scenario& scenario, const WorldRun& run,
                         const CompliantSettings& settings = {},
                         Backend backend = Backend::automatic, Workspace* workspace = nullptr);

}  // namespace carom
