#pragma once

#include <carom/certificate.hpp>

/// Scales for relative residuals by rows and columns: docs/explanation/certificates.md.
namespace carom::certificate {

/// How many times larger than a datum a term may be that this datum explains.
inline constexpr double kExplained = 1024.0;
/// Rounding may hide this share of the data, no more.
inline constexpr double kHidden = 1e-9;
/// How many times a row's own bound its terms may count in its unit.
inline constexpr double kOwn = 1e6;

/// Bound on the rounding of a sum of `terms` products, relative to the sum of their magnitudes.
CAROM_INLINE constexpr double sum_rounding(long terms) {
  return 0x1p-53 * static_cast<double>(terms + 4);
}

/// max(v, 0) that keeps NaN.
template <class V>
CAROM_INLINE V positive_part(V v) {
  using kernels::select;
  return select(v <= V(0.0), V(0.0), v);
}

/// 1 where `term` is there and no larger than its datum explains.
template <class V>
CAROM_INLINE V reached(V term, V datum) {
  using kernels::select;
  return select((term > V(0.0)) & (term <= V(kExplained) * datum), V(1.0), V(0.0));
}

/// Infinity where the rounding of terms of this size could hide more than kHidden of their datum,
/// NaN included.
template <class V>
CAROM_INLINE V beyond_reach(V size, V datum, double rounding) {
  using kernels::select;
  const V hidden = V(rounding) * size;
  return select(hidden <= V(kHidden) * datum, V(0.0),
                select(size <= V(0.0), V(0.0), V(kernels::kInfinity)));
}

/// What an equation misses. Up to the rounding of its sum that is the backward error, its share of
/// the magnitudes of the terms and the bound (`size`); what exceeds that counts over `unit`.
template <class V>
CAROM_INLINE V missed(V value, V size, V unit, double rounding) {
  using kernels::magnitude;
  using kernels::select;
  const V beyond = magnitude(value) - V(rounding) * size;
  const auto rounded = beyond <= V(0.0);
  const V share = select(rounded, size, unit);
  return select(rounded, magnitude(value), beyond) / select(share > V(kTiny), share, V(kTiny));
}

/// The unit of a residual: the datum, yet no more than kOwn times the equation's own bound where it
/// has one. Terms that only meet a huge bound elsewhere would otherwise hide their own.
template <class V>
CAROM_INLINE V unit_of_residual(V datum, V own) {
  using kernels::select;
  using kernels::smaller;
  return select(own > V(0.0), smaller(datum, V(kOwn) * own), datum);
}

/// sum + rest += a b with the roundings of product and sum in `rest`.
template <class V>
CAROM_INLINE void add_product(V a, V b, V& sum, V& rest) {
  using kernels::fused;
  const V product = a * b;
  const V product_rest = fused(a, b, -product);
  const V next = sum + product;
  const V part = next - sum;
  rest = rest + ((sum - (next - part)) + (product - part)) + product_rest;
  sum = next;
}

}  // namespace carom::certificate
