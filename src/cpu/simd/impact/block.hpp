#pragma once

#include <carom/device/lanes.hpp>

#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/impact/pack_trajectories.hpp"
#include "impact/kernels/impact.hpp"

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

/// Whether the packs' outputs at `position` are the trajectory's last word.
inline __attribute__((always_inline)) bool packs_finished(const PackJob& job, int position) {
  const std::uint8_t status = job.status[position];
  if (status == kUnfinished) return false;
  return status == static_cast<std::uint8_t>(TrajectoryStatus::terminated) ||
         !(job.problem->closing_impulse > 0.0);  // or it wants a closing step
}

/// The samples that packs did not finish, or all.
template <int Dim, class Lanes>
void finish_block(const BlockJob& job, kernels::ImpactTrajectory<Dim, Lanes>& trajectory) {
  const PackJob& p = job.packs;
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

/// The whole block on lanes of one type.
template <int Dim, class Lanes>
void run_lanes(const BlockJob& job, const Lanes& lanes) {
  kernels::ImpactTrajectory<Dim, Lanes> trajectory(
      lanes, *job.packs.run, *job.packs.problem,
      *static_cast<const kernels::ImpactScratch<Dim>*>(job.scratch));
  finish_block(job, trajectory);
}

template <class Isa, int Dim>
void run_packs_and_lanes(const BlockJob& job) {
  const IsaLane<Isa> lane;
  const auto& scratch = *static_cast<const kernels::ImpactScratch<Dim>*>(job.scratch);
  kernels::ImpactTrajectory<Dim, IsaLane<Isa>> trajectory(lane, *job.packs.run, *job.packs.problem,
                                                          scratch);
  BlockJob own = job;
  own.packed = job.packed && Isa::kPacksPay;
  if constexpr (Isa::kPacksPay) {
    if (own.packed) run_pack_job<Isa, Dim>(job.packs, trajectory, scratch);
  }
  finish_block(own, trajectory);
}

template <class Isa>
void run_block(const BlockJob& job) {
  job.dimension == 2 ? run_packs_and_lanes<Isa, 2>(job) : run_packs_and_lanes<Isa, 3>(job);
}

}  // namespace carom::cpu::simd
