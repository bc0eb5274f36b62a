#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// to[i] = from(i) + row i of matrix, [rows, columns], times x, summed in the order of columns. A
/// lane of the CPU takes some rows side by side, since every term of a sum waits for the last one.
template <class Lanes, class V, class From>
CAROM_INLINE void add_row_products(const Lanes& lanes, int rows, int columns, const double* matrix,
                                   const V* x, From&& from, V* to) {
  constexpr int kSideBySide = row_padding<Lanes>() > 1 ? 8 : 1;
  const auto row = [&](int i) { return matrix + static_cast<long>(i) * columns; };
  int done = 0;
  if constexpr (kSideBySide > 1) {
    for (; done + kSideBySide <= rows; done += kSideBySide) {
      const double* const first = row(done);
      V sum[kSideBySide];
      for (int i = 0; i < kSideBySide; ++i) sum[i] = from(done + i);
      for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < kSideBySide; ++i) {
          sum[i] = fused(V(first[static_cast<long>(i) * columns + j]), x[j], sum[i]);
        }
      }
      for (int i = 0; i < kSideBySide; ++i) to[done + i] = sum[i];
    }
  }
  lanes.for_each(rows - done, [&](int i) {
    V sum = from(done + i);
    for (int j = 0; j < columns; ++j) sum = fused(V(row(done + i)[j]), x[j], sum);
    to[done + i] = sum;
  });
}

}  // namespace carom::kernels
