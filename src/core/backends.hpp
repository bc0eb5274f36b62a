#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <carom/types/backend.hpp>

#include "core/device_memory.hpp"

/// The functions that each backend implements. Those of one family are a struct, such as LcpEntries
/// in programs/lcp/backends.hpp, and each backend defines entries<> for it: there is no list of all
/// families. Arguments of entries are already validated; the last one is the
/// workspace that the call uses (core/workspace.hpp), or null.
namespace carom {

struct WorkspaceState;

namespace cpu {
template <class Entries>
const Entries& entries();

std::string_view instruction_set();
/// The instruction sets that this build has code for, narrowest first; this machine need not run
/// all of them.
std::span<const std::string_view> compiled_instruction_sets();
/// Registers the host code that other libraries than cpu call (impact/mode_table.hpp,
/// motion/first_impact.hpp).
void provide_host_code();
}  // namespace cpu

namespace reference {
/// Errors: BackendUnavailable where the build leaves the reference out.
template <class Entries>
const Entries& entries();

/// Errors: likewise.
void require_compiled();
}  // namespace reference

namespace cuda {
/// Not to be called where device() is null.
template <class Entries>
const Entries& entries();

struct Device {
  std::vector<DeviceInfo> (*devices)();
  DeviceMemory memory;
};
/// Null where carom was built without CUDA.
const Device* device();
}  // namespace cuda

/// `chosen` is not automatic, and cuda only where a device was found: what `resolve` returns.
template <class Entries>
const Entries& entries(Backend chosen) {
  if (chosen == Backend::cuda) return cuda::entries<Entries>();
  return chosen == Backend::reference ? reference::entries<Entries>() : cpu::entries<Entries>();
}

}  // namespace carom
