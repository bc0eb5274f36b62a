#pragma once

#include <limits>

#include <carom/types/sdp.hpp>

namespace carom::sdp {

/// Values at which the solver may stop early, for callers that do not need the optimum.
struct SdpStops {
  double enough = std::numeric_limits<double>::infinity();  ///< a feasible y has b'y >= this
  /// X bounds b'y by less than this, for y not much larger than the iterate.
  double hopeless = -std::numeric_limits<double>::infinity();
};

/// The interior-point method on one problem whose shapes were checked. Where it stops before the
/// answer its status is numerical_error. raised: the diagonal of the Schur complement, by this
/// share of itself; equations that follow from others want some, ill-conditioned ones none.
SdpResult solve(const SdpProblem& problem, const SdpSettings& settings, const SdpStops& stops = {},
                double raised = 0.0);

/// The same in numbers of 64 bits (x86-64) or more, several times slower.
SdpResult solve_with_more_digits(const SdpProblem& problem, const SdpSettings& settings);

/// Least eigenvalue of C - sum y A, plus `credit`.
double least_slack(const SdpProblem& problem, const std::vector<double>& y, double credit);

}  // namespace carom::sdp
