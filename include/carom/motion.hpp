#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/settings.hpp>
#include <carom/types/motion.hpp>
#include <carom/workspace.hpp>

/// Motions of mechanisms in time, through free flight, sticking and sliding contact, simultaneous
/// impacts, impacts without collision and accumulations of impacts: samples of the solutions of the
/// differential inclusion (53) of Halm and Posa, "Set-Valued Rigid-Body Dynamics for Simultaneous,
/// Inelastic, Frictional Impacts". docs/explanation/motion.md says how.
///
/// A mechanism has positions q, velocities v with q' = N(q) v, and contacts with gaps, Coulomb's
/// friction and a normal and tangents each. Every sample has two clocks: time t and the paper's s,
/// ds = (1 + |lambda_n|_1) dt in contact, ds = |dLambda_n|_1 in impacts (lambda_n in N, Lambda_n in
/// N s).
namespace carom {

/// Number of positions, velocities and contacts of a mechanism.
MotionSizes motion_sizes(MotionMechanism mechanism, std::span<const double> parameters);

/// Packs problems of one mechanism. Errors: InvalidInput naming the first that differs.
MotionBatch make_batch(std::span<const MotionProblem> problems);

/// Motions of every problem, each sample a function of (seed, problem, sample) and of the problem
/// only: the same for every thread count and for shards by problems or samples. A motion that
/// cannot go on ends `failed` and leaves its neighbours unchanged; a problem with a number that is
/// refused gets `invalid_input`. Errors: InvalidInput for settings and shapes; BackendUnavailable.
MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings = {},
                              Backend backend = Backend::automatic, Workspace* workspace = nullptr);

/// Checks all problems. Errors: InvalidInput naming the problem, field and value: NaN, a start in
/// penetration, a mass matrix that is not positive definite.
void validate(const MotionBatch& batch);

/// Of problem `problem`; first_sample: index of the result's first.
MotionSummary summarise(const MotionResult& result, std::int64_t problem,
                        std::int64_t first_sample = 0);

}  // namespace carom
