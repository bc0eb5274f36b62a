#pragma once

#include <carom/impact.hpp>
#include <carom/types/impact_judge.hpp>

/// Measured outcomes of impacts. Distances are |.|_M over |v-|_M or, with a covariance C of the
/// measurement, sqrt(d' C^-1 d) in its standard deviations. Batches are in host memory.
namespace carom {

/// Checks what was measured of a valid batch. Errors: InvalidInput naming field, problem and value:
/// shapes, NaN or infinity, a covariance that is not symmetric to 1e-9 relative and positive
/// definite, v- = 0 without a covariance.
void validate(const ImpactBatch& batch, const MeasuredImpacts& measured);

/// Least distance from the measured v+ to v- + M^-1 J' lambda over all impulses in the friction
/// cones (of friction_high where there are intervals): what contacts there can explain at best,
/// whatever the law. A cone program for each problem, by solve_qp. A large floor says that
/// geometry, mass or contacts are wrong.
/// threads: 0 = all hardware threads. Errors: InvalidInput, of either.
ImpactFloor impact_floor(const ImpactBatch& batch, const MeasuredImpacts& measured,
                         int threads = 0);

}  // namespace carom
