#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>

// CUDA C++ for a C++ compiler: in front of every .cu file, as nvcc has its own.

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
// One block runs at a time, on one host thread: what its fibres share is that thread's. Of the
// words that may stand after `extern`, this is the one that also makes a local array a static one.
#define __shared__ thread_local

extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

namespace cuda_on_host {

/// Puts `thread`, one thread's run of a kernel, on the stream.
cudaError_t launch(const void* kernel, const cudaLaunchConfig_t& config,
                   std::function<void()> thread);
void warp_barrier(unsigned mask);
void block_barrier();
std::uint64_t exchange(unsigned mask, std::uint64_t value, int lane_xor);

}  // namespace cuda_on_host

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  std::tuple<std::remove_cv_t<Parameters>...> kept(std::forward<Arguments>(arguments)...);
  return cuda_on_host::launch(reinterpret_cast<const void*>(kernel), *config,
                              [kernel, kept = std::move(kept)] { std::apply(kernel, kept); });
}

inline void __syncthreads() { cuda_on_host::block_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffU) { cuda_on_host::warp_barrier(mask); }
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_xor) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = cuda_on_host::exchange(mask, bits, lane_xor);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

inline unsigned __ballot_sync(unsigned mask, int flag) {
  unsigned all = (flag != 0 ? 1U : 0U) << (threadIdx.x % 32U);
  for (int lane = 1; lane < 32; lane *= 2) all |= __shfl_xor_sync(mask, all, lane);
  return all;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }

// Fibres change at barriers alone.
inline int atomicAdd(int* at, int value) {
  const int old = *at;
  *at += value;
  return old;
}
inline unsigned atomicOr(unsigned* at, unsigned value) {
  const unsigned old = *at;
  *at |= value;
  return old;
}
