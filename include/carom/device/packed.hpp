#pragma once

#include <type_traits>

#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

/// Loops over padded arrays whose text is written for one number V and runs on whole registers
/// where a Lanes type names a Pack: V is then that pack and an index stands for its first element.
/// Lengths and offsets are multiples of kPackPadding; elements are independent of each other, so
/// that every width computes the same bits. Such a Lanes type reduces the elements of a register by
/// first_smallest, largest and sum, and fills a part of one by first_of.
namespace carom::kernels {

/// Doubles that arrays are padded to, whatever the width of a register.
inline constexpr int kPackPadding = 8;

/// Numbers side by side in a V: one in a double.
template <class V>
inline constexpr int kLaneCount =
    static_cast<int>(sizeof(V) / sizeof(double));  // NOLINT(bugprone-sizeof-expression)

template <class Lanes>
concept HasPack = requires {
  typename Lanes::Pack;
};

/// Lanes that answer together: any_of, largest_of, and each_row, which gives a row to eight of
/// them.
template <class Lanes>
concept HasVotes = requires {
  Lanes::kVotes;
};

template <class V>
CAROM_INLINE V load(const double* from) {
  if constexpr (std::is_same_v<V, double>) {
    return *from;
  } else {
    return V::load(from);
  }
}
CAROM_INLINE void store(double* to, double value) { *to = value; }
template <class V>
CAROM_INLINE void store(double* to, V value) {
  value.store_doubles(to);
}

/// 0, 1, .. of the widest register.
struct PackIndices {
  double value[kPackPadding];
  constexpr PackIndices() : value() {
    for (int i = 0; i < kPackPadding; ++i) value[i] = i;
  }
};
inline constexpr PackIndices kPackIndices{};

/// The indices of V's elements, j the first.
template <class V>
CAROM_INLINE V indices(int j) {
  if constexpr (std::is_same_v<V, double>) {
    return static_cast<double>(j);
  } else {
    return V(static_cast<double>(j)) + V::load(kPackIndices.value);
  }
}

/// f(V(), j) for every j of [0, count).
template <class Lanes, class F>
CAROM_INLINE void each_packed(const Lanes& lanes, int count, F&& f) {
  if constexpr (HasPack<Lanes>) {
    for (int j = 0; j < count; j += Lanes::kWidth) f(typename Lanes::Pack(0.0), j);
  } else {
    lanes.for_each(count, [&](int j) { f(0.0, j); });
  }
}

/// f(V(), i, j) for every i of [0, rows) and j of [0, columns).
template <class Lanes, class F>
CAROM_INLINE void each_packed_2d(const Lanes& lanes, int rows, int columns, F&& f) {
  if constexpr (HasPack<Lanes>) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; j += Lanes::kWidth) f(typename Lanes::Pack(0.0), i, j);
    }
  } else {
    lanes.for_each_2d(rows, columns, [&](int i, int j) { f(0.0, i, j); });
  }
}

/// to[0, size) = from[0, count), then zeros; `from` need not be padded.
template <class Lanes>
CAROM_INLINE void copy_padded(const Lanes& lanes, int count, const double* from, double* to,
                              int size) {
  if constexpr (HasPack<Lanes>) {
    using Pack = typename Lanes::Pack;
    int j = 0;
    for (; j + Lanes::kWidth <= count; j += Lanes::kWidth) Pack::load(from + j).store(to + j);
    for (; j < size; j += Lanes::kWidth) {
      lanes.first_of(from + j, count > j ? count - j : 0).store(to + j);
    }
  } else {
    lanes.for_each(size, [&](int j) { to[j] = j < count ? from[j] : 0.0; });
  }
}

/// The same with size = padded(count, kPackPadding).
template <class Lanes>
CAROM_INLINE void copy_padded(const Lanes& lanes, int count, const double* from, double* to) {
  copy_padded(lanes, count, from, to, padded(count, kPackPadding));
}

/// key(V(), j) -> V; infinity or NaN: not eligible. The lowest index among the smallest keys. The
/// key may also write element j of an array.
template <class Lanes, class F>
CAROM_INLINE ArgMin<double> argmin_packed(const Lanes& lanes, int count, F&& key) {
  if constexpr (HasPack<Lanes>) {
    using Pack = typename Lanes::Pack;
    Pack best(kInfinity);
    Pack place(-1.0);
    for (int j = 0; j < count; j += Lanes::kWidth) {
      const Pack k = key(Pack(0.0), j);
      const auto better = k < best;
      best = select(better, k, best);
      place = select(better, Pack(static_cast<double>(j)), place);
    }
    return lanes.first_smallest(best, place);
  } else {
    return lanes.argmin(count, kInfinity, [&](int j) { return key(0.0, j); });
  }
}

/// Whether test(V(), j) holds anywhere; it may also write element j of an array.
template <class Lanes, class F>
CAROM_INLINE bool any_packed(const Lanes& lanes, int count, F&& test) {
  if constexpr (HasPack<Lanes>) {
    unsigned bits = 0;
    for (int j = 0; j < count; j += Lanes::kWidth) {
      bits |= test(typename Lanes::Pack(0.0), j).bits();
    }
    return bits != 0U;
  } else if constexpr (HasVotes<Lanes>) {
    return lanes.any_of(count, [&](int j) { return test(0.0, j); });
  } else {
    return lanes
               .argmin(count, kInfinity,
                       [&](int j) { return test(0.0, j) ? static_cast<double>(j) : kInfinity; })
               .index >= 0;
  }
}

/// Largest value(V(), j), at least zero; infinite where one is NaN.
template <class Lanes, class F>
CAROM_INLINE double largest_packed(const Lanes& lanes, int count, F&& value) {
  if constexpr (HasPack<Lanes>) {
    using Pack = typename Lanes::Pack;
    Pack most(0.0);
    for (int j = 0; j < count; j += Lanes::kWidth) {
      const Pack x = value(Pack(0.0), j);
      // Not (x <= most): NaN counts as the largest.
      most = select(x <= most, most, select(x != x, Pack(kInfinity), x));
    }
    return lanes.largest(most);
  } else if constexpr (HasVotes<Lanes>) {
    return lanes.largest_of(count, [&](int j) { return value(0.0, j); });
  } else {
    const ArgMin<double> result = lanes.argmin(count, kInfinity, [&](int j) {
      const double x = value(0.0, j);
      return x != x ? -kInfinity : -x;
    });
    return result.index >= 0 && result.key < 0.0 ? -result.key : 0.0;
  }
}

/// Over [0, count) in one lane: eight partial sums, each sum = next(sum, j), joined as
/// ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)), on every width.
template <class Lanes, class F>
CAROM_INLINE double accumulate_packed(const Lanes& lanes, int count, F&& next) {
  if constexpr (HasPack<Lanes>) {
    using Pack = typename Lanes::Pack;
    constexpr int kParts = kPackPadding / Lanes::kWidth;
    Pack sum[kParts];
    for (Pack& part : sum) part = Pack(0.0);
    for (int j = 0; j < count; j += kPackPadding) {
      for (int s = 0; s < kParts; ++s) sum[s] = next(sum[s], j + s * Lanes::kWidth);
    }
    return lanes.sum(sum);
  } else {
    double sum[kPackPadding] = {};
    for (int j = 0; j < count; j += kPackPadding) {
      for (int l = 0; l < kPackPadding; ++l) sum[l] = next(sum[l], j + l);
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
  }
}

/// Sum of term(V(), j).
template <class Lanes, class F>
CAROM_INLINE double sum_packed(const Lanes& lanes, int count, F&& term) {
  return accumulate_packed(lanes, count,
                           [&](auto sum, int j) { return sum + term(decltype(sum)(0.0), j); });
}

/// a'b of padded vectors in one lane, with fused products.
template <class Lanes>
CAROM_INLINE double dot_packed(const Lanes& lanes, int count, const double* a, const double* b) {
  return accumulate_packed(lanes, count, [&](auto sum, int j) {
    using V = decltype(sum);
    return fused(load<V>(a + j), load<V>(b + j), sum);
  });
}

/// dot_packed, and the sum of the products' magnitudes.
struct DotAndSize {
  double dot;
  double size;
};
template <class Lanes>
CAROM_INLINE DotAndSize dot_and_size(const Lanes& lanes, int count, const double* a,
                                     const double* b) {
  if constexpr (HasPack<Lanes>) {
    using Pack = typename Lanes::Pack;
    constexpr int kParts = kPackPadding / Lanes::kWidth;
    Pack dot[kParts];
    Pack size[kParts];
    for (int s = 0; s < kParts; ++s) dot[s] = size[s] = Pack(0.0);
    for (int j = 0; j < count; j += kPackPadding) {
      for (int s = 0; s < kParts; ++s) {
        const Pack x = Pack::load(a + j + s * Lanes::kWidth);
        const Pack y = Pack::load(b + j + s * Lanes::kWidth);
        dot[s] = fused(x, y, dot[s]);
        size[s] = size[s] + magnitude(x * y);
      }
    }
    return {lanes.sum(dot), lanes.sum(size)};
  } else {
    return {dot_packed(lanes, count, a, b),
            sum_packed(lanes, count, [&](double, int j) { return magnitude(a[j] * b[j]); })};
  }
}

/// done(i, x) for every row i: x the sum over [0, count) of term(V(), i, j) as sum_packed has it.
template <class Lanes, class F, class Done>
CAROM_INLINE void each_row_sum(const Lanes& lanes, int rows, int count, F&& term, Done&& done) {
  if constexpr (HasVotes<Lanes>) {
    lanes.each_row(
        rows, count, 0.0, [&](double sum, int i, int j) { return sum + term(0.0, i, j); },
        [](double a, double b) { return a + b; }, done);
  } else {
    lanes.for_each(rows, [&](int i) {
      done(i, sum_packed(lanes, count, [&](auto number, int j) { return term(number, i, j); }));
    });
  }
}

/// dot_and_size of each row(i) with b.
template <class Lanes, class Row, class Done>
CAROM_INLINE void each_row_dot(const Lanes& lanes, int rows, int count, Row&& row, const double* b,
                               Done&& done) {
  if constexpr (HasVotes<Lanes>) {
    lanes.each_row(
        rows, count, DotAndSize{0.0, 0.0},
        [&](const DotAndSize& sum, int i, int j) {
          const double x = row(i)[j];
          const double y = b[j];
          return DotAndSize{fused(x, y, sum.dot), sum.size + magnitude(x * y)};
        },
        [](const DotAndSize& one, const DotAndSize& other) {
          return DotAndSize{one.dot + other.dot, one.size + other.size};
        },
        done);
  } else {
    lanes.for_each(rows, [&](int i) { done(i, dot_and_size(lanes, count, row(i), b)); });
  }
}

/// sum_packed outside of a call of for_each: all lanes ask for the same sum.
template <class Lanes, class F>
CAROM_INLINE double sum_of_all(const Lanes& lanes, int count, F&& term) {
  if constexpr (HasVotes<Lanes>) {
    return lanes.joined(
        count, 0.0, [&](double sum, int j) { return sum + term(0.0, j); },
        [](double a, double b) { return a + b; });
  } else {
    return sum_packed(lanes, count, term);
  }
}

}  // namespace carom::kernels
