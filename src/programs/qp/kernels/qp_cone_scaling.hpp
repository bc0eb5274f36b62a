#pragma once

#include "programs/qp/kernels/qp_interior_point_data.hpp"

/// Second-order cones in the interior-point method: Nesterov and Todd's scaling (1997).
namespace carom::kernels {

/// Functions that are inlined take their caller's copy of the data, the others make one.
template <class Data>
struct QpConeScaling {
  using V = typename Data::V;
  using Memory = typename Data::Memory;

  /// Length of the values but the first.
  static CAROM_INLINE V norm_of_tail(const Data& m, const Memory& values, const QpConeSpan& cone) {
    V sum(0.0);
    for (int i = cone.first + 1; i < cone.first + m.size_of(cone); ++i) {
      sum = fused(values[i], values[i], sum);
    }
    return square_root(sum);
  }

  /// Nesterov-Todd point of one cone: point = w with w'J w = 1, weight = eta^-2, W = eta H(w),
  /// lambda = H z = eta^-2 H^-1 s.
  static CAROM_CALL void scale(const Data& data, const QpConeSpan& cone) {
    const Data m = data;
    V s_det = m.cone.slack[cone.first] * m.cone.slack[cone.first];
    V z_det = m.cone.dual[cone.first] * m.cone.dual[cone.first];
    V product = m.cone.slack[cone.first] * m.cone.dual[cone.first];
    for (int i = cone.first + 1; i < cone.first + m.size_of(cone); ++i) {
      const V s = m.cone.slack[i];
      const V z = m.cone.dual[i];
      s_det = fused(-s, s, s_det);
      z_det = fused(-z, z, z_det);
      product = fused(s, z, product);
    }
    const V s_root = square_root(s_det);
    const V z_root = square_root(z_det);
    const V both = V(1.0) / (s_root * z_root);
    const V s_inverse = z_root * both;
    const V z_inverse = s_root * both;
    const V gamma = square_root(fused(V(0.5) * product, both, V(0.5)));
    const V share = V(0.5) / gamma;
    const V s_share = share * s_inverse;
    const V z_share = share * z_inverse;
    const V weight = z_root * s_inverse;
    const V head = fused(s_share, m.cone.slack[cone.first], z_share * m.cone.dual[cone.first]);
    const V head_inverse = V(1.0) / (V(1.0) + head);
    m.lanes.for_each(m.size_of(cone), [&](int t) {
      const int i = cone.first + t;
      const V z = z_share * m.cone.dual[i];
      m.cone.point[i] = fused(s_share, m.cone.slack[i], t == 0 ? z : -z);
      m.weight[i] = t == 0 ? -weight : weight;
      if (t == 0) {
        m.cone.head_inverse[i] = head_inverse;
        m.cone.slack_det[i] = s_inverse * s_inverse;
        m.cone.dual_det[i] = z_inverse * z_inverse;
      }
    });
    apply_scaling(m, cone, m.cone.dual, m.cone.lambda, V(1.0), V(1.0));
  }

  /// to = W^-2 from, W^-2 = eta^-2 (2 (Jw)(Jw)' - J); `to` may add, but not to what `from` reads.
  template <class From, class To>
  static CAROM_INLINE void apply_weight(const Data& m, const QpConeSpan& cone, From&& from,
                                        To&& to) {
    const int f = cone.first;
    V product = m.cone.point[f] * from(f);
    for (int i = f + 1; i < f + m.size_of(cone); ++i)
      product = fused(-m.cone.point[i], from(i), product);
    product = V(2.0) * product;
    const V weight = m.weight[f + 1];
    m.lanes.for_each(m.size_of(cone), [&](int t) {
      const int i = f + t;
      const V u = from(i);
      to(i, weight * (t == 0 ? fused(product, m.cone.point[i], -u)
                             : fused(-product, m.cone.point[i], u)));
    });
  }

  /// Largest 1 / alpha for which u + alpha d meets the boundary of the cone, 0 where it never does:
  /// the larger root of det(u) r^2 + 2 (u'J d) r + det(d) = 0.
  static CAROM_INLINE V ratio(const Data& m, const QpConeSpan& cone, const Memory& u,
                              const Memory& d, V inverse_det) {
    const int f = cone.first;
    V a = d[f] * d[f];
    V b = u[f] * d[f];
    for (int i = f + 1; i < f + m.size_of(cone); ++i) {
      a = fused(-d[i], d[i], a);
      b = fused(-u[i], d[i], b);
    }
    a = a * inverse_det;
    b = b * inverse_det;
    const V discriminant = fused(b, b, -a);
    const V root = square_root(larger(discriminant, V(0.0)));
    return select(discriminant >= V(0.0), larger(root - b, V(0.0)), V(0.0));
  }

  /// dual_step = -z + W^-1 (W z \ (target e - (W^-1 ds) o (W dz))), where eta drops out but for
  /// eta^-2.
  static CAROM_CALL void centre(const Data& data, const QpConeSpan& cone, V target) {
    const Data m = data;
    const int f = cone.first;
    apply_scaling(m, cone, m.cone.slack_step, m.cone.slack_step, V(-1.0), V(1.0));
    apply_scaling(m, cone, m.cone.dual_step, m.cone.dual_step, V(1.0), V(1.0));
    const Memory a = m.cone.slack_step;
    const Memory b = m.cone.dual_step;
    V product(0.0);
    V along(0.0);
    const V a0 = a[f];
    const V b0 = b[f];
    for (int i = f; i < f + m.size_of(cone); ++i) product = fused(a[i], b[i], product);
    const V d0 = target - product;
    for (int i = f + 1; i < f + m.size_of(cone); ++i) {
      along = fused(m.cone.lambda[i], fused(a0, b[i], b0 * a[i]), along);  // -lambda_1'd_1
    }
    const V lambda0 = m.cone.lambda[f];
    const V u0 = fused(lambda0, d0, along) * m.cone.dual_det[f];  // det lambda = det z
    const V inverse = V(1.0) / lambda0;
    m.lanes.for_each(m.size_of(cone), [&](int t) {
      const int i = f + t;
      const V d = -fused(a0, b[i], b0 * a[i]);
      b[i] = t == 0 ? u0 : inverse * fused(-u0, m.cone.lambda[i], d);
    });
    apply_scaling(m, cone, b, b, V(-1.0), m.weight[f + 1]);
    m.lanes.for_each(m.size_of(cone), [&](int t) { b[f + t] = b[f + t] - m.cone.dual[f + t]; });
  }

  /// to = size H from (direction 1) or size H^-1 from (direction -1).
  static CAROM_INLINE void apply_scaling(const Data& m, const QpConeSpan& cone, const Memory& from,
                                         const Memory& to, V direction, V size) {
    const int f = cone.first;
    const V w0 = m.cone.point[f];
    V tail(0.0);
    for (int i = f + 1; i < f + m.size_of(cone); ++i) tail = fused(m.cone.point[i], from[i], tail);
    tail = direction * tail;
    const V u0 = from[f];
    const V share = direction * fused(tail, m.cone.head_inverse[f], u0);
    m.lanes.for_each(m.size_of(cone), [&](int t) {
      const int i = f + t;
      to[i] = size * (t == 0 ? fused(w0, u0, tail) : fused(share, m.cone.point[i], from[i]));
    });
  }
};

}  // namespace carom::kernels
