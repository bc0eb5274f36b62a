#pragma once

namespace carom::test {

/// Allocations of this executable so far (kernels/allocation_test.cpp has the operators).
long allocation_count();

/// The thread sanitizer has operators of its own for aligned memory, which count nothing.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kAlignedAreCounted = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kAlignedAreCounted = false;
#else
inline constexpr bool kAlignedAreCounted = true;
#endif
#else
inline constexpr bool kAlignedAreCounted = true;
#endif

template <class Action>
long allocations_of(Action&& action) {
  const long before = allocation_count();
  action();
  return allocation_count() - before;
}

}  // namespace carom::test
