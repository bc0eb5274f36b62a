#pragma once

#include <exception>

#include "core/workspace.hpp"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"

namespace carom::cuda {

/// Resources of one device that are kept between calls: a stream and memory for batches in transit.
struct DeviceBlock : ScratchBlock {
  explicit DeviceBlock(int device_index) : device(device_index) {}

  int device;
  Stream stream;
  StagingMemory staging;
};

/// A block of the workspace on the current device, or one that ends with the call. A call that ends
/// with an exception leaves none: its stream may still have work for memory that is gone.
template <class Block = DeviceBlock>
class DeviceScratch {
 public:
  explicit DeviceScratch(WorkspaceState* workspace)
      : kept_(workspace != nullptr ? workspace->of<Block>() : own_) {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    if (kept_ == nullptr || (**this).device != device) kept_ = std::make_unique<Block>(device);
  }
  DeviceScratch(const DeviceScratch&) = delete;
  DeviceScratch& operator=(const DeviceScratch&) = delete;
  ~DeviceScratch() {
    if (std::uncaught_exceptions() > exceptions_) kept_.reset();
  }

  Block& operator*() const { return static_cast<Block&>(*kept_); }
  Block* operator->() const { return &**this; }

 private:
  WorkspaceState::Kept own_;
  WorkspaceState::Kept& kept_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace carom::cuda
