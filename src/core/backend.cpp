#include <carom/backend.hpp>

#include <thread>

#include "build_config.hpp"
#include "core/backends.hpp"

namespace carom {

namespace {

std::string compiler_name() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

std::string only_with_cuda(const char* text) { return cuda::device() != nullptr ? text : ""; }

}  // namespace

const BuildInfo& build_info() {
  static const BuildInfo info{CAROM_VERSION,
                              CAROM_COMMIT,
                              compiler_name(),
                              CAROM_BUILD_TYPE,
                              cuda::device() != nullptr,
                              only_with_cuda(CAROM_CUDA_VERSION),
                              only_with_cuda(CAROM_CUDA_ARCHITECTURES)};
  return info;
}

const std::vector<DeviceInfo>& cuda_devices() {
  static const std::vector<DeviceInfo> devices =
      cuda::device() != nullptr ? cuda::device()->devices() : std::vector<DeviceInfo>{};
  return devices;
}

std::string_view cpu_instruction_set() { return cpu::instruction_set(); }

int hardware_threads() {
  const unsigned threads = std::thread::hardware_concurrency();
  return threads == 0 ? 1 : static_cast<int>(threads);
}

Backend resolve(Backend requested) {
  const bool device = !cuda_devices().empty();
  if (requested == Backend::automatic) return device ? Backend::cuda : Backend::cpu;
  if (requested == Backend::cuda && !device) {
    throw BackendUnavailable(
        cuda::device() != nullptr
            ? "backend cuda: no usable CUDA device was found; use cpu or reference"
            : cuda::kWithoutCuda);
  }
  if (requested == Backend::reference) reference::entries();  // throws where it was left out
  return requested;
}

const BackendEntries& entries(Backend chosen) {
  if (chosen == Backend::cuda) return cuda::device()->entries;
  return chosen == Backend::reference ? reference::entries() : cpu::entries();
}

}  // namespace carom
