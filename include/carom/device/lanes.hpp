#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// The interface of a kernel to its lanes. A kernel is written once over a Lanes type; CUDA's warps
/// and threads (src/cuda), the CPU's single lane and the emulation of a warp run the same code.
/// Lanes share memory: what one call of for_each writes, every lane sees in the next call. Within a
/// call the lanes' order is undefined, so an index must not read what another index writes. Scalars
/// of a kernel are the same on every lane.
namespace carom::kernels {

/// Smallest key and its index; index -1 where no key is below infinity.
template <class Real>
struct ArgMin {
  Real key;
  int index;
};

template <class Real>
CAROM_INLINE bool precedes(const ArgMin<Real>& a, const ArgMin<Real>& b) {
  if (a.index < 0) return false;
  return b.index < 0 || a.key < b.key || (a.key == b.key && a.index < b.index);
}

/// One lane: a CUDA thread of its own problem, or the CPU.
struct SingleLane {
  template <class F>
  CAROM_INLINE void for_each(int count, F&& f) const {
    for (int i = 0; i < count; ++i) f(i);
  }
  template <class F>
  CAROM_INLINE void for_each_2d(int rows, int columns, F&& f) const {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) f(i, j);
    }
  }
  /// key(i) -> Real; infinity (or NaN) means not eligible. Ties go to the lowest index.
  template <class Real, class F>
  CAROM_INLINE ArgMin<Real> argmin(int count, Real infinity, F&& key) const {
    ArgMin<Real> best{infinity, -1};
    for (int i = 0; i < count; ++i) {
      const Real k = key(i);
      if (k < best.key) best = {k, i};
    }
    return best;
  }
  /// The same where candidate(i) -> ArgMin brings an index of its own, which grows with i.
  template <class Real, class F>
  CAROM_INLINE ArgMin<Real> best_of(int count, Real infinity, F&& candidate) const {
    ArgMin<Real> best{infinity, -1};
    for (int i = 0; i < count; ++i) {
      const ArgMin<Real> next = candidate(i);
      if (next.key < best.key) best = next;
    }
    return best;
  }
};

/// Doubles that a row of a matrix is padded to: whole registers where a Lanes type asks for them.
template <class Lanes>
CAROM_HOST_DEVICE constexpr int row_padding() {
  if constexpr (requires { Lanes::kRowPadding; }) {
    return Lanes::kRowPadding;
  } else {
    return 1;
  }
}
CAROM_HOST_DEVICE constexpr int padded(int count, int padding) {
  return (count + padding - 1) / padding * padding;
}

/// matrix += column row', [rows, stride] with stride = padded(columns). One lane says that nothing
/// overlaps, so that its loop becomes vector instructions.
template <class Lanes, class Real>
CAROM_INLINE void add_outer(const Lanes& lanes, int rows, int stride, Real* matrix,
                            const Real* column, const Real* row) {
  if constexpr (row_padding<Lanes>() > 1) {
    const int whole = stride / row_padding<Lanes>() * row_padding<Lanes>();
    for (int i = 0; i < rows; ++i) {
      Real* __restrict to = matrix + static_cast<long>(i) * stride;
      const Real* __restrict from = row;
      const Real factor = column[i];
      for (int j = 0; j < whole; ++j) to[j] = fused(factor, from[j], to[j]);
    }
  } else {
    lanes.for_each_2d(rows, stride, [&](int i, int j) {
      Real& to = matrix[static_cast<long>(i) * stride + j];
      to = fused(column[i], row[j], to);
    });
  }
}

/// A warp on the host: `Width` lanes in turn, forwards or backwards. A body whose results differ
/// between the two orders has a race.
template <int Width, bool Backwards>
struct EmulatedLanes {
  template <class F>
  void for_each(int count, F&& f) const {
    for (int turn = 0; turn < Width; ++turn) {
      const int lane = Backwards ? Width - 1 - turn : turn;
      for (int i = lane; i < count; i += Width) f(i);
    }
  }
  template <class F>
  void for_each_2d(int rows, int columns, F&& f) const {
    for_each(rows * columns, [&](int e) { f(e / columns, e % columns); });
  }
  template <class Real, class F>
  ArgMin<Real> argmin(int count, Real infinity, F&& key) const {
    return best_of(count, infinity, [&](int i) { return ArgMin<Real>{key(i), i}; });
  }
  template <class Real, class F>
  ArgMin<Real> best_of(int count, Real infinity, F&& candidate) const {
    ArgMin<Real> lanes[Width];
    for (int turn = 0; turn < Width; ++turn) {
      const int lane = Backwards ? Width - 1 - turn : turn;
      ArgMin<Real> best{infinity, -1};
      for (int i = lane; i < count; i += Width) {
        const ArgMin<Real> next = candidate(i);
        if (next.key < best.key) best = next;
      }
      lanes[lane] = best;
    }
    // The butterfly of a warp's shuffles.
    for (int offset = Width / 2; offset > 0; offset /= 2) {
      for (int lane = 0; lane < Width; ++lane) {
        const ArgMin<Real> other = lanes[lane ^ offset];
        if (lane < (lane ^ offset) && precedes(other, lanes[lane])) lanes[lane] = other;
      }
    }
    return lanes[0];
  }
};

}  // namespace carom::kernels
