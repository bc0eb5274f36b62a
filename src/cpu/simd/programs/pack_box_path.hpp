#pragma once

#include <cstdint>

#include <carom/device/arena.hpp>
#include <carom/device/numeric.hpp>

#include "cpu/simd/gather.hpp"
#include "cpu/simd/programs/pack_lcp_ties.hpp"
#include "programs/lcp/kernels/box_rule.hpp"
#include "programs/lcp/kernels/lemke.hpp"

namespace carom::cpu::simd {

/// Larger ones leave the caches that the tableaus of a pack want; a bit of a word for each v.
inline constexpr int kMostInBoxPacks = 64;

/// Pivots after which a lane leaves the pack, which would wait for it.
constexpr int box_pack_pivots(int m) { return 4 * m + 20; }

/// Scratch of a pack of boxes of order m, `width` lanes.
template <class Memory>
struct BoxPathLayout {
  Memory tableau;  ///< [m + 1, m, lane], column by column
  Memory value;    ///< of the basic variables, [m, lane], as all below
  Memory column;   ///< of the entering variable, then the factors of its pivot
  Memory row;      ///< [m + 1, lane]
  Memory bottom;   ///< where a basic variable stops as it falls; -infinity: nowhere
  Memory top;
  Memory left;   ///< what is left until then
  Memory width;  ///< of the unknowns
  Memory free;   ///< 1 where an unknown is
  Memory open_row;
  Memory open_column;
  Memory index;  ///< [m + 1, lane] 0, 1, ...

  BoxPathLayout() = default;
  CAROM_INLINE constexpr BoxPathLayout(kernels::Arena<Memory>& arena, long m, long lanes)
      : tableau(arena.take((m + 1) * m * lanes)),
        value(arena.take(m * lanes)),
        column(arena.take(m * lanes)),
        row(arena.take((m + 1) * lanes)),
        bottom(arena.take(m * lanes)),
        top(arena.take(m * lanes)),
        left(arena.take(m * lanes)),
        width(arena.take(m * lanes)),
        free(arena.take(m * lanes)),
        open_row(arena.take(m * lanes)),
        open_column(arena.take(m * lanes)),
        index(arena.take((m + 1) * lanes)) {}
};
template <class Memory>
struct BoxPathIntLayout {
  Memory basic;     ///< [lane, m] variable of each row
  Memory nonbasic;  ///< [lane, m + 1] variable of each column
  Memory place;     ///< [lane, 2 m] row or column of each variable
  Memory side;      ///< [lane, m] 1 where x_i is at its width or came from there
  Memory slot;      ///< [lane, m, and what a register reads behind] m times a v's column
  Memory hits;      ///< [m] the lanes in which a row blocks, as bits

  BoxPathIntLayout() = default;
  CAROM_INLINE constexpr BoxPathIntLayout(kernels::Arena<Memory>& arena, long m, long lanes)
      : basic(arena.take(lanes * m)),
        nonbasic(arena.take(lanes * (m + 1))),
        place(arena.take(lanes * 2 * m)),
        side(arena.take(lanes * m)),
        slot(arena.take(lanes * (m + lanes))),
        hits(arena.take(m)) {}
};

/// kernels::BoxLemke in doubles with one problem a lane, from the first pivots of all to the last
/// one's end: a tableau's entries of all problems in a register, and the same operations on the
/// same numbers, so that an answer is that of kernels::BoxLemke bit for bit. Rays, broken numbers
/// and long paths are left to that.
template <class Isa>
class BoxPath {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;

 public:
  using Rule = kernels::LemkeRule;

  BoxPath(int m, double* reals, int* ints)
      : m_(m),
        at_(kernels::placed<BoxPathLayout>(reals, m, kWidth)),
        of_(kernels::placed<BoxPathIntLayout>(ints, m, kWidth)) {
    for (int i = 0; i <= m; ++i) put(at_.index, i, Pack(static_cast<double>(i)));
  }

  // Written before `run`: N by columns, which run overwrites, and d behind them; r; u; 1 where
  // free.
  [[nodiscard]] double* tableau() const { return at_.tableau; }
  [[nodiscard]] double* value() const { return at_.value; }
  [[nodiscard]] double* width() const { return at_.width; }
  [[nodiscard]] double* free() const { return at_.free; }

  /// The lanes, of those in `active`, whose path ends in a solution of at most max_pivots. rays:
  /// those that end on one.
  unsigned run(unsigned active, int max_pivots, unsigned& rays) {
    begin();
    poison_ = Pack(0.0);
    rays_ = 0;
    unsigned ended = 0;
    active = eliminate(active);
    active = cover(active, ended);
    while (active != 0) {
      for (int lane = 0; lane < kWidth; ++lane) {
        if ((active >> lane & 1U) != 0 && pivots_[lane] >= max_pivots) active &= ~(1U << lane);
      }
      if (active == 0) break;
      active = step(active, ended);
    }
    const unsigned sound = (poison_ <= Pack(0.0)).bits();
    rays = rays_ & sound;
    return ended & sound;
  }
  [[nodiscard]] int pivots(int lane) const { return pivots_[lane]; }

  // At the end of a lane's path.

  /// Row of x_i, or -1 where it is not basic.
  [[nodiscard]] CAROM_INLINE int row_of(int lane, int i) const {
    const int p = place(lane)[i];
    return p < m_ && basic(lane)[p] == i ? p : -1;
  }
  /// Column of v_k, or -1 where it is not held at zero.
  [[nodiscard]] CAROM_INLINE int column_of(int lane, int k) const {
    const int p = place(lane)[m_ + k];
    return p <= m_ && nonbasic(lane)[p] == m_ + k ? p : -1;
  }
  [[nodiscard]] CAROM_INLINE bool turned(int lane, int i) const { return side(lane)[i] != 0; }

 private:
  static CAROM_INLINE Pack at(const double* array, long i) {
    return Pack::load(array + i * kWidth);
  }
  static CAROM_INLINE void put(double* array, long i, Pack value) {
    value.store(array + i * kWidth);
  }
  [[nodiscard]] CAROM_INLINE int* basic(int lane) const {
    return of_.basic + static_cast<long>(lane) * m_;
  }
  [[nodiscard]] CAROM_INLINE int* nonbasic(int lane) const {
    return of_.nonbasic + static_cast<long>(lane) * (m_ + 1);
  }
  [[nodiscard]] CAROM_INLINE int* place(int lane) const {
    return of_.place + static_cast<long>(lane) * 2 * m_;
  }
  [[nodiscard]] CAROM_INLINE int* side(int lane) const {
    return of_.side + static_cast<long>(lane) * m_;
  }
  [[nodiscard]] CAROM_INLINE int* slot(int lane) const {
    return of_.slot + static_cast<long>(lane) * (m_ + kWidth);
  }

  void begin() {
    const int m = m_;
    for (int lane = 0; lane < kWidth; ++lane) {
      for (int i = 0; i < m; ++i) {
        basic(lane)[i] = m + i;
        nonbasic(lane)[i] = place(lane)[i] = place(lane)[m + i] = i;
        side(lane)[i] = 0;
      }
      for (int i = 0; i < m + kWidth; ++i) slot(lane)[i] = 0;
      nonbasic(lane)[m] = 2 * m;
      gone_[lane] = 0;
      pivots_[lane] = 0;
      chosen_[lane] = -1;
      step_[lane] = level_[lane] = 0.0;
      sign_[lane] = 1.0;
      at_column_[lane] = 0;
    }
    for (int i = 0; i < m; ++i) {  // v_i >= 0, but for those of free x_i, which leave at once
      put(at_.bottom, i, Pack(0.0));
      put(at_.top, i, Pack(kernels::kInfinity));
    }
  }

  /// Free x_i enter for free v_i, the largest slope of their block first.
  unsigned eliminate(unsigned active) {
    const int m = m_;
    Mask any = Mask::from_bits(0);
    const Pack zero(0.0);
    for (int i = 0; i < m; ++i) {
      const Pack free = at(at_.free, i);
      put(at_.open_row, i, free);
      put(at_.open_column, i, free);
      any = any | (free > zero);
    }
    unsigned open = active & any.bits();
    while (open != 0) {
      Pack most = zero;
      Pack row(-1.0);
      Pack column(-1.0);
      Mask left = Mask::from_bits(0);
      for (int i = 0; i < m; ++i) {
        const Mask here = at(at_.open_row, i) > zero;
        left = left | here;
        if (!any_of(here)) continue;
        for (int j = 0; j < m; ++j) {
          const Mask there = here & (at(at_.open_column, j) > zero);
          if (!any_of(there)) continue;
          const Pack size = magnitude(at(at_.tableau, static_cast<long>(j) * m + i));
          const Mask better = there & (size > most);
          most = select(better, size, most);
          row = select(better, Pack(static_cast<double>(i)), row);
          column = select(better, Pack(static_cast<double>(j)), column);
        }
      }
      open &= left.bits();
      const unsigned found = (row >= zero).bits();
      active &= ~(open & ~found);
      open &= found;
      double rows[kWidth];
      double columns[kWidth];
      row.store(rows);
      column.store(columns);
      for (int lane = 0; lane < kWidth; ++lane) {
        chosen_[lane] = -1;
        if ((open >> lane & 1U) == 0) continue;
        chosen_[lane] = static_cast<int>(rows[lane]);
        at_column_[lane] = static_cast<int>(columns[lane]);
        at_.open_row[static_cast<long>(chosen_[lane]) * kWidth + lane] = 0.0;
        at_.open_column[static_cast<long>(at_column_[lane]) * kWidth + lane] = 0.0;
      }
      if (open == 0) break;
      take_columns();
      for (int lane = 0; lane < kWidth; ++lane) {
        step_[lane] = 0.0;
        if (chosen_[lane] < 0) continue;
        const long e = static_cast<long>(chosen_[lane]) * kWidth + lane;
        level_[lane] = step_[lane] = -(at_.value[e] / at_.column[e]);
      }
      move();
      pivot(open);
      for (int lane = 0; lane < kWidth; ++lane) {
        if (chosen_[lane] >= 0) exchange(lane);
      }
    }
    return active;
  }

  /// t enters; the lanes that go on. Those without a v < 0 have ended.
  unsigned cover(unsigned active, unsigned& ended) {
    const int m = m_;
    const Pack zero(0.0);
    const double* const covers = at_.tableau + static_cast<long>(m) * m * kWidth;
    Pack row(-1.0);
    Pack least = zero;
    Pack slope = Pack(1.0);
    Mask below = Mask::from_bits(0);
    for (int i = 0; i < m; ++i) {
      const Pack value = at(at_.value, i);
      const Pack own = at(covers, i);
      poison_ = fused(value, zero, poison_);
      // Rows of x have no bottom or the eliminated x's; only free ones are basic here.
      const Mask of_v = !(at(at_.free, i) > zero);
      const Mask negative = of_v & (value < zero);
      below = below | negative;
      const Mask first = !(row >= zero);
      const Mask earlier = first | !(least * own < value * slope);
      const Mask takes = negative & (own > zero) & earlier;
      row = select(takes, at(at_.index, i), row);
      least = select(takes, value, least);
      slope = select(takes, own, slope);
    }
    const unsigned found = (row >= zero).bits();
    ended = active & ~found & ~below.bits();
    active &= found;
    double rows[kWidth];
    double values[kWidth];
    double slopes[kWidth];
    row.store(rows);
    least.store(values);
    slope.store(slopes);
    for (int lane = 0; lane < kWidth; ++lane) {
      at_column_[lane] = m;
      chosen_[lane] = -1;
      step_[lane] = scale_[lane] = 0.0;
      if ((active >> lane & 1U) == 0) continue;
      chosen_[lane] = static_cast<int>(rows[lane]);
      scale_[lane] = kernels::magnitude(values[lane]);
      level_[lane] = step_[lane] = -(values[lane] / slopes[lane]);
    }
    if (active == 0) return 0;
    take_columns();
    move();
    pivot(active);
    for (int lane = 0; lane < kWidth; ++lane) {
      if (chosen_[lane] < 0) continue;
      t_row_[lane] = chosen_[lane];
      follow(lane, exchange(lane));
    }
    return active;
  }

  /// The variable that left is followed by its partner.
  CAROM_INLINE void follow(int lane, int leaving) {
    const int m = m_;
    const int pair = leaving < m ? leaving : leaving - m;
    const int entering = leaving < m ? leaving + m : leaving - m;
    at_column_[lane] = place(lane)[entering];
    entering_[lane] = entering;
    falls_[lane] = side(lane)[pair] != 0;
    sign_[lane] = falls_[lane] ? -1.0 : 1.0;
    own_[lane] =
        entering < m ? at_.width[static_cast<long>(pair) * kWidth + lane] : kernels::kInfinity;
  }

  /// One pivot or flip in all active lanes; those that go on.
  unsigned step(unsigned active, unsigned& ended) {
    take_columns();
    active = choose(active, ended);
    unsigned pivoting = 0;
    for (int lane = 0; lane < kWidth; ++lane) {
      if ((active >> lane & 1U) == 0) {
        chosen_[lane] = -1;
        step_[lane] = 0.0;
        continue;
      }
      if (chosen_[lane] == kFlip) {
        step_[lane] = falls_[lane] ? -own_[lane] : own_[lane];
        continue;
      }
      const long e = static_cast<long>(chosen_[lane]) * kWidth + lane;
      const double rate = kernels::magnitude(at_.column[e]);
      const double length = at_.left[e] / rate;
      step_[lane] = falls_[lane] ? -length : length;
      level_[lane] = (entering_[lane] < m_ && falls_[lane] ? own_[lane] : 0.0) + step_[lane];
      pivoting |= 1U << lane;
    }
    move();
    for (int lane = 0; lane < kWidth; ++lane) {
      if ((active >> lane & 1U) == 0) continue;
      if (chosen_[lane] == kFlip) {
        side(lane)[entering_[lane]] = falls_[lane] ? 0 : 1;
        ++pivots_[lane];
        chosen_[lane] = -1;
        follow(lane, entering_[lane]);
        continue;
      }
      const int leaving = basic(lane)[chosen_[lane]];
      if (leaving < m_) {
        const bool up =
            sign_[lane] * at_.column[static_cast<long>(chosen_[lane]) * kWidth + lane] > 0.0;
        side(lane)[leaving] = up ? 1 : 0;
      }
    }
    if (pivoting == 0) return active;
    pivot(pivoting);
    for (int lane = 0; lane < kWidth; ++lane) {
      if ((pivoting >> lane & 1U) == 0) continue;
      const int leaving = exchange(lane);
      if (leaving == 2 * m_) {
        ended |= 1U << lane;
        active &= ~(1U << lane);
      } else {
        follow(lane, leaving);
      }
    }
    return active;
  }

  /// column: the lanes' columns at_column_.
  CAROM_INLINE void take_columns() const {
    alignas(64) std::int64_t from[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      from[lane] = static_cast<std::int64_t>(at_column_[lane]) * m_ * kWidth + lane;
    }
    gather_rows<kWidth>(at_.tableau, from, kWidth, m_, at_.column);
  }

  /// The values follow the step of each lane's entering variable.
  CAROM_INLINE void move() const {
    const Pack step = Pack::load(step_);
    const double* const columns = at_.column;
    double* const values = at_.value;
    for (int i = 0; i < m_; ++i) put(values, i, at(values, i) + at(columns, i) * step);
  }

  /// The ratio test: chosen_ and the lanes that have a row or a flip. Where nothing blocks and all
  /// that is left of t is rounding, the path has ended.
  unsigned choose(unsigned active, unsigned& ended) {
    const int m = m_;
    const Pack zero(0.0);
    const Pack infinity(kernels::kInfinity);
    const double* const columns = at_.column;
    double* const left = at_.left;
    Pack largest = zero;
    Pack poison = poison_;
    for (int i = 0; i < m; ++i) {
      const Pack slope = at(columns, i);
      poison = fused(slope, zero, poison);
      largest = larger(magnitude(slope), largest);
    }
    poison_ = poison;
    const Pack smallest = Pack(Rule::kPivotTolerance) * largest;
    const Pack sign = Pack::load(sign_);
    const Pack own = Pack::load(own_);
    Pack first = own;
    for (int i = 0; i < m; ++i) {
      const Pack slope = at(columns, i) * sign;
      const Pack value = at(at_.value, i);
      const Pack rate = magnitude(slope);
      const Pack distance = select(slope > zero, at(at_.top, i) - value, value - at(at_.bottom, i));
      const Pack positive = larger(distance, zero);
      put(left, i, positive);
      first = smaller(select(rate > smallest, positive / rate, infinity), first);
    }
    const Pack scale = Pack::load(scale_);
    const Pack tie = Pack(Rule::kTieTolerance) * scale;
    const Mask flips =
        (own < infinity) & !(own - first > Pack(Rule::kTieTolerance) * larger(scale, own));
    Pack chosen = select(flips, Pack(static_cast<double>(kFlip)), Pack(static_cast<double>(kNone)));
    Mask any = flips;
    Mask several = Mask::from_bits(0);
    for (int i = 0; i < m; ++i) {
      const Pack rate = magnitude(at(columns, i));
      const Mask hit = (rate > smallest) & (at(left, i) - first * rate <= tie);
      of_.hits[i] = static_cast<int>(hit.bits());
      chosen = select(hit, at(at_.index, i), chosen);
      several = several | (any & hit);
      any = any | hit;
    }
    double rows[kWidth];
    chosen.store(rows);
    active &= (poison <= zero).bits();
    for (unsigned free = active & ~any.bits(); free != 0; free &= free - 1) {
      const int lane = __builtin_ctz(free);
      const double rest = at_.value[static_cast<long>(t_row_[lane]) * kWidth + lane];
      (rest <= kernels::kBoxVanished * scale_[lane] ? ended : rays_) |= 1U << lane;
    }
    active &= any.bits();
    for (int lane = 0; lane < kWidth; ++lane) {
      if ((active >> lane & 1U) == 0) continue;
      if ((of_.hits[t_row_[lane]] >> lane & 1) != 0) {
        chosen_[lane] = t_row_[lane];
      } else if ((several.bits() >> lane & 1U) != 0) {
        chosen_[lane] = lexicographic_row(lane, (flips.bits() >> lane & 1U) != 0);
      } else {
        chosen_[lane] = static_cast<int>(rows[lane]);
      }
    }
    return active;
  }

  /// A row of +-B^-1 over its rate; zeros for a flip.
  struct InverseRow {
    const double* entries;  // of the row in its lane
    const int* slot;
    std::uint64_t gone;  // the v that are not basic
    std::uint64_t unit;  // the v of the row
    double sign;
    double rate;
    CAROM_INLINE Pack operator()(int k) const {
      if (entries == nullptr) return Pack(0.0);
      const Pack slope = gather_marked<Isa>(entries, slot + k, marked(gone, k));
      const Mask own = Mask::from_bits(marked(unit, k));
      return select(own, Pack(sign), slope * Pack(-sign)) / Pack(rate);
    }
    static CAROM_INLINE unsigned marked(std::uint64_t bits, int k) {
      return static_cast<unsigned>(bits >> k) & ((1U << kWidth) - 1U);
    }
  };
  CAROM_INLINE InverseRow inverse_row(int lane, int i) const {
    if (i == kFlip) return {nullptr, nullptr, 0, 0, 1.0, 1.0};
    const double slope = at_.column[static_cast<long>(i) * kWidth + lane] * sign_[lane];
    const int variable = basic(lane)[i];
    const bool of_v = variable >= m_ && variable < 2 * m_;
    return {at_.tableau + static_cast<long>(i) * kWidth + lane,
            slot(lane),
            gone_[lane],
            of_v ? std::uint64_t{1} << (variable - m_) : 0,
            slope > 0.0 ? -1.0 : 1.0,
            kernels::magnitude(slope)};
  }
  /// kernels::BoxLemke's choice among the rows of a lane that block at once.
  int lexicographic_row(int lane, bool flips) const {
    int best = flips ? kFlip : kNone;
    InverseRow before = inverse_row(lane, kFlip);
    for (int i = 0; i < m_; ++i) {
      if ((of_.hits[i] >> lane & 1) == 0) continue;
      const InverseRow own = inverse_row(lane, i);
      if (best != kNone && !tied_row_precedes<Isa>(m_, own, before)) continue;
      best = i;
      before = own;
    }
    return best;
  }

  /// kernels::BoxLemke::pivot of the lanes in `pivoting`, whose rows are chosen_.
  void pivot(unsigned pivoting) {
    const int m = m_;
    double element[kWidth];
    double rows[kWidth];
    double columns[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      element[lane] = 1.0;
      rows[lane] = columns[lane] = -1.0;
      double* const to = at_.row + lane;
      if ((pivoting >> lane & 1U) == 0) {
        for (int j = 0; j <= m; ++j) to[static_cast<long>(j) * kWidth] = 0.0;
        continue;
      }
      const int row = chosen_[lane];
      const long e = static_cast<long>(row) * kWidth + lane;
      element[lane] = at_.column[e];
      rows[lane] = row;
      columns[lane] = at_column_[lane];
      at_.value[e] = level_[lane];
      // The row and the column start from nothing; -0 becomes what is added.
      double* from = at_.tableau + e;
      for (int j = 0; j <= m; ++j, from += static_cast<long>(m) * kWidth) {
        to[static_cast<long>(j) * kWidth] = *from;
        *from = -0.0;
      }
      double* column = at_.tableau + static_cast<long>(at_column_[lane]) * m * kWidth + lane;
      for (int i = 0; i < m; ++i) column[static_cast<long>(i) * kWidth] = -0.0;
    }
    const Pack zero(0.0);
    const Pack one(1.0);
    const Mask moves = Mask::from_bits(pivoting);
    const Pack inverse = one / Pack::load(element);
    const Pack row = Pack::load(rows);
    const Pack column = Pack::load(columns);
    double* const factors = at_.column;
    const double* const from = at_.row;
    for (int i = 0; i < m; ++i) {
      const Mask away = at(at_.index, i) != row;
      put(factors, i, select(away, select(moves, at(factors, i), zero), one));
    }
    Pack poison = poison_;
    double* const to = at_.tableau;
    const long stride = static_cast<long>(m) * kWidth;
    const auto by_of = [&](int j) {
      const Mask stays = at(at_.index, j) != column;
      const Pack by = select(stays, -(at(from, j) * inverse), inverse);
      poison = fused(by, zero, poison);
      return by;
    };
    int j = 0;
    for (; j + 4 <= m + 1; j += 4) {
      const Pack by[4] = {by_of(j), by_of(j + 1), by_of(j + 2), by_of(j + 3)};
      add_columns<4>(m, to + j * stride, factors, by);
    }
    for (; j <= m; ++j) {
      const Pack by[1] = {by_of(j)};
      add_columns<1>(m, to + j * stride, factors, by);
    }
    poison_ = poison;
  }
  template <int kCount>
  static CAROM_INLINE void add_columns(int m, double* __restrict to,
                                       const double* __restrict factors, const Pack* by) {
    for (int i = 0; i < m; ++i) {
      const Pack factor = at(factors, i);
      CAROM_UNROLLED
      for (int c = 0; c < kCount; ++c) {
        const long e = static_cast<long>(c) * m + i;
        put(to, e, at(to, e) + factor * by[c]);
      }
    }
  }

  /// Takes a lane's basis to its last pivot; the variable that leaves.
  int exchange(int lane) {
    const int m = m_;
    const int row = chosen_[lane];
    const int column = at_column_[lane];
    const int entering = nonbasic(lane)[column];
    const int leaving = basic(lane)[row];
    basic(lane)[row] = entering;
    nonbasic(lane)[column] = leaving;
    const long e = static_cast<long>(row) * kWidth + lane;
    double bottom = 0.0;
    double top = kernels::kInfinity;
    if (entering < m) {
      const long own = static_cast<long>(entering) * kWidth + lane;
      top = at_.width[own];
      if (at_.free[own] > 0.0) bottom = -kernels::kInfinity;
    } else if (entering < 2 * m && side(lane)[entering - m] != 0) {
      bottom = -kernels::kInfinity;
      top = 0.0;
    }
    at_.bottom[e] = bottom;
    at_.top[e] = top;
    if (entering < 2 * m) place(lane)[entering] = row;
    if (leaving < 2 * m) place(lane)[leaving] = column;
    if (entering >= m && entering < 2 * m) gone_[lane] ^= std::uint64_t{1} << (entering - m);
    if (leaving >= m && leaving < 2 * m) {
      gone_[lane] ^= std::uint64_t{1} << (leaving - m);
      slot(lane)[leaving - m] = column * m;
    }
    ++pivots_[lane];
    return leaving;
  }

  static constexpr int kNone = -1, kFlip = -3;

  int m_;
  BoxPathLayout<double*> at_;
  BoxPathIntLayout<int*> of_;
  unsigned rays_ = 0;
  Pack poison_;  // zero, NaN in lanes that met a number that is not finite
  alignas(64) double step_[kWidth];
  alignas(64) double sign_[kWidth];
  alignas(64) double own_[kWidth] = {};
  alignas(64) double scale_[kWidth] = {};
  double level_[kWidth];
  std::uint64_t gone_[kWidth];
  int chosen_[kWidth];
  int at_column_[kWidth];
  int entering_[kWidth] = {};
  int t_row_[kWidth] = {};
  int pivots_[kWidth];
  bool falls_[kWidth] = {};
};

}  // namespace carom::cpu::simd
