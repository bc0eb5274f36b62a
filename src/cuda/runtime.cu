#include "cuda/runtime.hpp"

#include <algorithm>

#include "cuda/memory.hpp"

namespace carom::cuda {

namespace {

// Architectures that this file was compiled for, e.g. 800, 900.
constexpr int kArchitectures[] = {__CUDA_ARCH_LIST__};

__global__ void any_kernel() {}

/// Whether the driver finds code for a device, or makes it from PTX.
bool has_code(int device) {
  int current = 0;
  if (cudaGetDevice(&current) != cudaSuccess || cudaSetDevice(device) != cudaSuccess) return false;
  cudaFuncAttributes attributes{};
  const bool found =
      cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&any_kernel)) == cudaSuccess;
  static_cast<void>(cudaSetDevice(current));
  return found;
}

/// Machine code runs on later devices of its own generation; whether there is PTX for another
/// generation only the driver knows, and it takes long to ask.
bool runs_here(const cudaDeviceProp& device, int index) {
  const int capability = 100 * device.major + 10 * device.minor;
  const auto any = [capability](auto&& fits) {
    return std::any_of(std::begin(kArchitectures), std::end(kArchitectures), [&](int architecture) {
      return architecture <= capability && fits(architecture);
    });
  };
  if (any([&](int architecture) { return architecture / 100 == device.major; })) return true;
  return any([](int) { return true; }) && has_code(index);
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

cudaStream_t Stream::get() const {
  const CudaScope* const scope = CudaScope::current();
  if (scope == nullptr || scope->stream() == nullptr) return other_ != nullptr ? other_ : stream_;
  return static_cast<cudaStream_t>(*scope->stream());
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

void require_current_device(const void* data) {
  if (data == nullptr) return;
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes");
  if (attributes.type != cudaMemoryTypeDevice || attributes.device == current) return;
  throw InvalidInput("the batch lives on CUDA device " + std::to_string(attributes.device) +
                     ", the calling thread's is " + std::to_string(current) +
                     ": call cudaSetDevice first");
}

int resident_blocks(const void* kernel, int threads, std::size_t shared_bytes,
                    const DeviceLimits& limits) {
  if (shared_bytes > kSharedWithoutOptIn) {
    // Always the most: a kernel's limit is the process's, and another host thread may be between
    // this call and its own launch. What the kernel declares itself comes out of the same memory.
    cudaFuncAttributes own{};
    check(cudaFuncGetAttributes(&own, kernel), "cudaFuncGetAttributes");
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(limits.shared_per_block - own.sharedSizeBytes)),
          "cudaFuncSetAttribute");
  }
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return std::max(1, blocks) * limits.multiprocessors;
}

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
    if (!runs_here(device, i)) {
      static_cast<void>(cudaGetLastError());
      continue;
    }
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
