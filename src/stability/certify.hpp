#pragma once

#include "stability/prepare.hpp"

namespace carom::stability {

/// Tries labelled functions on undecided stances, if the settings' method includes them, and
/// simulates the others; or solves the paper's program. All on the host.
void certify_undecided(const StanceBatch& batch, const PreparedStances& prepared,
                       const StabilitySettings& settings, StabilityResult& result);

}  // namespace carom::stability
