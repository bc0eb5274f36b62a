#include <carom/types/batch.hpp>

#include <cstring>
#include <new>

#include "core/device_memory.hpp"

namespace carom::detail {

namespace {
constexpr std::align_val_t kAlignment{64};

const DeviceMemory& device() {
  if (device_memory == nullptr) throw BackendUnavailable(kWithoutCuda);
  return *device_memory;
}

}  // namespace

void* allocate(std::size_t bytes, MemorySpace space) {
  if (space == MemorySpace::device) return device().allocate(bytes);
  return ::operator new(bytes, kAlignment);
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
