#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

/// The linearised friction cone |lambda_t| in mu lambda_n P, with P the polygon of the k friction
/// directions d_0..d_{k-1}; planar: k = 2, d = (+1), (-1).
namespace carom::kernels {

/// Directions and edges of P, computed once on the host and shared by every contact.
struct FrictionPolygon {
  int count = 2;      ///< k
  double edge = 2.0;  ///< length of an edge; planar: the segment's
  double turn = 0.0;  ///< 2 cos(2 pi / k): e_{j+1} + e_{j-1} = turn * e_j
  double direction[16][2] = {{1.0, 0.0}, {-1.0, 0.0}};  ///< d_j
  double along[16][2] = {};                             ///< unit edge e_j from d_j to d_{j+1}
};

template <int Dim>
CAROM_INLINE double direction_dot(const FrictionPolygon& polygon, int j, const double* t) {
  if constexpr (Dim == 2) {
    return polygon.direction[j][0] * t[0];
  } else {
    return fused(polygon.direction[j][0], t[0], polygon.direction[j][1] * t[1]);
  }
}

/// Direction of the polygon with the largest component along t; ties go to the lowest index.
template <int Dim>
CAROM_INLINE int nearest_direction(const FrictionPolygon& polygon, const double* t) {
  int best = 0;
  double largest = direction_dot<Dim>(polygon, 0, t);
  for (int j = 1; j < polygon.count; ++j) {
    const double component = direction_dot<Dim>(polygon, j, t);
    if (component > largest) {
      largest = component;
      best = j;
    }
  }
  return best;
}

/// Power of two that brings a contact's diagonal of A near one; dividing by it and multiplying with
/// it is exact. 1 where the diagonal vanishes.
template <int Dim>
CAROM_INLINE double contact_scale(const double* delassus, int contacts, int contact) {
  const int rows = Dim * contacts;
  double largest = delassus[contact * rows + contact];
  for (int c = 0; c < Dim - 1; ++c) {
    const int t = contacts + (Dim - 1) * contact + c;
    largest = larger(largest, delassus[t * rows + t]);
  }
  double scale = 1.0;
  if (!(largest > 0.0) || !is_finite(largest)) return scale;
  for (int i = 0; i < 1100 && largest * scale * scale > 2.0; ++i) scale *= 0.5;
  for (int i = 0; i < 1100 && largest * scale * scale < 0.5; ++i) scale *= 2.0;
  return scale;
}

/// Element (i, j) of a square matrix of `rows` rows.
CAROM_INLINE double entry(const double* matrix, int rows, int i, int j) {
  return matrix[static_cast<long>(i) * rows + j];
}

/// A step's S A S, formed where it is read.
template <int Dim>
struct ScaledDelassus {
  const double* delassus;  ///< A, [rows, rows]
  const double* scale;     ///< S, [contacts]
  int contacts;

  CAROM_INLINE double of(int row) const {
    return scale[row < contacts ? row : (row - contacts) / (Dim - 1)];
  }
  friend CAROM_INLINE double entry(const ScaledDelassus& matrix, int rows, int i, int j) {
    return entry(matrix.delassus, rows, i, j) * matrix.of(i) * matrix.of(j);
  }
};

}  // namespace carom::kernels
