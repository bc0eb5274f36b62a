#pragma once

#include <limits>

#include <carom/sdp.hpp>

namespace carom::sdp {

/// The interior-point method on one problem whose shapes were checked. It stops as soon as a
/// feasible y has b'y >= enough, with status numerical_error where y is not yet the answer.
SdpResult solve(const SdpProblem& problem, const SdpSettings& settings,
                double enough = std::numeric_limits<double>::infinity());

/// Least eigenvalue of C - sum y A, plus `credit`.
double least_slack(const SdpProblem& problem, const std::vector<double>& y, double credit);

}  // namespace carom::sdp
