#pragma once

#include <vector>

#include <carom/impact.hpp>

#include "core/parallel.hpp"
#include "cpu/simd/lcp_range.hpp"
#include "impact/friction_polygon.hpp"

namespace carom::cpu {

/// Single contact steps; `solve` takes a StepRange.
template <class Solve>
StepResult drive_steps(const StepBatch& batch, const StepSettings& settings, Solve&& solve) {
  const int m = batch.contacts;
  const int rows = batch.dimension * m;
  const int k = settings.friction_directions;
  const auto problems = static_cast<std::size_t>(batch.problems);
  const kernels::FrictionPolygon polygon = friction_polygon(batch.dimension, k);
  StepResult result;
  result.impulse = Buffer<double>(problems * static_cast<std::size_t>(rows));
  result.contact_velocity = Buffer<double>(problems * static_cast<std::size_t>(rows));
  result.status = Buffer<Status>(problems);
  result.pivots = Buffer<std::int32_t>(problems);
  result.fallback = Buffer<std::uint8_t>(problems);
  result.residual = Buffer<double>(problems);
  struct Memory {
    Buffer<double> reals;
    std::vector<double> scaled;
    std::vector<int> ints;
  };
  const bool planar = batch.dimension == 2;
  const long reals =
      planar ? simd::step_real_workspace<2>(m, k) : simd::step_real_workspace<3>(m, k);
  const long ints = planar ? simd::step_int_workspace<2>(m, k) : simd::step_int_workspace<3>(m, k);
  tbb::enumerable_thread_specific<Memory> memories([&] {
    return Memory{Buffer<double>(static_cast<std::size_t>(reals)),
                  std::vector<double>(static_cast<std::size_t>(rows * rows + 2 * rows + 2 * m)),
                  std::vector<int>(static_cast<std::size_t>(ints))};
  });
  parallel_for(batch.problems, 16, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    Memory& memory = memories.local();
    solve(simd::StepRange{begin,
                          end,
                          batch.dimension,
                          m,
                          &polygon,
                          settings.selection == Selection::any,
                          settings.tolerance,
                          batch.delassus.data(),
                          batch.contact_velocity.data(),
                          batch.friction.data(),
                          batch.max_impulse.data(),
                          result.impulse.data(),
                          result.contact_velocity.data(),
                          result.status.data(),
                          result.pivots.data(),
                          result.fallback.data(),
                          result.residual.data(),
                          memory.scaled.data(),
                          memory.reals.data(),
                          memory.ints.data()});
  });
  return result;
}

}  // namespace carom::cpu
