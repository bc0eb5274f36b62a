#pragma once

namespace carom::test {

/// Allocations of this executable so far (kernels/allocation_test.cpp has the operators).
long allocation_count();

template <class Action>
long allocations_of(Action&& action) {
  const long before = allocation_count();
  action();
  return allocation_count() - before;
}

}  // namespace carom::test
