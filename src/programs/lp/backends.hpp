#pragma once

// What each backend offers for linear programs. Shapes were validated before; `start` may be null.

#include <carom/lp.hpp>

namespace carom {

namespace cpu {
LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, WorkspaceState* workspace = nullptr);
}  // namespace cpu

/// The body on a warp's worth of host lanes, run forwards or backwards.
namespace emulation {
LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, bool backwards);
}  // namespace emulation

namespace reference {
LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start);
}  // namespace reference

namespace cuda {
LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, WorkspaceState* workspace = nullptr);
}  // namespace cuda

/// Pivots that an objective may take.
int lp_pivot_limit(const LpBatch& batch, const LpSettings& settings);

}  // namespace carom
