#pragma once

#include <cstdint>

#include <carom/types/derivative_lcp.hpp>
#include <carom/types/lcp.hpp>
#include <carom/types/status.hpp>

#include "core/pointers.hpp"
#include "cpu/simd/derivative_code.hpp"
#include "cpu/simd/padding.hpp"
#include "programs/derivatives/kernels/dense.hpp"
#include "programs/derivatives/kernels/report.hpp"

/// Derivatives of LCPs with a problem a lane.
namespace carom::cpu::simd {

/// Largest order that packs take: what a pack works with stays in the cache.
inline constexpr int kMostDifferentiatedInPacks = 48;
/// Largest order whose equations keep unit rows for what is not held: to bring each lane's held
/// rows together would take longer than the longer solves. Two packs side by side share what their
/// short loops cost.
inline constexpr int kMostInPlace = 6;

/// Problems [begin, end) in one thread. `gradient` is written where its report is (a product from
/// the left), else `tangent`.
struct LcpDerivativeRange : LcpBatchArrays<ConstPointer> {
  std::int64_t begin, end;
  int order;
  const double* solution;
  const Status* status;
  derivatives::DerivativeRules rules;
  LcpWanted wanted;
  LcpCotangentArrays<ConstPointer> cotangent;
  LcpDirectionArrays<ConstPointer> direction;
  LcpGradientArrays<Pointer> gradient;
  LcpTangentArrays<Pointer> tangent;
  double* reals;  ///< lcp_derivative_pack_reals, on a cache line
  bool* open;     ///< [end - begin], out: what wants derivatives::LcpDerivative
};

constexpr long lcp_pack_factor_reals(long n, long width) {
  return kernels::values_of<derivatives::FactorsLayout>(n) * width;
}
constexpr long lcp_derivative_pack_reals(long n) {
  const long width = n <= kMostInPlace ? kLargestPair : kLargestPadding;
  return lcp_pack_factor_reals(n, width) + (n * n + 8 * n + 18 * (n + 1)) * width;
}

}  // namespace carom::cpu::simd
