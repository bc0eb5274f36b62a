#pragma once

#include <cstddef>
#include <cstdint>

#include "programs/qp/kernels/qp_task.hpp"

/// The kernels that run kernels::QpTask: which of them a batch gets, and with how much memory.
namespace carom::cuda {

struct QpKernelLaunch {
  kernels::QpTaskArrays arrays;  ///< in device memory
  int count;                     ///< problems of `list`, or of the batch where it is null
  const int* list;
  bool tried;       ///< finish: whether `first` ran before
  int* rest;        ///< first: the problems that it leaves, in any order
  int* rest_count;  ///< first: how many
  double* work;     ///< [parts.end] for each thread, interleaved, or for each block; null: shared
};

using QpKernel = void (*)(const QpKernelLaunch);

/// A kernel and how to launch it.
struct QpPlan {
  QpKernel kernel;
  int threads;               ///< of a block
  bool thread_each;          ///< a problem to each thread, not to each block
  long doubles;              ///< of memory for each problem under way
  std::size_t shared_limit;  ///< bytes up to which that memory is a block's shared memory
};

/// A thread has a problem to itself up to 24 variables; a block shares a larger one.
QpPlan plan_first(QpMethod method, const kernels::QpShape& shape);

/// A warp has a problem to itself up to 64 variables, a block a larger one. Where all of a large
/// batch are to be finished and they are small, each thread has one.
QpPlan plan_finish(const kernels::QpShape& shape, std::int64_t problems,
                   std::size_t shared_per_block);

}  // namespace carom::cuda
