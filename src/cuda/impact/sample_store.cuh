#pragma once

#include <limits>

#include "cuda/impact/sample_launch.hpp"
#include "cuda/lanes.cuh"
#include "impact/kernels/contact_stores.hpp"

namespace carom::cuda {

/// Index of a problem in the batch and of a sample in the run.
struct SlotAddress {
  std::int64_t problem;
  std::int64_t sample;
};

CAROM_INLINE SlotAddress address_of(const Chunk& chunk, int slot) {
  const int problem = slot / chunk.samples;
  return {chunk.first_problem + problem, chunk.first_sample + (slot - problem * chunk.samples)};
}

template <int Dim>
CAROM_INLINE kernels::ImpactProblemView view_of(const ProblemArrays& arrays, int nv, int m,
                                                std::int64_t problem) {
  const std::int64_t p = problem - arrays.first;
  const long rows = static_cast<long>(Dim) * m;
  kernels::ImpactProblemView view;
  view.mass = arrays.mass + p * nv * nv;
  view.jacobian = arrays.jacobian + p * rows * nv;
  view.response = arrays.response + p * nv * rows;
  view.delassus = arrays.delassus + p * rows * rows;
  view.scale = arrays.scale + p * m;
  view.friction = arrays.friction + p * m;
  view.velocity = arrays.velocity + p * nv;
  view.contact_velocity = arrays.contact_velocity + p * rows;
  view.energy = arrays.energy[p];
  view.step_size = arrays.step_size[p];
  view.closing_impulse = arrays.closing_impulse[p];
  if (arrays.tables != nullptr) {
    const TableSlot& slot = arrays.tables[p];
    view.table = slot.table;
    view.table.numbers = arrays.table_numbers + slot.numbers;
    view.table.first = arrays.table_first + slot.first;
  }
  return view;
}

/// Of a problem of a batch that has some.
CAROM_INLINE kernels::RestitutionView restitution_of(const SampleLaunch& launch,
                                                     std::int64_t problem) {
  const ProblemArrays& arrays = launch.problems;
  const std::int64_t at = (problem - arrays.first) * launch.run.contacts;
  kernels::RestitutionView view;
  view.restitution_low = arrays.restitution_low + at;
  view.restitution_high = arrays.restitution_high + at;
  view.friction_low = arrays.friction + at;
  view.friction_high = arrays.friction_high + at;
  view.law = launch.law;
  view.vary = launch.vary;
  return view;
}

CAROM_INLINE double* path_of(const SampleLaunch& launch, int slot) {
  if (slot >= launch.out.paths) return nullptr;
  return launch.out.path +
         static_cast<long>(slot) * (launch.run.max_steps + 1) * launch.out.path_row;
}

/// Writes the energy balance of a finished trajectory with stores to its slot.
CAROM_INLINE void store_books(const SampleLaunch& launch, int slot,
                              const kernels::TrajectoryEnd& end, const kernels::StoreBooks& books) {
  const TrajectoryArrays& out = launch.out;
  const int m = launch.run.contacts;
  const auto keep = [&](double* to, const double* from) {
    for (int i = 0; i < m; ++i) {
      to[static_cast<long>(slot) * m + i] = end.status == TrajectoryStatus::failed
                                                ? std::numeric_limits<double>::quiet_NaN()
                                                : from[i];
    }
  };
  keep(out.restitution, books.restitution);
  keep(out.friction, books.friction);
  keep(out.stored, books.stored);
  keep(out.released, books.released);
  keep(out.lost_compression, books.lost_compression);
  keep(out.lost_friction, books.lost_friction);
  out.ended_by[slot] =
      static_cast<std::uint8_t>((books.guarded ? kGuarded : 0) | (books.trimmed ? kTrimmed : 0));
}

/// Writes a finished trajectory to its slot.
template <int Dim, class Lanes>
CAROM_HOST_DEVICE void store_trajectory(const Lanes& lanes, const SampleLaunch& launch, int slot,
                                        const kernels::TrajectoryEnd& end,
                                        const kernels::ImpactScratch<Dim>& scratch) {
  const TrajectoryArrays& out = launch.out;
  const int nv = launch.run.velocities;
  const int rows = Dim * launch.run.contacts;
  const long v_begin = static_cast<long>(slot) * nv;
  const long u_begin = static_cast<long>(slot) * rows;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const bool failed = end.status == TrajectoryStatus::failed;
  const bool closed = end.in_net && end.status != TrajectoryStatus::terminated;
  lanes.for_each(nv, [&](int i) {
    out.velocity[v_begin + i] = failed ? kNan : scratch.v[i];
    if (closed && out.closed_velocity != nullptr) {
      out.closed_velocity[v_begin + i] = scratch.next_v[i];
    }
  });
  lanes.for_each(rows, [&](int i) {
    out.contact_velocity[u_begin + i] = failed ? kNan : scratch.u[i];
    out.impulse[u_begin + i] = failed ? kNan : scratch.total[i];
    if (closed && out.closed_impulse != nullptr) {
      out.closed_impulse[u_begin + i] = scratch.impulse[i];
    }
  });
  lanes.for_each(1, [&](int) {
    out.residual[slot] = end.residual;
    out.energy_ratio[slot] = end.energy_ratio;
    out.modes[slot] = failed ? 0 : end.modes;
    out.net_modes[slot] = end.net_modes;
    out.steps[slot] = end.steps;
    out.fallback[slot] = end.fallback;
    out.pivots[slot] = end.pivots;
    out.nonunique[slot] = end.nonunique;
    out.examined[slot] = end.examined;
    out.status[slot] = end.status;
    out.in_net[slot] = end.in_net ? 1 : 0;
  });
}

/// Leaves a slot to the pass that can fall back. Called by one lane.
__device__ inline void leave_unfinished(const SlotList& list, int slot) {
  list.slots[Grid::claim(list.count)] = slot;
}

}  // namespace carom::cuda
