#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// Share of the largest pivot below which a free block's pivots are what rounding left of zeros.
inline constexpr double kFreeRank = 1e-11;

/// Rows of a square block [f, f] scaled to one.
template <class Lanes>
CAROM_CALL void scale_rows_of_block(const Lanes& lanes, int f, double* block) {
  lanes.for_each(f, [&](int a) {
    double* row = block + static_cast<long>(a) * f;
    double size = 0.0;
    for (int b = 0; b < f; ++b) size = larger(magnitude(row[b]), size);
    if (!(size > 0.0)) return;
    for (int b = 0; b < f; ++b) row[b] /= size;
  });
}

/// Elimination with full pivoting of a square block [f, f]: its rank, and in columns [f] the
/// block's columns in the order of their pivots. The block is overwritten.
template <class Lanes, class Index>
CAROM_CALL int rank_of_block(const Lanes& lanes, int f, double* block, Index* columns) {
  const auto entry = [&](int a, int b) -> double& { return block[static_cast<long>(a) * f + b]; };
  lanes.for_each(f, [&](int a) { columns[a] = static_cast<Index>(a); });
  double most = 0.0;
  int steps = 0;
  for (; steps < f; ++steps) {
    const int k = steps;
    const int left = f - k;
    // by columns: the first of equal ones
    const auto best = lanes.argmin(
        left * left, 0.0, [&](int e) { return -magnitude(entry(k + e % left, k + e / left)); });
    if (best.index < 0) break;
    most = larger(-best.key, most);
    const int row = k + best.index % left, column = k + best.index / left;
    const auto exchange = [](double& a, double& b) {
      const double kept = a;
      a = b;
      b = kept;
    };
    if (row != k) lanes.for_each(f, [&](int b) { exchange(entry(k, b), entry(row, b)); });
    if (column != k) {
      lanes.for_each(f, [&](int a) {
        exchange(entry(a, k), entry(a, column));
        if (a == k) {
          const Index kept = columns[k];
          columns[k] = columns[column];
          columns[column] = kept;
        }
      });
    }
    lanes.for_each(left - 1, [&](int t) {
      const int a = k + 1 + t;
      const double factor = entry(a, k) /= entry(k, k);
      for (int b = k + 1; b < f; ++b) entry(a, b) -= factor * entry(k, b);
    });
  }
  int rank = 0;
  for (int k = 0; k < steps; ++k) rank += magnitude(entry(k, k)) > most * kFreeRank ? 1 : 0;
  return rank;
}

}  // namespace carom::kernels
