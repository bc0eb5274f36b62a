#pragma once

#include "cuda/programs/qp_kernels.hpp"

namespace carom::cuda {

/// What an automatic choice begins with, for sizes that have it; no kernel for others. Problems
/// that dual pivots do not solve to rounding are left to `plan_first`.
QpPlan plan_pivots(const kernels::QpTaskArrays& arrays, std::size_t shared_per_block);

}  // namespace carom::cuda
