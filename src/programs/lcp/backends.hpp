#pragma once

#include <carom/types/lcp.hpp>

#include "core/backends.hpp"

// What each backend offers for LCPs. Shapes and numbers were validated before.
namespace carom {

struct LcpEntries {
  LcpResult (*solve)(const LcpBatch&, const LcpSettings&, WorkspaceState*);
};

namespace cpu {
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings,
                    WorkspaceState* workspace = nullptr);
template <>
const LcpEntries& entries();
}  // namespace cpu
namespace reference {
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings,
                    WorkspaceState* workspace = nullptr);
template <>
const LcpEntries& entries();
}  // namespace reference
namespace cuda {
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings,
                    WorkspaceState* workspace = nullptr);
template <>
const LcpEntries& entries();
}  // namespace cuda

}  // namespace carom
