#pragma once

#include <cstdint>

#include <carom/certificate.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/impact.hpp>
#include <carom/types/status.hpp>

#include "core/pointers.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/lane_numbers.hpp"
#include "cpu/simd/packed_lane.hpp"
#include "cpu/simd/padding.hpp"
#include "impact/kernels/contact_path.hpp"
#include "impact/kernels/step_lcp.hpp"
#include "programs/lcp/kernels/lemke.hpp"

/// Single steps in one thread: plain loops over raw arrays, so that each instruction set's
/// translation unit holds nothing that another one could share.
namespace carom::cpu::simd {

struct StepRange : StepBatchArrays<ConstPointer> {
  std::int64_t begin, end;
  int dimension;
  int contacts;
  const kernels::FrictionPolygon* polygon;
  bool path;  ///< Selection::any; otherwise only Lemke
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

template <class Lanes>
class StepRanges : LaneNumbers<Lanes> {
  using LaneNumbers<Lanes>::kNan;
  using LaneNumbers<Lanes>::answered;
  using LaneNumbers<Lanes>::fill;
  using LaneNumbers<Lanes>::finite;
  using LaneNumbers<Lanes>::judged;

 public:
  constexpr explicit StepRanges(const Lanes& lanes) : lanes_(lanes) {}

  void solve(const StepRange& r) const {
    if (r.dimension == 2) {
      solve_steps<2>(r);
    } else {
      solve_steps<3>(r);
    }
  }

 private:
  struct Answer {
    Status status;
    double residual;
    int pivots;
    bool fallback;
  };

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
          residual_of<Dim>(*r.polygon, m, delassus, scale, u, friction, limit, impulse, next);
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
void solve_steps(const StepRange& range) {
  const IsaLane<Isa> lane;
  StepRanges(lane).solve(range);
}

}  // namespace carom::cpu::simd
