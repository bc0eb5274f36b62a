#include <algorithm>
#include <utility>

#include <carom/backend.hpp>
#include <carom/error.hpp>

namespace carom {

namespace {

thread_local const CudaScope* innermost = nullptr;

}  // namespace

CudaScope::CudaScope(std::vector<int> devices) : devices_(std::move(devices)), outer_(innermost) {
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
  innermost = this;
}

CudaScope::CudaScope(void* stream) : stream_(stream), outer_(innermost) {
  resolve(Backend::cuda);
  innermost = this;
}

CudaScope::~CudaScope() { innermost = outer_; }

const CudaScope* CudaScope::current() { return innermost; }

}  // namespace carom
