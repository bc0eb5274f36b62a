#pragma once

#include "cpu/simd/dispatch.hpp"
#include "equilibrium/body/support_postures_body.hpp"

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

/// Entry points of one instruction set (support_*.cpp).
struct SupportCode {
  void (*prepare)(const PrepareJob&);
  void (*probe)(const kernels::ProbeJob&);
  void (*postures)(const kernels::PosturesJob&);  ///< null: one posture after the other
};
extern const SupportCode kGenericSupport;
extern const SupportCode kAvx2Support;
extern const SupportCode kAvx512Support;

/// Most lanes of any instruction set: what ProbeJob::scratch is made for.
inline constexpr int kSupportLanes = 8;

}  // namespace carom::cpu::simd
