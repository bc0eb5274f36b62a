#pragma once

#include <cstdint>

#include "programs/lp/kernels/lp.hpp"

namespace carom::cpu::simd {

/// A basis of LPs that share A and c. Of the k rows that are not basic and the k columns that are,
/// K is the block of A: their values follow from K x = bounds - the other columns' part, and the
/// multipliers y, which are the same for all bounds.
struct LpPoolBasis {
  const BasisStatus* status;  ///< [columns + rows]
  int count;                  ///< k
  const int* row;             ///< [k]
  const int* column;          ///< [k]
  const double* inverse;      ///< K^-1 transposed: [k, k padded]
  const double* dual;         ///< y, [rows]
};

/// Problems that share A and c, in one thread, by the bases of a pool.
struct LpPoolRange {
  std::int64_t begin, end;
  const kernels::LpArrays* arrays;  ///< matrix and cost: of all problems
  const double* transposed;         ///< A', [columns, rows padded]
  const LpPoolBasis* bases;
  const int* order;  ///< [candidates] those that are tried, the likely first
  int candidates;
  int* start;           ///< [problems] in: tried first, or -1; out: that of least violation
  std::uint8_t* taken;  ///< [problems] 1 where the answer was written
  double* workspace;    ///< lp_pool_workspace, on a cache line
};

constexpr long lp_pool_padded(long count) { return (count + 7) / 8 * 8; }
constexpr long lp_pool_workspace(int rows, int columns) {
  return certificate::lp_certificate_workspace(rows, columns) + 7 + 3 * lp_pool_padded(rows) +
         lp_pool_padded(columns);
}

}  // namespace carom::cpu::simd
