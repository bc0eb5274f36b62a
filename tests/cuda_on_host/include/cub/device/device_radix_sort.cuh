#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include <cub/temporary.hpp>

namespace cub {

struct DeviceRadixSort {
  /// Stable, by the bits [first_bit, past_bit) of the keys.
  template <class Key, class Value>
  static cudaError_t SortPairs(void* temporary, std::size_t& bytes, const Key* keys, Key* keys_out,
                               const Value* values, Value* values_out, int count, int first_bit,
                               int past_bit, cudaStream_t stream) {
    const std::size_t needed = 768 + static_cast<std::size_t>(count) / 4;
    return cuda_on_host::with_temporary(temporary, bytes, needed, stream, [=] {
      std::vector<int> order(static_cast<std::size_t>(count));
      std::iota(order.begin(), order.end(), 0);
      const int bits = past_bit - first_bit;
      const Key mask = bits >= static_cast<int>(8 * sizeof(Key)) ? ~Key{0} : (Key{1} << bits) - 1;
      const auto digits = [&](int i) { return (keys[i] >> first_bit) & mask; };
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return digits(a) < digits(b); });
      for (std::size_t i = 0; i < order.size(); ++i) {
        keys_out[i] = keys[order[i]];
        if (values_out != nullptr) values_out[i] = values[order[i]];
      }
    });
  }

  template <class Key>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, const Key* keys, Key* keys_out,
                              int count, int first_bit, int past_bit, cudaStream_t stream) {
    const int* none = nullptr;
    return SortPairs(temporary, bytes, keys, keys_out, none, const_cast<int*>(none), count,
                     first_bit, past_bit, stream);
  }
};

}  // namespace cub
