#pragma once

#include <limits>

#include <carom/certificate_lcp.hpp>
#include <carom/device/memory.hpp>
#include <carom/status.hpp>

#include "programs/body/doubled_lemke.hpp"
#include "programs/body/median_scaling.hpp"

/// What kernels::Lemke leaves unsolved is tried again in twice the precision, with the same
/// covering vector: a ray is reported only where it stands there too.
namespace carom::kernels {

template <class Memory>
struct LcpFinishLayout {
  Memory lemke, found, judge, row_scale, column_scale;

  CAROM_INLINE constexpr LcpFinishLayout(Arena<Memory>& arena, int n)
      : lemke(arena.take(doubled_lemke_workspace(n))),
        found(arena.take(n)),
        judge(arena.take(certificate::lcp_judge_workspace(n))),
        row_scale(arena.take(n)),
        column_scale(arena.take(n)) {}
};
CAROM_HOST_DEVICE constexpr long lcp_finish_workspace(int n) {
  return values_of<LcpFinishLayout>(n);
}

/// A certified answer with more than this left is done again too.
inline constexpr double kLcpDigits = 1e-12;

/// Larger ones stay as they end: a pivot in doubled numbers costs a hundred of the others. Rays are
/// what large ones end on most, and are confirmed up to kLargestRay.
inline constexpr int kLargestDoubledLcp = 64;
inline constexpr int kLargestRay = 20;

/// Whether an end is to be tried again. limited: the number of pivots is the caller's.
CAROM_INLINE bool lcp_is_open(int n, Status status, double residual, bool limited) {
  if (n > kLargestDoubledLcp) return false;
  return status == Status::inaccurate || status == Status::numerical_error ||
         (status == Status::ray && n <= kLargestRay) ||
         (status == Status::iteration_limit && !limited) ||
         (status == Status::solved && !(residual <= kLcpDigits));
}

struct LcpAnswer {
  Status status;
  int pivots;
  double residual;
};

/// Powers of two that bring most entries of M's rows and columns to one.
template <class Lanes>
CAROM_CALL void scale_lcp(const Lanes& lanes, int n, const double* matrix, double* row_scale,
                          double* column_scale) {
  lanes.for_each(n, [&](int j) { column_scale[j] = 0.0; });
  const auto median = [&](auto&& entry, const double* others) {
    return -median_exponent([&](auto&& visit) {
      for (int k = 0; k < n; ++k) {
        const double value = entry(k);
        if (value != 0.0) visit(exponent_of(value) + others[k]);
      }
    });
  };
  for (int sweep = 0; sweep < 3; ++sweep) {
    lanes.for_each(n, [&](int i) {
      row_scale[i] =
          median([&](int j) { return matrix[static_cast<long>(i) * n + j]; }, column_scale);
    });
    lanes.for_each(n, [&](int j) {
      column_scale[j] =
          median([&](int i) { return matrix[static_cast<long>(i) * n + j]; }, row_scale);
    });
  }
  lanes.for_each(n, [&](int i) {
    row_scale[i] = power_of_two(static_cast<int>(row_scale[i]));
    column_scale[i] = power_of_two(static_cast<int>(column_scale[i]));
  });
}

/// z: [n] out where solved; memory: lcp_finish_workspace. `before`: what is to be finished, with
/// its residual, which stands where there is nothing better.
template <class Lanes>
CAROM_CALL LcpAnswer finish_lcp(const Lanes& lanes, int n, const double* matrix,
                                const double* vector, double tolerance, const LcpAnswer& before,
                                double* z, double* memory) {
  using Memory = PlainMemory<double>;
  const auto at = placed<LcpFinishLayout>(memory, n);
  double* const found = at.found;
  double* const row_scale = at.row_scale;
  double* const column_scale = at.column_scale;
  scale_lcp(lanes, n, matrix, row_scale, column_scale);
  DoubledLemke<Lanes, Memory> lemke(lanes, Memory{at.lemke});
  // The covering vector is e in the problem's own units, so that the path is.
  const LemkeEnd end = lemke.run(
      n,
      [&](int i, int j) {
        return Doubled(matrix[static_cast<long>(i) * n + j] * row_scale[i] * column_scale[j]);
      },
      [&](int i) { return Doubled(vector[i] * row_scale[i]); }, [&](int i) { return row_scale[i]; },
      50 * (n + 1));
  if (end == LemkeEnd::ray && before.status != Status::solved) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    lanes.for_each(n, [&](int i) { z[i] = nan; });
    return {Status::ray, before.status == Status::ray ? before.pivots : lemke.pivots(), nan};
  }
  if (end != LemkeEnd::solution) return before;
  lanes.for_each(n,
                 [&](int i) { found[i] = at_least_zero(lemke.solution(i).hi * column_scale[i]); });
  certificate::LcpJudge<Lanes> judge(lanes, n, matrix, vector, at.judge);
  const double residual = judge.residual(found);
  if (!certificate::within(residual, tolerance)) return before;
  lanes.for_each(n, [&](int i) { z[i] = found[i]; });
  return {Status::solved, lemke.pivots(), residual};
}

}  // namespace carom::kernels
