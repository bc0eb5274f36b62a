#pragma once

#include <cstdint>
#include <limits>

#include <carom/certificate.hpp>
#include <carom/certificate_lcp.hpp>
#include <carom/device/numeric.hpp>
#include <carom/impact.hpp>
#include <carom/lcp.hpp>
#include <carom/status.hpp>

#include "core/pointers.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/packed_lane.hpp"
#include "cpu/simd/padding.hpp"
#include "cpu/simd/programs/lcp_packs.hpp"
#include "cpu/simd/programs/pack_lcps.hpp"
#include "cpu/simd/spread.hpp"
#include "impact/kernels/contact_path.hpp"
#include "impact/kernels/step_lcp.hpp"
#include "programs/lcp/kernels/lcp_finish.hpp"
#include "programs/lcp/kernels/lemke.hpp"

/// Single problems in one thread: plain loops over raw arrays, so that each instruction set's
/// translation unit holds nothing that another one could share.
namespace carom::cpu::simd {

struct StepRange : StepBatchArrays<ConstPointer> {
  std::int64_t begin, end;
  int dimension;
  int contacts;
  const kernels::FrictionPolygon* polygon;
  bool path;  ///< Selection::any; otherwise Lemke alone
  double tolerance;
  StepResultArrays<Pointer> result;
  double* scaled;  ///< rows * rows + 2 rows + 2 m
  double* reals;   ///< step_real_workspace
  int* ints;       ///< step_int_workspace
};

template <int Dim>
constexpr long step_real_workspace(int m, int directions) {
  const int order = kernels::step_lcp_order<Dim>(m, directions);
  const long lemke = kernels::padded(order, kLargestPadding) +
                     kernels::lemke_real_workspace(order, kLargestPadding);
  const long path = kernels::path_real_workspace(Dim, m, kLargestPadding);
  return lemke > path ? lemke : path;
}
template <int Dim>
constexpr long step_int_workspace(int m, int directions) {
  const long lemke = kernels::lemke_int_workspace(kernels::step_lcp_order<Dim>(m, directions));
  const long path = kernels::path_int_workspace(Dim, m, kLargestPadding);
  return lemke > path ? lemke : path;
}

template <class Isa>
struct IsaLane;

/// The instruction set of a single lane; none for the emulation's.
template <class Lanes>
struct IsaOf {
  static constexpr bool kKnown = false;
};
template <class Instructions>
struct IsaOf<IsaLane<Instructions>> {
  static constexpr bool kKnown = true;
  using Isa = Instructions;
};

template <class Lanes>
class Ranges {
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

 public:
  constexpr explicit Ranges(const Lanes& lanes) : lanes_(lanes) {}

  void solve(const LcpRange& r) const {
    if (r.finish != nullptr) {
      for (std::int64_t p = r.begin; p < r.end; ++p) finish(r, p);
      return;
    }
    if constexpr (IsaOf<Lanes>::kKnown) {
      if (r.pack_reals != nullptr) {
        using Isa = typename IsaOf<Lanes>::Isa;
        if (r.order > LcpPacks<Isa, Ranges>::kMostInTableaus) return stream_packs<Isa>(r);
        if constexpr (LcpPacks<Isa, Ranges>::kMostInTableaus > 0) {
          return LcpPacks<Isa, Ranges>(*this, r).solve();
        }
      }
    }
    for (std::int64_t p = r.begin; p < r.end; ++p) solve_checked(r, p);
  }

  void solve(const StepRange& r) const {
    if (r.dimension == 2) {
      solve_steps<2>(r);
    } else {
      solve_steps<3>(r);
    }
  }

  // One problem of a range, for LcpPacks.

  /// certificate::clean_lcp_residual in this unit's own instructions.
  double residual_of(int n, const double* matrix, const double* vector, double* z) const {
    double memory[certificate::lcp_judge_workspace(kMaxLcpOrder) + kMaxLcpOrder];
    if constexpr (IsaOf<Lanes>::kKnown) {
      const PackedLane<typename IsaOf<Lanes>::Isa> lane;
      return certificate::clean_lcp_residual(lane, n, matrix, vector, z, memory);
    } else {
      return certificate::clean_lcp_residual(lanes_, n, matrix, vector, z, memory);
    }
  }

  static bool usable(const LcpRange& r, std::int64_t p) {
    const long n = r.order;
    return finite(r.matrix + p * n * n, n * n) && finite(r.vector + p * n, n);
  }

  void solve_checked(const LcpRange& r, std::int64_t p) const {
    if (usable(r, p)) {
      solve_alone(r, p);
    } else {
      refuse(r, p);
    }
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
  struct Answer {
    Status status;
    double residual;
    int pivots;
    bool fallback;
  };

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

  static bool finite(const double* values, long count) {
    long i = 0;
    bool all = true;
    if constexpr (IsaOf<Lanes>::kKnown) {
      using Isa = typename IsaOf<Lanes>::Isa;
      using Pack = typename Isa::Pack;
      const Pack largest(std::numeric_limits<double>::max());
      auto none = Isa::Mask::from_bits(0);
      for (; i + Isa::kWidth <= count; i += Isa::kWidth) {
        const Pack x = magnitude(Pack::load(values + i));
        none = none | (x > largest) | (x != x);
      }
      all = none.bits() == 0;
    }
    for (; i < count; ++i) all = all && kernels::is_finite(values[i]);
    return all;
  }
  static bool answered(Status status) {
    return status == Status::solved || status == Status::inaccurate;
  }
  static Status judged(double residual, double tolerance) {
    if (certificate::within(residual, tolerance)) return Status::solved;
    return kernels::is_finite(residual) ? Status::inaccurate : Status::numerical_error;
  }
  static void fill(double* values, int count) {
    for (int i = 0; i < count; ++i) values[i] = kNan;
  }

  template <int Dim, class... Arrays>
  static double residual_of(const kernels::FrictionPolygon& polygon, int m, Arrays... arrays) {
    if constexpr (IsaOf<Lanes>::kKnown) {
      using Isa = typename IsaOf<Lanes>::Isa;
      if constexpr (Dim == 3 && Isa::kInRegisters) {
        // Fewer are judged sooner one by one.
        if (m >= 4)
          return certificate::step_residual<Dim, typename Isa::Pack, Isa::kWidth>(polygon, m,
                                                                                  arrays...);
      }
    }
    return certificate::step_residual<Dim>(polygon, m, arrays...);
  }

  template <int Dim>
  void solve_steps(const StepRange& r) const {
    const int m = r.contacts;
    const int rows = Dim * m;
    for (std::int64_t p = r.begin; p < r.end; ++p) {
      double* impulse = r.result.impulse + p * rows;
      double* next = r.result.contact_velocity + p * rows;
      const Answer answer =
          solve_step<Dim>(r, r.delassus + p * rows * rows, r.contact_velocity + p * rows,
                          r.friction + p * m, r.max_impulse + p * m, impulse, next);
      if (!answered(answer.status)) {
        fill(impulse, rows);
        fill(next, rows);
      }
      r.result.status[p] = answer.status;
      r.result.pivots[p] = answer.pivots;
      r.result.fallback[p] = answer.fallback ? 1 : 0;
      r.result.residual[p] = answer.residual;
    }
  }

  template <int Dim>
  Answer solve_step(const StepRange& r, const double* delassus, const double* u,
                    const double* friction, const double* limit, double* impulse,
                    double* next) const {
    const int m = r.contacts;
    const int rows = Dim * m;
    bool usable =
        finite(delassus, static_cast<long>(rows) * rows) && finite(u, rows) && finite(friction, m);
    bool bounded = false;
    for (int i = 0; i < m; ++i) {
      usable = usable && limit[i] >= 0.0 && friction[i] >= 0.0;
      bounded = bounded || limit[i] < kernels::kInfinity;
    }
    Answer answer{Status::invalid_input, kNan, 0, false};
    if (!usable) return answer;
    double* scaled_u = r.scaled + static_cast<long>(rows) * rows;
    double* scaled_impulse = scaled_u + rows;
    double* scaled_limit = scaled_impulse + rows;
    double* scale = scaled_limit + m;
    const auto contact_of = [m](int row) { return row < m ? row : (row - m) / (Dim - 1); };
    for (int i = 0; i < m; ++i) {
      scale[i] = kernels::contact_scale<Dim>(delassus, m, i);
      scaled_limit[i] = limit[i] / scale[i];
    }
    double* row_scale = scaled_impulse;  // until there is an impulse
    for (int i = 0; i < rows; ++i) {
      row_scale[i] = scale[contact_of(i)];
      scaled_u[i] = u[i] * row_scale[i];
    }
    for (int i = 0; i < rows; ++i) {
      const double own = row_scale[i];
      const double* __restrict from = delassus + static_cast<long>(i) * rows;
      double* __restrict to = r.scaled + static_cast<long>(i) * rows;
      for (int j = 0; j < rows; ++j) to[j] = from[j] * own * row_scale[j];
    }
    const auto certify = [&] {
      answer.residual =
          residual_of<Dim>(*r.polygon, m, delassus, u, friction, limit, impulse, next);
      answer.status = judged(answer.residual, r.tolerance);
    };
    const auto follow_path = [&](int attempt) {
      kernels::ContactPath<Dim, double, Lanes> path(lanes_, m, *r.polygon, friction, r.reals,
                                                    r.ints);
      const kernels::PathOutcome outcome =
          path.run(r.scaled, scaled_u, scaled_limit, 12 * rows + 20, scaled_impulse, attempt);
      answer.pivots += outcome.pivots;
      for (int correction = 0; outcome.found && correction <= 3; ++correction) {
        if (correction > 0 && !path.correct(r.scaled, scaled_u, scaled_impulse)) break;
        for (int i = 0; i < rows; ++i) impulse[i] = scaled_impulse[i] * scale[contact_of(i)];
        certify();
        if (answer.status == Status::solved) return true;
      }
      return false;
    };
    if (r.path) {
      if (follow_path(0)) return answer;
      answer.fallback = true;
    }
    const kernels::StepLcp<Dim> lcp{m, r.polygon, r.scaled, scale, friction, limit, u, bounded};
    const int n = lcp.order();
    double* z = r.reals;
    kernels::Lemke<Lanes> lemke(lanes_, n, z + kernels::padded(n, kLargestPadding), r.ints);
    const kernels::LemkeOutcome outcome =
        lemke.run([&](int i, int j) { return lcp.entry(i, j); },
                  [&](int i) { return lcp.vector(i); }, 50 * (n + 1), z);
    answer.pivots += outcome.pivots;
    answer.status = outcome.status;
    answer.residual = kNan;
    if (outcome.status == Status::solved) {
      for (int i = 0; i < rows; ++i) impulse[i] = lcp.impulse(z, i);
      certify();
    }
    // What rounding kept Lemke from is tried along other paths.
    for (int attempt = 1; answer.status != Status::solved && attempt <= kernels::kPathAttempts;
         ++attempt) {
      const Answer before = answer;
      answer.fallback = true;
      if (follow_path(attempt)) return answer;
      answer.status = before.status == Status::inaccurate ? Status::iteration_limit : before.status;
      answer.residual = kNan;
    }
    return answer;
  }

  const Lanes& lanes_;
};

template <class Isa>
void solve_lcps(const LcpRange& range) {
  const IsaLane<Isa> lane;
  Ranges(lane).solve(range);
}
template <class Isa>
void solve_steps(const StepRange& range) {
  const IsaLane<Isa> lane;
  Ranges(lane).solve(range);
}

}  // namespace carom::cpu::simd
