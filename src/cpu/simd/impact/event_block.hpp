#pragma once

#include <cstdint>

#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/impact/pack_events.hpp"
#include "impact/kernels/events.hpp"

namespace carom::cpu::simd {

/// Contacts whose trajectories packs follow.
inline constexpr int kMaxPackEventContacts = 2;

/// Samples [first, first + count) of one planar problem, from event to event, in one thread.
struct EventBlock {
  PackJob packs;  ///< problem, run, index, first, count, and the outputs of packs
  bool packed;    ///< try packs first
  const kernels::ImpactScratch<2>* scratch;
  double* modes;         ///< the problem's EventTable, kept from block to block
  unsigned char* known;  ///< likewise; zeros at first
  EventFace* faces;      ///< likewise, of its EventRanges; [7^m] where packs may be tried
  double* path;          ///< receives the path of one trajectory at positions below `paths`
  int paths;
  /// Called for each position in turn. `end` describes the trajectory whose numbers lie in
  /// `scratch`, or is null where the packs' outputs hold them.
  void (*finished)(void* context, int position, const kernels::TrajectoryEnd* end);
  void* context;
};

template <class Isa, int M>
void follow_block(const EventBlock& block) {
  const PackJob& job = block.packs;
  const kernels::EventTable<Isa, M> table(*job.problem, block.modes, block.known);
  bool packed = false;
  if constexpr (Isa::kPacksPay && M <= kMaxPackEventContacts) {
    if (block.packed && block.paths < job.count) {
      PackEvents<Isa, M> packs(job, block.paths, table, block.faces);
      packed = packs.starts();
      if (packed) packs();
    }
  }
  kernels::EventTrajectory<Isa, M> trajectory(*job.run, *job.problem, *block.scratch, table);
  for (int position = 0; position < job.count; ++position) {
    const bool recorded = position < block.paths;
    if (packed && !recorded && job.status[position] != kUnfinished) {
      block.finished(block.context, position, nullptr);
      continue;
    }
    const kernels::TrajectoryEnd end =
        trajectory.run(job.index, job.first + static_cast<std::uint64_t>(position),
                       recorded ? block.path : nullptr);
    block.finished(block.context, position, &end);
  }
}

template <class Isa>
void follow_events(const EventBlock& block) {
  static_assert(kernels::kMaxEventContacts == 4);
  switch (block.packs.run->contacts) {
    case 1:
      return follow_block<Isa, 1>(block);
    case 2:
      return follow_block<Isa, 2>(block);
    case 3:
      return follow_block<Isa, 3>(block);
    default:
      return follow_block<Isa, 4>(block);
  }
}

}  // namespace carom::cpu::simd
