#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/sdp.hpp>

/// Batches of small semidefinite programs, solved by an interior-point method
/// (docs/explanation/sdp.md).
namespace carom {

/// Solves every problem by itself; a status is set from residuals and eigenvalues recomputed from
/// the problem. Errors: InvalidInput naming problem, field and value for shapes that do not fit,
/// NaN and matrices that are not symmetric.
std::vector<SdpResult> solve_sdps(std::span<const SdpProblem> problems,
                                  const SdpSettings& settings = {});
SdpResult solve_sdp(const SdpProblem& problem, const SdpSettings& settings = {});

}  // namespace carom
