#pragma once

#include <cstdint>

#include "compliant/kernels/compliant_array.hpp"

namespace carom::cuda {

/// Arguments of the kernels for compliant steps.
struct CompliantLaunch {
  kernels::CompliantArrays arrays;
  std::int64_t problems;
  kernels::CompliantOptions options;
  double* reals;
  double* packs;  ///< of all threads, interleaved
  int* ints;
  RowType* types;
  int* open;  ///< problems that groups of lanes leave, in any order; null without groups
  int* open_count;
};

}  // namespace carom::cuda
