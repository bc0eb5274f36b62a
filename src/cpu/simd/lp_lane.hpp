#pragma once

#include <cstdint>

#include <carom/device/lanes.hpp>

#include "programs/lp/body/lp_settle_body.hpp"

/// Linear programs in one thread, one after the other.
namespace carom::cpu::simd {

/// How the elements of a register are joined; an instruction set may do better.
template <class Isa>
struct Joined {
  using Pack = typename Isa::Pack;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kParts = kernels::kPackPadding / kWidth;

  /// place: index of the register that each key came from.
  static __attribute__((always_inline)) kernels::ArgMin<double> first_smallest(Pack best,
                                                                               Pack place) {
    double keys[kWidth];
    double places[kWidth];
    best.store(keys);
    place.store(places);
    kernels::ArgMin<double> result{keys[0], static_cast<int>(places[0])};
    for (int l = 1; l < kWidth; ++l) {
      const bool found = places[l] >= 0.0;
      const int index = found ? static_cast<int>(places[l]) + l : -1;
      if (kernels::precedes(kernels::ArgMin<double>{keys[l], index}, result)) {
        result = {keys[l], index};
      }
    }
    return result;
  }
  /// The first `count` doubles, fewer than a register holds, then zeros.
  static __attribute__((always_inline)) Pack first_of(const double* from, int count) {
    double values[kWidth] = {};
    for (int l = 0; l < count; ++l) values[l] = from[l];
    return Pack::load(values);
  }
  static __attribute__((always_inline)) double largest(Pack values) {
    double value[kWidth];
    values.store(value);
    for (int l = 1; l < kWidth; ++l) value[0] = kernels::larger(value[l], value[0]);
    return value[0];
  }
  static __attribute__((always_inline)) double sum(const Pack* parts) {
    double s[kernels::kPackPadding];
    for (int p = 0; p < kParts; ++p) parts[p].store(s + p * kWidth);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }
};

/// Single lane whose padded loops run on the registers of one instruction set.
template <class Isa>
struct LpLane : kernels::SingleLane, Joined<Isa> {
  using Pack = typename Isa::Pack;
  static constexpr int kWidth = Isa::kWidth;
};

/// Problems [begin, end) with workspaces of lp_real_workspace and lp_int_workspace; or, where
/// `settle` is given (lp_settle_workspace), what an earlier call left open.
struct LpRange {
  std::int64_t begin, end;
  const kernels::LpArrays* arrays;
  double* reals;
  int* ints;
  double* settle;
};

template <class Lanes>
void solve_lp_range(const Lanes& lanes, const LpRange& range) {
  const auto run = [&](auto&& solver) {
    for (std::int64_t p = range.begin; p < range.end; ++p) solver.solve(p);
  };
  constexpr int kFew = kernels::kPackPadding;
  if (range.settle != nullptr) {
    kernels::LpSettle<Lanes> left(lanes, *range.arrays, range.settle);
    for (std::int64_t p = range.begin; p < range.end; ++p) left.settle(p);
  } else if (range.arrays->rows <= kFew) {
    run(kernels::LpSolver<Lanes, kFew>(lanes, *range.arrays, range.reals, range.ints));
  } else {
    run(kernels::LpSolver<Lanes>(lanes, *range.arrays, range.reals, range.ints));
  }
}

// One per instruction set, in lp_<set>.cpp.
void solve_lps_generic(const LpRange& range);
void solve_lps_avx2(const LpRange& range);
void solve_lps_avx512(const LpRange& range);

}  // namespace carom::cpu::simd
