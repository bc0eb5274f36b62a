#pragma once

#include <cstdint>

#include "cpu/simd/dispatch.hpp"
#include "impact/body/events_body.hpp"

namespace carom::cpu::simd {

/// Samples [first, first + count) of one planar problem, from event to event, in one thread.
struct EventBlock {
  const kernels::ImpactProblemView* problem;
  const kernels::ImpactRun* run;
  std::uint32_t index;
  std::uint64_t first;
  int count;
  const kernels::ImpactScratch<2>* scratch;
  double* modes;         ///< the problem's EventTable, kept from block to block
  unsigned char* known;  ///< likewise; zeros at first
  double* path;          ///< receives the path of one trajectory at positions below `paths`
  int paths;
  /// Called for each position in turn; the trajectory's numbers lie in `scratch`.
  void (*finished)(void* context, int position, const kernels::TrajectoryEnd* end);
  void* context;
};

template <class Isa, int M>
void follow_block(const EventBlock& block) {
  const kernels::EventTable<Isa, M> table(*block.problem, block.modes, block.known);
  kernels::EventTrajectory<Isa, M> trajectory(*block.run, *block.problem, *block.scratch, table);
  for (int position = 0; position < block.count; ++position) {
    const kernels::TrajectoryEnd end =
        trajectory.run(block.index, block.first + static_cast<std::uint64_t>(position),
                       position < block.paths ? block.path : nullptr);
    block.finished(block.context, position, &end);
  }
}

template <class Isa>
void follow_events(const EventBlock& block) {
  static_assert(kernels::kMaxEventContacts == 4);
  switch (block.run->contacts) {
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
