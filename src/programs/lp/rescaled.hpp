#pragma once

#include <functional>

#include <carom/types/lp.hpp>

/// LPs that a method leaves open, solved once more in other units.
namespace carom::lp_rescaled {

using SolveLp = std::function<LpResult(const LpBatch&, const LpSettings&)>;

/// What `solve` leaves inaccurate, without an end or broken it tries again with rows and columns
/// brought to size 1 by geometric means. Its own scaling, by the largest entries, may be far from
/// that where units are mixed. Answers and proofs count if those of the given numbers do.
LpResult solve(const LpBatch& batch, const LpSettings& settings, const SolveLp& solve);

}  // namespace carom::lp_rescaled
