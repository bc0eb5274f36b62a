#include <carom/backend.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <carom/batch.hpp>
#include <carom/error.hpp>

#include "api/log.hpp"
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

void tell_build() {
  const BuildInfo& build = build_info();
  std::string text = "version " + build.version + " (" + build.commit + "), instruction set " +
                     std::string(cpu_instruction_set()) + ", " +
                     std::to_string(hardware_threads()) + " threads, ";
  if (!build.cuda_compiled) {
    text += kWithoutCuda;
  } else {
    text += std::to_string(cuda_devices().size()) + " CUDA devices";
  }
  logging::tell(LogLevel::info, text);
}

/// What was asked for and what it became; once before it what the library is.
Backend told(Backend requested, Backend chosen) {
  if (logging::wanted(LogLevel::info)) {
    static std::atomic<bool> said{false};  // not std::once_flag: the callback may call carom
    if (!said.exchange(true)) tell_build();
  }
  if (logging::wanted(LogLevel::debug)) {
    logging::tell(LogLevel::debug, "backend " + std::string(word_of(chosen)) + ", asked for " +
                                       std::string(word_of(requested)));
  }
  return chosen;
}

std::string only_with_cuda(const char* text) { return cuda::device() != nullptr ? text : ""; }

}  // namespace

bool detail::provide_backends() {
  if (cuda::device() != nullptr) device_memory = &cuda::device()->memory;
  cpu::provide_host_code();
  return true;
}

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

std::span<const std::string_view> cpu_instruction_sets() {
  return cpu::compiled_instruction_sets();
}

int hardware_threads() {
  const unsigned threads = std::thread::hardware_concurrency();
  return threads == 0 ? 1 : static_cast<int>(threads);
}

Backend resolve(Backend requested) {
  static const bool provided = detail::provide_backends();  // calls before main
  static_cast<void>(provided);
  const bool device = !cuda_devices().empty();
  if (requested == Backend::automatic) {
    return told(requested, device ? Backend::cuda : Backend::cpu);
  }
  if (requested == Backend::cuda && !device) {
    const char* why = cuda::device() != nullptr
                          ? "backend cuda: no usable CUDA device was found; use cpu or reference"
                          : kWithoutCuda;
    if (logging::wanted(LogLevel::warning)) logging::tell(LogLevel::warning, why);
    throw BackendUnavailable(why);
  }
  if (requested == Backend::reference) reference::require_compiled();
  return told(requested, requested);
}

CudaScope::CudaScope(std::vector<int> devices) : devices_(std::move(devices)) {
  resolve(Backend::cuda);
  const auto refuse = [](int device, const char* rule) {
    throw InvalidInput(Refusal{.field = "devices", .value = std::to_string(device), .rule = rule});
  };
  if (devices_.empty()) {
    throw InvalidInput(Refusal{.field = "devices", .value = "empty", .rule = "name one at least"});
  }
  const std::vector<DeviceInfo>& there = cuda_devices();
  for (auto device = devices_.begin(); device != devices_.end(); ++device) {
    const bool found = std::any_of(there.begin(), there.end(),
                                   [&](const DeviceInfo& info) { return info.index == *device; });
    if (!found) refuse(*device, "must be a usable CUDA device, see carom info");
    if (std::find(devices_.begin(), device, *device) != device) {
      refuse(*device, "must be named once");
    }
  }
  enter();
}

CudaScope::CudaScope(void* stream) : stream_(stream) {
  resolve(Backend::cuda);
  enter();
}

}  // namespace carom
