#pragma once

#include <algorithm>
#include <cstdint>

#include <carom/certificate_lcp.hpp>
#include <carom/types/lcp.hpp>

#include "core/pointers.hpp"
#include "cpu/simd/programs/pack_lcp_judge.hpp"
#include "cpu/simd/programs/pack_lcp_tableaus.hpp"
#include "cpu/simd/programs/pack_lcps.hpp"
#include "cpu/simd/spread.hpp"

namespace carom::cpu::simd {

/// Scratch of a range's packs.
constexpr long lcp_range_reals(int n) {
  return lcp_pack_judge_reals(n) + std::max(lcp_pack_reals(n), lcp_tableau_reals(n));
}
constexpr long lcp_range_ints(int n) { return std::max(lcp_pack_ints(n), lcp_tableau_ints(n)); }

struct LcpRange : LcpBatchArrays<ConstPointer>, LcpResultArrays<Pointer> {
  std::int64_t begin, end;  ///< problems
  int order;
  double tolerance;
  int max_pivots;
  bool limited;        ///< max_pivots is the caller's
  double* reals;       ///< lemke_real_workspace
  int* ints;           ///< lemke_int_workspace
  double* pack_reals;  ///< lcp_range_reals; null: one problem at a time
  int* pack_ints;      ///< lcp_range_ints
  int* pack_counts;    ///< problems that packs took so far, and gave up
  double* finish;      ///< lcp_finish_workspace: only what an earlier call left open; else null
};

/// A range's problems of small order, as many at a time as a register has lanes. Alone: solves,
/// judges and refuses one of them, LcpRanges.
template <class Isa, class Alone>
class LcpPacks {
  static constexpr int kWidth = Isa::kWidth;

 public:
  /// The largest order that goes this way; 0: none does.
  static constexpr int kMostInTableaus = LemkeTableaus<Isa, 1>::kPays ? kMostJudgedInPacks : 0;

  LcpPacks(const Alone& alone, const LcpRange& range) : alone_(alone), r_(range) {}

  void solve() {
    std::int64_t p = r_.begin;
    while (p < r_.end && pays()) {
      std::int64_t problems[kWidth];
      int count = 0;
      for (; p < r_.end && count < kWidth; ++p) {
        if (!alone_.solve_principally(r_, p)) problems[count++] = p;
      }
      if (count > 0) solve_tableaus<kMostInTableaus>(problems, count);
    }
    for (; p < r_.end; ++p) alone_.solve_checked(r_, p);
  }

 private:
  [[nodiscard]] bool pays() const {
    return r_.pack_counts[1] < 16 || 2L * r_.pack_counts[1] < r_.pack_counts[0];
  }
  void give_up(std::int64_t p) {
    ++r_.pack_counts[1];
    alone_.solve_alone(r_, p);
  }

  /// Judges the answers of lanes [0, count), of problems that problem(lane) has, in their pack.
  template <class Problem>
  void judge_lanes(LcpPackJudge<Isa>& judge, int count, Problem&& problem) {
    double residual[kWidth];
    judge.judge(residual);
    for (int lane = 0; lane < count; ++lane) {
      const std::int64_t p = problem(lane);
      if (p < 0) continue;
      const bool close = residual[lane] <= certificate::kLcpClose;
      const int pivots = r_.pivots[p];
      if (!(close ? alone_.accept(r_, p, pivots, residual[lane]) : alone_.accept(r_, p, pivots))) {
        give_up(p);
      }
    }
  }

  /// Lanes beyond `count` repeat the first problem. N: the order, or more.
  template <int N>
  void solve_tableaus(const std::int64_t* problems, int count) {
    if constexpr (N > 1) {
      if (r_.order < N) return solve_tableaus<N - 1>(problems, count);
    }
    LcpPackJudge<Isa> judge(N, r_.pack_reals);
    LemkeTableaus<Isa, N> tableaus(r_.pack_reals + lcp_pack_judge_reals(N), r_.pack_ints);
    const double* matrix[kWidth];
    const double* vector[kWidth];
    double* z[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      const std::int64_t problem = problems[lane < count ? lane : 0];
      matrix[lane] = r_.matrix + problem * N * N;
      vector[lane] = r_.vector + problem * N;
      z[lane] = r_.solution + problem * N;
    }
    judge.load(matrix, vector);
    const int most = std::min(r_.max_pivots, lcp_pack_pivots(N));
    const auto outcome = tableaus.run(judge.matrix(), judge.vector(), most, judge.z());
    collect<kWidth>(judge.z(), N, count, z);
    for (int lane = 0; lane < count; ++lane) {
      const std::int64_t p = problems[lane];
      if ((outcome.finite >> lane & 1U) == 0) {
        alone_.refuse(r_, p);
        continue;
      }
      ++r_.pack_counts[0];
      r_.pivots[p] = outcome.pivots[lane];
      if ((outcome.solved >> lane & 1U) == 0) give_up(p);
    }
    const unsigned solved = outcome.finite & outcome.solved;
    judge_lanes(judge, count, [&](int lane) {
      return (solved >> lane & 1U) != 0 ? problems[lane] : std::int64_t{-1};
    });
  }

  const Alone& alone_;
  const LcpRange& r_;
};

}  // namespace carom::cpu::simd
