#pragma once

#include <carom/certificate_lcp.hpp>
#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>

#include "programs/lcp/kernels/lemke.hpp"

/// LCPs by principal pivots, one for each z_i > 0 (Chandrasekaran; Cottle, Pang, Stone 2009, 4.7).
namespace carom::kernels {

template <class Memory>
struct PrincipalPivotsLayout {
  Memory tableau;  ///< [n, n padded]
  Memory value;    ///< w, where z is zero in the rows that have had no pivot
  Memory limit;    ///< the next pivot's row has a value below; -infinity after its pivot
  Memory factor;   ///< of the pivot's row in each other one; at the end z
  Memory order;    ///< the pivots' rows

  PrincipalPivotsLayout() = default;
  CAROM_INLINE constexpr PrincipalPivotsLayout(Arena<Memory>& arena, long n, long np)
      : tableau(arena.take(n * np)),
        value(arena.take(np)),
        limit(arena.take(np)),
        factor(arena.take(np)),
        order(arena.take(np)) {}
};

/// Of smaller problems Lemke's path is short.
inline constexpr int kLeastPrincipalOrder = 10;

/// Where no entry of M off the diagonal is positive, a z_i that has become positive stays so, and
/// the pivots find the least z >= 0 with w >= 0. It is where Lemke's path ends: with d > 0, the
/// least z for q + d z0 grows as z0 falls, and each set of positive z is part of the next. Where
/// each diagonal entry is larger than the sum of its row's others, M is a P-matrix, which has one
/// solution; the pivots may miss it, rarely where those others have no positive sum. No rows tie:
/// the order of the pivots is free.
template <class Lanes>
class PrincipalPivots {
 public:
  CAROM_HOST_DEVICE PrincipalPivots(const Lanes& lanes, int n, double* memory)
      : lanes_(lanes),
        n_(n),
        np_(padded(n, kPackPadding)),
        at_(placed<PrincipalPivotsLayout>(memory, n_, np_)) {}

  /// Loads M; false as soon as a row shows that it is of neither kind.
  CAROM_CALL bool load_suitable(const double* matrix) {
    bool signs = true, dominant = true;
    for (int i = 0; i < n_; ++i) {
      copy_padded(lanes_, n_, matrix + static_cast<long>(i) * n_, row(i));
      const double* from = row(i);
      const auto other = [from, i](auto number, int j) {
        using V = decltype(number);
        return select(indices<V>(j) != V(static_cast<double>(i)), load<V>(from + j), V(0.0));
      };
      signs = signs && !any_packed(lanes_, np_, [&](auto number, int j) {
                return other(number, j) > decltype(number)(0.0);
              });
      dominant =
          dominant &&
          sum_of_all(lanes_, np_, [&](auto number, int j) { return magnitude(other(number, j)); }) <
              from[i] &&
          sum_of_all(lanes_, np_, other) <= 0.0;
      if (!signs && !dominant) return false;
    }
    return true;
  }

  /// Number of pivots, with z: [n] out; -1 where they find no solution.
  CAROM_CALL int solve(const double* vector, int max_pivots, double* z) {
    copy_padded(lanes_, n_, vector, at_.value);
    each_packed(lanes_, np_, [&](auto number, int i) {
      using V = decltype(number);
      store(at_.limit + i, V(-kRounding) * larger(load<V>(at_.value + i), V(0.0)));
    });
    int count = 0;
    for (bool any = true; any;) {
      any = false;
      // To and fro: in a band, neighbours follow each other in both directions.
      for (int turn = 0; turn < 2 * n_; ++turn) {
        const int i = turn < n_ ? turn : 2 * n_ - 1 - turn;
        if (!(at_.value[i] < at_.limit[i])) continue;
        if (count == max_pivots || !pivot(i, count)) return -1;
        ++count;
        any = true;
      }
    }
    return substitute(count, z) ? count : -1;
  }

 private:
  /// Of w, relative to a positive q.
  static constexpr double kRounding = 0x1p-50;

  CAROM_INLINE double* row(int i) const { return at_.tableau + static_cast<long>(i) * np_; }

  /// Eliminates z_i from the rows that have had no pivot.
  CAROM_CALL bool pivot(int i, int count) {
    const double* from = row(i);
    const double element = from[i];
    if (!(element > 0.0)) return false;
    const double inverse = 1.0 / element;
    const double value = at_.value[i];
    lanes_.for_each(1, [&](int) {
      at_.limit[i] = -kInfinity;
      at_.order[count] = i;
    });
    lanes_.for_each(np_, [&](int r) {
      at_.factor[r] = r < n_ && at_.limit[r] > -kInfinity ? -row(r)[i] * inverse : 0.0;
    });
    each_packed(lanes_, np_, [&](auto number, int r) {
      using V = decltype(number);
      store(at_.value + r, fused(load<V>(at_.factor + r), V(value), load<V>(at_.value + r)));
    });
    visit_where<Lanes>(
        n_, [&](int r) { return at_.factor[r] != 0.0; },
        [&](int r) {
          const double factor = at_.factor[r];
          double* to = row(r);
          each_packed(lanes_, np_, [&](auto number, int j) {
            using V = decltype(number);
            store(to + j, fused(V(factor), load<V>(from + j), load<V>(to + j)));
          });
          return true;
        });
    return true;
  }

  /// z from the last pivot's row to the first's; false where one is negative.
  CAROM_CALL bool substitute(int count, double* z) const {
    lanes_.for_each(np_, [&](int j) { at_.factor[j] = 0.0; });
    while (count > 0) {
      const int i = static_cast<int>(at_.order[--count]);
      const double* from = row(i);
      const double others = sum_of_all(lanes_, np_, [&](auto number, int j) {
        using V = decltype(number);
        return load<V>(from + j) * load<V>(at_.factor + j);
      });
      const double own = -(at_.value[i] + others) / from[i];
      if (!(own >= 0.0)) return false;
      lanes_.for_each(1, [&](int) { at_.factor[i] = own; });
    }
    lanes_.for_each(n_, [&](int i) { z[i] = at_.factor[i]; });
    return true;
  }

  const Lanes& lanes_;
  int n_;
  int np_;
  PrincipalPivotsLayout<double*> at_;
};

CAROM_HOST_DEVICE constexpr long principal_workspace(int n) {
  const long pivots = values_of<PrincipalPivotsLayout>(n, padded(n, kPackPadding));
  const long judge = certificate::lcp_judge_workspace(n) + n;
  return n < kLeastPrincipalOrder ? 0 : (pivots > judge ? pivots : judge);
}

struct PrincipalOutcome {
  int pivots;       ///< -1: left to Lemke's method
  double residual;  ///< of z, which wants no refinement
};

/// z: [n] out; memory: principal_workspace. What is not finite has no residual.
template <class Lanes>
CAROM_CALL PrincipalOutcome solve_by_principal_pivots(const Lanes& lanes, int n,
                                                      const double* matrix, const double* vector,
                                                      double tolerance, int max_pivots, double* z,
                                                      double* memory) {
  constexpr PrincipalOutcome kLeft{-1, kInfinity};
  if (n < kLeastPrincipalOrder) return kLeft;
  PrincipalPivots<Lanes> principal(lanes, n, memory);
  if (!principal.load_suitable(matrix)) return kLeft;
  const int pivots = principal.solve(vector, max_pivots, z);
  if (pivots < 0) return kLeft;
  const double residual = certificate::clean_lcp_residual(lanes, n, matrix, vector, z, memory);
  return wants_refinement(residual, tolerance) ? kLeft : PrincipalOutcome{pivots, residual};
}

}  // namespace carom::kernels
