#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_factor.hpp"

/// How far an answer's objective is from the optimum, proven by a point inside of all cones and
/// rows and by multipliers inside of all dual cones (Slater's condition on both sides).
namespace carom::kernels {

template <class Memory>
struct QpInteriorBoundLayout {
  Memory factor, inverse;  ///< of the equations' products, then of P + A'D A
  Memory unit;             ///< of columns
  Memory step;
  Memory base, point, terms;
  Memory size;    ///< of a row's terms; of a cone the largest
  Memory length;  ///< of an equation, inverse
  Memory weight, goal, shift;
  Memory along;       ///< of columns, of one cone
  Memory room, hold;  ///< margins of slacks and of multipliers; of a cone in its first row
  Memory multiplier, next;

  QpInteriorBoundLayout() = default;
  CAROM_INLINE constexpr QpInteriorBoundLayout(Arena<Memory>& arena, long n, long rows)
      : factor(arena.take(n * n)),
        inverse(arena.take(n)),
        unit(arena.take(n)),
        step(arena.take(n)),
        base(arena.take(n)),
        point(arena.take(n)),
        terms(arena.take(n)),
        size(arena.take(rows)),
        length(arena.take(n)),
        weight(arena.take(rows)),
        goal(arena.take(rows)),
        shift(arena.take(rows)),
        along(arena.take(n)),
        room(arena.take(rows)),
        hold(arena.take(rows)),
        multiplier(arena.take(rows)),
        next(arena.take(rows)) {}
};
CAROM_INLINE constexpr long qp_interior_bound_workspace(long n, long rows) {
  return values_of<QpInteriorBoundLayout>(n, rows);
}

/// With f convex, x0 and (x1, y1) strictly feasible and G = f(x0) - g(x1, y1) the gap of their
/// objectives: optima exist with multipliers, multipliers y* of a row or cone are at most G over
/// x0's margin there, slacks at most G over that of y1. So, for an x that meets the equations and
/// violates a row by v, f(x) >= f* - v G / margin; likewise for multipliers that are outside of
/// their cones by w, g(y) <= f* + w G / margin.
///
/// x0 and (x1, y1) come from a few Newton steps on the barrier of the multipliers' cones, whose
/// parameter is the iterate's: where the last is shorter than one half in its own norm, both are
/// inside. P + A'D A, D the barrier's curvature, also moves the answer onto P x + q + A'y = 0, as
/// A A' of the equations moves points onto those.
///
/// The margins must bear a change of every term of the data by kApart of itself, which is far above
/// rounding: problems whose interior lies within what rounding or a tolerance may have made of
/// none are not confirmed.
template <class V, class Lanes, class Data, class Memory>
class QpInteriorBound {
 public:
  /// memory: qp_interior_bound_workspace.
  CAROM_INLINE QpInteriorBound(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                               const Memory& memory)
      : lanes_(lanes),
        shape_(shape),
        view_(view),
        n_(shape.variables),
        at_(placed<QpInteriorBoundLayout>(memory, n_, shape.rows)) {}

  /// Where wanted: whether the objective at x, y is within `allowed` of the optimum. inner_x,
  /// inner_y: near the central path at the parameter mu, y inside of all cones.
  template <class X, class Y, class Inner>
  CAROM_CALL MaskOf<V> confirms(const X& x, const Y& y, const Inner& inner_x, const Inner& inner_y,
                                V mu, V allowed, MaskOf<V> wanted) {
    if (shape_.equations > n_) return mask_of<V>(false);
    mu_ = mu;
    measure_rows(inner_x, inner_y);
    sure_ = wanted & (mu_ > V(0.0));
    copy(n_, inner_x, at_.base);
    copy(shape_.rows, inner_y, at_.multiplier);
    centre();
    complete(at_.point, at_.next);
    check_remainder(at_.point, at_.next);
    find_holds(at_.next);
    const V below = dual_objective(at_.point, at_.next);
    copy(n_, at_.point, at_.base);
    copy(n_, x, at_.point);
    copy(shape_.rows, y, at_.next);
    complete(at_.point, at_.next);
    const V wrong = dual_violation(at_.next);
    const V reached = dual_objective(at_.point, at_.next);

    if (shape_.equations > 0) factor_equations();
    const V remains = move_onto_equations(at_.base);
    find_rooms(remains);
    const V above = objective(at_.base);
    copy(n_, x, at_.point);
    move_onto_equations(at_.point);
    const V outside = violation(at_.point);
    const V value = objective(at_.point);
    const V drift = magnitude(value - objective(x));
    const V rounding = V(kRounding) * cost_;
    const V gap = larger(above - below, V(0.0)) + rounding;
    const V error =
        magnitude(value - reached) + drift + rounding + V(kDiagonal) * (outside + wrong) * gap;
    return sure_ & (error <= allowed);
  }

  /// Where wanted, and where multipliers inside of their cones are missing, as when a body is
  /// wedged between its contacts: whether no point up to kFar times as far as x and inner_x has an
  /// objective that is better by `allowed`. With r = P x + q + A'y and y in the dual cones, g(y) -
  /// sum |r_j| R_j bounds f where |x_j| <= R_j; f convex, so farther away it gains no more than in
  /// proportion. inner_x: inside of all cones and rows, which leaves no gap between the optima.
  template <class X, class Y, class Inner>
  CAROM_CALL MaskOf<V> confirms_up_to(const X& x, const Y& y, const Inner& inner_x, V allowed,
                                      MaskOf<V> wanted) {
    if (shape_.equations > n_) return mask_of<V>(false);
    measure_rows(inner_x, y);
    sure_ = wanted;
    copy(n_, x, at_.point);
    copy(shape_.rows, y, at_.next);
    move_into_dual_cones(at_.next);
    lanes_.for_each(n_, [&](int j) { at_.unit[j] = V(1.0); });
    unbalanced(at_.point, at_.next, V(kRounding));
    V beyond(0.0);
    for (int j = 0; j < n_; ++j) {
      const V own = magnitude(V(at_.point[j])) + magnitude(V(inner_x[j]));
      sure_ = sure_ & (own > V(0.0));
      beyond = fused(V(kFar) * own, at_.step[j], beyond);
    }
    const V reached = dual_objective(at_.point, at_.next);

    if (shape_.equations > 0) factor_equations();
    copy(n_, inner_x, at_.base);
    const V remains = move_onto_equations(at_.base);
    find_rooms(remains);
    const V above = objective(at_.base);
    move_onto_equations(at_.point);
    const V outside = violation(at_.point);
    const V value = objective(at_.point);
    const V drift = magnitude(value - objective(x));
    const V rounding = V(kRounding) * cost_;
    const V gap = larger(above - reached, V(0.0)) + beyond + rounding;
    const V error =
        magnitude(value - reached) + beyond + drift + rounding + V(kDiagonal) * outside * gap;
    return sure_ & (error <= allowed);
  }

 private:
  static constexpr double kApart = 1e-10;  // share of each term that a margin has to bear
  static constexpr double kRounding = 0x1p-49;
  static constexpr double kIndependent = 1e-8;  // least pivot of unit rows
  static constexpr double kCurved = 1e-11;      // of the unit diagonal
  /// Of a step, in its own norm. In a cone the boundary is at 1 / sqrt(2).
  static constexpr double kShort = 0.5;
  static constexpr double kRemainder = 100.0;  // 1 / its square: half of what kShort leaves
  static constexpr int kSteps = 16;
  static constexpr double kFar = 1e4;
  static constexpr double kDiagonal = 1.4142135623730951;

  template <class F>
  CAROM_INLINE void for_row(int i, F&& f) const {
    for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
      f(shape_.column[t], V(view_.matrix[static_cast<long>(i) * n_ + shape_.column[t]]));
    }
  }
  template <class F>
  CAROM_INLINE void for_interval_rows(F&& f) const {
    int i = 0;
    for (int c = 0; c <= shape_.cones; ++c) {
      const int end = c < shape_.cones ? shape_.cone[c].first : shape_.rows;
      for (; i < end; ++i) f(i);
      if (c < shape_.cones) i = end + shape_.cone[c].size;
    }
  }
  CAROM_INLINE V hessian(int j, int k) const {
    return view_.hessian[k <= j ? static_cast<long>(j) * n_ + k : static_cast<long>(k) * n_ + j];
  }
  template <class From>
  CAROM_INLINE void copy(int count, const From& from, const Memory& to) const {
    lanes_.for_each(count, [&](int e) { to[e] = from[e]; });
  }
  CAROM_INLINE static V or_zero(V bound) {
    return select(magnitude(bound) < V(kInfinity), bound, V(0.0));
  }
  template <class X>
  CAROM_INLINE V row(int i, const X& x) const {
    V sum(0.0);
    for_row(i, [&](int j, V entry) { sum = fused(entry, V(x[j]), sum); });
    return sum;
  }
  CAROM_INLINE MaskOf<V> is_equation(int i) const {
    return (presence(view_.upper[i]) > V(0.0)) & !(V(view_.lower[i]) != V(view_.upper[i]));
  }
  template <class F>
  CAROM_INLINE static V margin_of(const QpConeSpan& cone, F&& value) {
    V tail(0.0);
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      const V part = value(i);
      tail = fused(part, part, tail);
    }
    return value(cone.first) - square_root(tail);
  }

  template <class X, class Y>
  CAROM_CALL void measure_rows(const X& x, const Y& y) {
    lanes_.for_each(shape_.rows, [&](int i) {
      V sum(0.0);
      for_row(i, [&](int j, V entry) { sum = sum + magnitude(entry * V(x[j])); });
      at_.size[i] =
          sum + larger(magnitude(or_zero(view_.lower[i])), magnitude(or_zero(view_.upper[i])));
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      V most(0.0);
      for (int i = cone.first; i < cone.first + cone.size; ++i) most = larger(at_.size[i], most);
      lanes_.for_each(cone.size, [&](int t) { at_.size[cone.first + t] = most; });
    }
    cost_ = V(0.0);
    for (int j = 0; j < n_; ++j) cost_ = cost_ + magnitude(V(view_.gradient[j]) * V(x[j]));
    for (int i = 0; i < shape_.rows; ++i) cost_ = fused(magnitude(V(y[i])), at_.size[i], cost_);
  }

  /// Of the rows that are equations, in units of columns and rows.
  CAROM_CALL void factor_equations() {
    const int count = shape_.equations;
    lanes_.for_each(n_, [&](int j) { at_.step[j] = V(0.0); });
    for (int i = 0; i < shape_.rows; ++i) {
      const V size = at_.size[i];
      const V share = select(size > V(0.0), V(1.0) / size, V(0.0));
      const int first = shape_.row_first[i];
      lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) {
        const int j = shape_.column[first + t];
        const V part = V(view_.matrix[static_cast<long>(i) * n_ + j]) * share;
        at_.step[j] = fused(part, part, at_.step[j]);
      });
    }
    lanes_.for_each(n_, [&](int j) {
      const V sum = at_.step[j];
      at_.unit[j] = select(sum > V(0.0), V(1.0) / select(sum > V(0.0), sum, V(1.0)), V(0.0));
    });
    for (int e = 0; e < count; ++e) {
      const int i = shape_.equation_row[e];
      const auto on = is_equation(i);
      lanes_.for_each(n_, [&](int j) { at_.step[j] = V(0.0); });
      const int first = shape_.row_first[i];
      lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) {
        const int j = shape_.column[first + t];
        at_.step[j] = V(view_.matrix[static_cast<long>(i) * n_ + j]) * at_.unit[j];
      });
      lanes_.for_each(count - e, [&](int t) {
        const int f = shape_.equation_row[e + t];
        const V product = row(f, at_.step);
        const V off = V(t == 0 ? 1.0 : 0.0);
        at_.factor[static_cast<long>(e) * count + e + t] =
            select(on & is_equation(f), product, off);
      });
    }
    // Rows to unit length.
    lanes_.for_each(count, [&](int e) {
      const V square = at_.factor[static_cast<long>(e) * count + e];
      at_.length[e] = select(square > V(0.0), V(1.0) / square_root(square), V(0.0));
    });
    lanes_.for_each(count, [&](int e) {
      for (int f = e; f < count; ++f) {
        V& entry = at_.factor[static_cast<long>(e) * count + f];
        entry = entry * at_.length[e] * at_.length[f];
      }
    });
    least_equation_ = factor_symmetric<V>(lanes_, count, Memory(at_.factor), Memory(at_.inverse),
                                          V(kIndependent));
    sure_ = sure_ & (least_equation_ > V(kIndependent));
  }

  /// Returns what the rest may move a row by, over the size of its terms.
  CAROM_CALL V move_onto_equations(const Memory& x) {
    const int count = shape_.equations;
    if (count == 0) return V(0.0);
    const auto missed = [&](int e) {
      const int i = shape_.equation_row[e];
      return select(is_equation(i), V(view_.upper[i]) - row(i, x), V(0.0));
    };
    lanes_.for_each(count, [&](int e) { at_.step[e] = missed(e) * at_.length[e]; });
    solve_symmetric<V>(lanes_, count, Memory(at_.factor), Memory(at_.inverse), Memory(at_.step));
    for (int e = 0; e < count; ++e) {
      const int i = shape_.equation_row[e];
      const V along = select(is_equation(i), V(at_.step[e]) * at_.length[e], V(0.0));
      const int first = shape_.row_first[i];
      lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) {
        const int j = shape_.column[first + t];
        x[j] = fused(along * V(view_.matrix[static_cast<long>(i) * n_ + j]), at_.unit[j], x[j]);
      });
    }
    V rest(0.0);
    for (int e = 0; e < count; ++e) {
      const V part =
          at_.length[e] * fused(V(kApart), at_.size[shape_.equation_row[e]], magnitude(missed(e)));
      rest = fused(part, part, rest);
    }
    const V share = V(static_cast<double>(count)) * rest / larger(least_equation_, V(kIndependent));
    return square_root(V(static_cast<double>(n_)) * share);
  }

  /// Margins at `base`, less what is not known of them.
  CAROM_CALL void find_rooms(V remains) {
    const V unknown = remains + V(kApart);
    for_interval_rows([&](int i) {
      const V value = row(i, at_.base);
      const V lower = view_.lower[i];
      const V upper = view_.upper[i];
      const auto equal = is_equation(i);
      const V room = fused(-unknown, at_.size[i], smaller(value - lower, upper - value));
      const V kept = select(equal, V(kInfinity), room);
      sure_ = sure_ & (kept > V(0.0));
      lanes_.for_each(1, [&](int) { at_.room[i] = kept; });
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      const V margin = margin_of(cone, [&](int i) { return V(view_.upper[i]) - row(i, at_.base); });
      const V room = fused(-unknown * V(roots(cone)), at_.size[cone.first], margin);
      sure_ = sure_ & (room > V(0.0));
      lanes_.for_each(1, [&](int) { at_.room[cone.first] = room; });
    }
  }
  CAROM_INLINE static double roots(const QpConeSpan& cone) {
    return 1.0 + square_root(static_cast<double>(cone.size));
  }

  /// Violations of rows and cones, rounding included, over the margins.
  template <class X>
  CAROM_CALL V violation(const X& x) const {
    V sum(0.0);
    for_interval_rows([&](int i) {
      const V value = row(i, x);
      const V beyond = larger(V(view_.lower[i]) - value, value - V(view_.upper[i]));
      const V missed = fused(V(kRounding), at_.size[i], larger(beyond, V(0.0)));
      sum = sum + select(at_.room[i] < V(kInfinity), missed / at_.room[i], V(0.0));
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      const V margin = margin_of(cone, [&](int i) { return V(view_.upper[i]) - row(i, x); });
      const V missed =
          fused(V(kRounding * roots(cone)), at_.size[cone.first], larger(-margin, V(0.0)));
      sum = sum + missed / at_.room[cone.first];
    }
    return sum;
  }

  /// Margins of multipliers; where they may have any sign infinity.
  template <class Y>
  CAROM_CALL void find_holds(const Y& y) {
    const auto keep = [&](int i, V hold) {
      sure_ = sure_ & (hold > V(0.0));
      lanes_.for_each(1, [&](int) { at_.hold[i] = hold; });
    };
    for_interval_rows([&](int i) {
      const auto lower = presence(view_.lower[i]) > V(0.0);
      const auto upper = presence(view_.upper[i]) > V(0.0);
      keep(i, select((lower & upper) | !(lower | upper), V(kInfinity),
                     select(upper, V(y[i]), -V(y[i]))));
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      const V margin = margin_of(cone, [&](int i) { return V(y[i]); });
      keep(cone.first, fused(V(-kApart), V(y[cone.first]), margin));
    }
  }

  /// Newton's steps for max g(x, y) + mu log det y from (base, multiplier), the last one of them to
  /// (point, next).
  CAROM_CALL void centre() {
    for (int step = 0;; ++step) {
      weigh();
      factor_curvature();
      lanes_.for_each(shape_.rows, [&](int i) { at_.shift[i] = row(i, at_.base) - at_.goal[i]; });
      weigh_shift();
      lanes_.for_each(shape_.rows, [&](int i) { at_.next[i] = at_.multiplier[i] + at_.shift[i]; });
      unbalanced(at_.base, at_.next, V(0.0));
      solve_symmetric<V>(lanes_, n_, Memory(at_.factor), Memory(at_.inverse), Memory(at_.step));
      lanes_.for_each(n_,
                      [&](int j) { at_.point[j] = fused(-at_.step[j], at_.unit[j], at_.base[j]); });
      lanes_.for_each(shape_.rows, [&](int i) {
        const V miss = row(i, at_.point) - at_.goal[i];
        at_.shift[i] = miss;
        at_.next[i] = miss;
      });
      weigh_shift();
      V square(0.0);
      for (int i = 0; i < shape_.rows; ++i) {
        if (!all_of(is_equation(i))) {
          const V part = at_.shift[i] * at_.next[i];
          square = square + select(is_equation(i), V(0.0), part);
        }
      }
      lanes_.for_each(shape_.rows, [&](int i) { at_.next[i] = at_.multiplier[i] + at_.shift[i]; });
      const V length = square_root(larger(square, V(0.0)) / mu_);

      const auto far = !(length <= V(kShort));
      if (step + 1 == kSteps || !any_of(far & sure_)) {
        sure_ = sure_ & !far;
        return;
      }
      const V share = select(far, V(kShort) / length, V(0.0));
      lanes_.for_each(shape_.rows, [&](int i) {
        at_.multiplier[i] = fused(share, at_.shift[i], at_.multiplier[i]);
      });
      lanes_.for_each(n_, [&](int j) { at_.base[j] = select(far, at_.point[j], at_.base[j]); });
    }
  }

  /// goal = A x on the central path of these multipliers, weight = D without cones' dyads.
  CAROM_CALL void weigh() {
    const V inverse = V(1.0) / mu_;
    for_interval_rows([&](int i) {
      const V l = view_.lower[i];
      const V u = view_.upper[i];
      const auto lower = presence(l) > V(0.0);
      const auto upper = presence(u) > V(0.0);
      const auto equal = is_equation(i);
      const V y = at_.multiplier[i];
      // Both sides: z_u - z_l = y and 1 / z_u + 1 / z_l = (u - l) / mu.
      const V half = V(0.5) * y;
      const V c = mu_ / select(lower & upper & !equal, u - l, V(1.0));
      const V root = square_root(fused(half, half, c * c));
      const V by_upper = select(lower, half + c + root, y);
      const V by_lower = select(upper, c + root - half, -y);
      const V size = at_.size[i];
      const V share = select(size > V(0.0), cost_ / size, V(0.0));
      V weight = select(upper, by_upper * by_upper, V(0.0));
      weight = weight + select(lower, by_lower * by_lower, V(0.0));
      weight = select(equal, share * share, weight) * inverse;
      const V goal = select(
          equal, u, select(upper, u - mu_ / by_upper, select(lower, l + mu_ / by_lower, V(0.0))));
      const auto one = !(lower & upper);
      const V inside = select(upper, by_upper, by_lower);
      sure_ = sure_ & ((inside > V(0.0)) | !one | !(lower | upper));
      lanes_.for_each(1, [&](int) {
        at_.weight[i] = weight;
        at_.goal[i] = goal;
      });
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      const V margin = margin_of(cone, [&](int i) { return V(at_.multiplier[i]); });
      const V head = at_.multiplier[cone.first];
      const V det = margin * (V(2.0) * head - margin);
      sure_ = sure_ & (margin > V(0.0));
      const V back = mu_ / det;
      lanes_.for_each(cone.size, [&](int t) {
        const int i = cone.first + t;
        const V y = at_.multiplier[i];
        at_.weight[i] = (t == 0 ? -det : det) * inverse;
        at_.goal[i] = fused(t == 0 ? -back : back, y, V(view_.upper[i]));
      });
    }
  }

  /// shift = D shift.
  CAROM_CALL void weigh_shift() const {
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      V product(0.0);
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        product = fused(at_.multiplier[i], at_.shift[i], product);
      }
      const V dyad = V(2.0) * product / mu_;
      lanes_.for_each(cone.size, [&](int t) {
        const int i = cone.first + t;
        at_.shift[i] = fused(dyad, at_.multiplier[i], at_.weight[i] * at_.shift[i]);
      });
    }
    for_interval_rows([&](int i) {
      lanes_.for_each(1, [&](int) { at_.shift[i] = at_.weight[i] * at_.shift[i]; });
    });
  }

  /// P + A'D A with a unit diagonal.
  CAROM_CALL void factor_curvature() {
    const long n = n_;
    lanes_.for_each(n_, [&](int j) {
      for (int k = j; k < n_; ++k) at_.factor[j * n + k] = V(view_.hessian[k * n + j]);
    });
    for (int i = 0; i < shape_.rows; ++i) {
      const int first = shape_.row_first[i];
      const int count = shape_.row_first[i + 1] - first;
      const V weight = at_.weight[i];
      lanes_.for_each(count, [&](int p) {
        const int j = shape_.column[first + p];
        const V value = weight * V(view_.matrix[i * n + j]);
        for (int q = p; q < count; ++q) {
          const int k = shape_.column[first + q];
          at_.factor[j * n + k] = fused(value, V(view_.matrix[i * n + k]), at_.factor[j * n + k]);
        }
      });
    }
    for (int c = 0; c < shape_.cones; ++c) add_dyad(shape_.cone[c]);
    lanes_.for_each(n_, [&](int j) {
      const V diagonal = at_.factor[j * n + j];
      const auto curved = diagonal > V(0.0);
      at_.unit[j] = select(curved, V(1.0) / square_root(select(curved, diagonal, V(1.0))), V(0.0));
    });
    lanes_.for_each(n_, [&](int j) {
      for (int k = j; k < n_; ++k) {
        at_.factor[j * n + k] = at_.factor[j * n + k] * at_.unit[j] * at_.unit[k];
      }
    });
    least_curvature_ =
        factor_symmetric<V>(lanes_, n_, Memory(at_.factor), Memory(at_.inverse), V(kCurved));
    sure_ = sure_ & (least_curvature_ > V(kCurved));
  }
  CAROM_CALL void add_dyad(const QpConeSpan& cone) const {
    const long n = n_;
    const int count = cone.column_last - cone.column_first;
    const int* column = shape_.cone_column + cone.column_first;
    lanes_.for_each(count, [&](int p) { at_.along[column[p]] = V(0.0); });
    for (int i = cone.first; i < cone.first + cone.size; ++i) {
      const int first = shape_.row_first[i];
      lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) {
        const int j = shape_.column[first + t];
        at_.along[j] = fused(V(view_.matrix[i * n + j]), at_.multiplier[i], at_.along[j]);
      });
    }
    const V weight = V(2.0) / mu_;
    lanes_.for_each(count, [&](int p) {
      const int j = column[p];
      const V value = weight * at_.along[j];
      for (int q = p; q < count; ++q) {
        const int k = column[q];
        at_.factor[j * n + k] = fused(value, at_.along[k], at_.factor[j * n + k]);
      }
    });
  }

  /// P x + q + A'y, column by column, with `share` of its terms where that is asked for.
  template <class X, class Y>
  CAROM_CALL void unbalanced(const X& x, const Y& y, V share) const {
    lanes_.for_each(n_, [&](int j) {
      V sum = view_.gradient[j];
      V terms = magnitude(sum);
      for (int k = 0; k < n_; ++k) {
        const V term = hessian(j, k) * V(x[k]);
        sum = sum + term;
        terms = terms + magnitude(term);
      }
      at_.step[j] = sum;
      at_.terms[j] = terms;
    });
    for (int i = 0; i < shape_.rows; ++i) {
      const int first = shape_.row_first[i];
      const V multiplier = y[i];
      lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) {
        const int j = shape_.column[first + t];
        const V term = V(view_.matrix[static_cast<long>(i) * n_ + j]) * multiplier;
        at_.step[j] = at_.step[j] + term;
        at_.terms[j] = at_.terms[j] + magnitude(term);
      });
    }
    lanes_.for_each(n_, [&](int j) {
      at_.step[j] =
          select(share > V(0.0), fused(share, at_.terms[j], magnitude(at_.step[j])), at_.step[j]) *
          at_.unit[j];
    });
  }

  /// Moves (x, y) to P x + q + A'y = 0.
  CAROM_CALL void complete(const Memory& x, const Memory& y) const {
    unbalanced(x, y, V(0.0));
    solve_symmetric<V>(lanes_, n_, Memory(at_.factor), Memory(at_.inverse), Memory(at_.step));
    lanes_.for_each(n_, [&](int j) {
      const V step = at_.step[j] * at_.unit[j];
      at_.step[j] = step;
      x[j] = x[j] - step;
    });
    lanes_.for_each(shape_.rows, [&](int i) { at_.shift[i] = row(i, at_.step); });
    weigh_shift();
    lanes_.for_each(shape_.rows, [&](int i) { y[i] = y[i] - at_.shift[i]; });
  }

  /// The rest of it, and what kApart of the terms may add, is a quarter of a step at most.
  CAROM_CALL void check_remainder(const Memory& x, const Memory& y) {
    unbalanced(x, y, V(kApart));
    V square(0.0);
    for (int j = 0; j < n_; ++j) square = fused(at_.step[j], at_.step[j], square);
    square = V(static_cast<double>(n_)) * square / larger(least_curvature_, V(kCurved));
    sure_ = sure_ & (V(kRemainder) * square <= mu_);
  }

  /// Multipliers of absent sides to zero, those of cones up to where rounding leaves them inside.
  CAROM_CALL void move_into_dual_cones(const Memory& y) const {
    for_interval_rows([&](int i) {
      const auto upper = presence(view_.upper[i]) > V(0.0);
      const auto lower = presence(view_.lower[i]) > V(0.0);
      const V own = y[i];
      const V kept = select(upper, own, smaller(own, V(0.0)));
      lanes_.for_each(1, [&](int) { y[i] = select(lower, kept, larger(kept, V(0.0))); });
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      const V margin = margin_of(cone, [&](int i) { return V(y[i]); });
      const V head = y[cone.first];
      const V short_of = fused(V(kRounding), magnitude(head), larger(-margin, V(0.0)));
      lanes_.for_each(1, [&](int) { y[cone.first] = head + short_of; });
    }
  }

  template <class Y>
  CAROM_CALL V dual_violation(const Y& y) const {
    V sum(0.0);
    for_interval_rows([&](int i) {
      const auto upper = presence(view_.upper[i]) > V(0.0);
      const V wrong = larger(select(upper, -V(y[i]), V(y[i])), V(0.0));
      sum = sum + select(at_.hold[i] < V(kInfinity), wrong / at_.hold[i], V(0.0));
    });
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      const V margin = margin_of(cone, [&](int i) { return V(y[i]); });
      const V wrong = fused(V(kRounding), magnitude(V(y[cone.first])), larger(-margin, V(0.0)));
      sum = sum + wrong / at_.hold[cone.first];
    }
    return V(2.0) * sum;  // the margins may be half of it
  }

  template <class X>
  CAROM_CALL V bend(const X& x) const {
    V sum(0.0);
    for (int j = 0; j < n_; ++j) {
      V part(0.0);
      for (int k = 0; k < n_; ++k) part = fused(hessian(j, k), V(x[k]), part);
      sum = fused(part, V(x[j]), sum);
    }
    return V(0.5) * sum;
  }
  template <class X>
  CAROM_CALL V objective(const X& x) const {
    V sum = bend(x);
    for (int j = 0; j < n_; ++j) sum = fused(V(view_.gradient[j]), V(x[j]), sum);
    return sum;
  }
  template <class X, class Y>
  CAROM_CALL V dual_objective(const X& x, const Y& y) const {
    V sum = bend(x);
    for (int i = 0; i < shape_.rows; ++i) {
      const V lower = or_zero(view_.lower[i]);
      const V upper = or_zero(view_.upper[i]);
      const V multiplier = y[i];
      // A multiplier of the wrong sign belongs to the bound that is there.
      const auto by_upper = (presence(view_.upper[i]) > V(0.0)) &
                            ((multiplier > V(0.0)) | !(presence(view_.lower[i]) > V(0.0)));
      sum = fused(select(by_upper, upper, lower), multiplier, sum);
    }
    return -sum;
  }

  const Lanes& lanes_;
  const QpShape& shape_;
  QpView<Data> view_;
  int n_;
  QpInteriorBoundLayout<Memory> at_;
  MaskOf<V> sure_{};
  V mu_{}, cost_{}, least_equation_{}, least_curvature_{};
};

}  // namespace carom::kernels
