#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
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
std::uint64_t exchange(unsigned mask, std::uint64_t value, int source);
unsigned ballot(unsigned mask, bool flag);

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
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  const int lane = static_cast<int>(threadIdx.x % 32U);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = cuda_on_host::exchange(mask, bits, lane / width * width + source % width);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_xor) {
  return __shfl_sync(mask, value, static_cast<int>(threadIdx.x % 32U) ^ lane_xor);
}

inline unsigned __ballot_sync(unsigned mask, int flag) {
  return cuda_on_host::ballot(mask, flag != 0);
}
inline int __any_sync(unsigned mask, int flag) { return __ballot_sync(mask, flag) != 0 ? 1 : 0; }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits)); }
inline unsigned __reduce_or_sync(unsigned mask, unsigned bits) {
  for (int lane_xor = 16; lane_xor > 0; lane_xor /= 2) {
    bits |= __shfl_xor_sync(mask, bits, lane_xor);
  }
  return bits;
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  for (int lane_xor = 16; lane_xor > 0; lane_xor /= 2) {
    value = std::max(value, __shfl_xor_sync(mask, value, lane_xor));
  }
  return value;
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return ~__reduce_max_sync(mask, ~value);
}

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
