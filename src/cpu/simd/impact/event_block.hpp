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
  double* modes;               ///< the problem's EventTable, kept from block to block
  unsigned char* known;        ///< likewise; zeros at first
  EventFace* faces;            ///< likewise, of its EventRanges; [7^m] where packs may be tried
  StoreRows stores;            ///< without a view: inelastic
  kernels::StoreBooks* books;  ///< with stores; receives those of the trajectory that is finished
  double* path;                ///< receives the path of one trajectory at positions below `paths`
  int paths;
  /// Called for each position in turn. `end` describes the trajectory whose numbers lie in
  /// `scratch`, or is null where the packs' outputs hold them.
  void (*finished)(void* context, int position, const kernels::TrajectoryEnd* end);
  void* context;
};

/// The energy balance of a trajectory that packs followed.
template <class Isa, int M>
void fill_books(const EventBlock& block, int position) {
  const StoreRows& rows = block.stores;
  kernels::StoreBooks& books = *block.books;
  for (int i = 0; i < M; ++i) {
    const long at = static_cast<long>(position) * M + i;
    books.restitution[i] = rows.restitution[at];
    books.friction[i] = block.packs.problem->friction[i];
    books.stored[i] = rows.stored[at];
    books.released[i] = rows.released[at];
    books.lost_compression[i] = rows.lost_compression[at];
    books.lost_friction[i] = rows.lost_friction[at];
  }
  books.guarded = books.trimmed = false;
}

/// The samples that packs did not finish, or all.
template <class Isa, int M, class Trajectory>
void follow_rest(const EventBlock& block, bool packed, Trajectory& trajectory) {
  const PackJob& job = block.packs;
  for (int position = 0; position < job.count; ++position) {
    const bool recorded = position < block.paths;
    if (packed && !recorded && job.status[position] != kUnfinished) {
      if (block.stores.view != nullptr) fill_books<Isa, M>(block, position);
      block.finished(block.context, position, nullptr);
      continue;
    }
    const kernels::TrajectoryEnd end =
        trajectory.run(job.index, job.first + static_cast<std::uint64_t>(position),
                       recorded ? block.path : nullptr);
    block.finished(block.context, position, &end);
  }
}

template <class Isa, int M, bool Stored>
void follow_block(const EventBlock& block) {
  const PackJob& job = block.packs;
  const kernels::EventTable<Isa, M> table(*job.problem, block.modes, block.known);
  bool packed = false;
  if constexpr (Isa::kPacksPay && M <= kMaxPackEventContacts) {
    if (block.packed && block.paths < job.count) {
      PackEvents<Isa, M, Stored> packs(job, block.paths, table, block.faces, block.stores);
      packed = packs.starts();
      if (packed) packs();
    }
  }
  const auto follow = [&](auto* stores) {
    using Stores = std::remove_pointer_t<decltype(stores)>;
    kernels::EventTrajectory<Isa, M, Stores> trajectory(*job.run, *job.problem, *block.scratch,
                                                        table, stores);
    follow_rest<Isa, M>(block, packed, trajectory);
  };
  if constexpr (Stored) {
    kernels::OnePlanarStores<M> stores(*job.run, *job.problem, *block.stores.view, *block.books);
    follow(&stores);
  } else {
    follow(static_cast<kernels::NoStores*>(nullptr));
  }
}

template <class Isa>
void follow_events(const EventBlock& block) {
  static_assert(kernels::kMaxEventContacts == 4);
  const auto follow = [&]<int M>(std::integral_constant<int, M>) {
    block.stores.view != nullptr ? follow_block<Isa, M, true>(block)
                                 : follow_block<Isa, M, false>(block);
  };
  switch (block.packs.run->contacts) {
    case 1:
      return follow(std::integral_constant<int, 1>{});
    case 2:
      return follow(std::integral_constant<int, 2>{});
    case 3:
      return follow(std::integral_constant<int, 3>{});
    default:
      return follow(std::integral_constant<int, 4>{});
  }
}

}  // namespace carom::cpu::simd
