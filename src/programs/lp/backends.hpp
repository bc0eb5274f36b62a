#pragma once

// What each backend offers for linear programs. Shapes were validated before; `start` may be null.

#include <carom/types/lp.hpp>

#include "core/backends.hpp"

namespace carom {

struct LpEntries {
  LpResult (*solve)(const LpBatch&, const LpSettings&, const Buffer<BasisStatus>* start,
                    WorkspaceState*);
};

namespace cpu {
LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, WorkspaceState* workspace = nullptr);
template <>
const LpEntries& entries();
}  // namespace cpu

namespace reference {
LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, WorkspaceState* workspace = nullptr);
template <>
const LpEntries& entries();
}  // namespace reference

namespace cuda {
LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, WorkspaceState* workspace = nullptr);
template <>
const LpEntries& entries();
}  // namespace cuda

/// Pivots that an objective may take.
inline int lp_pivot_limit(const LpBatch& batch, const LpSettings& settings) {
  return settings.max_pivots > 0 ? settings.max_pivots : 50 * (batch.rows + batch.columns);
}

}  // namespace carom
