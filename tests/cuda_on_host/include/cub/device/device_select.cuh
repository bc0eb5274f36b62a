#pragma once

#include <cub/temporary.hpp>

namespace cub {

struct DeviceSelect {
  template <class In, class Flag, class Out>
  static cudaError_t Flagged(void* temporary, std::size_t& bytes, In in, const Flag* flags,
                             Out* out, int* selected, int count, cudaStream_t stream) {
    const std::size_t needed = 1024 + static_cast<std::size_t>(count) / 16;
    return cuda_on_host::with_temporary(temporary, bytes, needed, stream, [=] {
      int kept = 0;
      for (int i = 0; i < count; ++i) {
        if (flags[i] != 0) out[kept++] = in[i];
      }
      *selected = kept;
    });
  }
};

}  // namespace cub
