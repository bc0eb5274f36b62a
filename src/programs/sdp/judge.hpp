#pragma once

#include <carom/types/sdp.hpp>

namespace carom::sdp {

/// Solves a programme brought to size 1 and judges the answer by the programme as it was given;
/// an answer that is too coarse for that is sought once more, more exactly.
/// keep: its numbers stay whatever the status, for who judges them by other means.
SdpResult solve_judged(const SdpProblem& problem, const SdpSettings& settings, bool keep = false);

}  // namespace carom::sdp
