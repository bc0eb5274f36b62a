#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <carom/types/boxed_lcp.hpp>

#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/programs/boxed_task.hpp"
#include "cpu/programs/range.hpp"
#include "cpu/simd/programs/box_range.hpp"

namespace carom::cpu {

/// Working memory of one thread.
struct BoxMemory {
  Buffer<double> reals;
  std::vector<int> ints;
  std::array<int, 2> counts{};
  std::vector<double> lower, upper;  // of a range whose friction rows have limits
  std::vector<double> ends;          // of paths
  std::vector<int> end_pivots;

  void fit(int n, int m) {
    make_room(reals, simd::box_pack_reals(n, m));
    make_room(ints, simd::box_pack_ints(m));
  }
};

/// Boxed LCPs: packs take what they can, `solve` of a BoxRange; the rest one by one with `follow`.
template <class Solve>
class BoxDriver {
 public:
  BoxDriver(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings, Solve&& solve,
            FollowBox follow)
      : batch_(batch), settings_(settings), solve_(solve), follow_(follow), n_(batch.order) {}

  BoxedLcpResult run(int frictions, WorkspaceState* workspace) {
    const bool friction = !batch_.findex.empty();
    auto result = allocate<BoxedLcpResult>(batch_, MemorySpace::host, friction);
    fill_nan(result);
    std::fill_n(result.pivots.data(), batch_.problems, kernels::kBoxWaits);
    const bool frozen = friction && settings_.friction_law == FrictionLaw::ode;
    const int order = std::min(n_ + 2 * (frozen ? 0 : frictions), simd::kMostInBoxPacks);
    const Scratch<ThreadScratch<BoxMemory>> memories(workspace);
    for (BoxMemory& memory : memories->of_thread) memory.counts = {};  // found out anew
    parallel_for(batch_.problems, kGrain, settings_.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   BoxMemory& memory = memories->local();
                   if (n_ <= simd::kMostInBoxPacks) memory.fit(n_, std::max(order, n_));
                   simd::BoxRange range = range_of(result, memory, begin, end);
                   if (frozen) {
                     freeze(range, result, memory);
                   } else {
                     make_room(memory.ends, (end - begin) * simd::kMostInBoxPacks);
                     make_room(memory.end_pivots, end - begin);
                     range.ends = memory.ends.data();
                     range.end_pivots = memory.end_pivots.data();
                     solve_(range);
                   }
                   for (std::int64_t p = begin; p < end; ++p) {
                     const int own = result.pivots.data()[p];
                     if (own == kernels::kBoxEnded || own == kernels::kBoxOnRay) {
                       const double* z = range.ends + (p - begin) * simd::kMostInBoxPacks;
                       const boxed::Ended ended{own == kernels::kBoxEnded ? z : nullptr,
                                                range.end_pivots[p - begin]};
                       solve_box_alone(batch_, settings_, result, p, follow_, &ended);
                     } else if (own < 0) {
                       solve_box_alone(batch_, settings_, result, p, follow_);
                     } else if (friction) {
                       compare_limits(batch_, settings_.friction_law, result, p);
                     }
                   }
                 });
    return result;
  }

 private:
  static constexpr int kGrain = 32;

  simd::BoxRange range_of(BoxedLcpResult& result, BoxMemory& memory, std::int64_t begin,
                          std::int64_t end) const {
    auto range = cpu::range_of<simd::BoxRange>(batch_, settings_.tolerance, result, begin, end);
    range.max_pivots = settings_.max_pivots;
    range.reals = memory.reals.data();
    range.ints = memory.ints.data();
    range.counts = memory.counts.data();
    return range;
  }

  /// FrictionLaw::ode: boxes with friction rows held at zero, then at the limits from there.
  void freeze(simd::BoxRange range, BoxedLcpResult& result, BoxMemory& memory) const {
    const std::int32_t* findex = range.findex;
    const std::int64_t first = range.begin * n_, count = (range.end - range.begin) * n_;
    memory.lower.assign(range.lower + first, range.lower + first + count);
    memory.upper.assign(range.upper + first, range.upper + first + count);
    const auto limit_row = [&](std::int64_t e, double limit) {
      memory.lower[static_cast<std::size_t>(e)] = -limit;
      memory.upper[static_cast<std::size_t>(e)] = limit;
      result.limit.data()[first + e] = limit;
    };
    for (std::int64_t e = 0; e < count; ++e) {
      if (findex[first + e] >= 0) limit_row(e, 0.0);
    }
    range.findex = nullptr;
    range.boxes = range.begin;
    range.lower = memory.lower.data();
    range.upper = memory.upper.data();
    solve_(range);
    std::vector<int> pivots(range.pivots + range.begin, range.pivots + range.end);
    for (std::int64_t e = 0; e < count; ++e) {
      const std::int64_t p = range.begin + e / n_;
      if (range.pivots[p] < 0 || findex[first + e] < 0) continue;
      const double normal = range.solution[p * n_ + findex[first + e]];
      limit_row(e, batch_.friction.data()[first + e] * std::fabs(normal));
    }
    for (std::int64_t p = range.begin; p < range.end; ++p) {
      if (range.pivots[p] >= 0) range.pivots[p] = kernels::kBoxWaits;
    }
    solve_(range);
    for (std::int64_t p = range.begin; p < range.end; ++p) {
      if (range.pivots[p] >= 0) {
        range.pivots[p] += pivots[static_cast<std::size_t>(p - range.begin)];
      } else {
        clear(result, p);
      }
    }
  }

  /// Of a problem that packs left half done.
  void clear(BoxedLcpResult& result, std::int64_t p) const {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    for (auto* array : {&result.solution, &result.slack, &result.limit}) {
      std::fill_n(array->data() + p * n_, n_, kNaN);
    }
    result.residual.data()[p] = kNaN;
  }

  const BoxedLcpBatch& batch_;
  const BoxedLcpSettings& settings_;
  std::remove_reference_t<Solve>& solve_;
  FollowBox follow_;
  int n_;
};

template <class Solve>
BoxedLcpResult drive_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               int frictions, Solve&& solve, FollowBox follow,
                               WorkspaceState* workspace = nullptr) {
  BoxDriver<Solve> driver(batch, settings, std::forward<Solve>(solve), follow);
  return driver.run(frictions, workspace);
}

}  // namespace carom::cpu
