#pragma once

#include <carom/device/lanes.hpp>

namespace carom {

/// SingleLane for the kernels that build a mode table. It also finds which of many indices pass a
/// test; a test must not depend on the handling of other indices.
struct TableLane : kernels::SingleLane {
  /// act(i, value) in order for each i whose value = test(i), an unsigned, is not zero.
  template <class Test, class Act>
  CAROM_INLINE void each_where(int count, Test&& test, Act&& act) const {
    for (int i = 0; i < count; ++i) {
      const unsigned value = test(i);
      if (value != 0U) act(i, value);
    }
  }
  /// The first i that test(i) is true for; count where there is none.
  template <class Test>
  [[nodiscard]] CAROM_INLINE int first_where(int count, Test&& test) const {
    for (int i = 0; i < count; ++i) {
      if (test(i)) return i;
    }
    return count;
  }
};

}  // namespace carom
