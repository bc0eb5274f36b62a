#include "cuda/runtime.hpp"

#include <algorithm>

#include "backends.hpp"

namespace carom::cuda {

namespace {

// Architectures that this file was compiled for, e.g. 800, 900.
constexpr int kArchitectures[] = {__CUDA_ARCH_LIST__};

bool runs_here(const cudaDeviceProp& device) {
  const int capability = 100 * device.major + 10 * device.minor;
  return std::any_of(std::begin(kArchitectures), std::end(kArchitectures),
                     [capability](int architecture) { return architecture <= capability; });
}

cudaMemcpyKind direction(MemorySpace to, MemorySpace from) {
  if (to == MemorySpace::host) {
    return from == MemorySpace::host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
  }
  return from == MemorySpace::host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

}  // namespace

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // an error that does not stick must not be met again
  throw CudaError(std::string(call) + ": " + cudaGetErrorName(error) + ": " +
                  cudaGetErrorString(error));
}

DeviceLimits device_limits() {
  DeviceLimits limits;
  check(cudaGetDevice(&limits.device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&limits.multiprocessors, cudaDevAttrMultiProcessorCount,
                               limits.device),
        "cudaDeviceGetAttribute");
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, limits.device),
        "cudaDeviceGetAttribute");
  limits.shared_per_block = static_cast<std::size_t>(bytes);
  return limits;
}

int resident_blocks(const void* kernel, int threads, std::size_t shared_bytes,
                    const DeviceLimits& limits) {
  if (shared_bytes > kSharedWithoutOptIn) {
    // Always the most: a kernel's limit is the process's, and another host thread may be between
    // this call and its own launch.
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(limits.shared_per_block)),
          "cudaFuncSetAttribute");
  }
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return std::max(1, blocks) * limits.multiprocessors;
}

bool compiled() { return true; }

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> found;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // no driver or no device: not an error here
    return found;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp device{};
    if (cudaGetDeviceProperties(&device, i) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      continue;
    }
    if (!runs_here(device)) continue;
    found.push_back({i, device.name, device.major, device.minor, device.totalGlobalMem});
  }
  return found;
}

void* allocate(std::size_t bytes) {
  void* data = nullptr;
  check(cudaMalloc(&data, bytes), "cudaMalloc");
  return data;
}

void release(void* data) noexcept { static_cast<void>(cudaFree(data)); }

void copy(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
          std::size_t bytes) {
  if (bytes == 0) return;
  check(cudaMemcpy(to, from, bytes, direction(to_space, from_space)), "cudaMemcpy");
}

}  // namespace carom::cuda
