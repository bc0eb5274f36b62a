#pragma once

#include <carom/lcp.hpp>

// What each backend offers for LCPs. Shapes and numbers were validated before.
namespace carom {

namespace cpu {
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings,
                    WorkspaceState* workspace = nullptr);
}
namespace reference {
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings);
}
namespace cuda {
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings,
                    WorkspaceState* workspace = nullptr);
}
/// The bodies on a warp's worth of host lanes, run forwards or backwards; compiled with the tests.
namespace emulation {
LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, bool backwards);
}

}  // namespace carom
