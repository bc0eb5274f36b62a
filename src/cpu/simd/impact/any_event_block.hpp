#pragma once

#include <cstdint>

#include "cpu/simd/contact_registers.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/isa_lane.hpp"
#include "impact/kernels/any_events.hpp"
#include "impact/kernels/release_steps.hpp"

namespace carom::cpu::simd {

/// Samples [first, first + count) of one problem that is spatial, has many contacts or restitution,
/// from event to event or, with restitution, by steps (75), in one thread.
struct AnyEventBlock {
  const kernels::ImpactProblemView* problem;
  const kernels::ImpactRun* run;
  std::uint32_t index;
  std::uint64_t first;
  int count;
  const kernels::ImpactScratch<2>* planar;   ///< or ...
  const kernels::ImpactScratch<3>* spatial;  ///< ... of the problem's dimension
  double* path;  ///< receives the path of one trajectory at positions below `paths`
  int paths;
  const kernels::RestitutionView* restitution;  ///< null: inelastic
  bool by_steps;                                ///< with restitution: ImpactMethod::lcp
  kernels::StoreBooks* books;  ///< likewise; receives those of the trajectory that is finished
  /// Called for each position in turn; the trajectory's numbers lie in the scratch.
  void (*finished)(void* context, int position, const kernels::TrajectoryEnd* end);
  void* context;
};

inline constexpr int kFewFollowedContacts = 8;  // whose arrays are half as long

template <class Trajectory>
void follow_block(const AnyEventBlock& block, Trajectory& trajectory) {
  for (int position = 0; position < block.count; ++position) {
    const kernels::TrajectoryEnd end =
        trajectory.run(block.index, block.first + static_cast<std::uint64_t>(position),
                       position < block.paths ? block.path : nullptr);
    block.finished(block.context, position, &end);
  }
}

template <class Isa, int Most, int Dim>
void follow_block(const AnyEventBlock& block, const kernels::ImpactScratch<Dim>& scratch) {
  if (block.restitution == nullptr) {
    kernels::AnyEventTrajectory<Isa, Dim, Most> trajectory(*block.run, *block.problem, scratch);
    return follow_block(block, trajectory);
  }
  using Stores = kernels::ContactStores<Dim>;
  kernels::ImpactProblemView problem = *block.problem;
  Stores stores(*block.run, problem, *block.restitution, *block.books);
  problem.friction = stores.friction();
  kernels::AnyEventTrajectory<Isa, Dim, Most, Stores> trajectory(*block.run, problem, scratch,
                                                                 &stores);
  follow_block(block, trajectory);
}

template <class Isa, int Dim>
void step_block(const AnyEventBlock& block, const kernels::ImpactScratch<Dim>& scratch) {
  const IsaLane<Isa> lane;
  kernels::ReleaseTrajectory<Dim, IsaLane<Isa>> trajectory(
      lane, *block.run, *block.problem, scratch, *block.restitution, *block.books);
  follow_block(block, trajectory);
}

template <class Isa>
void follow_any_events(const AnyEventBlock& block) {
  const auto follow = [&](const auto& scratch) {
    if (block.by_steps) return step_block<Isa>(block, scratch);
    if (block.run->contacts <= kFewFollowedContacts) {
      follow_block<Isa, kFewFollowedContacts>(block, scratch);
    } else {
      follow_block<Isa, kMaxFollowedContacts>(block, scratch);
    }
  };
  if (block.spatial != nullptr) {
    follow(*block.spatial);
  } else {
    follow(*block.planar);
  }
}

}  // namespace carom::cpu::simd
