#pragma once

#include <cstring>
#include <functional>

#include <cuda_runtime_api.h>

namespace cuda_on_host {

/// Puts work of a library on the stream.
void enqueue(cudaStream_t stream, std::function<void()> work);

/// CUB's two calls: the size of the temporary memory, then the work, which uses all of it.
template <class Work>
cudaError_t with_temporary(void* temporary, std::size_t& bytes, std::size_t needed,
                           cudaStream_t stream, Work work) {
  if (temporary == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed) return cudaErrorInvalidValue;
  enqueue(stream, [temporary, needed, work] {
    std::memset(temporary, 0xee, needed);
    work();
  });
  return cudaSuccess;
}

}  // namespace cuda_on_host
