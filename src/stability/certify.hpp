#pragma once

#include "stability/prepare.hpp"

namespace carom::stability {

/// Tries labelled functions on what is undecided, where the settings' method has them, and
/// simulates what they leave open; or solves the paper's own programme. All on the host.
void certify_undecided(const StanceBatch& batch, const PreparedStances& prepared,
                       const StabilitySettings& settings, StabilityResult& result);

}  // namespace carom::stability
