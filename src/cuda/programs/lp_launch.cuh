#pragma once

#include "programs/lp/kernels/lp.hpp"

namespace carom::cuda {

/// Arguments of the kernels for linear programs.
struct LpLaunch {
  kernels::LpArrays arrays;
  int problems;
  double* work;  ///< a workspace for each block; null where it lies in shared memory
  int* int_work;
  double* finish_work;  ///< lp_finish_workspace for each block of finish_lps
};

}  // namespace carom::cuda
