#pragma once

#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// psi of Algorithm 2, line 2, with Jbar = [Jn; J_D] and the Frobenius norm of M^-1 Jbar' for its
/// largest singular value: an upper bound, so that the closing step moves v by epsilon / 3 at most.
/// `response(r, c)`: M^-1 J', [nv, rows]; `friction`: [m].
template <int Dim, class Response>
CAROM_INLINE double closing_psi(int nv, int m, const FrictionPolygon& polygon,
                                const double* friction, Response&& response) {
  double squares = 0.0;
  double friction_max = 0.0;
  for (int i = 0; i < m; ++i) {
    friction_max = larger(friction_max, friction[i]);
    for (int r = 0; r < nv; ++r) squares = fused(response(r, i), response(r, i), squares);
    for (int d = 0; d < polygon.count; ++d) {
      for (int r = 0; r < nv; ++r) {
        double entry = 0.0;
        for (int c = 0; c < Dim - 1; ++c) {
          entry = fused(polygon.direction[d][c], response(r, m + (Dim - 1) * i + c), entry);
        }
        squares = fused(entry, entry, squares);
      }
    }
  }
  return square_root(squares) * m * (1.0 + friction_max) + 1.0;
}

}  // namespace carom::kernels
