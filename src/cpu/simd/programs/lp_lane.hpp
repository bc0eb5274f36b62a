#pragma once

#include <cstdint>
#include <utility>

#include "cpu/simd/ahead.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/packed_lane.hpp"
#include "cpu/simd/programs/pack_lps.hpp"
#include "programs/lp/kernels/lp_finish.hpp"

/// Linear programs in one thread, one after the other.
namespace carom::cpu::simd {

/// What packs took and gave up lately, by one thread.
struct LpPackCounts {
  int taken = 0;
  int given_up = 0;
  int skipped = 0;

  /// What packs give up costs both ways: where that is most of it, they are tried now and then.
  bool pays() {
    constexpr int kSkipped = 1024;
    if (2 * given_up <= taken) return true;
    if (++skipped < kSkipped) return false;
    *this = {};
    return true;
  }
};

/// Problems [begin, end) with workspaces of lp_lane_reals and lp_lane_ints; or, where
/// `finish` is given (lp_finish_workspace), what an earlier call left open.
struct LpRange {
  std::int64_t begin, end;
  const kernels::LpArrays* arrays;
  double* reals;
  int* ints;
  double* finish;
  /// lp_pack_reals, or null: one problem at a time. With it reals and ints hold as many workspaces
  /// as a pack has lanes.
  double* pack;
  LpPackCounts* counts;
};

/// Whether a batch's problems go through packs: a cold start and one objective each, few rows.
inline bool lp_packs(const kernels::LpArrays& arrays, std::int64_t problems) {
  return arrays.objectives == 1 && arrays.start == nullptr && arrays.rows > 0 &&
         arrays.rows <= kMostPackedRows && problems >= kLargestPadding;
}
constexpr long lp_lane_reals(int rows, int columns) {
  return kernels::padded(static_cast<int>(kernels::lp_real_workspace(rows, columns)),
                         kernels::kPackPadding);
}
constexpr long lp_lane_ints(int rows, int columns) {
  return kernels::simplex_listed_workspace(rows, columns);
}

/// Problems of few rows, as many at a time as a register has lanes.
template <class Isa, int M>
class LpPacks {
  static constexpr int kWidth = Isa::kWidth;
  using Solver = kernels::LpSolver<PackedLane<Isa>, kMostPackedRows>;

 public:
  explicit LpPacks(const LpRange& range)
      : LpPacks(range, std::make_integer_sequence<int, kWidth>()) {}

  void run() {
    int count = 0;
    long problem[kWidth];
    typename SimplexPack<Isa, M>::Simplex* simplex[kWidth];
    for (std::int64_t p = range_.begin; p < range_.end; ++p) {
      if (!range_.counts->pays() || !solver_[count].begin(p)) {
        solver_[count].solve(p);
        continue;
      }
      problem[count] = p;
      simplex[count] = solver_[count].simplex();
      if (++count < kWidth) continue;
      count = 0;
      Ahead ahead = next_pack(p + 1);
      const auto outcome = pack_.run(simplex, range_.arrays->max_pivots, [&] { ahead.ask(); });
      for (int lane = 0; lane < kWidth; ++lane) {
        const bool solved = (outcome.solved >> lane & 1U) != 0U;
        const bool claimed = solved || (outcome.infeasible >> lane & 1U) != 0U;
        const Status claim = solved ? Status::solved : Status::infeasible;
        ++range_.counts->taken;
        if (claimed && solver_[lane].end(problem[lane], claim, outcome.pivots[lane])) continue;
        ++range_.counts->given_up;
        solver_[lane].solve(problem[lane]);
      }
    }
    for (int lane = 0; lane < count; ++lane) solver_[lane].solve(problem[lane]);
  }

 private:
  [[nodiscard]] Ahead next_pack(std::int64_t first) const {
    const kernels::LpArrays& a = *range_.arrays;
    const long m = a.rows;
    const long n = a.columns;
    Ahead ahead;
    ahead.add(a.matrix + first * m * n, m * n * kWidth);
    for (const double* values : {a.cost, a.column_lower, a.column_upper}) {
      ahead.add(values + first * n, n * kWidth);
    }
    for (const double* values : {a.row_lower, a.row_upper}) {
      ahead.add(values + first * m, m * kWidth);
    }
    return ahead;
  }

  template <int... Lane>
  LpPacks(const LpRange& range, std::integer_sequence<int, Lane...>)
      : range_(range),
        pack_(range.arrays->rows, range.arrays->columns, range.pack),
        solver_{Solver(
            lanes_, *range.arrays,
            range.reals + Lane * lp_lane_reals(range.arrays->rows, range.arrays->columns),
            range.ints + Lane * lp_lane_ints(range.arrays->rows, range.arrays->columns))...} {}

  const LpRange& range_;
  PackedLane<Isa> lanes_{};
  SimplexPack<Isa, M> pack_;
  Solver solver_[kWidth];
};

template <class Lanes>
void solve_lp_range(const Lanes& lanes, const LpRange& range) {
  const auto run = [&](auto&& solver) {
    for (std::int64_t p = range.begin; p < range.end; ++p) solver.solve(p);
  };
  constexpr int kFew = kernels::kPackPadding;
  if (range.finish != nullptr) {
    kernels::LpFinish<Lanes> left(lanes, *range.arrays, range.finish);
    for (std::int64_t p = range.begin; p < range.end; ++p) left.finish(p);
  } else if (range.arrays->rows > 0 && range.arrays->rows <= kFew) {
    run(kernels::LpSolver<Lanes, kFew>(lanes, *range.arrays, range.reals, range.ints));
  } else {
    run(kernels::LpSolver<Lanes>(lanes, *range.arrays, range.reals, range.ints));
  }
}

template <class Isa>
void solve_lps(const LpRange& range) {
  if constexpr (Isa::kInRegisters) {
    if (range.pack != nullptr) {
      switch (range.arrays->rows) {
        case 3:
          return LpPacks<Isa, 3>(range).run();
        case 6:
          return LpPacks<Isa, 6>(range).run();
        default:
          return LpPacks<Isa, 0>(range).run();
      }
    }
  }
  solve_lp_range(PackedLane<Isa>{}, range);
}

}  // namespace carom::cpu::simd
