#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/backend.hpp>

namespace carom {

const BuildInfo& build_info();

/// CUDA devices that this process can use; empty without CUDA, driver or device.
const std::vector<DeviceInfo>& cuda_devices();

/// Widest instruction set that the cpu backend uses on this machine: "avx512", "avx2" or "generic".
std::string_view cpu_instruction_set();

/// The instruction sets that this build has code for, narrowest first; this machine need not run
/// all of them.
std::span<const std::string_view> cpu_instruction_sets();

/// Number of hardware threads.
int hardware_threads();

/// Turns `automatic` into `cuda` or `cpu`; throws BackendUnavailable for `cuda` without a device.
Backend resolve(Backend requested);

}  // namespace carom
