#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>

// A device's code, not the copy that nvcc makes for the host; or that of a host that plays the
// device (tests/cuda_on_host).
#if defined(__CUDA_ARCH__) || defined(CAROM_CUDA_ON_HOST)
#define CAROM_DEVICE_CODE
#endif

/// CUDA's lanes for the bodies. Thread indices, shuffles and barriers stand in
/// this file and nowhere else. A thread that has a problem of its own uses kernels::SingleLane.
namespace carom::cuda {

/// Position in the grid. Bodies are compiled for the host too, where nothing calls these.
struct Grid {
  CAROM_INLINE static int thread() {
#if defined(CAROM_DEVICE_CODE)
    return static_cast<int>(threadIdx.x);
#else
    return 0;
#endif
  }
  CAROM_INLINE static int block() {
#if defined(CAROM_DEVICE_CODE)
    return static_cast<int>(blockIdx.x);
#else
    return 0;
#endif
  }
  CAROM_INLINE static int blocks() {
#if defined(CAROM_DEVICE_CODE)
    return static_cast<int>(gridDim.x);
#else
    return 1;
#endif
  }
  CAROM_INLINE static int threads_per_block() {
#if defined(CAROM_DEVICE_CODE)
    return static_cast<int>(blockDim.x);
#else
    return 1;
#endif
  }
  /// Index of this thread in the whole grid, and the number of threads in it.
  CAROM_INLINE static int global_thread() { return block() * threads_per_block() + thread(); }
  CAROM_INLINE static int global_threads() { return blocks() * threads_per_block(); }

  /// The next place of a list that many threads fill at the same time.
  CAROM_INLINE static int claim(int* count) {
#if defined(CAROM_DEVICE_CODE)
    return atomicAdd(count, 1);
#else
    return (*count)++;
#endif
  }

  /// *flags |= more, by many threads at the same time.
  CAROM_INLINE static void unite(unsigned* flags, unsigned more) {
#if defined(CAROM_DEVICE_CODE)
    atomicOr(flags, more);
#else
    *flags |= more;
#endif
  }
};

/// The block's dynamic shared memory.
__device__ __forceinline__ double* shared_memory() {
  extern __shared__ double carom_shared_memory[];
  return carom_shared_memory;
}

/// x, of which a device's compiler does not know what it is: it keeps x where it would work it out
/// again.
CAROM_INLINE double kept(double x) {
#if defined(__CUDA_ARCH__)
  asm("" : "+d"(x));
#endif
  return x;
}
CAROM_INLINE int kept(int x) {
#if defined(__CUDA_ARCH__)
  asm("" : "+r"(x));
#endif
  return x;
}

/// f(i, j) for every width-th element of a matrix from the lane-th on, row by row.
template <class F>
CAROM_INLINE void over_elements(int lane, int width, int rows, int columns, F&& f) {
  if (columns <= 0) return;
  // One division for the whole loop instead of one an element.
  const int row_step = width / columns;
  const int column_step = width % columns;
  int i = lane / columns;
  int j = lane % columns;
  while (i < rows) {
    f(i, j);
    i += row_step;
    j += column_step;
    if (j >= columns) {
      j -= columns;
      ++i;
    }
  }
}

/// `Width` neighbouring threads of a warp, a power of two, that run the same body on one problem.
/// Together: all groups of a warp make every call at the same time. Barriers and shuffles then know
/// their lanes; otherwise a barrier costs six instructions where the warp is together, and each
/// group its own where it is not.
template <int Width, bool Together = false>
struct GroupLanes {
  static constexpr int kWarp = 32;
  static constexpr int kWidth = Width;

  CAROM_INLINE static int lane() { return Grid::thread() & (Width - 1); }
  /// Its place among the groups of its warp.
  CAROM_INLINE static int group() { return (Grid::thread() & (kWarp - 1)) / Width; }

  // The barrier in front keeps a lane from overwriting what a slower one still reads between two
  // calls; the one behind shows every lane what the call wrote.
  template <class F>
  CAROM_INLINE void for_each(int count, F&& f) const {
    barrier();
    each(count, f);
    barrier();
  }

  template <class F>
  CAROM_INLINE void for_each_2d(int rows, int columns, F&& f) const {
    barrier();
    over_elements(lane(), Width, rows, columns, f);
    barrier();
  }

  /// As kernels::SingleLane::argmin; every lane gets the same answer.
  template <class Real, class F>
  CAROM_INLINE kernels::ArgMin<Real> argmin(int count, Real infinity, F&& key) const {
    return best_of(count, infinity, [&key](int i) { return kernels::ArgMin<Real>{key(i), i}; });
  }
  template <class Real, class F>
  CAROM_INLINE kernels::ArgMin<Real> best_of(int count, Real infinity, F&& candidate) const {
    barrier();
    kernels::ArgMin<Real> best{infinity, -1};
    each(count, [&](int i) {
      const kernels::ArgMin<Real> next = candidate(i);
      if (next.key < best.key) best = next;
    });
    // kernels::precedes without branches: where there is no index the key is `infinity`.
    best = reduce(best, [](const kernels::ArgMin<Real>& a, const kernels::ArgMin<Real>& b) {
      const bool lower = static_cast<unsigned>(b.index) < static_cast<unsigned>(a.index);
      const bool take = static_cast<int>(b.key < a.key) |
                        (static_cast<int>(b.key == a.key) & static_cast<int>(lower));
      return kernels::ArgMin<Real>{take ? b.key : a.key, take ? b.index : a.index};
    });
    barrier();  // a key may have stored what other lanes go on to read; shuffles order no memory
    return best;
  }

  /// The lanes' values joined by `join`, which must not depend on their order; the same on all.
  template <class T, class Join>
  CAROM_INLINE T reduce(T value, Join&& join) const {
    for (int offset = Width / 2; offset > 0; offset /= 2)
      value = join(value, partner(value, offset));
    return value;
  }

  /// The value of one of the lanes.
  template <class T>
  CAROM_INLINE static T from(T value, int source) {
#if defined(CAROM_DEVICE_CODE)
    return __shfl_sync(mask(), value, source, Width);
#else
    static_cast<void>(source);
    return value;
#endif
  }

  /// Whether one of the lanes says so.
  CAROM_INLINE static bool any(bool flag) {
#if defined(CAROM_DEVICE_CODE)
    if constexpr (Together && Width < kWarp)
      return (__ballot_sync(mask(), flag ? 1 : 0) & own_mask()) != 0;
    return __any_sync(mask(), flag ? 1 : 0) != 0;
#else
    return flag;
#endif
  }

  /// Orders the memory accesses of the lanes.
  CAROM_INLINE static void barrier() {
#if defined(CAROM_DEVICE_CODE)
    __syncwarp(mask());
#endif
  }

 protected:
  /// Of the lanes that make a call at the same time.
  CAROM_INLINE static unsigned mask() {
    if constexpr (Width == kWarp || Together) {
      return 0xffffffffU;
    } else {
      return own_mask();
    }
  }
  CAROM_INLINE static unsigned own_mask() {
    if constexpr (Width == kWarp) {
      return 0xffffffffU;
    } else {
      return ((1U << Width) - 1U) << (Width * group());
    }
  }

  /// f(i) for the lane's share of [0, count), all lanes turn by turn: counts that are known leave
  /// no test, and no lanes go apart where a loop is unrolled.
  template <class F>
  CAROM_INLINE static void each(int count, F&& f) {
    for (int turn = 0; turn < count; turn += Width) {
      if (turn + lane() < count) f(turn + lane());
    }
  }
  /// The value of the lane whose index differs in `offset`.
  template <class T>
  CAROM_INLINE static T partner(T value, int offset) {
#if defined(CAROM_DEVICE_CODE)
    return __shfl_xor_sync(mask(), value, offset);
#else
    static_cast<void>(offset);
    return value;
#endif
  }

 private:
  template <class Real>
  CAROM_INLINE static kernels::ArgMin<Real> partner(kernels::ArgMin<Real> best, int offset) {
    return {partner(best.key, offset), partner(best.index, offset)};
  }
};

/// One warp.
struct WarpLanes : GroupLanes<32> {
  static constexpr bool kVotes = true;

  /// A lane goes down its columns: the next element is a row further, a third of the instructions
  /// that it takes to find it elsewhere. Of few columns each has several lanes.
  template <class F>
  CAROM_INLINE void for_each_2d(int rows, int columns, F&& f) const {
    barrier();
    if (columns <= kWidth / 2) {
      over_elements(lane(), kWidth, rows, columns, f);
    } else {
      for (int j = lane(); j < columns; j += kWidth) {
        for (int i = 0; i < rows; ++i) f(i, j);
      }
    }
    barrier();
  }

  /// As kernels::SingleLane::argmin, of doubles by words instead of from lane to lane.
  template <class Real, class F>
  CAROM_INLINE kernels::ArgMin<Real> argmin(int count, Real infinity, F&& key) const {
#if defined(CAROM_DEVICE_CODE)
    if constexpr (std::is_same_v<Real, double>) {
      barrier();
      kernels::ArgMin<double> best{kept(infinity), -1};
      each(count, [&](int i) {
        const double next = key(i);
        if (next < best.key) best = {next, i};
      });
      best.index = first_of_least(best);
      best.key = from(best.key, best.index & (kWidth - 1));  // -1: nobody has one
      barrier();                                             // as behind best_of
      return best;
    }
#endif
    return GroupLanes<32>::argmin(count, infinity, key);
  }
  /// Whether test(i) holds anywhere; every index is asked, and may write.
  template <class F>
  CAROM_INLINE bool any_of(int count, F&& test) const {
    barrier();
    bool found = false;
    each(count, [&](int i) {
      if (test(i)) found = true;
    });
    found = any(found);
    barrier();
    return found;
  }
  /// The largest value(i), at least 0; infinite where one is NaN.
  template <class F>
  CAROM_INLINE double largest_of(int count, F&& value) const {
    barrier();
    double most = 0.0;
    each(count, [&](int i) {
      const double x = value(i);
      most = x <= most ? most : (x != x ? kernels::kInfinity : x);
    });
#if defined(CAROM_DEVICE_CODE)
    // Doubles that are not negative stand in the order of their bits.
    const auto bits = std::bit_cast<std::uint64_t>(most);
    const auto own_upper = static_cast<unsigned>(bits >> 32U);
    const unsigned upper = __reduce_max_sync(mask(), own_upper);
    const unsigned lower =
        __reduce_max_sync(mask(), own_upper == upper ? static_cast<unsigned>(bits) : 0U);
    most = std::bit_cast<double>(std::uint64_t{upper} << 32U | lower);
#endif
    barrier();
    return most;
  }

  /// A part of [0, count) on each of eight neighbouring lanes, part = next(part, j), joined as
  /// kernels::accumulate_packed does; four times the same.
  template <class Part, class Next, class Join>
  CAROM_INLINE Part joined(int count, Part start, Next&& next, Join&& join) const {
    barrier();
    for (int j = lane() % kParts; j < count; j += kParts) start = next(start, j);
    barrier();
    return join_parts(start, join);
  }
  /// done(i, x) for every row i, x joined from next(part, i, j): four rows at the same time.
  template <class Part, class Next, class Join, class Done>
  CAROM_INLINE void each_row(int rows, int count, Part start, Next&& next, Join&& join,
                             Done&& done) const {
    barrier();
    for (int first = 0; first < rows; first += kWidth / kParts) {
      const int i = first + lane() / kParts;
      Part part = start;
      if (i < rows) {
        for (int j = lane() % kParts; j < count; j += kParts) part = next(part, i, j);
      }
      part = join_parts(part, join);
      if (i < rows && lane() % kParts == 0) done(i, part);
    }
    barrier();
  }

  /// How many lanes say so.
  CAROM_INLINE static int count(bool flag) {
#if defined(CAROM_DEVICE_CODE)
    return __popc(__ballot_sync(mask(), flag ? 1 : 0));
#else
    return flag ? 1 : 0;
#endif
  }
  /// The lanes that say so, a bit each.
  CAROM_INLINE static unsigned where(bool flag) {
#if defined(CAROM_DEVICE_CODE)
    return __ballot_sync(mask(), flag ? 1 : 0);
#else
    return flag ? 1U : 0U;
#endif
  }
  /// Bits that one of the lanes has.
  CAROM_INLINE static unsigned united(unsigned bits) {
#if defined(CAROM_DEVICE_CODE)
    return __reduce_or_sync(mask(), bits);
#else
    return bits;
#endif
  }
  /// Place of the lowest bit; -1 where there is none.
  CAROM_INLINE static int lowest(unsigned bits) {
#if defined(CAROM_DEVICE_CODE)
    return 31 - __clz(static_cast<int>(bits & (~bits + 1U)));
#else
    return bits == 0 ? -1 : kernels::lowest_bit(bits);
#endif
  }
  CAROM_INLINE static int bits_in(unsigned bits) {
#if defined(CAROM_DEVICE_CODE)
    return __popc(bits);
#else
    int count = 0;
    for (; bits != 0; bits &= bits - 1U) ++count;
    return count;
#endif
  }

 private:
  static constexpr int kParts = kernels::kPackPadding;

  template <class Part, class Join>
  CAROM_INLINE static Part join_parts(Part part, Join&& join) {
    for (int offset = kParts / 2; offset > 0; offset /= 2) part = join(part, partner(part, offset));
    return part;
  }
  CAROM_INLINE static double partner(double value, int offset) {
    return GroupLanes<32>::partner(value, offset);
  }
  CAROM_INLINE static kernels::DotAndSize partner(const kernels::DotAndSize& part, int offset) {
    return {partner(part.dot, offset), partner(part.size, offset)};
  }

#if defined(CAROM_DEVICE_CODE)
  /// The lowest index among the lanes' smallest keys; -1 where all have none.
  CAROM_INLINE static int first_of_least(const kernels::ArgMin<double>& own) {
    // Bits in the order of the doubles; -0 is 0.
    const auto bits = std::bit_cast<std::int64_t>(own.key + 0.0);
    constexpr auto kSign = std::numeric_limits<std::int64_t>::min();
    const auto order = static_cast<std::uint64_t>(bits ^ (bits >> 63U | kSign));
    const auto own_upper = static_cast<unsigned>(order >> 32U);
    const auto own_lower = static_cast<unsigned>(order);
    const unsigned upper = __reduce_min_sync(mask(), own_upper);
    const bool least = own_upper == upper;
    const unsigned lower = __reduce_min_sync(mask(), least ? own_lower : ~0U);
    const bool first = least && own_lower == lower;
    return static_cast<int>(
        __reduce_min_sync(mask(), first ? static_cast<unsigned>(own.index) : ~0U));
  }
#endif
};

/// All threads of a block, a whole number of warps; as quick as WarpLanes where that is one.
struct BlockLanes {
  template <class F>
  CAROM_INLINE void for_each(int count, F&& f) const {
    barrier();
    for (int i = Grid::thread(); i < count; i += Grid::threads_per_block()) f(i);
    barrier();
  }

  template <class F>
  CAROM_INLINE void for_each_2d(int rows, int columns, F&& f) const {
    barrier();
    over_elements(Grid::thread(), Grid::threads_per_block(), rows, columns, f);
    barrier();
  }

  /// As kernels::SingleLane::argmin; every lane gets the same answer.
  template <class Real, class F>
  CAROM_INLINE kernels::ArgMin<Real> argmin(int count, Real infinity, F&& key) const {
    return best_of(count, infinity, [&key](int i) { return kernels::ArgMin<Real>{key(i), i}; });
  }
  template <class Real, class F>
  CAROM_INLINE kernels::ArgMin<Real> best_of(int count, Real infinity, F&& candidate) const {
    barrier();
    kernels::ArgMin<Real> best{infinity, -1};
    for (int i = Grid::thread(); i < count; i += Grid::threads_per_block()) {
      const kernels::ArgMin<Real> next = candidate(i);
      if (next.key < best.key) best = next;
    }
    const auto first = [](const kernels::ArgMin<Real>& a, const kernels::ArgMin<Real>& b) {
      return kernels::precedes(b, a) ? b : a;
    };
    best = WarpLanes{}.reduce(best, first);
    if (one_warp()) {
      barrier();
      return best;
    }
#if defined(CAROM_DEVICE_CODE)
    __shared__ Real keys[kMostWarps];
    __shared__ int indices[kMostWarps];
    if (WarpLanes::lane() == 0) {
      keys[Grid::thread() / WarpLanes::kWidth] = best.key;
      indices[Grid::thread() / WarpLanes::kWidth] = best.index;
    }
    barrier();
    for (int w = 0; w < Grid::threads_per_block() / WarpLanes::kWidth; ++w) {
      best = first(best, {keys[w], indices[w]});
    }
    barrier();
#endif
    return best;
  }

  /// Waits for all threads and orders their memory accesses; all of them call it.
  CAROM_INLINE static void barrier() {
#if defined(CAROM_DEVICE_CODE)
    if (one_warp()) {
      WarpLanes::barrier();
    } else {
      __syncthreads();
    }
#endif
  }

 private:
  static constexpr int kMostWarps = 32;

  CAROM_INLINE static bool one_warp() { return Grid::threads_per_block() == WarpLanes::kWidth; }
};

}  // namespace carom::cuda
