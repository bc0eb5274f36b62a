#pragma once

#include <cuda_runtime.h>

#include "cuda/runtime.hpp"

namespace carom::cuda {

/// The number of threads and blocks of a kernel launch.
struct GridSize {
  std::int64_t blocks;
  int threads;  ///< of a block
  std::size_t shared_bytes = 0;
};

/// Puts a kernel on the stream; `name` is for errors. Errors: CudaError.
template <class... Parameters, class... Arguments>
void launch_kernel(const char* name, void (*kernel)(Parameters...), const GridSize& size,
                   cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(size.blocks));
  config.blockDim = dim3(static_cast<unsigned>(size.threads));
  config.dynamicSmemBytes = size.shared_bytes;
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

}  // namespace carom::cuda
