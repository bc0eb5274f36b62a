#pragma once

#include <carom/stability.hpp>

// What each backend offers for stances on two contacts. Shapes were validated before.
namespace carom {

struct WorkspaceState;

namespace cpu {
StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings,
                                  WorkspaceState* workspace);
}
namespace reference {
StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings);
}
namespace cuda {
StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings,
                                  WorkspaceState* workspace);
}

}  // namespace carom
