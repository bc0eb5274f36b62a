#pragma once

#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_pivot_table.hpp"

/// Dual active set (Goldfarb and Idnani 1983) for few unknowns and interval rows. The Hessian is
/// definite, or made so by a proximal term that Newton's steps take out at the end. Equations are
/// taken out of P^-1 first and hold from then on. All that the search reads is a table of the
/// inequalities among themselves, A H A' with H what is left of P^-1, where a row that enters or
/// leaves is one principal pivot. Every pivot costs the same for every problem, so that packs stay
/// together.
namespace carom::kernels {

/// Whether the body takes a shape. What it leaves unsolved is for the other methods.
CAROM_INLINE constexpr bool takes_dual_pivots(int n, int rows, int cones) {
  return cones == 0 && rows > 0 && n <= kLargestPivotTableVariables &&
         rows <= kLargestPivotTableRows;
}

template <class Memory>
struct QpDualPivotLayout {
  QpPivotTableLayout<Memory> pivots;
  // Of the inequalities:
  Memory below;       ///< l - a'x; -infinity for an active row
  Memory above;       ///< a'x - u, likewise
  Memory width;       ///< l - u
  Memory multiplier;  ///< away from the bound, not negative; infinity for an inactive row
  Memory side;        ///< of an active row: 1 at its lower bound, -1 at its upper one
  Memory gap;         ///< of an active row, how far x is off its bound
  Memory move;        ///< of the multipliers in the end
  // Of the equations:
  Memory miss;  ///< how far x is off them
  // Of all rows:
  Memory y;     ///< multipliers
  Memory size;  ///< largest entry in units of x, where P is not definite
  Memory x;
  Memory step;
  Memory push;  ///< what the conditions miss at x
  Memory unit;  ///< of x_j, where P is not definite

  QpDualPivotLayout() = default;
  CAROM_INLINE constexpr QpDualPivotLayout(Arena<Memory>& arena, long n, long rows)
      : pivots(arena, n, rows),
        below(arena.take(rows)),
        above(arena.take(rows)),
        width(arena.take(rows)),
        multiplier(arena.take(rows)),
        side(arena.take(rows)),
        gap(arena.take(rows)),
        move(arena.take(rows)),
        miss(arena.take(rows)),
        y(arena.take(rows)),
        size(arena.take(rows)),
        x(arena.take(n)),
        step(arena.take(n)),
        push(arena.take(n)),
        unit(arena.take(n)) {}
};
CAROM_INLINE constexpr long qp_dual_pivot_workspace(long n, long rows) {
  return values_of<QpDualPivotLayout>(n, rows);
}

struct QpDualPivotOptions {
  double tolerance = 1e-9;
  int max_pivots = 0;
};

/// N: the number of variables where it is known in advance, or 0. It changes no bit of an answer.
template <class V, class Memory, class Entry = QpOneEntry, int N = 0>
class QpDualPivots {
 public:
  CAROM_HOST_DEVICE QpDualPivots(const QpShape& shape, Memory memory)
      : QpDualPivots(shape, placed<QpDualPivotLayout>(memory, shape.variables, shape.rows)) {}

  CAROM_INLINE V solution(int j) const { return parts_.x[j]; }
  CAROM_INLINE V dual(int i) const { return -parts_.y[i]; }

  template <class Data>
  CAROM_CALL QpOutcome<V> solve(const QpView<Data>& view, const QpDualPivotOptions& options) {
    return parts_.shape.uppers > 0 ? run<true>(view, options) : run<false>(view, options);
  }

 private:
  using Table = QpPivotTable<V, Memory, Entry, N>;

  // Of violated rows, relative to the length of x in the norm of P, row by row.
  static constexpr double kFeasible = 1e-13;
  static constexpr double kDependent = 1e-9;  // of a new pivot relative to its row's first
  static constexpr double kFeasibleDependent = 1e-10;
  static constexpr int kChains = 4;
  // Of Hessians that are convex but not definite.
  static constexpr double kProximity = 1e-4;     // of a diagonal of P
  static constexpr double kNoCurvature = 1e-12;  // of the largest diagonal
  static constexpr double kSettled = 1e-14;
  static constexpr double kRounded = 0x1p-50;  // then a step of Newton's changes nothing
  static constexpr double kGivenUp = 1e-9;
  static constexpr int kMaxPasses = 12;

  CAROM_HOST_DEVICE QpDualPivots(const QpShape& shape, const QpDualPivotLayout<Memory>& layout)
      : table_(shape, layout.pivots), parts_{layout, shape, shape.inequalities} {}

  /// Rows are in the units of `pivots.scale`.
  struct Parts : QpDualPivotLayout<Memory> {
    QpShape shape;
    int rows;  ///< inequalities

    [[nodiscard]] CAROM_INLINE int row(int i) const { return shape.inequality_row[i]; }
  };

  template <bool TwoSided, class Data>
  CAROM_CALL QpOutcome<V> run(const QpView<Data>& view, const QpDualPivotOptions& options) {
    using kernels::all_of;
    using kernels::any_of;
    QpOutcome<V> outcome{V(qp_end::kRunning), V(0.0)};
    MaskOf<V> definite = table_.factorise(view.hessian);
    MaskOf<V> proximal = mask_of<V>(false);
    if constexpr (Entry::kProximal) {
      if (!all_of(definite)) proximal = make_definite(view, definite);
      definite = definite | proximal;
    }
    if (!any_of(definite)) return outcome;
    table_.invert();
    if (parts_.shape.equations > 0) table_.hold_equations(view);
    table_.fill(view.matrix);
    const MaskOf<V> consistent = start<TwoSided>(view);
    pivot<TwoSided>(options, definite & consistent, outcome);
    finish<TwoSided>(view);
    if constexpr (Entry::kProximal) {
      if (any_of(proximal)) settle<TwoSided>(view, proximal, outcome);
      outcome.level = as_number<V>(proximal);
    }
    return outcome;
  }

  /// Factors of P + E in the lanes whose P is convex but not definite, which it returns. E: a share
  /// of the diagonal of P, and of what the rows suggest where there is none.
  template <class Data>
  CAROM_CALL MaskOf<V> make_definite(const QpView<Data>& view, MaskOf<V> definite) {
    const Parts m = parts_;
    const int n = table_.variables();
    const V zero(0.0);
    const V one(1.0);
    MaskOf<V> able = !definite;
    const Memory weight = m.step;
    for (int j = 0; j < n; ++j) weight[j] = zero;
    for (int i = 0; i < m.shape.rows; ++i) {
      table_.over_entries(i, view.matrix,
                          [&](int j, V entry) { weight[j] = larger(magnitude(entry), weight[j]); });
    }
    V most = zero;
    for (int j = 0; j < n; ++j) {
      weight[j] = select(weight[j] > zero, weight[j] * weight[j], one);
      most = larger(view.hessian[static_cast<long>(j) * n + j], most);
    }
    const V least = V(kNoCurvature) * most;
    V ratio = zero;
    for (int j = 0; j < n; ++j) {
      const V own = view.hessian[static_cast<long>(j) * n + j];
      ratio = larger(select(own > least, own / weight[j], zero), ratio);
    }
    able = able & (ratio > zero) & table_.is_convex(view.hessian);
    for (int j = 0; j < n; ++j) {
      const V own = view.hessian[static_cast<long>(j) * n + j];
      const V curvature = select(own > least, own, ratio * weight[j]);
      m.unit[j] = one / square_root(curvature);
      m.x[j] = select(able, V(kProximity) * curvature, zero);
    }
    for (int i = 0; i < m.shape.rows; ++i) {
      V size = zero;
      table_.over_entries(i, view.matrix, [&](int j, V entry) {
        size = larger(m.unit[j] * magnitude(entry), size);
      });
      m.size[i] = size;
    }
    return able & table_.factorise_raised(view.hessian, m.x);
  }

  /// Takes the proximal term out again by Newton's steps on the active rows with P itself, whose
  /// centre moves along, until rounding is all that is left. Where that changes what is active the
  /// problem is given up.
  template <bool TwoSided, class Data>
  CAROM_CALL void settle(const QpView<Data>& view, MaskOf<V> proximal, QpOutcome<V>& outcome) {
    using kernels::any_of;
    MaskOf<V> open = proximal & (outcome.end > V(0.0));
    V last(kInfinity);
    Missed at{};
    for (int pass = 0; any_of(open); ++pass) {
      at = misses<TwoSided>(view);
      // A step that begins below kSettled is the last one.
      const MaskOf<V> settled = (at.share <= V(kRounded)) | (last <= V(kSettled));
      const MaskOf<V> ends = settled | (at.share > V(0.5) * last) | mask_of<V>(pass == kMaxPasses);
      const MaskOf<V> failed = open & ends & (at.changed | (at.share > V(kGivenUp)));
      outcome.end = select(failed, V(qp_end::kRunning), outcome.end);
      open = open & !ends;
      last = at.share;
      if (any_of(open)) newton<true>(view, open);
    }
    drop_rounding(proximal & (outcome.end > V(0.0)), at);
  }

  /// What x and the multipliers miss, relative to its terms.
  struct Missed {
    V share, length, terms;
    MaskOf<V> changed;  ///< a row is violated, or a multiplier has the wrong sign
  };
  /// push: -(P x + q + A'y); gap, miss: how far the active rows are off their bounds.
  template <bool TwoSided, class Data>
  CAROM_CALL Missed misses(const QpView<Data>& view) const {
    const Parts m = parts_;
    const int n = table_.variables();
    const V zero(0.0);
    Missed at{zero, zero, zero, mask_of<V>(false)};
    for (int j = 0; j < n; ++j) {
      const V x = m.x[j];
      const long row = static_cast<long>(j) * n;
      V sum = zero;
      for (int i = 0; i < j; ++i) {
        const V entry = view.hessian[row + i];
        sum = fused(entry, m.x[i], sum);
        m.push[i] = fused(entry, x, m.push[i]);
      }
      m.push[j] = fused(view.hessian[row + j], x, sum);
    }
    for (int j = 0; j < n; ++j) {
      const V q = view.gradient[j];
      const V bent = m.push[j];
      at.terms = larger(m.unit[j] * larger(magnitude(bent), magnitude(q)), at.terms);
      at.length = larger(magnitude(m.x[j]) / m.unit[j], at.length);
      m.push[j] = -(bent + q);
    }
    for (int i = 0; i < m.shape.rows; ++i) add_row(i, view.matrix, m.y[i], m.push);
    for (int j = 0; j < n; ++j) at.share = larger(m.unit[j] * magnitude(m.push[j]), at.share);
    at.share = select(at.terms > zero, at.share / at.terms, at.share);
    const auto meet = [&](MaskOf<V> active, V gap, V bound, V size) {
      const V share = magnitude(gap) / larger(size, magnitude(bound));
      at.share = select(active & (share > at.share), share, at.share);
      return select(active, gap, zero);
    };
    for (int i = 0; i < m.rows; ++i) {
      const int row = m.row(i);
      const V value = table_.row_times(row, view.matrix, m.x);
      const V size = at.length * m.size[row];
      const MaskOf<V> active = m.multiplier[i] < V(kInfinity);
      V bound = view.lower[row];
      V outside = bound - value;
      V pressing = m.y[row];
      if constexpr (TwoSided) {
        bound = select(m.side[i] > zero, bound, view.upper[row]);
        outside = larger(outside, value - view.upper[row]);
        pressing = pressing * m.side[i];
      }
      const MaskOf<V> outlying = (outside > V(kFeasible) * size) & !is_equation(view, row);
      at.changed = at.changed | (active & (pressing < zero)) | (outlying & !active);
      m.gap[i] = meet(active, value - bound, bound, size);
    }
    for (int e = 0; e < m.shape.equations; ++e) {
      const int row = m.shape.equation_row[e];
      const V size = at.length * m.size[row];
      const V bound = view.lower[row];
      const V gap = table_.row_times(row, view.matrix, m.x) - bound;
      const MaskOf<V> holds = m.pivots.hold[e] > zero;
      at.changed =
          at.changed | ((magnitude(gap) > V(kFeasible) * size) & is_equation(view, row) & !holds);
      m.miss[e] = meet(holds, gap, bound, size);
    }
    return at;
  }

  /// One step on P dx - A_W'dy = push, A_W dx = -gap, the equations among W, with P + E in place
  /// of P. Without Pushed `push` is 0.
  template <bool Pushed, class Data>
  CAROM_CALL void newton(const QpView<Data>& view, MaskOf<V> on) const {
    const Parts m = parts_;
    const int n = table_.variables();
    const V zero(0.0);
    const bool moved = Pushed || m.shape.equations > 0;
    for (int j = 0; j < n; ++j) m.step[j] = Pushed ? m.push[j] : zero;
    if constexpr (Pushed) table_.solve(m.step);
    hold(view, m.step);
    over_bits(met_, [&](int i) {
      V gap = m.gap[i];
      if (moved) gap = gap + table_.row_times(m.row(i), view.matrix, m.step);
      m.gap[i] = select(m.multiplier[i] < V(kInfinity), m.pivots.scale[i] * gap, zero);
    });
    table_.multiply(met_, m.gap, m.move);
    if constexpr (!Pushed) {
      for (int j = 0; j < n; ++j) m.push[j] = zero;
    }
    over_bits(met_, [&](int i) {
      const int row = m.row(i);
      const MaskOf<V> active = on & (m.multiplier[i] < V(kInfinity));
      const V move = select(active, m.pivots.scale[i] * m.move[i], zero);
      m.y[row] = m.y[row] + move;
      add_row(row, view.matrix, move, m.push);
    });
    table_.solve(m.push);
    hold(view, m.push);
    for (int j = 0; j < n; ++j) m.x[j] = m.x[j] + select(on, m.push[j], zero);
    add_pulls(view, on);
  }

  /// Moves `step`, in the norm of P, to where it makes up for `miss`.
  template <class Data>
  CAROM_INLINE void hold(const QpView<Data>& view, const Memory& step) const {
    const Parts& m = parts_;
    const int n = table_.variables();
    for (int e = 0; e < m.shape.equations; ++e) {
      const V reached = table_.row_times(m.shape.equation_row[e], view.matrix, step);
      const V pull = -(m.pivots.hold[e] * (m.miss[e] + reached));
      const Memory held = m.pivots.held + static_cast<long>(e) * n;
      const int width = table_.held_width(e);
      for (int j = 0; j < width; ++j) step[j] = fused(pull, held[j], step[j]);
      m.pivots.pull[e] = pull;
    }
  }
  /// Adds the equations' multipliers of that step to y, and leaves E' times them in `step`.
  template <class Data>
  CAROM_INLINE void add_pulls(const QpView<Data>& view, MaskOf<V> on) const {
    const Parts& m = parts_;
    const int n = table_.variables();
    for (int j = 0; j < n; ++j) m.step[j] = V(0.0);
    for (int e = m.shape.equations - 1; e >= 0; --e) {
      const int row = m.shape.equation_row[e];
      const Memory held = m.pivots.held + static_cast<long>(e) * n;
      V later(0.0);
      const int width = table_.held_width(e);
      for (int j = 0; j < width; ++j) later = fused(held[j], m.step[j], later);
      const V value = fused(-m.pivots.hold[e], later, m.pivots.pull[e]);
      add_row(row, view.matrix, value, m.step);
      m.y[row] = m.y[row] + select(on, value, V(0.0));
    }
  }
  /// How far x is off the equations, into `miss`.
  template <class Data>
  CAROM_INLINE void take_misses(const QpView<Data>& view) const {
    const Parts& m = parts_;
    for (int e = 0; e < m.shape.equations; ++e) {
      const int row = m.shape.equation_row[e];
      const V off = table_.row_times(row, view.matrix, m.x) - view.lower[row];
      m.miss[e] = select(m.pivots.hold[e] > V(0.0), off, V(0.0));
    }
  }
  /// From x to the equations, into `step`.
  template <class Data>
  CAROM_INLINE void step_onto_equations(const QpView<Data>& view) const {
    take_misses(view);
    for (int j = 0; j < table_.variables(); ++j) parts_.step[j] = V(0.0);
    hold(view, parts_.step);
  }
  template <class Data>
  static CAROM_INLINE MaskOf<V> is_equation(const QpView<Data>& view, int row) {
    return !(view.lower[row] != view.upper[row]);
  }

  /// Zeros where there is nothing but rounding: rows and columns of such numbers know no other
  /// unit.
  CAROM_CALL void drop_rounding(MaskOf<V> on, const Missed& at) const {
    const Parts m = parts_;
    const V least(kSettled);
    for (int j = 0; j < table_.variables(); ++j) {
      const MaskOf<V> rounding = on & (magnitude(m.x[j]) <= least * at.length * m.unit[j]);
      m.x[j] = select(rounding, V(0.0), m.x[j]);
    }
    for (int i = 0; i < m.shape.rows; ++i) {
      const MaskOf<V> rounding = on & (magnitude(m.y[i]) * m.size[i] <= least * at.terms);
      m.y[i] = select(rounding, V(0.0), m.y[i]);
    }
  }

  /// The minimum on only the equations. Whether those that depend on others hold as well.
  template <bool TwoSided, class Data>
  CAROM_CALL MaskOf<V> start(const QpView<Data>& view) {
    const Parts m = parts_;
    const int n = table_.variables();
    const V zero(0.0);
    for (int j = 0; j < n; ++j) m.x[j] = -view.gradient[j];
    table_.solve(m.x);
    met_ = 0;
    energy_ = zero;
    for (int j = 0; j < n; ++j) energy_ = fused(-view.gradient[j], m.x[j], energy_);
    const MaskOf<V> consistent = m.shape.equations > 0 ? meet_equations(view) : mask_of<V>(true);
    for (int i = 0; i < m.rows; ++i) {
      const int row = m.row(i);
      const V value = table_.row_times(row, view.matrix, m.x);
      const V scale = m.pivots.scale[i];
      // A row without entries is left to the certificate, one that is an equation here is held.
      const auto there = (scale > zero) & !is_equation(view, row);
      m.below[i] = select(there, scale * (view.lower[row] - value), V(-kInfinity));
      if constexpr (TwoSided) {
        m.above[i] = select(there, scale * (value - view.upper[row]), V(-kInfinity));
        m.width[i] = scale * (view.lower[row] - view.upper[row]);
      }
      m.multiplier[i] = V(kInfinity);
      m.side[i] = V(1.0);
    }
    return consistent;
  }
  template <class Data>
  CAROM_CALL MaskOf<V> meet_equations(const QpView<Data>& view) {
    const Parts m = parts_;
    const int n = table_.variables();
    const V zero(0.0);
    step_onto_equations(view);
    for (int j = 0; j < n; ++j) m.x[j] = m.x[j] + m.step[j];
    MaskOf<V> consistent = mask_of<V>(true);
    for (int e = 0; e < m.shape.equations; ++e) {
      const V hold = m.pivots.hold[e];
      energy_ = energy_ + select(hold > zero, m.pivots.pull[e] * (m.pivots.pull[e] / hold), zero);
    }
    const V loose(kFeasibleDependent * kFeasibleDependent);
    for (int e = 0; e < m.shape.equations; ++e) {
      const int row = m.shape.equation_row[e];
      const V off = table_.row_times(row, view.matrix, m.x) - view.lower[row];
      const MaskOf<V> follows = is_equation(view, row) & !(m.pivots.hold[e] > zero);
      consistent = consistent & !(follows & (off * off > loose * energy_ * m.pivots.alone[e]));
    }
    return consistent;
  }

  /// The row that is violated most, in the norm of P^-1.
  struct Violation {
    V score, index;
  };
  static CAROM_INLINE void start_chains(Violation* chains) {
    for (int c = 0; c < kChains; ++c) chains[c] = {V(0.0), V(0.0)};
  }
  static CAROM_INLINE void meet(V outside, V index, Violation& chain) {
    outside = larger(outside, V(0.0));
    const V score = outside * outside;
    const auto more = score > chain.score;
    chain.score = select(more, score, chain.score);
    chain.index = select(more, index, chain.index);
  }
  static CAROM_INLINE Violation worst_of(Violation* chains) {
    for (int c = 1; c < kChains; ++c) {
      const auto more = chains[c].score > chains[0].score;
      chains[0].score = select(more, chains[c].score, chains[0].score);
      chains[0].index = select(more, chains[c].index, chains[0].index);
    }
    return chains[0];
  }
  template <bool TwoSided>
  CAROM_INLINE V outside(int i) const {
    if constexpr (TwoSided) return larger(parts_.above[i], parts_.below[i]);
    return parts_.below[i];
  }
  template <bool TwoSided>
  CAROM_INLINE Violation most_violated() const {
    Violation chains[kChains];
    start_chains(chains);
    over_rows([](int) { return true; },
              [&](int i, V index, int chain) { meet(outside<TwoSided>(i), index, chains[chain]); });
    return worst_of(chains);
  }

  /// f(row, row as V, chain): chains do not wait for one another. takes(row): whether the kChains
  /// rows from there on are wanted, or one of those that are left in the end.
  template <class Takes, class F>
  CAROM_INLINE void over_rows(Takes&& takes, F&& f) const {
    const int rows = parts_.rows;
    V index(0.0);
    int i = 0;
    for (; i + kChains <= rows; i += kChains) {
      if (takes(i)) {
        for (int c = 0; c < kChains; ++c) f(i + c, index + V(static_cast<double>(c)), c);
      }
      index = index + V(static_cast<double>(kChains));
    }
    for (; i < rows; ++i) {
      if (takes(i)) f(i, index, 0);
      index = index + V(1.0);
    }
  }
  /// Whether one of the rows from i on, of as many as over_rows() takes together, was ever active.
  [[nodiscard]] CAROM_INLINE bool has_met(int i) const {
    static_assert(kLargestPivotTableRows <= 64 && kChains == 4);
    return (met_ >> i & 0xf) != 0;
  }

  /// room / rate is the length of a step; the denominator may be 0, but not negative.
  struct Block {
    V room, rate, index;
  };
  static CAROM_INLINE void take_sooner(const Block& other, Block& block) {
    const auto sooner = other.room * block.rate < block.room * other.rate;
    block.room = select(sooner, other.room, block.room);
    block.rate = select(sooner, other.rate, block.rate);
    block.index = select(sooner, other.index, block.index);
  }
  /// The first multiplier that vanishes along `column`, where that is before `block`.
  template <bool TwoSided>
  CAROM_INLINE Block first_block(const Memory& column, V side, const Block& block) const {
    const Parts m = parts_;
    const V zero(0.0);
    Block best[kChains];
    for (Block& chain : best) chain = {V(1.0), zero, V(-1.0)};
    best[0] = block;
    over_rows([&](int i) { return has_met(i); },
              [&](int i, V index, int chain) {
                V loss = column[i];
                if constexpr (TwoSided) loss = loss * (side * m.side[i]);
                take_sooner({m.multiplier[i], larger(loss, zero), index}, best[chain]);
              });
    for (int c = 1; c < kChains; ++c) take_sooner(best[c], best[0]);
    return best[0];
  }

  /// Where the lanes of a pack stand.
  struct Progress {
    MaskOf<V> running;
    MaskOf<V> pending;  ///< the row that was entering goes on
    V entering;
    V side;  ///< 1 where it is below its lower bound, -1 above its upper one
    V multiplier;
    Violation worst;  ///< of lanes that no row is entering in
  };

  /// Rows enter, and leave where their multiplier would change its sign, until none is violated.
  template <bool TwoSided>
  CAROM_CALL void pivot(const QpDualPivotOptions& options, MaskOf<V> able, QpOutcome<V>& outcome) {
    const double feasible = smaller(kFeasible, 0.1 * options.tolerance);
    limit_ = V(feasible * feasible);
    Progress at{able, mask_of<V>(false), V(0.0), V(1.0), V(0.0), most_violated<TwoSided>()};
    for (int count = 0; count < options.max_pivots && step<TwoSided>(at, outcome); ++count) {
    }
    table_.end_pivots();
  }

  /// One pivot of every lane that runs. False where none runs any more.
  template <bool TwoSided>
  CAROM_INLINE bool step(Progress& at, QpOutcome<V>& outcome) {
    using kernels::any_of;
    const Parts m = parts_;
    const Memory column = table_.column();
    const V zero(0.0);
    const V one(1.0);
    const V nothing(-kInfinity);
    const MaskOf<V> goes_on = at.pending;
    const V entering = select(goes_on, at.entering, at.worst.index);
    const auto place = Entry::place(entering);
    V multiplier = select(goes_on, at.multiplier, zero);
    const V diagonal = table_.diagonal(place);
    const auto dependent = diagonal <= V(kDependent);
    const V loose(kFeasibleDependent * kFeasibleDependent);
    const V least = energy_ * select(dependent, loose, limit_);
    const MaskOf<V> found = (at.worst.score > least) | goes_on;
    const MaskOf<V> done = at.running & !found;
    outcome.end = select(done, V(qp_end::kActiveSet), outcome.end);
    at.running = at.running & found;
    if (!any_of(at.running)) return false;
    outcome.iterations = outcome.iterations + as_number<V>(at.running);

    V side = at.side;
    V outside = Entry::take(m.below, place);
    if constexpr (TwoSided) {
      const V above = Entry::take(m.above, place);
      side = select(goes_on, side, select(above > outside, -one, one));
      outside = select(side > zero, outside, above);
    }
    table_.take_column(place);
    const Block block =
        first_block<TwoSided>(column, side, {outside, select(dependent, zero, diagonal), V(-1.0)});
    // Nothing ends the way: no point meets the rows.
    at.running = at.running & (block.rate > zero);
    const MaskOf<V> on = at.running;
    const V length = select(on, block.room / block.rate, zero);
    const MaskOf<V> drops = on & (block.index >= zero);
    const MaskOf<V> enters = on & !drops;
    multiplier = multiplier + length;
    energy_ = fused(length, fused(-length, diagonal, V(2.0) * outside), energy_);
    Entry::put(m.below, enters, place, nothing);
    if constexpr (TwoSided) Entry::put(m.above, enters, place, nothing);
    at.worst = move<TwoSided>(column, length, side);
    auto index = place;
    if (any_of(drops)) {
      index = Entry::place(select(drops, block.index, entering));
      table_.take_column(index);
      V below = zero;
      if constexpr (TwoSided) {
        const V width = Entry::take(m.width, index);
        const MaskOf<V> low = Entry::take(m.side, index) > zero;
        below = select(low, zero, width);
        Entry::put(m.above, drops, index, select(low, width, zero));
      }
      Entry::put(m.below, drops, index, below);
    }
    if constexpr (TwoSided) Entry::put(m.side, on, index, side);
    Entry::put(m.multiplier, on, index, select(drops, V(kInfinity), multiplier));
    table_.pivot(on, index, select(drops, V(-1.0), one));
    Entry::join(enters, place, met_);
    at.pending = drops;
    at.entering = entering;
    at.side = side;
    at.multiplier = multiplier;
    return true;
  }
  /// The rows' distances and multipliers after a step along `column`, and the row that is then
  /// violated most.
  template <bool TwoSided>
  CAROM_INLINE Violation move(const Memory& column, V length, V side) const {
    const Parts m = parts_;
    const V zero(0.0);
    const V back = TwoSided ? -(length * side) : -length;
    Violation chains[kChains];
    start_chains(chains);
    over_rows([](int) { return true; },
              [&](int i, V index, int chain) {
                const V entry = column[i];
                V outside = fused(back, entry, m.below[i]);
                m.below[i] = outside;
                if constexpr (TwoSided) {
                  const V above = fused(-back, entry, m.above[i]);
                  m.above[i] = above;
                  outside = larger(above, outside);
                }
                meet(outside, index, chains[chain]);
              });
    over_rows([&](int i) { return has_met(i); },
              [&](int i, V, int) {
                const V rate = TwoSided ? back * m.side[i] : back;
                m.multiplier[i] = larger(fused(rate, column[i], m.multiplier[i]), zero);
              });
    return worst_of(chains);
  }

  /// x from the active rows' multipliers; those, and with them x, are then corrected once by what x
  /// leaves of the rows' bounds, which an ill-conditioned P makes larger than rounding.
  template <bool TwoSided, class Data>
  CAROM_CALL void finish(const QpView<Data>& view) {
    const Parts m = parts_;
    const int n = table_.variables();
    const V zero(0.0);
    for (int j = 0; j < n; ++j) m.x[j] = -view.gradient[j];
    for (int i = 0; i < m.shape.rows; ++i) m.y[i] = zero;
    over_bits(met_, [&](int i) {
      V value = m.pivots.scale[i] * m.multiplier[i];
      if constexpr (TwoSided) value = m.side[i] * value;
      value = select(m.multiplier[i] < V(kInfinity), value, zero);
      m.y[m.row(i)] = value;
      add_row(m.row(i), view.matrix, value, m.x);
    });
    if (m.shape.equations > 0) {
      // The multipliers first: a sum of columns of H would bring in the error of an inverse.
      for (int j = 0; j < n; ++j) m.push[j] = m.x[j];
      table_.solve(m.x);
      step_onto_equations(view);
      add_pulls(view, mask_of<V>(true));
      for (int j = 0; j < n; ++j) m.x[j] = m.push[j] + m.step[j];
    }
    table_.solve(m.x);
    if (m.shape.equations > 0) take_misses(view);
    over_bits(met_, [&](int i) {
      const int row = m.row(i);
      V bound = view.lower[row];
      if constexpr (TwoSided) bound = select(m.side[i] > zero, bound, view.upper[row]);
      const V gap = table_.row_times(row, view.matrix, m.x) - bound;
      m.gap[i] = select(m.multiplier[i] < V(kInfinity), gap, zero);
    });
    newton<false>(view, mask_of<V>(true));
  }

  /// to + a value, of a row a
  template <class Data>
  CAROM_INLINE void add_row(int row, const Data& matrix, V value, const Memory& to) const {
    table_.over_entries(row, matrix, [&](int j, V entry) { to[j] = fused(value, entry, to[j]); });
  }

  Table table_;
  Parts parts_;
  V energy_{};
  V limit_{};
  std::uint64_t met_ = 0;  ///< rows that were ever active, in any lane
};

}  // namespace carom::kernels
