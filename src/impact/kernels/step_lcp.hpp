#pragma once

#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// The step LCP (75) in its original unknowns z = [beta; lambda_n; lambda_D; gamma], without beta
/// if the impulses are unbounded, which is the simultaneous model (31). Entries are computed when
/// needed from the scaled Delassus matrix. The scales are powers of two, so scaling back is
/// exact.
template <int Dim>
struct StepLcp {
  int m;
  const FrictionPolygon* polygon;
  const double* delassus;  ///< S A S, [rows, rows]
  const double* scale;     ///< S, [m]
  const double* friction;  ///< [m]
  const double* limit;     ///< lambda_max, [m]
  const double* u;         ///< J v, [rows]
  bool bounded;            ///< some limit is finite: beta is there

  CAROM_INLINE int order() const { return m * (polygon->count + (bounded ? 3 : 2)); }

  CAROM_INLINE double entry(int i, int j) const {
    const Place row = place(i);
    const Place column = place(j);
    if (row.block == kBeta) {
      return column.block == kNormal && column.contact == row.contact ? -1.0 : 0.0;
    }
    if (row.block == kGamma) {
      if (column.contact != row.contact) return 0.0;
      if (column.block == kNormal) return friction[row.contact];
      return column.block == kDirection ? -1.0 : 0.0;
    }
    if (column.block == kBeta) {
      return row.block == kNormal && column.contact == row.contact ? 1.0 : 0.0;
    }
    if (column.block == kGamma) {
      return row.block == kDirection && column.contact == row.contact ? 1.0 : 0.0;
    }
    double sum = 0.0;
    for (int r = 0; r < terms(row); ++r) {
      double inner = 0.0;
      for (int c = 0; c < terms(column); ++c) {
        inner = fused(delassus[static_cast<long>(index(row, r)) * (Dim * m) + index(column, c)],
                      weight(column, c), inner);
      }
      sum = fused(weight(row, r), inner, sum);
    }
    return sum / (scale[row.contact] * scale[column.contact]);
  }

  CAROM_INLINE double vector(int i) const {
    const Place row = place(i);
    // A bound that is never met stands in for none where other contacts have one.
    if (row.block == kBeta) return limit[row.contact] < kInfinity ? limit[row.contact] : 1e100;
    if (row.block == kGamma) return 0.0;
    double sum = 0.0;
    for (int r = 0; r < terms(row); ++r) sum = fused(weight(row, r), u[index(row, r)], sum);
    return sum;
  }

  /// Component i of the reduced impulse [lambda_n; lambda_t] of a solution z.
  CAROM_INLINE double impulse(const double* z, int i) const {
    const int first = bounded ? m : 0;
    if (i < m) return z[first + i];
    const int contact = (i - m) / (Dim - 1);
    const int component = (i - m) % (Dim - 1);
    double sum = 0.0;
    for (int j = 0; j < polygon->count; ++j) {
      sum =
          fused(polygon->direction[j][component], z[first + m + contact * polygon->count + j], sum);
    }
    return sum;
  }

 private:
  enum Block { kBeta, kNormal, kDirection, kGamma };
  struct Place {
    Block block;
    int contact;
    int direction;
  };

  CAROM_INLINE Place place(int i) const {
    if (!bounded) i += m;
    if (i < m) return {kBeta, i, 0};
    if (i < 2 * m) return {kNormal, i - m, 0};
    i -= 2 * m;
    if (i < m * polygon->count) return {kDirection, i / polygon->count, i % polygon->count};
    return {kGamma, i - m * polygon->count, 0};
  }
  CAROM_INLINE int terms(Place p) const { return p.block == kNormal ? 1 : Dim - 1; }
  CAROM_INLINE int index(Place p, int term) const {
    return p.block == kNormal ? p.contact : m + (Dim - 1) * p.contact + term;
  }
  CAROM_INLINE double weight(Place p, int term) const {
    return p.block == kNormal ? 1.0 : polygon->direction[p.direction][term];
  }
};

/// Largest order of a step LCP with m contacts.
template <int Dim>
CAROM_HOST_DEVICE constexpr int step_lcp_order(int m, int directions) {
  return m * ((Dim == 2 ? 2 : directions) + 3);
}

}  // namespace carom::kernels
