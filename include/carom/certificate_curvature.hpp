#pragma once

#include <carom/certificate.hpp>
#include <carom/device/lanes.hpp>

/// Proof that a quadratic program is not convex: docs/explanation/certificates.md.
namespace carom::certificate {

/// d'P d over sum |d_i P_ij d_j|: negative beyond rounding proves that P is not convex.
/// work: [2 n].
template <class Lanes, class Data, class Answer, class Memory>
CAROM_CALL double relative_curvature(const Lanes& lanes, int variables, const Data& hessian,
                                     const Answer& d, const Memory& work) {
  using kernels::magnitude;
  const Memory size = work + variables;
  const long n = variables;
  lanes.for_each(variables, [&](int j) {
    double product = 0.0;
    double whole = 0.0;
    for (int k = 0; k < variables; ++k) {
      const double term = (k <= j ? hessian[j * n + k] : hessian[k * n + j]) * d[k];
      product += term;
      whole += magnitude(term);
    }
    work[j] = d[j] * product;
    size[j] = magnitude(d[j]) * whole;
  });
  double value = 0.0;
  double whole = 0.0;
  for (int j = 0; j < variables; ++j) {
    value += work[j];
    whole += size[j];
  }
  return value / (whole > kTiny ? whole : kTiny);
}

}  // namespace carom::certificate
