#pragma once

#include <cstddef>
#include <vector>

#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>

// Devices that run this build's code, and memory of the current one (cuda::Device of
// core/backends.hpp).
namespace carom::cuda {

std::vector<DeviceInfo> devices();
void* allocate(std::size_t bytes);
void release(void* data) noexcept;
void copy(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
          std::size_t bytes);

}  // namespace carom::cuda
