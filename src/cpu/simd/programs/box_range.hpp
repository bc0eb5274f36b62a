#pragma once

#include <cstdint>

#include <carom/device/numeric.hpp>
#include <carom/types/boxed_lcp.hpp>
#include <carom/types/status.hpp>

#include "core/pointers.hpp"
#include "cpu/simd/box_code.hpp"
#include "cpu/simd/isa_lane.hpp"
#include "cpu/simd/lane_numbers.hpp"
#include "cpu/simd/programs/pack_boxes.hpp"
#include "programs/lcp/boxed.hpp"
#include "programs/lcp/kernels/box_lemke.hpp"
#include "programs/lcp/kernels/lcp_finish.hpp"

namespace carom::cpu::simd {

/// Boxed LCPs that packs of lanes try. In `pivots` kernels::kBoxWaits marks those that are to be
/// tried; what comes back with another mark has nothing written but its end.
struct BoxRange : BoxedLcpBatchArrays<ConstPointer>, BoxedLcpResultArrays<Pointer> {
  std::int64_t begin, end;  ///< problems
  std::int64_t boxes;       ///< problem whose bounds stand first in lower and upper
  int order;
  double tolerance;  ///< certified answers have no larger residual
  int max_pivots;    ///< 0: the library's own
  double* reals;     ///< box_pack_reals of the largest box, at most kMostInBoxPacks
  int* ints;         ///< box_pack_ints
  int* counts;       ///< problems that packs took so far, and left
  double* ends;     ///< of kBoxEnded, [problems of the range, kMostInBoxPacks]; null: not asked for
  int* end_pivots;  ///< likewise, and of kBoxOnRay
};

template <class Isa>
class BoxRanges : LaneNumbers<IsaLane<Isa>> {
  using LaneNumbers<IsaLane<Isa>>::finite;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr std::int64_t kAhead = 4 * kWidth;  // where others of a kind are looked for

 public:
  explicit BoxRanges(const BoxRange& range) : r_(range) {}

  void solve() {
    for (std::int64_t p = r_.begin; p < r_.end; ++p) {
      if (r_.pivots[p] != kernels::kBoxWaits) continue;
      if (!Isa::kPacksPay || !pays() || !usable(p)) {
        r_.pivots[p] = kernels::kBoxLeft;
        continue;
      }
      const int frictions = frictions_of(p);
      if (r_.order + 2 * frictions > kMostInBoxPacks) {
        r_.pivots[p] = kernels::kBoxLeft;
        continue;
      }
      std::int64_t members[kWidth];
      int count = 0;
      members[count++] = p;
      for (std::int64_t next = p + 1; next < r_.end && next <= p + kAhead && count < kWidth;
           ++next) {
        if (r_.pivots[next] == kernels::kBoxWaits && same_rows(p, next) && usable(next)) {
          members[count++] = next;
        }
      }
      solve_pack(members, count, frictions);
    }
  }

 private:
  [[nodiscard]] bool pays() const {
    return r_.counts[1] < 2 * kWidth || 2L * r_.counts[1] < r_.counts[0];
  }
  [[nodiscard]] bool usable(std::int64_t p) const {
    const long n = r_.order;
    if (!finite(r_.matrix + p * n * n, n * n) || !finite(r_.vector + p * n, n)) return false;
    for (long i = (p - r_.boxes) * n; i < (p - r_.boxes + 1) * n; ++i) {
      const double low = r_.lower[i], high = r_.upper[i];
      if (!(low < kernels::kInfinity) || !(high > -kernels::kInfinity) || low > high) return false;
    }
    return true;
  }
  [[nodiscard]] int frictions_of(std::int64_t p) const {
    int count = 0;
    if (r_.findex == nullptr) return 0;
    for (long i = 0; i < r_.order; ++i) count += r_.findex[p * r_.order + i] >= 0 ? 1 : 0;
    return count;
  }
  [[nodiscard]] bool same_rows(std::int64_t p, std::int64_t other) const {
    if (r_.findex == nullptr) return true;
    const long n = r_.order;
    for (long i = 0; i < n; ++i) {
      if ((r_.findex[p * n + i] >= 0) != (r_.findex[other * n + i] >= 0)) return false;
    }
    return true;
  }

  void solve_pack(const std::int64_t* members, int count, int frictions) {
    const long n = r_.order;
    const int m = r_.order + 2 * frictions;
    typename BoxPack<Isa>::Problem problems[kWidth];
    for (int lane = 0; lane < count; ++lane) {
      const std::int64_t p = members[lane];
      problems[lane] = {r_.matrix + p * n * n,
                        r_.vector + p * n,
                        r_.lower + (p - r_.boxes) * n,
                        r_.upper + (p - r_.boxes) * n,
                        frictions > 0 ? r_.findex + p * n : nullptr,
                        frictions > 0 ? r_.friction + p * n : nullptr};
    }
    BoxPack<Isa> pack(r_.order, frictions, r_.reals, r_.ints);
    int most = box_pack_pivots(m);
    if (r_.max_pivots > 0 && r_.max_pivots < most) most = r_.max_pivots;
    const double residual = kernels::smaller(r_.tolerance, kernels::kLcpDigits);
    const auto outcome = pack.solve(problems, count, most, residual);
    for (int lane = 0; lane < count; ++lane) {
      const std::int64_t p = members[lane];
      ++r_.counts[0];
      if ((outcome.solved >> lane & 1U) == 0) {
        r_.pivots[p] = kernels::kBoxLeft;
        ++r_.counts[1];
        if (r_.ends == nullptr || ((outcome.ended | outcome.rays) >> lane & 1U) == 0) continue;
        const bool on_ray = (outcome.rays >> lane & 1U) != 0;
        r_.pivots[p] = on_ray ? kernels::kBoxOnRay : kernels::kBoxEnded;
        r_.end_pivots[p - r_.begin] = outcome.pivots[lane];
        --r_.counts[1];
        if (!on_ray) pack.collect_end(lane, r_.ends + (p - r_.begin) * kMostInBoxPacks);
        continue;
      }
      pack.collect(lane, r_.solution + p * n, r_.slack + p * n);
      r_.status[p] = Status::solved;
      r_.pivots[p] = outcome.pivots[lane];
      r_.residual[p] = outcome.residual[lane];
    }
  }

  const BoxRange& r_;
};

template <class Isa>
void solve_boxes(const BoxRange& range) {
  BoxRanges<Isa>(range).solve();
}

template <class Isa>
void follow_box(kernels::BoxLemkeJob& job) {
  if constexpr (Isa::kInRegisters) {
    const IsaLane<Isa> lane;
    kernels::follow_box_path(lane, job);
  } else {
    boxed::follow_path(job);
  }
}

}  // namespace carom::cpu::simd
