#pragma once

#include <carom/kernels/impact_body.hpp>
#include <carom/kernels/lanes.hpp>

#include "cpu/simd/pack_trajectories.hpp"

namespace carom::cpu::simd {

/// Samples [first, first + count) of one problem, in one thread.
struct BlockJob {
  PackJob packs;  ///< problem, run, index, first, count, and the outputs of packs
  bool packed;    ///< try packs first
  int dimension;
  const void* scratch;  ///< kernels::ImpactScratch<dimension>
  double* path;         ///< receives the path of one trajectory at positions below `paths`
  int paths;
  /// Called for each position in turn. `end` describes the trajectory whose numbers lie in
  /// `scratch`, or is null where the packs' outputs hold them.
  void (*finished)(void* context, int position, const kernels::TrajectoryEnd* end);
  void* context;
};

/// One instruction set's single lane: a type of its own, so that no other translation unit shares
/// the code that is made for it.
template <class Isa>
struct IsaLane : kernels::SingleLane {
  static constexpr int kRowPadding = Isa::kWidth;
};

/// Whether the packs' outputs at `position` are the trajectory's last word.
inline __attribute__((always_inline)) bool packs_finished(const PackJob& job, int position) {
  const std::uint8_t status = job.status[position];
  if (status == kUnfinished) return false;
  return status == static_cast<std::uint8_t>(TrajectoryStatus::terminated) ||
         !(job.problem->closing_impulse > 0.0);  // or it wants a closing step
}

template <int Dim, class Lanes>
void run_lanes(const BlockJob& job, const Lanes& lanes) {
  const PackJob& p = job.packs;
  kernels::ImpactTrajectory<Dim, Lanes> trajectory(
      lanes, *p.run, *p.problem, *static_cast<const kernels::ImpactScratch<Dim>*>(job.scratch));
  for (int position = 0; position < p.count; ++position) {
    const bool recorded = position < job.paths;
    if (job.packed && !recorded && packs_finished(p, position)) {
      job.finished(job.context, position, nullptr);
      continue;
    }
    const kernels::TrajectoryEnd end = trajectory.run(
        p.index, p.first + static_cast<std::uint64_t>(position), recorded ? job.path : nullptr);
    job.finished(job.context, position, &end);
  }
}

template <class Isa>
void run_block_of(const BlockJob& job) {
  if (job.packed) run_pack_job<Isa>(job.packs);
  const IsaLane<Isa> lane;
  if (job.dimension == 2) {
    run_lanes<2>(job, lane);
  } else {
    run_lanes<3>(job, lane);
  }
}

}  // namespace carom::cpu::simd
