#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// Unit vectors t1, t2 that make (t1, t2, axis) a right-handed orthonormal frame. For axis_z >= 0
/// they are the images of x and y under the smallest rotation that takes z to the axis; below, of x
/// and -y under the smallest one that takes -z to it. The axis z itself gives x and y.
template <class V>
CAROM_INLINE void orthonormal_frame(const V* axis, V* t1, V* t2) {
  const V one(1.0);
  const V sign = select(axis[2] < V(0.0), -one, one);
  const V a = -one / (sign + axis[2]);
  const V b = axis[0] * axis[1] * a;
  t1[0] = one + sign * axis[0] * axis[0] * a;
  t1[1] = sign * b;
  t1[2] = -sign * axis[0];
  t2[0] = b;
  t2[1] = sign + axis[1] * axis[1] * a;
  t2[2] = -axis[1];
}

template <class V, class W>
CAROM_INLINE V dot3(const W* a, const V* b) {
  return fused(V(a[0]), b[0], fused(V(a[1]), b[1], V(a[2]) * b[2]));
}

/// a x b.
template <class V, class W>
CAROM_INLINE void cross3(const W* a, const V* b, V* out) {
  out[0] = fused(V(a[1]), b[2], -(V(a[2]) * b[1]));
  out[1] = fused(V(a[2]), b[0], -(V(a[0]) * b[2]));
  out[2] = fused(V(a[0]), b[1], -(V(a[1]) * b[0]));
}

}  // namespace carom::kernels
