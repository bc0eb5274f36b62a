#pragma once

#include <string>
#include <vector>

#include <carom/backend.hpp>
#include <carom/compliant.hpp>
#include <carom/types/derivative_worlds.hpp>

namespace carom {

/// Product from the left with the derivative of a whole run of step_worlds(scenario, run, solver):
/// the gradient, in the parameters, h and the state at the start, of a loss whose gradient in the
/// state at the end is `cotangent`. The adjoint of each step (differentiate_compliant) from the
/// last to the first; between them the scenario's rows and its update of q, differentiated exactly.
/// States are kept every `checkpoint` steps (0: all, where 64 worlds take at most 16 MB, else about
/// the root of their number), the steps between are taken again, with the same bits. What is
/// differentiated is the discrete map: where phi changes its sign it jumps (`touch`), and a world
/// within `margin_tolerance` of that is set_valued. `run.stride` and `run.progress` are not read.
/// wanted: names of parameters, or step_size; empty: all. backend: automatic or cpu. Errors:
/// InvalidInput for shapes, settings, the law programme, numbers that are not finite, unknown
/// names; BackendUnavailable.
WorldsGradient differentiate_worlds(const models::Scenario& scenario, const WorldRun& run,
                                    const WorldsCotangent& cotangent,
                                    const CompliantSettings& solver = {},
                                    const DerivativeSettings& settings = {},
                                    const std::vector<std::string>& wanted = {},
                                    std::int64_t checkpoint = 0,
                                    Backend backend = Backend::automatic);

/// Product from the right: rates of the run's end along a direction in the parameters, h and the
/// state at the start. Each step's rate (propagate_compliant) from the first to the last, one-sided
/// and exact at kinks; no state is kept. Otherwise as differentiate_worlds.
WorldsTangent propagate_worlds(const models::Scenario& scenario, const WorldRun& run,
                               const WorldsDirection& direction,
                               const CompliantSettings& solver = {},
                               const DerivativeSettings& settings = {},
                               Backend backend = Backend::automatic);

}  // namespace carom
