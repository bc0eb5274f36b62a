#pragma once

#include <carom/sdp.hpp>

namespace carom::sdp {

/// Solves a programme brought to size 1 and judges the answer by the programme as it was given;
/// an answer that is too coarse for that is sought once more, more exactly.
SdpResult solve_judged(const SdpProblem& problem, const SdpSettings& settings);

}  // namespace carom::sdp
