#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cuda/runtime.hpp"
#include "programs/qp/kernels/qp_task.hpp"

namespace carom::cuda {

/// The rows of each column, as columns_of (qp_large.hpp) gives them.
using QpColumns = std::pair<std::vector<int>, std::vector<int>>;

/// Solves `problems` large quadratic programs without cone rows by the splitting, with cuSOLVER and
/// cuBLAS. task: in device memory. Returns the problems that are not certified.
std::vector<int> solve_large_qps_on_device(const kernels::QpTaskArrays& task,
                                           const QpColumns& columns, std::int64_t problems,
                                           int limit, cudaStream_t stream);

}  // namespace carom::cuda
