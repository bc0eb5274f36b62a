#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/impact.hpp>
#include <carom/workspace.hpp>

/// Simultaneous inelastic frictional impacts, sampled (Halm and Posa, "Set-Valued Rigid-Body
/// Dynamics for Simultaneous, Inelastic, Frictional Impacts"). Equation numbers are that paper's.
namespace carom {

/// Packs problems of one shape. Errors: InvalidInput naming the first that differs.
ImpactBatch make_batch(std::span<const ImpactProblem> problems);

/// The contact that takes most. Of a valid problem; contacts slower than `velocity_tolerance` [m/s]
/// do not approach.
StoppingImpulse stopping_impulse(const ImpactProblem& problem, double velocity_tolerance = 1e-9);

/// Checks one problem or all of a batch. Errors: InvalidInput naming the field, the problem's index
/// and the value: shapes, NaN or infinity, M not symmetric to 1e-9 relative or not positive
/// definite, mu < 0.
void validate(const ImpactProblem& problem);
void validate(const ImpactBatch& batch);

/// "sticking/separating": one word per contact in contact order; planar sliding carries its sign
/// ("sliding+", "sliding-").
std::string mode_words(std::uint64_t modes, int contacts, int dimension);

/// Counter-clockwise convex hull of the net projected onto velocity coordinates (x, y).
std::vector<std::array<double, 2>> convex_hull(const EpsilonNet& net, int x, int y);

/// Algorithm 1 for every (problem, sample), and the epsilon-net of Algorithm 2. Sample s of problem
/// p is a function of (seed, p, s) and of the problem only: the same for every chunk, thread
/// count, shard and, on one backend, bit for bit. Errors: InvalidInput (settings, shapes, numbers
/// under BadProblem::refuse), BackendUnavailable.
/// `workspace` keeps memory for later calls (workspace.hpp).
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings = {},
                            Backend backend = Backend::automatic, Workspace* workspace = nullptr);

/// `workspace` keeps memory for later calls (workspace.hpp).
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings = {},
                       Backend backend = Backend::automatic, Workspace* workspace = nullptr);

}  // namespace carom
