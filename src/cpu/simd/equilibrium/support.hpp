#pragma once

#include "cpu/simd/dispatch.hpp"
#include "equilibrium/kernels/support_postures.hpp"

namespace carom::cpu::simd {

struct PrepareJob {
  kernels::PostureView view;
  const double* wrench;
  const kernels::ConeRule* rule;
  double tolerance;
  int max_pivots;
  kernels::SupportPosture* prepared;
  kernels::SupportContact* contact;
};

/// Most lanes of any instruction set: what ProbeJob::scratch is made for.
inline constexpr int kSupportLanes = 8;

}  // namespace carom::cpu::simd
