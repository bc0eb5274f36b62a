#pragma once

#include <carom/types/sdp.hpp>

namespace carom::sdp {

/// Solves a program scaled to size 1 and certifies the answer with the given program. If the
/// residual is too large, it solves again with a smaller tolerance.
/// keep: returns the numbers with any status, for callers with their own certificate.
SdpResult solve_judged(const SdpProblem& problem, const SdpSettings& settings, bool keep = false);

}  // namespace carom::sdp
