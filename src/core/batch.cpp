#include <carom/types/batch.hpp>

#include <cstdint>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/device_memory.hpp"

namespace carom::detail {

namespace {
constexpr std::align_val_t kAlignment{64};

/// Asks for large pages in [data, data + bytes): a fault for each 4 kB of a result can take longer
/// than its numbers. Where there are none, small ones serve.
void ask_for_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  if (bytes < 2 * kPage) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (begin + bytes) / kPage * kPage;
  ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

const DeviceMemory& device() {
  if (device_memory == nullptr) throw BackendUnavailable(kWithoutCuda);
  return *device_memory;
}

}  // namespace

void* allocate(std::size_t bytes, MemorySpace space) {
  if (space == MemorySpace::device) return device().allocate(bytes);
  void* data = ::operator new(bytes, kAlignment);
  ask_for_large_pages(data, bytes);
  return data;
}

void release(void* data, MemorySpace space) noexcept {
  if (space == MemorySpace::device) {
    device().release(data);
  } else {
    ::operator delete(data, kAlignment);
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
