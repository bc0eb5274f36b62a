#pragma once

#include <bit>
#include <cstdint>

#include <carom/certificate_boxed_lcp.hpp>
#include <carom/device/arena.hpp>
#include <carom/device/numeric.hpp>

#include "cpu/simd/gather.hpp"
#include "cpu/simd/isa_lane.hpp"
#include "cpu/simd/padding.hpp"
#include "cpu/simd/programs/pack_box_judge.hpp"
#include "cpu/simd/programs/pack_box_path.hpp"
#include "cpu/simd/spread.hpp"
#include "programs/kernels/doubled.hpp"
#include "programs/lcp/kernels/box_rule.hpp"
#include "programs/lcp/kernels/free_block.hpp"

namespace carom::cpu::simd {

/// Scratch of a pack of problems of order n that become boxes of order m.
template <class Memory>
struct BoxPackLayout {
  Memory given;     ///< M [n, n, lane], then the terms of its products
  Memory expanded;  ///< [m, m, lane] where there is friction
  Memory scaled;    ///< [m, m, lane] by columns
  Memory lower, upper, vector, base, sign, row_scale, column_scale;  // [m, lane]
  Memory constant, constant_low, x, x_low, rest, rest_low, point;
  Memory z, low, high, value, size, datum, known;  // [n, lane]
  Memory block;                                    ///< [m, m] of free unknowns of one lane
  Memory path;

  BoxPackLayout() = default;
  CAROM_INLINE constexpr BoxPackLayout(kernels::Arena<Memory>& arena, long n, long m, long lanes)
      : given(arena.take(n * n * lanes)),
        expanded(arena.take(m > n ? m * m * lanes : 0)),
        scaled(arena.take(m * m * lanes)),
        lower(arena.take(m * lanes)),
        upper(arena.take(m * lanes)),
        vector(arena.take(m * lanes)),
        base(arena.take(m * lanes)),
        sign(arena.take(m * lanes)),
        row_scale(arena.take(m * lanes)),
        column_scale(arena.take(m * lanes)),
        constant(arena.take(m * lanes)),
        constant_low(arena.take(m * lanes)),
        x(arena.take(m * lanes)),
        x_low(arena.take(m * lanes)),
        rest(arena.take(m * lanes)),
        rest_low(arena.take(m * lanes)),
        point(arena.take(m * lanes)),
        z(arena.take(n * lanes)),
        low(arena.take(n * lanes)),
        high(arena.take(n * lanes)),
        value(arena.take(n * lanes)),
        size(arena.take(n * lanes)),
        datum(arena.take(n * lanes)),
        known(arena.take(n * lanes)),
        block(arena.take(m * m)),
        path(arena.take(kernels::values_of<BoxPathLayout>(m, lanes))) {}
};
template <class Memory>
struct BoxPackIntLayout {
  Memory row;       ///< [m, lane] places in the tableau of the rows of basic x
  Memory column;    ///< [m, lane] the same of the columns of v held at zero
  Memory basic;     ///< [m] the lanes in which x_i is basic, as bits
  Memory held;      ///< [m] the lanes in which v_k is held
  Memory friction;  ///< rows of friction
  Memory columns;   ///< [m] of a free block
  Memory path;

  BoxPackIntLayout() = default;
  CAROM_INLINE constexpr BoxPackIntLayout(kernels::Arena<Memory>& arena, long m, long lanes)
      : row(arena.take(m * lanes)),
        column(arena.take(m * lanes)),
        basic(arena.take(m)),
        held(arena.take(m)),
        friction(arena.take(m)),
        columns(arena.take(m)),
        path(arena.take(kernels::values_of<BoxPathIntLayout>(m, lanes))) {}
};
constexpr long box_pack_reals(int n, int m) {
  return kernels::values_of<BoxPackLayout>(n, m, kLargestPadding);
}
constexpr long box_pack_ints(int m) {
  return kernels::values_of<BoxPackIntLayout>(m, kLargestPadding);
}

/// As many boxed LCPs as a register has lanes, their friction rows the same ones: what the plain
/// path certifies with all digits, with the bits of carom::boxed::follow_paths. M, q and the box
/// are finite where they have to be, and no bounds cross.
template <class Isa>
class BoxPack {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  using Doubles = kernels::DoubledOf<Pack>;
  static constexpr int kWidth = Isa::kWidth;

 public:
  struct Problem {
    const double* matrix;
    const double* vector;
    const double* lower;
    const double* upper;
    const std::int32_t* findex;  ///< null: no friction rows
    const double* friction;
  };
  struct Outcome {
    unsigned ended = 0;  ///< lanes, a bit each, whose path has come to a point
    unsigned rays = 0;
    unsigned solved = 0;
    int pivots[kWidth];
    double residual[kWidth];
  };

  /// frictions: friction rows of every problem.
  BoxPack(int n, int frictions, double* reals, int* ints)
      : n_(n),
        f_(frictions),
        m_(n + 2 * frictions),
        at_(kernels::placed<BoxPackLayout>(reals, n, m_, kWidth)),
        of_(kernels::placed<BoxPackIntLayout>(ints, m_, kWidth)),
        path_(m_, at_.path, of_.path) {}

  /// The problems of lanes [0, count); those beyond repeat the first. residual: largest that
  /// counts as solved.
  Outcome solve(const Problem* problems, int count, int max_pivots, double residual) {
    for (int lane = 0; lane < kWidth; ++lane) problem_[lane] = problems[lane < count ? lane : 0];
    load();
    scale();
    take_constants();
    unsigned lanes = (1U << count) - 1U;
    lanes = with_regular_block(lanes);
    Outcome outcome;
    lanes = path_.run(lanes, max_pivots, outcome.rays);
    for (int lane = 0; lane < kWidth; ++lane) outcome.pivots[lane] = path_.pivots(lane);
    outcome.ended = lanes;
    if (lanes == 0) return outcome;
    take_point(lanes);
    const Pack judged = judge();
    judged.store(outcome.residual);
    outcome.solved = lanes & (judged <= Pack(residual)).bits();
    return outcome;
  }

  /// Where the path of a lane has ended, of the box without friction rows.
  void collect_end(int lane, double* point) const {
    for (long i = 0; i < m_; ++i) point[i] = at_.point[i * kWidth + lane];
  }
  /// z and w of lane, [n] each.
  void collect(int lane, double* z, double* w) const {
    for (long i = 0; i < n_; ++i) {
      z[i] = at_.z[i * kWidth + lane];
      w[i] = at_.value[i * kWidth + lane];
    }
  }

 private:
  static CAROM_INLINE Pack at(const double* array, long i) {
    return Pack::load(array + i * kWidth);
  }
  static CAROM_INLINE void put(double* array, long i, Pack value) {
    value.store(array + i * kWidth);
  }
  /// By rows, of the box without friction rows.
  [[nodiscard]] CAROM_INLINE double* matrix() const { return f_ > 0 ? at_.expanded : at_.given; }
  static CAROM_INLINE Mask equal(Pack a, Pack b) { return (a <= b) & (a >= b); }

  /// The boxes, and where their unknowns start: at the bound nearest to zero.
  void load() {
    const int n = n_, m = m_, f = f_;
    const double* from[kWidth];
    const auto spread_of = [&](auto member, int size, double* to) {
      for (int lane = 0; lane < kWidth; ++lane) from[lane] = problem_[lane].*member;
      spread<kWidth>(from, size, to);
    };
    spread_of(&Problem::matrix, n * n, at_.given);
    spread_of(&Problem::vector, n, at_.vector);
    spread_of(&Problem::lower, n, at_.lower);
    spread_of(&Problem::upper, n, at_.upper);
    if (f > 0) expand();
    const Pack zero(0.0), one(1.0), infinity(kernels::kInfinity);
    for (int i = 0; i < m; ++i) {
      const Pack low = at(at_.lower, i);
      const Pack high = at(at_.upper, i);
      const Mask has_low = low > -infinity;
      const Mask has_high = high < infinity;
      const Mask bounded = has_low | has_high;
      const Mask nearer = magnitude(low) <= magnitude(high);
      const Mask from_low = has_low & ((!has_high) | nearer);
      const Mask fixed = bounded & equal(low, high);
      put(at_.base, i, select(bounded, select(from_low, low, high), zero));
      const Mask falls = bounded & !from_low;
      put(at_.sign, i, select(fixed, zero, select(falls, -one, one)));
      put(path_.width(), i, select(has_low & has_high, high - low, infinity));
      put(path_.free(), i, select(bounded, zero, one));
    }
  }

  /// carom::boxed::Expansion.
  void expand() {
    const int n = n_, m = m_, f = f_;
    const Pack zero(0.0), one(1.0), infinity(kernels::kInfinity);
    int* const rows = of_.friction;
    for (int i = 0, k = 0; i < n; ++i) {
      if (problem_[0].findex[i] >= 0) rows[k++] = i;
    }
    double* const all = at_.expanded;
    const auto place = [&](int i, int j) { return static_cast<long>(i) * m + j; };
    for (int i = 0; i < m; ++i) {
      for (int j = i < n ? n : 0; j < m; ++j) put(all, place(i, j), zero);
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j)
        put(all, place(i, j), at(at_.given, static_cast<long>(i) * n + j));
      for (int k = 0; k < f; ++k) put(all, place(i, n + k), -at(all, place(i, rows[k])));
    }
    for (int k = 0; k < f; ++k) {
      const int i = rows[k], minus = n + k, slide = n + f + k;
      put(at_.lower, i, zero);
      put(at_.upper, i, infinity);
      put(at_.vector, minus, -at(at_.vector, i));
      put(at_.vector, slide, zero);
      for (const int extra : {minus, slide}) {
        put(at_.lower, extra, zero);
        put(at_.upper, extra, infinity);
      }
      for (int j = 0; j < n + f; ++j) put(all, place(minus, j), -at(all, place(i, j)));
      put(all, place(i, slide), one);
      put(all, place(minus, slide), one);
      put(all, place(slide, i), -one);
      put(all, place(slide, minus), -one);
      for (int lane = 0; lane < kWidth; ++lane) {
        const Problem& own = problem_[lane];
        all[place(slide, own.findex[i]) * kWidth + lane] = own.friction[i];
      }
    }
  }

  static constexpr double kAbsent = 1 << 20;  // exponent of a zero

  /// kernels::scale_lcp of the box, and the path's matrix and widths in its units.
  void scale() {
    const int m = m_;
    // 2^52 + e + 1023 has the exponent in its last bits.
    constexpr double kShift = 0x1p52 + 1023.0;
    double* const exponent = path_.tableau();
    const Pack zero(0.0), absent(kAbsent);
    const double* const given = matrix();
    for (long e = 0; e < static_cast<long>(m) * m * kWidth; ++e) {
      const auto bits = std::bit_cast<std::uint64_t>(given[e]);
      exponent[e] = std::bit_cast<double>((bits >> 52 & 0x7ff) | 0x4330000000000000ULL);
    }
    for (int i = 0; i < m; ++i) {
      const Mask there_i = at(at_.sign, i) != zero;
      for (int j = 0; j < m; ++j) {
        const long e = static_cast<long>(i) * m + j;
        const Mask there = there_i & (at(at_.sign, j) != zero) & (at(given, e) != zero);
        put(exponent, e, select(there, at(exponent, e) - Pack(kShift), absent));
      }
      put(at_.row_scale, i, zero);
      put(at_.column_scale, i, zero);
    }
    for (int sweep = 0; sweep < 3; ++sweep) {
      Mask same = Mask::from_bits((1U << kWidth) - 1U);
      const auto next = [&](const double* exponents, long stride, const double* others,
                            double* counts, int place, Pack before) {
        if (sweep > 0 && all_of(is_median(exponents, stride, others, at(counts, place), -before))) {
          return before;
        }
        return -median(exponents, stride, others, counts, place);
      };
      for (int i = 0; i < m; ++i) {
        const Pack before = at(at_.row_scale, i);
        const Pack own = next(exponent + static_cast<long>(i) * m * kWidth, 1, at_.column_scale,
                              at_.x, i, before);
        same = same & equal(own, before);
        put(at_.row_scale, i, own);
      }
      if (sweep > 0 && all_of(same)) break;  // and so for the columns
      for (int j = 0; j < m; ++j) {
        put(at_.column_scale, j,
            next(exponent + static_cast<long>(j) * kWidth, m, at_.row_scale, at_.x_low, j,
                 at(at_.column_scale, j)));
      }
    }
    for (double* scales : {at_.row_scale, at_.column_scale}) {
      for (int i = 0; i < m; ++i) {
        const Pack most(1000.0);
        put(scales, i, smaller(larger(at(scales, i), -most), most) + Pack(kShift));
      }
      for (int e = 0; e < m * kWidth; ++e) {
        scales[e] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(scales[e]) << 52);
      }
    }
    double* const tableau = path_.tableau();
    double* const scaled = at_.scaled;
    for (int j = 0; j < m; ++j) {
      const Pack column = at(at_.column_scale, j);
      const Pack sign = at(at_.sign, j);
      for (int i = 0; i < m; ++i) {
        const Pack own = at(at_.sign, i) * sign * at(given, static_cast<long>(i) * m + j);
        put(scaled, static_cast<long>(j) * m + i, own * (at(at_.row_scale, i) * column));
      }
      put(path_.width(), j, at(path_.width(), j) / column);
    }
    for (long e = 0; e < static_cast<long>(m) * m; ++e) put(tableau, e, at(scaled, e));
    for (int i = 0; i < m; ++i) {
      const Mask covered = (at(at_.sign, i) != zero) & !(at(path_.free(), i) > zero);
      put(tableau, static_cast<long>(m) * m + i, select(covered, at(at_.row_scale, i), zero));
    }
  }

  /// Whether this is the lower median of `count` exponents with those of the others.
  Mask is_median(const double* exponents, long stride, const double* others, Pack count,
                 Pack guess) const {
    const Pack one(1.0);
    const Pack before = guess - one;
    Pack up_to(0.0);
    Pack less(0.0);
    for (int k = 0; k < m_; ++k) {  // absent ones are larger than any
      const Pack sum = at(exponents, k * stride) + at(others, k);
      up_to = select(sum <= guess, up_to + one, up_to);
      less = select(sum <= before, less + one, less);
    }
    const Pack half = count - one;
    return (Pack(2.0) * up_to > half) & (Pack(2.0) * less <= half);
  }
  /// The lower median of the exponents there, entry k at [k stride], with those of the others; 0
  /// where there is none. counts[place]: out, how many.
  Pack median(const double* exponents, long stride, const double* others, double* counts,
              int place) const {
    const int m = m_;
    const Pack absent(kAbsent);
    const Pack one(1.0);
    const Pack zero(0.0);
    double* const sums = at_.rest;  // free until the end
    Pack low = absent;
    Pack high = -absent;
    Pack count = zero;
    for (int k = 0; k < m; ++k) {
      const Pack own = at(exponents, k * stride);
      const Mask there = own < absent;
      const Pack sum = select(there, own + at(others, k), absent);
      put(sums, k, sum);
      count = count + select(there, one, zero);
      low = smaller(sum, low);
      high = larger(select(there, sum, -absent), high);
    }
    put(counts, place, count);
    low = low - one;  // the median is in (low, high]
    const Pack half = count - one;
    for (;;) {
      const Pack width = high - low;
      if (!any_of(width > one)) break;
      // Three places between at once: the sums are read once, and no count waits for another.
      Pack middle[3];
      Pack below[3];
      for (int t = 0; t < 3; ++t) {
        const Pack step = width * Pack(0.25 * (t + 1));
        middle[t] = low + larger(step - fraction(step), zero);
        below[t] = zero;
      }
      for (int k = 0; k < m; ++k) {
        const Pack sum = at(sums, k);
        for (int t = 0; t < 3; ++t) {
          below[t] = select(sum <= middle[t], below[t] + one, below[t]);
        }
      }
      for (int t = 2; t >= 0; --t) {
        const Mask over = Pack(2.0) * below[t] > half;
        high = select(over & (middle[t] > low), middle[t], high);
      }
      for (int t = 0; t < 3; ++t) {
        const Mask over = Pack(2.0) * below[t] > half;
        low = select(over, low, larger(middle[t], low));
      }
    }
    return select(count > zero, high, zero);
  }

  /// What v is where the unknowns start, in doubled numbers.
  void take_constants() {
    const int m = m_;
    const Pack zero(0.0);
    for (int i = 0; i < m; ++i) of_.held[i] = 1;
    each_block(of_.held, [&](const int* row, auto count) {
      constexpr int kCount = decltype(count)::kValue;
      Doubles sum[kCount];
      for (int r = 0; r < kCount; ++r) sum[r] = Doubles(at(at_.vector, row[r]));
      for (int j = 0; j < m; ++j) {
        const Pack base = at(at_.base, j);
        if (!any_of(base != zero)) continue;
        for (int r = 0; r < kCount; ++r) {
          const Pack entry = at(matrix(), static_cast<long>(row[r]) * m + j);
          sum[r] = sum[r] + Doubles::product(entry, base);
        }
      }
      for (int r = 0; r < kCount; ++r) {
        const Pack unit = at(at_.sign, row[r]) * at(at_.row_scale, row[r]);
        put(at_.constant, row[r], sum[r].hi * unit);
        put(at_.constant_low, row[r], sum[r].lo * unit);
        put(path_.value(), row[r], sum[r].hi * unit);
      }
    });
  }

  /// The lanes whose free unknowns have a regular block.
  unsigned with_regular_block(unsigned lanes) {
    const int m = m_;
    const IsaLane<Isa> single;
    double* const block = at_.block;
    for (int lane = 0; lane < kWidth; ++lane) {
      if ((lanes >> lane & 1U) == 0) continue;
      int count = 0;
      for (int i = 0; i < m; ++i) {
        if (path_.free()[static_cast<long>(i) * kWidth + lane] > 0.0) of_.basic[count++] = i;
      }
      if (count == 0) continue;
      for (int a = 0; a < count; ++a) {
        for (int b = 0; b < count; ++b) {
          const long e = static_cast<long>(of_.basic[a]) * m + of_.basic[b];
          block[static_cast<long>(a) * count + b] = matrix()[e * kWidth + lane];
        }
      }
      kernels::scale_rows_of_block(single, count, block);
      if (kernels::rank_of_block(single, count, block, of_.columns) < count) {
        lanes &= ~(1U << lane);
      }
    }
    return lanes;
  }

  [[nodiscard]] CAROM_INLINE Doubles x(int i) const { return {at(at_.x, i), at(at_.x_low, i)}; }
  CAROM_INLINE void put_clamped(int i, const Doubles& own) const {
    const Pack zero(0.0);
    const Pack width = at(path_.width(), i);
    const Mask free = at(path_.free(), i) > zero;
    const Mask positive = free | (own.hi > zero) | (equal(own.hi, zero) & (own.lo > zero));
    const Mask below = free | (own.hi < width) | (equal(own.hi, width) & (own.lo < zero));
    put(at_.x, i, select(positive, select(below, own.hi, width), zero));
    put(at_.x_low, i, select(positive & below, own.lo, zero));
  }

  /// z of the paths' ends in `lanes`.
  void take_point(unsigned lanes) {
    const int n = n_, m = m_;
    const Pack zero(0.0);
    for (int i = 0; i < m; ++i) {
      double value[kWidth];
      unsigned basic = 0;
      unsigned held = 0;
      for (int lane = 0; lane < kWidth; ++lane) {
        const long e = static_cast<long>(i) * kWidth + lane;
        value[lane] = 0.0;
        of_.row[e] = of_.column[e] = 0;
        if ((lanes >> lane & 1U) == 0) continue;
        const int row = path_.row_of(lane, i);
        const int column = path_.column_of(lane, i);
        if (row >= 0) {
          basic |= 1U << lane;
          of_.row[e] = row * kWidth + lane;
          value[lane] = path_.value()[static_cast<long>(row) * kWidth + lane];
        } else if (path_.turned(lane, i)) {
          value[lane] = path_.width()[e];
        }
        if (column >= 0) {
          held |= 1U << lane;
          of_.column[e] = column * m * kWidth;
        }
      }
      of_.basic[i] = static_cast<int>(basic);
      of_.held[i] = static_cast<int>(held);
      put_clamped(i, Doubles(Pack::load(value)));
    }
    refine();
    for (int i = 0; i < m; ++i) {
      const Pack own = at(at_.x, i);
      const Pack width = at(path_.width(), i);
      const Pack low = at(at_.lower, i);
      const Pack high = at(at_.upper, i);
      const Pack base = at(at_.base, i);
      const Pack sign = at(at_.sign, i);
      const Pack step = own * at(at_.column_scale, i);
      const Mask turned = (width < Pack(kernels::kInfinity)) & equal(own, width) & (sign != zero);
      const Pack moved = select(step != zero, base + sign * step, base);
      const Pack found = select(turned, select(sign > zero, high, low), moved);
      put(at_.point, i, smaller(high, larger(low, found)));
    }
    for (int i = 0; i < n; ++i) put(at_.z, i, at(at_.point, i));
    for (int k = 0; k < f_; ++k) contract(k);
  }

  /// carom::boxed::Expansion::contract of friction row k.
  void contract(int k) {
    const int i = of_.friction[k];
    for (int lane = 0; lane < kWidth; ++lane) {
      const auto point = [&](int a) { return at_.point[static_cast<long>(a) * kWidth + lane]; };
      const Problem& own = problem_[lane];
      at_.z[static_cast<long>(i) * kWidth + lane] = kernels::friction_of(
          point(i), point(n_ + k), point(n_ + f_ + k), own.friction[i] * point(own.findex[i]));
    }
  }

  /// Removes from x what rounding left in the v that ought to vanish.
  void refine() {
    const int m = m_;
    const Pack zero(0.0);
    Pack size = zero;
    for (int i = 0; i < m; ++i) size = larger(magnitude(at(at_.constant, i)), size);
    Mask ended = Mask::from_bits(0);
    for (int round = 0; round < kernels::kBoxRefinements; ++round) {
      Pack most = zero;
      each_block(of_.held, [&](const int* row, auto count) {
        constexpr int kCount = decltype(count)::kValue;
        Doubles sum[kCount];
        for (int r = 0; r < kCount; ++r) {
          sum[r] = {at(at_.constant, row[r]), at(at_.constant_low, row[r])};
        }
        for (int b = 0; b < m; ++b) {
          const Doubles own = x(b);
          if (!any_of(own.hi != zero)) continue;
          const double* column = at_.scaled + static_cast<long>(b) * m * kWidth;
          for (int r = 0; r < kCount; ++r) sum[r] = sum[r] + own * at(column, row[r]);
        }
        for (int r = 0; r < kCount; ++r) {
          const Mask held = Mask::from_bits(static_cast<unsigned>(of_.held[row[r]]));
          const Pack rest = select(held, sum[r].hi, zero);
          put(at_.rest, row[r], rest);
          most = larger(magnitude(rest), most);
        }
      });
      ended = ended | (most <= Pack(kernels::kBoxRefined) * size);
      if (all_of(ended)) return;
      const unsigned open = (!ended).bits();
      each_block(of_.basic, [&](const int* row, auto count) {
        constexpr int kCount = decltype(count)::kValue;
        Doubles own[kCount];
        for (int r = 0; r < kCount; ++r) own[r] = x(row[r]);
        for (int k = 0; k < m; ++k) {
          const unsigned held = static_cast<unsigned>(of_.held[k]) & open;
          if (held == 0) continue;
          const Pack rest = select(Mask::from_bits(held), at(at_.rest, k), zero);
          for (int r = 0; r < kCount; ++r) {
            const Mask takes = Mask::from_bits(static_cast<unsigned>(of_.basic[row[r]]) & held);
            const Pack response =
                gather_sums<Isa>(path_.tableau(), of_.row + static_cast<long>(row[r]) * kWidth,
                                 of_.column + static_cast<long>(k) * kWidth);
            own[r] = own[r] - Doubles::product(select(takes, response, zero), rest);
          }
        }
        for (int r = 0; r < kCount; ++r) put_clamped(row[r], own[r]);
      });
    }
  }

  template <int kCount>
  struct BlockOf {
    static constexpr int kValue = kCount;
  };
  /// work(rows, BlockOf<count>) for those that some lane marks, four at a time: doubled sums wait
  /// for each other.
  template <class Work>
  CAROM_INLINE void each_block(const int* marked, Work&& work) const {
    int* const rows = of_.columns;
    int count = 0;
    for (int i = 0; i < m_; ++i) {
      rows[count] = i;
      count += marked[i] != 0 ? 1 : 0;
    }
    int r = 0;
    for (; r + 4 <= count; r += 4) work(rows + r, BlockOf<4>());
    for (; r < count; ++r) work(rows + r, BlockOf<1>());
  }

  /// Residuals of z; w into `value`.
  Pack judge() {
    const int n = n_;
    for (int i = 0; i < n; ++i) {
      put(at_.low, i, at(at_.lower, i));
      put(at_.high, i, at(at_.upper, i));
    }
    for (int k = 0; k < f_; ++k) {
      const int i = of_.friction[k];
      for (int lane = 0; lane < kWidth; ++lane) {
        const Problem& own = problem_[lane];
        const double limit =
            own.friction[i] * at_.z[static_cast<long>(own.findex[i]) * kWidth + lane];
        at_.low[static_cast<long>(i) * kWidth + lane] = -limit;
        at_.high[static_cast<long>(i) * kWidth + lane] = limit;
      }
    }
    return BoxPackJudge<Isa>::judge(
        n,
        {at_.given, at_.vector, at_.low, at_.high, at_.z, at_.value, at_.size, at_.datum,
         at_.known},
        f_ > 0, [&](int lane, int j) { return static_cast<int>(problem_[lane].findex[j]); });
  }

  int n_;
  int f_;
  int m_;
  BoxPackLayout<double*> at_;
  BoxPackIntLayout<int*> of_;
  BoxPath<Isa> path_;
  Problem problem_[kWidth];
};

}  // namespace carom::cpu::simd
