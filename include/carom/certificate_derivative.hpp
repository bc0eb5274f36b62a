#pragma once

#include <carom/certificate.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// Residuals of derivatives, recomputed from the problem's data and the modes of the answer's rows.
/// No code that differentiates is used. Row by row over the magnitudes of the row's terms.
namespace carom::certificate {

/// A row of a complementarity condition at the answer.
enum class RowMode : int {
  free,      ///< inactive: its multiplier stays zero
  held,      ///< active: its slack stays zero
  doubtful,  ///< both are zero
};

/// |x| without a branch, which signs at random would mispredict.
CAROM_INLINE double absolute(double x) {
#if defined(__CUDA_ARCH__)
  return ::fabs(x);
#else
  return __builtin_fabs(x);
#endif
}

/// |sum| over the magnitudes of its terms; zero of no terms.
CAROM_INLINE double share_of(double sum, double size) {
  const double missing = absolute(sum);
  if (missing <= 0.0) return 0.0;
  return missing / (size > kTiny ? size : kTiny);
}

/// Adjoint of an LCP: sum_i M_ij y_i = g_j in all rows j that count as held, y zero in the others.
/// held: [n], what counts; matrix: row-major [n, n].
template <class Held>
CAROM_HOST_DEVICE double lcp_adjoint_residual(int n, const double* matrix, Held&& held,
                                              const double* g, const double* y) {
  MaxAbs<> worst;
  for (int j = 0; j < n; ++j) {
    if (!held(j)) {
      worst.add(y[j] == 0.0 ? 0.0 : kernels::kInfinity);
      continue;
    }
    double sum = -g[j], size = absolute(g[j]);
    for (int i = 0; i < n; ++i) {
      const double term = matrix[static_cast<long>(i) * n + j] * y[i];
      sum += term;
      size += absolute(term);
    }
    worst.add(share_of(sum, size));
  }
  return worst.value;
}

/// Tangent of an LCP: dw = r + M dz with dw = 0 in held rows, dz = 0 in free ones, and 0 <= dz perp
/// dw >= 0 in doubtful ones. mode: [n] of RowMode; r = dM z + dq.
CAROM_HOST_DEVICE inline double lcp_tangent_residual(int n, const double* matrix, const int* mode,
                                                     const double* r, const double* dz) {
  MaxAbs<> worst;
  for (int i = 0; i < n; ++i) {
    double sum = r[i], size = absolute(r[i]);
    for (int j = 0; j < n; ++j) {
      const double term = matrix[static_cast<long>(i) * n + j] * dz[j];
      sum += term;
      size += absolute(term);
    }
    const auto row = static_cast<RowMode>(mode[i]);
    if (row == RowMode::held) {
      worst.add(share_of(sum, size));
    } else if (row == RowMode::free) {
      worst.add(dz[i] == 0.0 ? 0.0 : kernels::kInfinity);
    } else {
      if (!(dz[i] >= 0.0)) worst.add(kernels::kInfinity);
      worst.add(share_of(dz[i] > 0.0 || sum < 0.0 ? sum : 0.0, size));
    }
  }
  return worst.value;
}

}  // namespace carom::certificate
