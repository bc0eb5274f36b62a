#pragma once

#include <carom/device/numeric.hpp>

#include "programs/lcp/kernels/lemke.hpp"

namespace carom::cpu::simd {

/// Whether the entries of a tied row of B^-1 over its rate are lexicographically less than those
/// of one before it; equal ones are not. a(k), b(k): the entries from k on in a register, those
/// after the n-th zero.
template <class Isa, class Row>
bool tied_row_precedes(int n, const Row& a, const Row& b) {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  constexpr int kWidth = Isa::kWidth;
  Pack most(0.0);
  Mask broken = Mask::from_bits(0);
  for (int k = 0; k < n; k += kWidth) {
    const Pack x = a(k);
    const Pack y = b(k);
    broken = broken | (x != x) | (y != y);
    most = larger(larger(magnitude(x), magnitude(y)), most);
  }
  double sizes[kWidth];
  most.store(sizes);
  double size = sizes[0];
  for (int l = 1; l < kWidth; ++l) size = kernels::larger(size, sizes[l]);
  if (any_of(broken)) {  // as kernels::Lemke, which forgets what stood before NaN
    size = 0.0;
    for (int k = 0; k < n; ++k) {
      double x[kWidth];
      double y[kWidth];
      const int first = k / kWidth * kWidth;
      a(first).store(x);
      b(first).store(y);
      size = kernels::larger(size, kernels::larger(kernels::magnitude(x[k - first]),
                                                   kernels::magnitude(y[k - first])));
    }
  }
  const Pack same(kernels::LemkeRule::kSameEntry * size);
  for (int k = 0; k < n; k += kWidth) {
    const Pack difference = a(k) - b(k);
    const unsigned apart = (magnitude(difference) > same).bits();
    if (apart != 0) return ((difference < Pack(0.0)).bits() >> __builtin_ctz(apart) & 1U) != 0;
  }
  return false;
}

}  // namespace carom::cpu::simd
