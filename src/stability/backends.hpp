#pragma once

#include <carom/types/stability.hpp>

#include "core/backends.hpp"

// What each backend offers for stances on two contacts. Shapes were validated before.
namespace carom {

namespace stability {
/// Whether stance `problem` of a host batch has valid numbers.
bool accepts(const StanceBatch& batch, std::int64_t problem);
}  // namespace stability

struct StabilityEntries {
  StabilityResult (*analyse)(const StanceBatch&, const StabilitySettings&, WorkspaceState*);
};

namespace cpu {
StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings,
                                  WorkspaceState* workspace);
template <>
const StabilityEntries& entries();
}  // namespace cpu
namespace reference {
StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings,
                                  WorkspaceState* workspace = nullptr);
template <>
const StabilityEntries& entries();
}  // namespace reference
namespace cuda {
StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings,
                                  WorkspaceState* workspace);
template <>
const StabilityEntries& entries();
}  // namespace cuda

}  // namespace carom
