#pragma once

#include <carom/device/host_device.hpp>

namespace carom::kernels {

/// Lays arrays one after another into a block. Memory: where the block lies; long for offsets in
/// it.
///
/// A kernel's arrays are in one template Layout<Memory> whose constructor Layout(Arena<Memory>&,
/// sizes...) takes them from an arena. `values_of` runs it to count, `placed` to place them.
/// Sizes and positions therefore cannot disagree.
template <class Memory>
class Arena {
 public:
  CAROM_INLINE constexpr explicit Arena(Memory memory) : memory_(memory) {}

  /// The place of the next `count` values.
  CAROM_INLINE constexpr Memory take(long count) {
    const Memory place = memory_ + used_;
    used_ += count;
    return place;
  }
  /// The same for one of several uses, none of which lasts.
  template <class... Counts>
  CAROM_INLINE constexpr Memory take_largest(long first, Counts... others) {
    ((first = first > others ? first : static_cast<long>(others)), ...);
    return take(first);
  }
  [[nodiscard]] CAROM_INLINE constexpr long used() const { return used_; }

 private:
  Memory memory_;
  long used_ = 0;
};

/// What a body with these lanes has for a pointer into its workspace: Lanes::Reals where a compiler
/// is to know the kind of memory in functions that are called as well.
template <class Lanes>
struct WorkspaceOf {
  using Reals = double*;
};
template <class Lanes>
requires requires { typename Lanes::Reals; }
struct WorkspaceOf<Lanes> {
  using Reals = typename Lanes::Reals;
};
template <class Lanes>
using WorkspaceReals = typename WorkspaceOf<Lanes>::Reals;

/// Values that a layout takes.
template <template <class> class Layout, class... Sizes>
CAROM_INLINE constexpr long values_of(Sizes... sizes) {
  Arena<long> arena(0);
  static_cast<void>(Layout<long>(arena, sizes...));
  return arena.used();
}

/// The layout in a block of values_of<Layout>(sizes...).
template <template <class> class Layout, class Memory, class... Sizes>
CAROM_INLINE constexpr Layout<Memory> placed(Memory memory, Sizes... sizes) {
  Arena<Memory> arena(memory);
  return Layout<Memory>(arena, sizes...);
}

}  // namespace carom::kernels
