#pragma once

#include <span>
#include <vector>

#include <carom/impact.hpp>

namespace carom::io {

/// Velocities v_0, v_1, ... of single impacts (31) in cyclic `order`, [impacts + 1] of [nv] each:
/// what carom::sequential_impact passes through. Ends after `max_impacts` at the latest.
std::vector<std::vector<double>> sequential_path(const ImpactProblem& problem,
                                                 std::span<const int> order,
                                                 int friction_directions, int max_impacts = 1000);

}  // namespace carom::io
