#pragma once

#include <vector>

#include <carom/types/impact.hpp>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/simd/impact/step_range.hpp"
#include "impact/friction_polygon.hpp"

namespace carom::cpu {

/// Working memory of one thread.
struct StepMemory {
  Buffer<double> reals;
  std::vector<double> scaled;
  std::vector<int> ints;
};

/// Single contact steps; `solve` takes a StepRange.
template <class Solve>
StepResult drive_steps(const StepBatch& batch, const StepSettings& settings, Solve&& solve,
                       WorkspaceState* workspace = nullptr) {
  const int m = batch.contacts;
  const int rows = batch.dimension * m;
  const int k = settings.friction_directions;
  const kernels::FrictionPolygon polygon = friction_polygon(batch.dimension, k);
  auto result = allocate<StepResult>(batch);
  const bool planar = batch.dimension == 2;
  const long reals =
      planar ? simd::step_real_workspace<2>(m, k) : simd::step_real_workspace<3>(m, k);
  const long ints = planar ? simd::step_int_workspace<2>(m, k) : simd::step_int_workspace<3>(m, k);
  const Scratch<ThreadScratch<StepMemory>> memories(workspace);
  parallel_for(batch.problems, 16, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    StepMemory& memory = memories->local();
    make_room(memory.reals, reals);
    make_room(memory.scaled, static_cast<long>(rows) * rows + 2L * rows + 2L * m);
    make_room(memory.ints, ints);
    simd::StepRange range{};
    arrays::bind(range, batch);
    arrays::bind(range.result, result);
    range.begin = begin;
    range.end = end;
    range.dimension = batch.dimension;
    range.contacts = m;
    range.polygon = &polygon;
    range.path = settings.selection == Selection::any;
    range.tolerance = settings.tolerance;
    range.scaled = memory.scaled.data();
    range.reals = memory.reals.data();
    range.ints = memory.ints.data();
    solve(range);
  });
  return result;
}

}  // namespace carom::cpu
