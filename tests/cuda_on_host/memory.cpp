#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "device.hpp"

// Device memory: each allocation in pages of its own, against a page that nobody may touch, so
// that what runs past its end faults, as does what comes after its release.

namespace cuda_on_host {

namespace {

constexpr std::size_t kAlignment = 16;
constexpr std::size_t kFillBytes = std::size_t{1} << 22;

struct Pages {
  Allocation allocation;
  char* first;
  std::size_t bytes;  ///< without the guard
};

struct Memory {
  std::map<const char*, Pages> live;  ///< by the first byte
  std::size_t used = 0;
  long made = 0;
  int fails_in = 0;  ///< allocations until one fails
};
thread_local int current_device = 0;

Memory& memory() {
  static auto* const all = new Memory;
  return *all;
}

void protect(int device, int rights) {
  for (const auto& [begin, pages] : memory().live) {
    if (device == kAnyDevice || device == pages.allocation.device) {
      mprotect(pages.first, pages.bytes, rights);
    }
  }
}

std::size_t page_size() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

DeviceAccess::DeviceAccess(int device) : device_(device) {
  mutex().lock();
  protect(device_, PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() {
  protect(device_, PROT_NONE);
  mutex().unlock();
}

const Allocation* allocation_of(const void* data, std::size_t bytes) {
  const std::lock_guard lock(mutex());
  const auto& live = memory().live;
  auto after = live.upper_bound(static_cast<const char*>(data));
  if (after == live.begin()) return nullptr;
  const Allocation& found = std::prev(after)->second.allocation;
  const char* end = found.data + found.bytes;
  return static_cast<const char*>(data) + bytes <= end ? &found : nullptr;
}

void fail_allocation(int n) { memory().fails_in = n; }
long allocations() { return static_cast<long>(memory().live.size()); }
long allocations_made() { return memory().made; }

}  // namespace cuda_on_host

using namespace cuda_on_host;

cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= device_count()) return cudaErrorInvalidDevice;
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = kDeviceBytes;
  *free = kDeviceBytes - memory().used;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  const std::lock_guard lock(mutex());
  Memory& all = memory();
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (all.fails_in > 0 && --all.fails_in == 0) return cudaErrorMemoryAllocation;
  if (bytes > kDeviceBytes - all.used) return cudaErrorMemoryAllocation;
  const std::size_t room = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t pages = (room + page_size() - 1) / page_size() * page_size();
  void* found = mmap(nullptr, pages + page_size(), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return cudaErrorMemoryAllocation;
  auto* const first = static_cast<char*>(found);
  char* const begin = first + (pages - room);
  mprotect(first, pages, PROT_READ | PROT_WRITE);
  std::memset(begin, 0xff, std::min(bytes, kFillBytes));  // NaN, -1
  mprotect(first, pages, PROT_NONE);
  all.live[begin] = {{begin, bytes, current_device}, first, pages};
  all.used += bytes;
  ++all.made;
  *data = begin;
  return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
  const std::lock_guard lock(mutex());
  if (data == nullptr) return cudaSuccess;
  drain_all();
  Memory& all = memory();
  const auto found = all.live.find(static_cast<char*>(data));
  if (found == all.live.end()) {
    problem("cudaFree of what is no allocation");
    return cudaErrorInvalidValue;
  }
  munmap(found->second.first, found->second.bytes + page_size());
  all.used -= found->second.allocation.bytes;
  all.live.erase(found);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  *data = std::malloc(bytes);
  return *data != nullptr || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void* data) {
  std::free(data);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  const Allocation* found = allocation_of(data, 1);
  *attributes = found == nullptr ? cudaPointerAttributes{cudaMemoryTypeUnregistered, -2}
                                 : cudaPointerAttributes{cudaMemoryTypeDevice, found->device};
  return cudaSuccess;
}
