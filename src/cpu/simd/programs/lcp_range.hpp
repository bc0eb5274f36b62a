#pragma once

#include <cstdint>

#include <carom/certificate.hpp>
#include <carom/certificate_lcp.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/lcp.hpp>
#include <carom/types/status.hpp>

#include "core/pointers.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/lane_numbers.hpp"
#include "cpu/simd/packed_lane.hpp"
#include "cpu/simd/programs/lcp_packs.hpp"
#include "cpu/simd/programs/pack_lcps.hpp"
#include "cpu/simd/spread.hpp"
#include "programs/lcp/kernels/lcp_finish.hpp"
#include "programs/lcp/kernels/lemke.hpp"
#include "programs/lcp/kernels/principal_pivots.hpp"

/// Single problems in one thread: plain loops over raw arrays, so that each instruction set's
/// translation unit holds nothing that another one could share.
namespace carom::cpu::simd {

template <class Lanes>
class LcpRanges : LaneNumbers<Lanes> {
  using LaneNumbers<Lanes>::kNan;
  using LaneNumbers<Lanes>::answered;
  using LaneNumbers<Lanes>::fill;
  using LaneNumbers<Lanes>::finite;
  using LaneNumbers<Lanes>::judged;

 public:
  constexpr explicit LcpRanges(const Lanes& lanes) : lanes_(lanes) {}

  void solve(const LcpRange& r) const {
    if (r.finish != nullptr) {
      for (std::int64_t p = r.begin; p < r.end; ++p) finish(r, p);
      return;
    }
    if constexpr (IsaOf<Lanes>::kKnown) {
      if (r.pack_reals != nullptr) {
        using Isa = typename IsaOf<Lanes>::Isa;
        if (r.order > LcpPacks<Isa, LcpRanges>::kMostInTableaus) return stream_packs<Isa>(r);
        if constexpr (LcpPacks<Isa, LcpRanges>::kMostInTableaus > 0) {
          return LcpPacks<Isa, LcpRanges>(*this, r).solve();
        }
      }
    }
    for (std::int64_t p = r.begin; p < r.end; ++p) solve_checked(r, p);
  }

  // One problem of a range, for LcpPacks.

  /// certificate::clean_lcp_residual in this unit's own instructions.
  double residual_of(int n, const double* matrix, const double* vector, double* z) const {
    double memory[certificate::lcp_judge_workspace(kMaxLcpOrder) + kMaxLcpOrder];
    return on_packed_lane([&](const auto& lane) {
      return certificate::clean_lcp_residual(lane, n, matrix, vector, z, memory);
    });
  }

  static bool usable(const LcpRange& r, std::int64_t p) {
    const long n = r.order;
    return finite(r.matrix + p * n * n, n * n) && finite(r.vector + p * n, n);
  }

  void solve_checked(const LcpRange& r, std::int64_t p) const {
    if (!usable(r, p)) {
      refuse(r, p);
    } else if (!solve_principally(r, p)) {
      solve_alone(r, p);
    }
  }

  /// By principal pivots; false where they are not for the problem, or numbers are not finite.
  bool solve_principally(const LcpRange& r, std::int64_t p) const {
    const long n = r.order;
    const kernels::PrincipalOutcome outcome = on_packed_lane([&](const auto& lane) {
      return kernels::solve_by_principal_pivots(lane, r.order, r.matrix + p * n * n,
                                                r.vector + p * n, r.tolerance, r.max_pivots,
                                                r.solution + p * n, r.reals);
    });
    if (outcome.pivots < 0) return false;
    put(r, p, {judged(outcome.residual, r.tolerance), outcome.pivots}, outcome.residual);
    return true;
  }

  void solve_alone(const LcpRange& r, std::int64_t p) const {
    const int n = r.order;
    const double* matrix = r.matrix + p * n * n;
    const double* vector = r.vector + p * n;
    double* z = r.solution + p * n;
    const auto entry = [&](int i, int j) { return matrix[static_cast<long>(i) * n + j]; };
    const auto q = [&](int i) { return vector[i]; };
    double residual = kNan;
    kernels::Lemke<Lanes> lemke(lanes_, n, r.reals, r.ints);
    kernels::LemkeOutcome outcome = lemke.find(entry, q, r.max_pivots, z);
    if (outcome.status == Status::solved) {
      residual = residual_of(n, matrix, vector, z);
      if (outcome.pivots > 0 && kernels::wants_refinement(residual, r.tolerance)) {
        lemke.improve(entry, q, z);
        residual = residual_of(n, matrix, vector, z);
      }
      outcome.status = judged(residual, r.tolerance);
    }
    put(r, p, outcome, residual);
  }

  /// Takes what stands in a problem's solution for its answer; false where that wants refinement.
  bool accept(const LcpRange& r, std::int64_t p, int pivots) const {
    const long n = r.order;
    const double residual =
        residual_of(r.order, r.matrix + p * n * n, r.vector + p * n, r.solution + p * n);
    return accept(r, p, pivots, residual);
  }
  static bool accept(const LcpRange& r, std::int64_t p, int pivots, double residual) {
    if (kernels::wants_refinement(residual, r.tolerance)) return false;
    put(r, p, {judged(residual, r.tolerance), pivots}, residual);
    return true;
  }

  static void refuse(const LcpRange& r, std::int64_t p) {
    put(r, p, {Status::invalid_input, 0}, kNan);
  }

 private:
  /// call(lane) of this unit's own instructions.
  template <class Call>
  auto on_packed_lane(Call&& call) const {
    if constexpr (IsaOf<Lanes>::kKnown) {
      return call(PackedLane<typename IsaOf<Lanes>::Isa>());
    } else {
      return call(lanes_);
    }
  }

  void finish(const LcpRange& r, std::int64_t p) const {
    if (!kernels::lcp_is_open(r.order, r.status[p], r.residual[p], r.limited)) return;
    const long n = r.order;
    kernels::LcpFinish<Lanes> finisher(lanes_, r.order, r.matrix + p * n * n, r.vector + p * n,
                                       r.tolerance, r.finish);
    const kernels::LcpAnswer answer =
        finisher.run({r.status[p], r.pivots[p], r.residual[p]}, r.solution + p * n,
                     r.farkas != nullptr ? r.farkas + p * n : nullptr);
    r.status[p] = answer.status;
    r.pivots[p] = answer.pivots;
    r.residual[p] = answer.residual;
  }

  /// Each problem in the next lane that ends, while that pays.
  template <class Isa>
  void stream_packs(const LcpRange& r) const {
    const int n = r.order;
    const long square = static_cast<long>(n) * n;
    int& taken = r.pack_counts[0];
    int& given_up = r.pack_counts[1];
    const auto pays = [&] { return given_up < 16 || 2L * given_up < taken; };
    constexpr int kWidth = Isa::kWidth;
    LcpPackJudge<Isa> judge(n, r.pack_reals);
    LemkePack<Isa> pack(n, r.pack_reals + lcp_pack_judge_reals(n), r.pack_ints);
    std::int64_t waiting[kWidth];  // solved, not yet judged
    int count = 0;
    const auto give_up = [&](std::int64_t problem) {
      ++given_up;
      solve_alone(r, problem);
    };
    const auto judge_waiting = [&] {
      if (count == 0) return;
      const double* matrix[kWidth];
      const double* vector[kWidth];
      const double* z[kWidth];
      double residual[kWidth];
      for (int lane = 0; lane < kWidth; ++lane) {
        const std::int64_t problem = waiting[lane < count ? lane : 0];
        matrix[lane] = r.matrix + problem * square;
        vector[lane] = r.vector + problem * n;
        z[lane] = r.solution + problem * n;
      }
      judge.load(matrix, vector);
      spread<kWidth>(z, n, judge.z());
      judge.judge(residual);
      for (int lane = 0; lane < count; ++lane) {
        const std::int64_t problem = waiting[lane];
        const bool close = residual[lane] <= certificate::kLcpClose;
        const int pivots = r.pivots[problem];
        if (!(close ? accept(r, problem, pivots, residual[lane]) : accept(r, problem, pivots))) {
          give_up(problem);
        }
      }
      count = 0;
    };
    const auto found = [&](std::int64_t problem, int pivots) {
      r.pivots[problem] = pivots;
      if (n <= kMostJudgedInPacks) {
        waiting[count] = problem;
        if (++count == kWidth) judge_waiting();
      } else if (!accept(r, problem, pivots)) {
        give_up(problem);
      }
    };
    std::int64_t p = r.begin;
    pack.run(
        r.matrix, r.max_pivots,
        [&](std::int64_t& problem, std::int64_t& offset, const double*& vector, double& least) {
          for (; p < r.end && pays(); ++p) {
            vector = r.vector + p * n;
            if (!usable(r, p)) {
              put(r, p, {Status::invalid_input, 0}, kNan);
              continue;
            }
            least = vector[0];
            for (int i = 1; i < n; ++i) least = kernels::smaller(vector[i], least);
            if (!(least < 0.0)) {
              for (int i = 0; i < n; ++i) r.solution[p * n + i] = 0.0;
              found(p, 0);
              continue;
            }
            if (solve_principally(r, p)) continue;
            problem = p;
            offset = p * square;
            ++p;
            ++taken;
            return true;
          }
          return false;
        },
        [&](std::int64_t problem, int pivots, const double* z) {
          for (int i = 0; i < n; ++i) r.solution[problem * n + i] = z[i];
          found(problem, pivots);
        },
        give_up);
    judge_waiting();
    for (; p < r.end; ++p) solve_checked(r, p);
  }

  static void put(const LcpRange& r, std::int64_t p, kernels::LemkeOutcome outcome,
                  double residual) {
    if (!answered(outcome.status)) fill(r.solution + p * r.order, r.order);
    r.status[p] = outcome.status;
    r.pivots[p] = outcome.pivots;
    r.residual[p] = residual;
  }

  const Lanes& lanes_;
};

template <class Isa>
void solve_lcps(const LcpRange& range) {
  const IsaLane<Isa> lane;
  LcpRanges(lane).solve(range);
}
}  // namespace carom::cpu::simd
