#pragma once

#include <cstddef>

#include <carom/types/batch.hpp>

namespace carom {

/// How memory of a device is had.
struct DeviceMemory {
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* data) noexcept;
  void (*copy)(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
               std::size_t bytes);
};

inline constexpr const char* kWithoutCuda =
    "backend cuda: carom was built without CUDA; use cpu or reference";

/// Null where carom was built without CUDA. src/api/backend.cpp sets it: no room below the backends
/// names one of them.
inline const DeviceMemory* device_memory = nullptr;

}  // namespace carom
