#pragma once

#include <cstdint>

#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/packed_lane.hpp"
#include "programs/lp/body/lp_finish_body.hpp"

/// Linear programs in one thread, one after the other.
namespace carom::cpu::simd {

/// Problems [begin, end) with workspaces of lp_real_workspace and lp_int_workspace; or, where
/// `finish` is given (lp_finish_workspace), what an earlier call left open.
struct LpRange {
  std::int64_t begin, end;
  const kernels::LpArrays* arrays;
  double* reals;
  int* ints;
  double* finish;
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
  } else if (range.arrays->rows <= kFew) {
    run(kernels::LpSolver<Lanes, kFew>(lanes, *range.arrays, range.reals, range.ints));
  } else {
    run(kernels::LpSolver<Lanes>(lanes, *range.arrays, range.reals, range.ints));
  }
}

template <class Isa>
void solve_lps(const LpRange& range) {
  solve_lp_range(PackedLane<Isa>{}, range);
}

}  // namespace carom::cpu::simd
