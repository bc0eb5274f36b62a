#include <algorithm>
#include <mutex>
#include <vector>

#include "cuda/runtime.hpp"

// Memory between calls that have no workspace: cudaMalloc and cudaFree cost more than many a call.
namespace carom::cuda {

namespace {

struct Pool {
  std::mutex mutex;
  std::vector<DeviceBytes> free;
  std::size_t bytes = 0;
};

Pool& pool() {
  static auto* const all = new Pool;  // outlives static objects that have device memory
  return *all;
}

/// The smallest one of the device that fits and is at most twice as large.
DeviceBytes from_pool(std::size_t size, int device) {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  auto best = all.free.end();
  for (auto bytes = all.free.begin(); bytes != all.free.end(); ++bytes) {
    if (bytes->device != device || bytes->size < size || bytes->size / 2 > size) continue;
    if (best == all.free.end() || bytes->size < best->size) best = bytes;
  }
  if (best == all.free.end()) return {};
  const DeviceBytes found = *best;
  all.bytes -= found.size;
  all.free.erase(best);
  return found;
}

/// False where it was empty.
bool empty_pool() {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  if (all.free.empty()) return false;
  for (const DeviceBytes& bytes : all.free) static_cast<void>(cudaFree(bytes.data));
  all.free.clear();
  all.bytes = 0;
  return true;
}

}  // namespace

DeviceBytes take_bytes(std::size_t size) {
  DeviceBytes bytes;
  if (size == 0) return bytes;
  check(cudaGetDevice(&bytes.device), "cudaGetDevice");
  if (pool_bytes > 0) {
    const DeviceBytes found = from_pool(size, bytes.device);
    if (found.data != nullptr) return found;
  }
  bytes.size = size;
  cudaError_t error = cudaMalloc(&bytes.data, size);
  if (error == cudaErrorMemoryAllocation && empty_pool()) {
    static_cast<void>(cudaGetLastError());
    error = cudaMalloc(&bytes.data, size);
  }
  check(error, "cudaMalloc");
  return bytes;
}

void give_back(const DeviceBytes& bytes) noexcept {
  if (bytes.data == nullptr) return;
  int before = 0;
  const bool idle = pool_bytes > 0 && cudaGetDevice(&before) == cudaSuccess &&
                    cudaSetDevice(bytes.device) == cudaSuccess &&
                    cudaDeviceSynchronize() == cudaSuccess;
  if (pool_bytes > 0) static_cast<void>(cudaSetDevice(before));
  if (idle) {
    Pool& all = pool();
    const std::lock_guard lock(all.mutex);
    if (all.bytes + bytes.size <= pool_bytes) {
      try {
        all.free.push_back(bytes);
        all.bytes += bytes.size;
        return;
      } catch (const std::bad_alloc&) {
      }
    }
  }
  static_cast<void>(cudaFree(bytes.data));
}

}  // namespace carom::cuda
