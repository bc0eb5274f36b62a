#pragma once

#include <carom/certificate_qp.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_factor.hpp"
#include "programs/qp/kernels/qp_interior_bound.hpp"

/// Checks whether an answer of a cone problem with a small residual is near a solution: without an
/// interior, points with small residuals can be far from every solution, or there is none.
namespace carom::kernels {

namespace qp_doubt {
/// Multipliers and violations are small, and P is definite or an interior bounds the error.
inline constexpr double kNone = 0.0;
inline constexpr double kOpen = 1.0;   ///< P is not definite, and no interior was seen
inline constexpr double kGreat = 2.0;  ///< an optimum without multipliers may look like this
}  // namespace qp_doubt

/// A residual and what is to be thought of it.
template <class V>
struct QpJudged : certificate::QpResidual<V> {
  V doubt = V(qp_doubt::kNone);
};

template <class Memory>
struct QpDoubtLayout {
  Memory factor, inverse, unit, bent, pushed;
  QpDoubtLayout() = default;
  CAROM_INLINE constexpr QpDoubtLayout(Arena<Memory>& arena, long n)
      : factor(arena.take(n * n)),
        inverse(arena.take(n)),
        unit(arena.take(n)),
        bent(arena.take(n)),
        pushed(arena.take(n)) {}
};
CAROM_INLINE constexpr long qp_doubt_workspace(long n) { return values_of<QpDoubtLayout>(n); }

/// An iterate on the way to the answer, inside of all cones.
template <class Memory>
struct QpInner {
  static constexpr bool kKept = true;
  Memory x, y;
  Memory mu;  ///< the central path's parameter there
};
/// Of a method that meets none.
struct QpNoInner {
  static constexpr bool kKept = false;
};
/// Of doubt_of with a QpInner.
CAROM_INLINE constexpr long qp_inner_doubt_workspace(long n, long rows) {
  const long first = qp_doubt_workspace(n);
  const long second = qp_interior_bound_workspace(n, rows);
  return first > second ? first : second;
}

/// A strictly convex objective attains its minimum wherever there is a point. That there is none,
/// or none with multipliers, shows in these: where f(r) is the least objective with violations r,
/// multipliers are -f'(r), and f a power of r, so that r f' is what the objective is off by.
/// N: the number of variables where it is known in advance. memory: qp_doubt_workspace, with inner
/// qp_inner_doubt_workspace.
template <class V, int N = 0, class Lanes, class Data, class X, class Y, class Memory,
          class Inner = QpNoInner>
CAROM_CALL V doubt_of(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                      const X& x, const Y& y, const Memory& memory, const Inner& inner = {}) {
  constexpr double kBounded = 1e-8;    // of the objective's terms: the error that interiors allow
  constexpr double kSlipped = 1e-9;    // of the objective's terms and the unit of P
  constexpr double kPushed = 1e3;      // sums of multipliers' terms over those of the data
  constexpr double kDefinite = 1e-12;  // least pivot of P over its diagonal: rounding is below
  using certificate::kTiny;
  using certificate::positive_part;
  const int n = N > 0 ? N : shape.variables;
  const auto at = placed<QpDoubtLayout>(memory, n);
  const auto hessian = [&](int i, int j) {
    return view.hessian[i >= j ? static_cast<long>(i) * n + j : static_cast<long>(j) * n + i];
  };
  lanes.for_each(n, [&](int j) {
    const V diagonal = hessian(j, j);
    const auto curved = diagonal > V(kTiny);
    at.unit[j] = select(curved, V(1.0) / square_root(select(curved, diagonal, V(1.0))), V(0.0));
    at.pushed[j] = V(0.0);
    V sum(0.0);
    for (int k = 0; k < n; ++k) sum = fused(hessian(j, k), V(x[k]), sum);
    at.bent[j] = sum;
  });
  V terms(0.0);
  V gap(0.0);      // of primal and dual objective
  V slipped(0.0);  // violations times multipliers
  const auto slack_of = [&](int i, V bound) {
    V slack = bound;
    const V multiplier = magnitude(y[i]);
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      const V entry = view.matrix[static_cast<long>(i) * n + j];
      slack = fused(-entry, V(x[j]), slack);
      const V pushed = fused(magnitude(entry), multiplier, V(at.pushed[j]));
      lanes.for_each(1, [&](int) { at.pushed[j] = pushed; });
    }
    return slack;
  };
  const auto earn = [&](V term) {
    gap = gap + term;
    terms = terms + magnitude(term);
  };
  int row = 0;
  for (int c = 0; c <= shape.cones; ++c) {
    const int end = c < shape.cones ? shape.cone[c].first : shape.rows;
    for (; row < end; ++row) {
      const V value = -slack_of(row, V(0.0));
      const auto side = [&](V bound, V along, V multiplier) {
        const V there = presence(bound);
        const V limit = select(there > V(0.0), bound, V(0.0));
        earn(limit * multiplier);
        slipped = slipped + there * positive_part(along - limit) * multiplier;
      };
      side(view.upper[row], value, positive_part(V(y[row])));
      side(-V(view.lower[row]), -value, positive_part(-V(y[row])));
    }
    if (c == shape.cones) break;
    const QpConeSpan& cone = shape.cone[c];
    V head(0.0);
    V tail(0.0);
    for (int i = cone.first; i < cone.first + cone.size; ++i) {
      const V slack = slack_of(i, view.upper[i]);
      earn(view.upper[i] * y[i]);
      if (i == cone.first) {
        head = slack;
      } else {
        tail = fused(slack, slack, tail);
      }
    }
    slipped = slipped + positive_part(square_root(tail) - head) * magnitude(y[cone.first]);
    row = cone.first + cone.size;
  }
  V pull(0.0);
  V given(0.0);
  V cost(0.0);  // the objective's terms
  V bend(0.0);
  for (int j = 0; j < n; ++j) {
    const V q = view.gradient[j];
    const V by_rows = at.pushed[j] * at.unit[j];
    const V by_data = (magnitude(q) + magnitude(at.bent[j])) * at.unit[j];
    pull = fused(by_rows, by_rows, pull);
    given = fused(by_data, by_data, given);
    terms = terms + magnitude(q * x[j]);
    cost = cost + magnitude(q * x[j]);
    bend = fused(V(at.bent[j]), V(x[j]), bend);
    gap = gap + x[j] * (q + at.bent[j]);
  }
  const V allowed = V(kSlipped) * (terms + given);
  const auto tight =
      (magnitude(gap) <= allowed) & (slipped <= allowed) & (pull <= V(kPushed * kPushed) * given);
  lanes.for_each(n, [&](int j) {
    for (int i = j; i < n; ++i) {
      at.factor[static_cast<long>(j) * n + i] = hessian(i, j) * at.unit[i] * at.unit[j];
    }
  });
  const V least =
      factor_symmetric<V, N>(lanes, n, Memory(at.factor), Memory(at.inverse), V(kDefinite));
  auto clear = least > V(kDefinite);
  if constexpr (Inner::kKept) {
    const auto open = tight & !clear & (least > V(-kDefinite));
    if (any_of(open)) {
      QpInteriorBound<V, Lanes, Data, Memory> bound(lanes, shape, view, memory);
      const V bounded = V(kBounded) * (cost + magnitude(bend));
      clear = clear | bound.confirms(x, y, inner.x, inner.y, V(inner.mu[0]), bounded, open);
      const auto left = open & !clear;
      if (any_of(left)) clear = clear | bound.confirms_up_to(x, y, inner.x, bounded, left);
    }
  }
  return select(tight, select(clear, V(qp_doubt::kNone), V(qp_doubt::kOpen)), V(qp_doubt::kGreat));
}

}  // namespace carom::kernels
