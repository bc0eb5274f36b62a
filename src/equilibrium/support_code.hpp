#pragma once

#include "equilibrium/kernels/support_postures.hpp"

/// The kernels of the support function as functions compiled for one instruction set: src/cpu
/// chooses the set.
namespace carom {

/// Most lanes of any instruction set: what ProbeJob::scratch is made for.
inline constexpr int kSupportLanes = 8;

struct PrepareJob {
  kernels::PostureView view;
  const double* wrench;
  const kernels::ConeRule* rule;
  double tolerance;
  int max_pivots;
  kernels::SupportPosture* prepared;
  kernels::SupportContact* contact;
};

struct SupportCode {
  void (*prepare)(const PrepareJob&);
  void (*probe)(const kernels::ProbeJob&);
  void (*postures)(const kernels::PosturesJob&);  ///< null: one posture after the other
};

}  // namespace carom
