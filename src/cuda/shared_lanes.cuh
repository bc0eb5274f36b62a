#pragma once

#include "cuda/lanes.cuh"

namespace carom::cuda {

/// A place in the block's shared memory by its number of values. Functions that are called then
/// know where they read; a pointer that they are handed may be to anything.
class SharedReals {
 public:
  CAROM_INLINE constexpr SharedReals operator+(long count) const {
    return SharedReals(first_ + static_cast<int>(count));
  }
  CAROM_INLINE double& operator[](long i) const { return static_cast<double*>(*this)[i]; }
  CAROM_INLINE operator double*() const {
#if defined(CAROM_DEVICE_CODE)
    return shared_memory() + first_;
#else
    return nullptr;
#endif
  }

  SharedReals() = default;

 private:
  CAROM_INLINE constexpr explicit SharedReals(int first) : first_(first) {}
  int first_ = 0;
};

/// WarpLanes with a workspace in shared memory.
struct SharedWarpLanes : WarpLanes {
  using Reals = SharedReals;
};

}  // namespace carom::cuda
