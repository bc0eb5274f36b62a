#pragma once

#include <carom/device/host_device.hpp>

#include "cpu/simd/gather.hpp"
#include "cpu/simd/packed_lane.hpp"
#include "cpu/simd/programs/qp_wide_layout.hpp"
#include "cpu/simd/spread.hpp"

/// Linear algebra of one small problem on vectors of eight, whatever the instruction set: every
/// entry sees the same operations in the same order. Vectors are padded to whole eights.
namespace carom::cpu::simd {

/// Eight doubles.
template <class Isa>
struct Eight {
  using Pack = typename Isa::Pack;
  static constexpr int kPacks = 8 / Isa::kWidth;
  Pack part[kPacks];

  Eight() = default;
  explicit CAROM_INLINE Eight(double x) {
    for (Pack& p : part) p = Pack(x);
  }
  static CAROM_INLINE Eight load(const double* from) {
    Eight result;
    for (int k = 0; k < kPacks; ++k) result.part[k] = Pack::load(from + k * Isa::kWidth);
    return result;
  }
  /// The first `count` doubles, fewer than eight, then zeros.
  static CAROM_INLINE Eight load_first(const double* from, int count) {
    return map([&](int k) {
      const int left = count - k * Isa::kWidth;
      if (left >= Isa::kWidth) return Pack::load(from + k * Isa::kWidth);
      return left > 0 ? Joined<Isa>::first_of(from + k * Isa::kWidth, left) : Pack(0.0);
    });
  }
  /// from[at[e]] of the first `count`, zeros elsewhere; at: readable for eight.
  static CAROM_INLINE Eight gather(const double* from, const int* at, int count) {
    return map([&](int k) {
      const int left = count - k * Isa::kWidth;
      return left > 0 ? gather_first<Isa>(from, at + k * Isa::kWidth, left) : Pack(0.0);
    });
  }
  CAROM_INLINE void store(double* to) const {
    for (int k = 0; k < kPacks; ++k) part[k].store_doubles(to + k * Isa::kWidth);
  }
  template <class F>
  static CAROM_INLINE Eight map(F&& f) {
    Eight result;
    for (int k = 0; k < kPacks; ++k) result.part[k] = f(k);
    return result;
  }
  friend CAROM_INLINE Eight operator+(const Eight& a, const Eight& b) {
    return map([&](int k) { return a.part[k] + b.part[k]; });
  }
  friend CAROM_INLINE Eight operator-(const Eight& a, const Eight& b) {
    return map([&](int k) { return a.part[k] - b.part[k]; });
  }
  friend CAROM_INLINE Eight operator*(const Eight& a, const Eight& b) {
    return map([&](int k) { return a.part[k] * b.part[k]; });
  }
  friend CAROM_INLINE Eight operator/(const Eight& a, const Eight& b) {
    return map([&](int k) { return a.part[k] / b.part[k]; });
  }
  friend CAROM_INLINE Eight fused(const Eight& a, const Eight& b, const Eight& c) {
    return map([&](int k) { return fused(a.part[k], b.part[k], c.part[k]); });
  }
  friend CAROM_INLINE Eight smaller(const Eight& a, const Eight& b) {
    return map([&](int k) { return smaller(a.part[k], b.part[k]); });
  }
  friend CAROM_INLINE Eight larger(const Eight& a, const Eight& b) {
    return map([&](int k) { return larger(a.part[k], b.part[k]); });
  }
  friend CAROM_INLINE Eight magnitude(const Eight& a) {
    return map([&](int k) { return magnitude(a.part[k]); });
  }
  friend CAROM_INLINE Eight square_root(const Eight& a) {
    return map([&](int k) { return square_root(a.part[k]); });
  }
  /// a > b ? yes : no
  static CAROM_INLINE Eight where_greater(const Eight& a, const Eight& b, const Eight& yes,
                                          const Eight& no) {
    return map([&](int k) { return select(a.part[k] > b.part[k], yes.part[k], no.part[k]); });
  }
  /// Whether a is above b anywhere.
  static CAROM_INLINE bool any_greater(const Eight& a, const Eight& b) {
    auto found = a.part[0] > b.part[0];
    for (int k = 1; k < kPacks; ++k) found = found | (a.part[k] > b.part[k]);
    return any_of(found);
  }
  [[nodiscard]] CAROM_INLINE double sum() const { return Joined<Isa>::sum(part); }
  [[nodiscard]] CAROM_INLINE double largest() const {
    Pack most = part[0];
    for (int k = 1; k < kPacks; ++k) most = larger(part[k], most);
    return Joined<Isa>::largest(most);
  }
  /// Of finite keys, the first of equal ones; -1 where there is none. place: of the first of the
  /// eight that a key came from.
  static CAROM_INLINE kernels::ArgMin<double> first_smallest(const Eight& keys,
                                                             const Eight& place) {
    kernels::ArgMin<double> result = Joined<Isa>::first_smallest(keys.part[0], place.part[0]);
    for (int k = 1; k < kPacks; ++k) {
      const Pack from = place.part[k] + Pack(static_cast<double>(k * Isa::kWidth));
      const auto other = Joined<Isa>::first_smallest(keys.part[k], from);
      if (other.key < result.key || (other.key == result.key && other.index < result.index)) {
        result = other;
      }
    }
    return result;
  }
};

template <class Isa>
struct Wide {
  using Vector = Eight<Isa>;
  static constexpr int kBlock = Isa::kWidth == 8 ? 4 : 2;

  /// to = start + sum over k < count of factor[k] rows[k]; start: null for zeros.
  static CAROM_INLINE void combine(int vectors, int count, const double* factor, const double* rows,
                                   long stride, const double* start, double* to) {
    int v = 0;
    for (; v + kBlock <= vectors; v += kBlock) {
      combine_block<kBlock>(count, factor, rows + 8L * v, stride, start, 8L * v, to);
    }
    switch (vectors - v) {
      case 3:
        return combine_block<3>(count, factor, rows + 8L * v, stride, start, 8L * v, to);
      case 2:
        return combine_block<2>(count, factor, rows + 8L * v, stride, start, 8L * v, to);
      case 1:
        return combine_block<1>(count, factor, rows + 8L * v, stride, start, 8L * v, to);
      default:
        return;
    }
  }

  /// combine() of zeros for `several` factors and results, `apart` and `width` from the next.
  static CAROM_INLINE void combine_several(int vectors, int count, int several,
                                           const double* factor, long apart, const double* rows,
                                           long stride, double* to, long width) {
    constexpr int kTogether = Isa::kWidth == 8 ? 4 : 2;
    constexpr int kEights = kTogether / 2;
    int w = 0;
    for (; w + kTogether <= several; w += kTogether) {
      const double* const by = factor + w * apart;
      double* const result = to + w * width;
      int v = 0;
      for (; v + kEights <= vectors; v += kEights) {
        several_block<kTogether, kEights>(count, by, apart, rows + 8L * v, stride, result + 8L * v,
                                          width);
      }
      for (; v < vectors; ++v) {
        several_block<kTogether, 1>(count, by, apart, rows + 8L * v, stride, result + 8L * v,
                                    width);
      }
    }
    for (; w < several; ++w) {
      combine(vectors, count, factor + w * apart, rows, stride, nullptr, to + w * width);
    }
  }

  /// rows[k] += (factor[k] share) row for k < count.
  static CAROM_INLINE void add_outer(int vectors, int count, const double* factor, double share,
                                     const double* row, double* rows, long stride) {
    int v = 0;
    for (; v + kBlock <= vectors; v += kBlock) {
      outer_block<kBlock>(count, factor, share, row + 8L * v, rows + 8L * v, stride);
    }
    switch (vectors - v) {
      case 3:
        return outer_block<3>(count, factor, share, row + 8L * v, rows + 8L * v, stride);
      case 2:
        return outer_block<2>(count, factor, share, row + 8L * v, rows + 8L * v, stride);
      case 1:
        return outer_block<1>(count, factor, share, row + 8L * v, rows + 8L * v, stride);
      default:
        return;
    }
  }

  /// The same of rows that `listed` names, one after another.
  static CAROM_INLINE void combine_listed(int vectors, int count, const double* factor,
                                          const int* listed, const double* rows, long stride,
                                          const double* start, double* to) {
    int v = 0;
    for (; v + kBlock <= vectors; v += kBlock) {
      listed_block<kBlock>(count, factor, listed, rows + 8L * v, stride, start, 8L * v, to);
    }
    for (; v < vectors; ++v) {
      listed_block<1>(count, factor, listed, rows + 8L * v, stride, start, 8L * v, to);
    }
  }

  /// to[i] = the largest of |factor[k] rows[k][i]| over k < count.
  static CAROM_INLINE void largest(int vectors, int count, const double* factor, const double* rows,
                                   long stride, double* to) {
    int v = 0;
    for (; v + kBlock <= vectors; v += kBlock) {
      largest_block<kBlock>(count, factor, rows + 8L * v, stride, to + 8L * v);
    }
    for (; v < vectors; ++v) largest_block<1>(count, factor, rows + 8L * v, stride, to + 8L * v);
  }

  static CAROM_INLINE double dot(int vectors, const double* a, const double* b) {
    Vector even(0.0);
    Vector odd(0.0);
    int v = 0;
    for (; v + 2 <= vectors; v += 2) {
      even = fused(Vector::load(a + 8L * v), Vector::load(b + 8L * v), even);
      odd = fused(Vector::load(a + 8L * v + 8), Vector::load(b + 8L * v + 8), odd);
    }
    if (v < vectors) even = fused(Vector::load(a + 8L * v), Vector::load(b + 8L * v), even);
    return (even + odd).sum();
  }

  /// to[e stride + r] = row[r][e] for e < count and the eight rows r.
  static CAROM_INLINE void transpose_eight(const double* const* row, int count, double* to,
                                           long stride) {
    int e = 0;
    if constexpr (Isa::kInRegisters) {
      constexpr int kWidth = Isa::kWidth;
      using Pack = typename Isa::Pack;
      for (; e + kWidth <= count; e += kWidth) {
        for (int r = 0; r < 8; r += kWidth) {
          Pack from[kWidth];
          Pack column[kWidth];
          for (int k = 0; k < kWidth; ++k) from[k] = Pack::load(row[r + k] + e);
          transpose_packs<kWidth>(from, column);
          for (int k = 0; k < kWidth; ++k) column[k].store_doubles(to + (e + k) * stride + r);
        }
      }
    }
    for (; e < count; ++e) {
      for (int r = 0; r < 8; ++r) to[e * stride + r] = row[r][e];
    }
  }

  /// [rows, count], one row after another, to their columns, `stride` apart; padding is zero.
  /// zeros: `count` of them.
  static CAROM_INLINE void transpose_rows(const double* from, int rows, int count, double* to,
                                          long stride, const double* zeros) {
    const double* row[8];
    for (int i = 0; i < rows; i += 8) {
      for (int r = 0; r < 8; ++r) {
        row[r] = i + r < rows ? from + static_cast<long>(i + r) * count : zeros;
      }
      transpose_eight(row, count, to + i, stride);
    }
  }

  /// L D L' of n columns that lie `stride` apart, of which the lower half is read: the columns of L
  /// without their ones and with zeros above. False where a pivot is not above `least`[j].
  static CAROM_INLINE bool factorise(int n, double* matrix, long stride, double* pivot,
                                     double* inverse, const double* least) {
    const int vectors = eights(n);
    int k = 0;
    for (; k < n; k += 4) {
      const int end = k + 4 < n ? k + 4 : n;
      for (int p = k; p < end; ++p) {
        double* column = matrix + p * stride;
        for (int q = k; q < p; ++q) {
          const double* done = matrix + q * stride;
          const Vector factor(-(done[p] * pivot[q]));
          for (int v = p / 8; v < vectors; ++v) {
            fused(factor, Vector::load(done + 8L * v), Vector::load(column + 8L * v))
                .store(column + 8L * v);
          }
        }
        const double d = column[p];
        if (!(d > least[p])) return false;
        pivot[p] = d;
        const double reciprocal = 1.0 / d;
        inverse[p] = reciprocal;
        for (int i = p / 8 * 8; i <= p; ++i) column[i] = 0.0;
        const Vector factor(reciprocal);
        for (int v = p / 8; v < vectors; ++v) {
          (factor * Vector::load(column + 8L * v)).store(column + 8L * v);
        }
      }
      if (end < k + 4) break;
      const double* a = matrix + k * stride;
      const double* b = a + stride;
      const double* c = b + stride;
      const double* d = c + stride;
      for (int j = end; j < n; ++j) {
        if (a[j] == 0.0 && b[j] == 0.0 && c[j] == 0.0 && d[j] == 0.0) continue;
        double* column = matrix + j * stride;
        const Vector by_a(-(a[j] * pivot[k]));
        const Vector by_b(-(b[j] * pivot[k + 1]));
        const Vector by_c(-(c[j] * pivot[k + 2]));
        const Vector by_d(-(d[j] * pivot[k + 3]));
        for (int v = j / 8; v < vectors; ++v) {
          const long at = 8L * v;
          Vector sum = fused(by_a, Vector::load(a + at), Vector::load(column + at));
          sum = fused(by_b, Vector::load(b + at), sum);
          sum = fused(by_c, Vector::load(c + at), sum);
          fused(by_d, Vector::load(d + at), sum).store(column + at);
        }
      }
    }
    return true;
  }

  /// last[j] = index of the last number in column j of L, at most j where there is none below.
  static CAROM_INLINE void find_last(int n, const double* factor, long stride, int* last) {
    for (int j = 0; j < n; ++j) {
      int i = n - 1;
      while (i > j && factor[j * stride + i] == 0.0) --i;
      last[j] = i;
    }
  }

  /// x := (L D L')^-1 x
  static CAROM_INLINE void solve(int n, const double* factor, long stride, const double* inverse,
                                 const int* last, double* x) {
    lower_solve(n, factor, stride, last, x);
    for (int j = n - 1; j >= 0; --j) {
      if (last[j] <= j) {
        x[j] = x[j] * inverse[j];
        continue;
      }
      const int v = j / 8;
      const double below = dot(last[j] / 8 + 1 - v, factor + j * stride + 8L * v, x + 8L * v);
      x[j] = x[j] * inverse[j] - below;
    }
  }
  /// x := L^-1 x
  static CAROM_INLINE void lower_solve(int n, const double* factor, long stride, const int* last,
                                       double* x) {
    for (int j = 0; j + 1 < n; ++j) {
      if (last[j] <= j) continue;
      const Vector by(-x[j]);
      const double* column = factor + j * stride;
      for (int v = j / 8; v <= last[j] / 8; ++v) {
        fused(by, Vector::load(column + 8L * v), Vector::load(x + 8L * v)).store(x + 8L * v);
      }
    }
  }

  /// to := L^-1 from, n rows of `vectors` eights each, and size[i] = sum of inverse[j] to[j][i]^2.
  static CAROM_INLINE void lower_solve_rows(int n, const double* factor, long stride,
                                            const double* inverse, const int* last, int vectors,
                                            const double* from, double* to, long width,
                                            double* size) {
    int v = 0;
    for (; v + kBlock / 2 <= vectors; v += kBlock / 2) {
      rows_block<kBlock / 2>(n, factor, stride, inverse, last, from + 8L * v, to + 8L * v, width,
                             size + 8L * v);
    }
    for (; v < vectors; ++v) {
      rows_block<1>(n, factor, stride, inverse, last, from + 8L * v, to + 8L * v, width,
                    size + 8L * v);
    }
  }

 private:
  template <int Count>
  static CAROM_INLINE void combine_block(int count, const double* factor, const double* rows,
                                         long stride, const double* start, long at, double* to) {
    Vector even[Count];
    Vector odd[Count];
    for (int b = 0; b < Count; ++b) {
      even[b] = start == nullptr ? Vector(0.0) : Vector::load(start + at + 8 * b);
      odd[b] = Vector(0.0);
    }
    int k = 0;
    for (; k + 2 <= count; k += 2) {
      const Vector one(factor[k]);
      const Vector two(factor[k + 1]);
      const double* row = rows + k * stride;
      for (int b = 0; b < Count; ++b) {
        even[b] = fused(one, Vector::load(row + 8 * b), even[b]);
        odd[b] = fused(two, Vector::load(row + stride + 8 * b), odd[b]);
      }
    }
    if (k < count) {
      const Vector one(factor[k]);
      for (int b = 0; b < Count; ++b) {
        even[b] = fused(one, Vector::load(rows + k * stride + 8 * b), even[b]);
      }
    }
    for (int b = 0; b < Count; ++b) (even[b] + odd[b]).store(to + at + 8 * b);
  }

  /// The sums of combine_block.
  template <int Several, int Count>
  static CAROM_INLINE void several_block(int count, const double* factor, long apart,
                                         const double* rows, long stride, double* to, long width) {
    Vector sum[2][Several][Count];
    for (auto& half : sum) {
      for (auto& own : half) {
        for (Vector& s : own) s = Vector(0.0);
      }
    }
    const auto add = [&](int k, auto& half) {
      Vector row[Count];
      for (int b = 0; b < Count; ++b) row[b] = Vector::load(rows + k * stride + 8 * b);
      for (int w = 0; w < Several; ++w) {
        const Vector by(factor[w * apart + k]);
        for (int b = 0; b < Count; ++b) half[w][b] = fused(by, row[b], half[w][b]);
      }
    };
    int k = 0;
    for (; k + 2 <= count; k += 2) {
      add(k, sum[0]);
      add(k + 1, sum[1]);
    }
    if (k < count) add(k, sum[0]);
    for (int w = 0; w < Several; ++w) {
      for (int b = 0; b < Count; ++b) {
        (sum[0][w][b] + sum[1][w][b]).store(to + w * width + 8 * b);
      }
    }
  }

  template <int Count>
  static CAROM_INLINE void outer_block(int count, const double* factor, double share,
                                       const double* row, double* rows, long stride) {
    Vector part[Count];
    for (int b = 0; b < Count; ++b) part[b] = Vector::load(row + 8 * b);
    for (int k = 0; k < count; ++k) {
      const Vector by(factor[k] * share);
      double* to = rows + k * stride;
      for (int b = 0; b < Count; ++b) {
        fused(by, part[b], Vector::load(to + 8 * b)).store(to + 8 * b);
      }
    }
  }

  template <int Count>
  static CAROM_INLINE void listed_block(int count, const double* factor, const int* listed,
                                        const double* rows, long stride, const double* start,
                                        long at, double* to) {
    Vector sum[Count];
    for (int b = 0; b < Count; ++b) {
      sum[b] = start == nullptr ? Vector(0.0) : Vector::load(start + at + 8 * b);
    }
    for (int k = 0; k < count; ++k) {
      const Vector by(factor[k]);
      const double* row = rows + listed[k] * stride;
      for (int b = 0; b < Count; ++b) sum[b] = fused(by, Vector::load(row + 8 * b), sum[b]);
    }
    for (int b = 0; b < Count; ++b) sum[b].store(to + at + 8 * b);
  }

  template <int Count>
  static CAROM_INLINE void largest_block(int count, const double* factor, const double* rows,
                                         long stride, double* to) {
    Vector most[Count];
    for (int b = 0; b < Count; ++b) most[b] = Vector(0.0);
    for (int k = 0; k < count; ++k) {
      const Vector by(factor[k]);
      for (int b = 0; b < Count; ++b) {
        most[b] = larger(magnitude(by * Vector::load(rows + k * stride + 8 * b)), most[b]);
      }
    }
    for (int b = 0; b < Count; ++b) most[b].store(to + 8 * b);
  }

  /// Four rows of the result at a time, Count eights of them.
  template <int Count>
  static CAROM_INLINE void rows_block(int n, const double* factor, long stride,
                                      const double* inverse, const int* last, const double* from,
                                      double* to, long width, double* size) {
    Vector square[Count];
    for (Vector& s : square) s = Vector(0.0);
    int j = 0;
    for (; j + 4 <= n; j += 4) {
      Vector sum[4][Count];
      for (int r = 0; r < 4; ++r) {
        for (int b = 0; b < Count; ++b) sum[r][b] = Vector::load(from + (j + r) * width + 8 * b);
      }
      for (int k = 0; k < j; ++k) {
        if (last[k] < j) continue;
        const double* entry = factor + k * stride + j;
        Vector row[Count];
        for (int b = 0; b < Count; ++b) row[b] = Vector::load(to + k * width + 8 * b);
        for (int r = 0; r < 4; ++r) {
          const Vector by(-entry[r]);
          for (int b = 0; b < Count; ++b) sum[r][b] = fused(by, row[b], sum[r][b]);
        }
      }
      for (int r = 0; r < 4; ++r) {
        for (int k = 0; k < r; ++k) {
          const Vector by(-factor[(j + k) * stride + j + r]);
          for (int b = 0; b < Count; ++b) sum[r][b] = fused(by, sum[k][b], sum[r][b]);
        }
        const Vector by(inverse[j + r]);
        for (int b = 0; b < Count; ++b) {
          sum[r][b].store(to + (j + r) * width + 8 * b);
          square[b] = fused(by * sum[r][b], sum[r][b], square[b]);
        }
      }
    }
    for (; j < n; ++j) {
      Vector sum[Count];
      for (int b = 0; b < Count; ++b) sum[b] = Vector::load(from + j * width + 8 * b);
      for (int k = 0; k < j; ++k) {
        const Vector by(-factor[k * stride + j]);
        for (int b = 0; b < Count; ++b) {
          sum[b] = fused(by, Vector::load(to + k * width + 8 * b), sum[b]);
        }
      }
      const Vector by(inverse[j]);
      for (int b = 0; b < Count; ++b) {
        sum[b].store(to + j * width + 8 * b);
        square[b] = fused(by * sum[b], sum[b], square[b]);
      }
    }
    for (int b = 0; b < Count; ++b) square[b].store(size + 8 * b);
  }
};

}  // namespace carom::cpu::simd
