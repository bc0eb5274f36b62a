#pragma once

#include <cub/temporary.hpp>

namespace cub {

struct DeviceRunLengthEncode {
  template <class Key>
  static cudaError_t Encode(void* temporary, std::size_t& bytes, const Key* keys, Key* unique,
                            int* lengths, int* runs, int count, cudaStream_t stream) {
    const std::size_t needed = 1280 + static_cast<std::size_t>(count) / 16;
    return cuda_on_host::with_temporary(temporary, bytes, needed, stream, [=] {
      int found = 0;
      for (int i = 0; i < count; ++i) {
        if (i == 0 || keys[i] != keys[i - 1]) {
          unique[found] = keys[i];
          lengths[found++] = 0;
        }
        ++lengths[found - 1];
      }
      *runs = found;
    });
  }
};

}  // namespace cub
