#pragma once

#include "cpu/simd/programs/pack_qp_problem.hpp"

namespace carom::cpu::simd {

/// Second-order cones of a QP a lane. At an edge, s and z = tau R s on the boundary, R = diag(1,
/// -1,
/// ..), a cone is one equation g'dx = .. with g = C'R s, and -tau C'R C joins P. With s = (t, v),
/// h = C_v'v / t and c_0 = g / t + h that curvature is
///   tau (C_v'C_v - h h') - g k' - k g',   k = tau / t (c_0 - g / (2 t)),
/// of which the first part is semidefinite and the others only change the equation's multiplier:
/// what is factored is definite.
template <class Isa>
class PackQpCones : protected PackQpProblem<Isa> {
  using Problem = PackQpProblem<Isa>;

 protected:
  using Problem::all_;
  using Problem::at_;
  using Problem::get;
  using Problem::kWidth;
  using Problem::m_;
  using Problem::n_;
  using Problem::none;
  using Problem::put;
  using Problem::r_;
  using typename Problem::Mask;
  using typename Problem::Pack;

  /// Edges nearer to their tip, in the rows' units, have a curvature that is too large for k.
  static constexpr double kNearTip = 1e-3;
  /// Edges are also left to one lane where the modes' equations have a larger condition.
  static constexpr double kMostBent = 1e5;

  explicit PackQpCones(const QpDerivativeRange& range) : Problem(range) {
    for (int i = 0; i < all_; ++i) {
      owner_[i] = -1;
      put(at_.edge, i, Pack(0.0));
      put(at_.tau, i, Pack(0.0));
    }
    for (int first = m_, c = 0; c < range.cones; ++c) {
      const Cone& cone = range.cone[c];
      if (cone.kind == ConeKind::second_order && cone.size > 1) {
        for (int k = 0; k < cone.size; ++k) owner_[first + k] = first;
        first_[cones_] = first;
        behind_[cones_++] = first + cone.size;
      }
      first += cone.size;
    }
  }

  [[nodiscard]] CAROM_INLINE bool in_cone(int i) const { return owner_[i] >= 0; }
  /// Lanes where row i is of a cone at an edge.
  [[nodiscard]] CAROM_INLINE Mask is_edge(int i) const { return get(at_.edge, i) > Pack(0.0); }
  [[nodiscard]] CAROM_INLINE Pack reflected(int i, Pack value) const {
    return owner_[i] == i ? value : -value;
  }
  /// The share of row i in its edge's equation.
  [[nodiscard]] CAROM_INLINE Pack share_in_edge(int i) const {
    return reflected(i, get(at_.slack, i));
  }
  template <class Call>
  CAROM_INLINE void each_cone(Call&& call) const {
    for (int c = 0; c < cones_; ++c) call(c, first_[c], behind_[c]);
  }
  [[nodiscard]] CAROM_INLINE Pack length(const double* values, int first, int behind) const {
    Pack sum(0.0);
    for (int i = first + 1; i < behind; ++i) sum = sum + get(values, i) * get(values, i);
    return square_root(sum);
  }

  /// A cone's rows have one unit.
  void share_units() {
    each_cone([&](int, int first, int behind) {
      Pack unit = get(at_.unit, first), feel = get(at_.feel, first);
      for (int i = first + 1; i < behind; ++i) {
        unit = larger(unit, get(at_.unit, i));
        feel = larger(feel, get(at_.feel, i));
      }
      for (int i = first; i < behind; ++i) {
        put(at_.unit, i, unit);
        put(at_.feel, i, feel);
      }
    });
  }

  /// QpDerivative::split_cone of every cone: rows' modes, edge and tau. Lanes where a state is
  /// another than before; between states: unclear_.
  Mask split_cones(Pack tolerance, Pack& margin) {
    const Pack zero(0.0), one(1.0);
    Mask changed = none();
    unclear_ = edged_ = none();
    each_cone([&](int, int first, int behind) {
      const Pack s = get(at_.slack, first), z = get(at_.y, first);
      const Pack unit = get(at_.unit, first), feel = get(at_.feel, first);
      const Pack s_length = length(at_.slack, first, behind);
      const Pack z_length = length(at_.y, first, behind);
      const Pack s_inside = (s - s_length) / unit, z_inside = (z - z_length) * feel;
      const Pack s_size = (magnitude(s) + s_length) / unit;
      const Pack z_size = (magnitude(z) + z_length) * feel;
      const Mask free = z_size <= s_inside;
      const Mask apex = (!free) & (s_size <= z_inside);
      const Pack gap = select(free, s_inside, select(apex, z_inside, smaller(s_size, z_size)));
      margin = smaller(margin, select(gap > zero, gap, zero));
      const Mask edge = !(free | apex);
      unclear_ = unclear_ | !(gap > tolerance) | (edge & !(s_size > Pack(kNearTip)));
      edged_ = edged_ | edge;
      Pack along = zero, square = zero;
      for (int i = first; i < behind; ++i) {
        along = along + share_in_edge(i) * get(at_.y, i);
        square = square + get(at_.slack, i) * get(at_.slack, i);
      }
      const Mask there = edge & (square > zero);
      const Pack tau = select(there, along / select(there, square, one), zero);
      const Pack state = select(edge, one, zero), mode = select(free, -one, one);
      changed = changed | (get(at_.edge, first) != state) | (get(at_.mode, first) != mode);
      for (int i = first; i < behind; ++i) {
        put(at_.edge, i, state);
        put(at_.mode, i, mode);
        put(at_.tau, i, tau);
      }
    });
    return changed;
  }

  /// g and k of every edge, and what is factored in place of P.
  void bend() {
    const Pack zero(0.0), one(1.0);
    for (long e = 0; e < static_cast<long>(n_) * n_; ++e) put(at_.definite, e, get(at_.hessian, e));
    const long stride = static_cast<long>(n_) * kWidth;
    each_cone([&](int c, int first, int behind) {
      const Mask edge = is_edge(first);
      if (!any_of(edge)) return;
      double* g = at_.normal + c * stride;
      double* k = at_.bend + c * stride;
      double* h = at_.work;
      const Pack inverse = select(edge, one / select(edge, get(at_.slack, first), one), zero);
      const Pack tau = get(at_.tau, first);
      const double* top = at_.rows + first * stride;
      for (int j = 0; j < n_; ++j) {
        Pack sum = zero;
        for (int i = first; i < behind; ++i) {
          sum = fused(share_in_edge(i), get(at_.rows + i * stride, j), sum);
        }
        put(g, j, sum);
        const Pack own = get(top, j), along = sum * inverse;
        put(h, j, own - along);
        put(k, j, tau * inverse * (own - Pack(0.5) * along));
      }
      for (int a = 0; a < n_; ++a) {
        for (int b = 0; b <= a; ++b) {
          Pack sum = -(get(h, a) * get(h, b));
          for (int i = first + 1; i < behind; ++i) {
            const double* row = at_.rows + i * stride;
            sum = fused(get(row, a), get(row, b), sum);
          }
          const long place = static_cast<long>(a) * n_ + b;
          const Pack value = fused(tau, sum, get(at_.definite, place));
          put(at_.definite, place, value);
          put(at_.definite, static_cast<long>(b) * n_ + a, value);
        }
      }
    });
  }

  /// at_.asked: `values` of rows, in an edge's first row those of its equation.
  const double* of_equations(const double* values) {
    if (cones_ == 0) return values;
    for (int i = 0; i < all_; ++i) put(at_.asked, i, get(values, i));
    each_cone([&](int, int first, int behind) {
      Pack sum(0.0);
      for (int i = first; i < behind; ++i) sum = sum + share_in_edge(i) * get(values, i);
      put(at_.asked, first, select(is_edge(first), sum, get(values, first)));
    });
    return at_.asked;
  }
  /// at_.right -= tau C'R values of the edges, in the unknowns' equations.
  void take_curvature(const double* values) {
    const long stride = static_cast<long>(n_) * kWidth;
    each_cone([&](int, int first, int behind) {
      if (!any_of(is_edge(first))) return;
      for (int i = first; i < behind; ++i) {
        const Pack by = get(at_.tau, i) * reflected(i, get(values, i));
        const double* row = at_.rows + i * stride;
        for (int j = 0; j < n_; ++j) {
          put(at_.right, j, get(at_.right, j) - by * get(row, j));
        }
      }
    });
  }

  /// The largest step that keeps a cone's state, to first order: QpDerivative::leaves of s and z.
  [[nodiscard]] Pack reach_of_cone(int first, int behind, const double* dz,
                                   const double* ds) const {
    const Pack infinity(kernels::kInfinity);
    const Mask edge = is_edge(first);
    const Mask free = get(at_.mode, first) < Pack(0.0);
    const Mask apex = !(free | edge);
    const Pack by_s = leaves(first, behind, at_.slack, ds, edge);
    const Pack by_z = leaves(first, behind, at_.y, dz, edge);
    return smaller(select(apex, infinity, by_s), select(free, infinity, by_z));
  }

  int cones_ = 0;
  int first_[kMostOfQpInPacks], behind_[kMostOfQpInPacks];
  int owner_[kMostOfQpInPacks];
  Mask unclear_, edged_;

 private:
  [[nodiscard]] Pack leaves(int first, int behind, const double* v, const double* dv,
                            Mask edge) const {
    const Pack zero(0.0), one(1.0), infinity(kernels::kInfinity);
    const Pack top = get(v, first), slope = get(dv, first);
    const Mask falls = slope < zero;
    const Pack at_edge = select(falls, top / select(falls, -slope, one), infinity);
    Pack a = slope * slope, b = top * slope, c = top * top;
    for (int i = first + 1; i < behind; ++i) {
      a = a - get(dv, i) * get(dv, i);
      b = b - get(v, i) * get(dv, i);
      c = c - get(v, i) * get(v, i);
    }
    const Pack root = b * b - a * c;
    const Mask real = !(root < zero);
    const Pack down = square_root(select(real, root, zero)) - b;
    const Mask ends = real & (down > zero);
    Pack inside = select(ends, c / select(ends, down, one), infinity);
    inside = select(top - this->length(v, first, behind) > zero, inside, zero);
    return select(edge, at_edge, inside);
  }
};

}  // namespace carom::cpu::simd
