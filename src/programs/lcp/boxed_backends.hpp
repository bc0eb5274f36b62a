#pragma once

#include <carom/types/boxed_lcp.hpp>

#include "core/backends.hpp"

// What each backend offers for boxed LCPs. Shapes, findex and friction were validated before.
namespace carom {

/// frictions: the most friction rows that a problem has.
struct BoxedLcpEntries {
  BoxedLcpResult (*solve)(const BoxedLcpBatch&, const BoxedLcpSettings&, int frictions,
                          WorkspaceState*);
};

namespace cpu {
BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               int frictions, WorkspaceState* workspace = nullptr);
template <>
const BoxedLcpEntries& entries();
}  // namespace cpu
namespace reference {
BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               int frictions, WorkspaceState* workspace = nullptr);
template <>
const BoxedLcpEntries& entries();
}  // namespace reference
namespace cuda {
/// Leaves what its kernel does not certify: pivots are kernels::kBoxLeft there.
BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               int frictions, WorkspaceState* workspace = nullptr);
template <>
const BoxedLcpEntries& entries();
}  // namespace cuda

}  // namespace carom
