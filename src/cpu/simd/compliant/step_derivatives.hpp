#pragma once

#include <algorithm>
#include <cstdint>

#include <carom/types/derivative_compliant.hpp>
#include <carom/types/status.hpp>

#include "compliant/kernels/compliant_derivative.hpp"
#include "core/pointers.hpp"
#include "cpu/simd/derivative_code.hpp"
#include "cpu/simd/padding.hpp"

/// Derivatives of compliant steps with a problem a lane.
namespace carom::cpu::simd {

/// Rows and velocities that packs take: what a pack works with stays in the cache.
inline constexpr int kMostRowsInPacks = 32;

/// Problems [begin, end) in one thread. `gradient` is written where its report is (a product from
/// the left), else `tangent`.
struct StepDerivativeRange {
  std::int64_t begin, end;
  CompliantSizes sizes;
  bool centripetal;
  derivatives::DerivativeRules rules;
  CompliantBatchArrays<ConstPointer> batch;
  const double* force;
  const Status* status;
  CompliantCotangentArrays<ConstPointer> cotangent;
  CompliantDirectionArrays<ConstPointer> direction;
  CompliantGradientArrays<Pointer> gradient;
  CompliantTangentArrays<Pointer> tangent;
  double* reals;  ///< step_derivative_pack_reals, on a cache line
  int* ints;      ///< derivatives::step_derivative_ints
  bool* open;     ///< [end - begin], out: what wants a StepDerivative of one problem
};

constexpr bool steps_differentiated_in_packs(const CompliantSizes& sizes) {
  return sizes.rows <= kMostRowsInPacks && sizes.velocities <= kMostRowsInPacks;
}
constexpr long step_derivative_pack_reals(const CompliantSizes& sizes) {
  const long n = sizes.velocities, r = sizes.rows, q = std::max(sizes.positions, sizes.velocities);
  const long inputs = 1 + n * (n + 2 + sizes.positions + r) + 5 * r;
  const long outputs = n + q + r + 1;
  return (derivatives::step_derivative_reals(sizes.velocities, sizes.rows) + 3 * inputs +
          2 * outputs + r) *
         kLargestPair;
}

}  // namespace carom::cpu::simd
