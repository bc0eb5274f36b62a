#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/packed.hpp>

#include "cpu/simd/pack_memory.hpp"
#include "cpu/simd/spread.hpp"

namespace carom::cpu::simd {

/// Spreads arrays of Width problems over the lanes of packs, in whole blocks of Width entries:
/// those that are asked for.
template <class Isa, class V, int Width>
class QpSpread {
 public:
  /// to[e * Width + lane] = from[lane * count + e] for e < count.
  CAROM_INLINE QpSpread(const double* from, long count, double* to)
      : from_(from), count_(count), to_(to) {}

  CAROM_INLINE void take_all() { take_until(count_); }
  /// The entries in `columns` of row `row` of a matrix, after those of the rows before it.
  CAROM_INLINE void take_row(long row, long n, const int* columns, int listed) {
    const long first = row * n;
    if (listed == n) {
      skip_to(first);
      return take_until(first + n);
    }
    for (int t = 0; t < listed; ++t) {
      const long entry = first + columns[t];
      if (entry < next_) continue;
      skip_to(entry);
      take_until(entry + 1);
    }
  }
  /// 0, or NaN in the lanes where what was taken has a number that is not finite.
  [[nodiscard]] CAROM_INLINE V refused() const { return (sum_[0] + sum_[1]) + (sum_[2] + sum_[3]); }

 private:
  static constexpr int kSums = 4;

  CAROM_INLINE void skip_to(long entry) {
    const long block = entry / Width * Width;
    if (block > next_) next_ = block;
  }
  CAROM_INLINE void take_until(long end) {
    while (next_ < end) take_block();
  }
  CAROM_INLINE void take_block() {
    const double* from = from_ + next_;
    double* to = to_ + next_ * Width;
    if (next_ + Width <= count_) {
      V row[Width];
      V column[Width];
      for (int lane = 0; lane < Width; ++lane) row[lane] = kernels::load<V>(from + lane * count_);
      transpose_packs<Width>(row, column);
      for (int k = 0; k < Width; ++k) {
        kernels::store(to + k * Width, column[k]);
        meet(column[k], k);
      }
    } else {
      for (long k = 0; k < count_ - next_; ++k) {
        for (int lane = 0; lane < Width; ++lane) to[k * Width + lane] = from[lane * count_ + k];
        meet(kernels::load<V>(to + k * Width), 0);
      }
    }
    next_ += Width;
  }
  CAROM_INLINE void meet(V entry, int k) {
    using kernels::fused;
    V& sum = sum_[k / 2 % kSums];
    sum = fused(entry, V(0.0), sum);
  }

  const double* from_;
  long count_;
  double* to_;
  long next_ = 0;  // what stands before it is taken, or not asked for
  V sum_[kSums] = {V(0.0), V(0.0), V(0.0), V(0.0)};
};

}  // namespace carom::cpu::simd
