#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>

// What the backends say of themselves, and the device's memory.
namespace carom {

namespace cpu {
std::string_view instruction_set();
}
namespace cuda {
bool compiled();
std::vector<DeviceInfo> devices();
void* allocate(std::size_t bytes);
void release(void* data) noexcept;
void copy(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
          std::size_t bytes);
}  // namespace cuda

}  // namespace carom
