#pragma once

#include <cstddef>

#include <carom/types/batch.hpp>

namespace carom {

/// Functions that allocate, free and copy memory of a device.
struct DeviceMemory {
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* data) noexcept;
  void (*copy)(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
               std::size_t bytes);
};

inline constexpr const char* kWithoutCuda =
    "backend cuda: carom was built without CUDA; use cpu or reference";

/// Null if carom was built without CUDA. src/api/backend.cpp sets it: no layer below the backends
/// depends on one of them.
inline const DeviceMemory* device_memory = nullptr;

}  // namespace carom
