#include <carom/types/batch.hpp>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/device_memory.hpp"

namespace carom::detail {

namespace {
constexpr std::size_t kAlignment = 64;

/// Memory of the host. Large arrays are whole large pages: a fault for each 4 kB of a result can
/// take longer than its numbers. Where the system has none, small ones serve.
void* allocate_host(std::size_t bytes) {
#if defined(__linux__)
  constexpr std::size_t kPage = std::size_t{1} << 21;
  const std::size_t unit = bytes < kPage ? kAlignment : kPage;
  void* data = nullptr;
  if (bytes <= std::numeric_limits<std::size_t>::max() - unit) {
    bytes = (bytes + unit - 1) / unit * unit;
    data = std::aligned_alloc(unit, bytes);
  }
  if (data == nullptr) throw std::bad_alloc();
  if (unit == kPage) ::madvise(data, bytes, MADV_HUGEPAGE);
  return data;
#else
  return ::operator new (bytes, std::align_val_t{kAlignment});
#endif
}
void release_host(void* data) noexcept {
#if defined(__linux__)
  std::free(data);
#else
  ::operator delete (data, std::align_val_t{kAlignment});
#endif
}

const DeviceMemory& device() {
  if (device_memory == nullptr) throw BackendUnavailable(kWithoutCuda);
  return *device_memory;
}

}  // namespace

void* allocate(std::size_t bytes, MemorySpace space) {
  if (space == MemorySpace::device) return device().allocate(bytes);
  return allocate_host(bytes);
}

void release(void* data, MemorySpace space) noexcept {
  if (space == MemorySpace::device) {
    device().release(data);
  } else {
    release_host(data);
  }
}

void copy(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
          std::size_t bytes) {
  if (bytes == 0) return;
  if (to_space == MemorySpace::host && from_space == MemorySpace::host) {
    std::memcpy(to, from, bytes);
  } else {
    device().copy(to, to_space, from, from_space, bytes);
  }
}

}  // namespace carom::detail
