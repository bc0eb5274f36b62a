#pragma once

#include <carom/types/motion.hpp>

#include "cuda/motion/first_impacts.hpp"

namespace carom {
struct WorkspaceState;
}

namespace carom::cuda {

/// Motions of a mechanism with kDim rows a contact; a unit of its own each, as nvcc takes a minute
/// for one.
template <int kDim>
void run_motions(const MotionBatch& batch, const MotionSettings& settings, FirstImpacts& first,
                 MotionResult& result, WorkspaceState* workspace);

extern template void run_motions<2>(const MotionBatch&, const MotionSettings&, FirstImpacts&,
                                    MotionResult&, WorkspaceState*);
extern template void run_motions<3>(const MotionBatch&, const MotionSettings&, FirstImpacts&,
                                    MotionResult&, WorkspaceState*);

}  // namespace carom::cuda
