#include "cuda/devices.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <thread>

#include <carom/types/backend.hpp>

#include "cuda/runtime.hpp"

namespace carom::cuda {

namespace {

/// A workspace's parts, one for each of the chosen devices.
struct DeviceParts : ScratchBlock {
  std::vector<std::unique_ptr<WorkspaceState>> parts;
};

}  // namespace

const std::vector<int>& chosen_devices() {
  static const std::vector<int> none;
  const CudaScope* const scope = CudaScope::current();
  return scope == nullptr ? none : scope->devices();
}

OnDevice::OnDevice(int device) {
  check(cudaGetDevice(&before_), "cudaGetDevice");
  check(cudaSetDevice(device), "cudaSetDevice");
}

OnDevice::~OnDevice() { static_cast<void>(cudaSetDevice(before_)); }

void on_each_device(std::int64_t items, WorkspaceState* workspace,
                    const std::function<void(const Share&, WorkspaceState*)>& work) {
  const std::vector<int>& devices = chosen_devices();
  const Scratch<DeviceParts> kept(workspace);
  while (kept->parts.size() < devices.size()) {
    kept->parts.push_back(std::make_unique<WorkspaceState>());
  }
  const auto count = static_cast<std::int64_t>(devices.size());
  std::vector<std::exception_ptr> errors(devices.size());
  std::vector<std::thread> threads;
  const auto run = [&](std::size_t d) {
    const auto at = static_cast<std::int64_t>(d);
    const Share share{items / count * at + std::min(items % count, at),
                      items / count * (at + 1) + std::min(items % count, at + 1), d};
    if (share.begin == share.end) return;
    try {
      const OnDevice there(devices[d]);
      work(share, workspace != nullptr ? kept->parts[d].get() : nullptr);
    } catch (...) {
      errors[d] = std::current_exception();
    }
  };
  for (std::size_t d = 1; d < devices.size(); ++d) threads.emplace_back(run, d);
  run(0);  // may call the caller back
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace carom::cuda
