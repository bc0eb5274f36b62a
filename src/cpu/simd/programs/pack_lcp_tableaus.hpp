#pragma once

#include <cstdint>

#include <carom/device/numeric.hpp>

#include "cpu/simd/gather.hpp"
#include "cpu/simd/padding.hpp"
#include "cpu/simd/programs/pack_lcp_ties.hpp"
#include "programs/lcp/kernels/lemke.hpp"

namespace carom::cpu::simd {

/// Scratch of LemkeTableaus, of the widest instruction set.
constexpr long lcp_tableau_reals(int n) { return (n * (n + 5L) + 2) * kLargestPadding; }
constexpr long lcp_tableau_ints(int n) { return (3L * n + 1) * kLargestPadding; }

/// Lemke's method on as many problems as a register has lanes, from their first pivot to the last
/// one's end: the tableaus of kernels::Lemke whole, an entry of all problems in a register, and the
/// same operations on the same numbers. Compared with LemkePack, whose lanes take other problems as
/// they end, a step costs more, but problems are loaded together and a tie finds B^-1 at hand:
/// better for small orders. What a lane cannot do, rays, broken numbers, too many pivots, is left
/// to kernels::Lemke from the start. N: the order.
template <class Isa, int N>
class LemkeTableaus {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr unsigned kAll = (1U << kWidth) - 1U;

 public:
  using Rule = kernels::LemkeRule;

  /// Compared with LemkePack: a tableau's columns need many long registers.
  static constexpr bool kPays = Isa::kInRegisters && kWidth == kLargestPadding;

  struct Outcome {
    unsigned finite = 0;  ///< lanes, a bit each, whose M and q are
    unsigned solved = 0;
    int pivots[kWidth];
  };

  LemkeTableaus(double* reals, int* ints)
      : entries_(reals),
        value_(entries_ + N * (N + 1L) * kWidth),
        column_(value_ + static_cast<long>(N) * kWidth),
        row_(column_ + static_cast<long>(N) * kWidth),
        index_(row_ + (N + 1L) * kWidth),
        basic_(ints),
        place_(ints + static_cast<long>(N) * kWidth) {
    for (int i = 0; i <= N; ++i) put(index_, i, Pack(static_cast<double>(i)));
  }

  /// matrix: [n, n, lane]; vector: [n, lane]; all: [2 n + 1, lane], out, z and what is not asked
  /// for.
  Outcome run(const double* matrix, const double* vector, int max_pivots, double* all) {
    Outcome outcome;
    for (int& count : outcome.pivots) count = 0;
    unsigned active = start(matrix, vector, outcome);
    for (int i = 0; i < N; ++i) put(all, i, Pack(0.0));
    if (max_pivots < 2) active = 0;
    unsigned ended = 0;
    for (int pivots = 2; active != 0 && pivots <= max_pivots; ++pivots) {
      active = choose_rows(active);
      const unsigned now = exchange(active);
      pivot(active, now != active);
      for (unsigned left = now; left != 0; left &= left - 1) {
        outcome.pivots[__builtin_ctz(left)] = pivots;
      }
      ended |= now;
      active &= ~now;
    }
    outcome.solved |= collect(ended, all);
    return outcome;
  }

 private:
  static CAROM_INLINE Pack at(const double* array, long i) {
    return Pack::load(array + i * kWidth);
  }
  static CAROM_INLINE void put(double* array, long i, Pack value) {
    value.store(array + i * kWidth);
  }
  [[nodiscard]] CAROM_INLINE double* entries(long i) const {
    return entries_ + i * (N + 1L) * kWidth;
  }

  /// z0 enters; the lanes that go on. Lanes with q >= 0 are solved.
  unsigned start(const double* matrix, const double* vector, Outcome& outcome) {
    const double* const index_of = index_;
    double* const rows = row_;
    double* const values = value_;
    double* const all = entries_;
    const Pack zero(0.0);
    Pack least = at(vector, 0);
    Pack poison[4] = {zero * least, zero, zero, zero};
    for (int i = 1; i < N; ++i) {
      const Pack q = at(vector, i);
      poison[i % 4] = fused(q, zero, poison[i % 4]);
      least = smaller(q, least);
    }
    Pack row = zero;
    for (int i = 1; i < N; ++i) {
      row = select(at(vector, i) > least, row, at(index_of, i));
    }
    double first[kWidth];
    row.store(first);
    for (int lane = 0; lane < kWidth; ++lane) {
      const int r = static_cast<int>(first[lane]);
      int* basic = basic_ + static_cast<long>(lane) * N;
      int* place = place_ + 2L * lane * N;
      const double* from = matrix + static_cast<long>(r) * N * kWidth + lane;
      for (int j = 0; j < N; ++j) {
        rows[static_cast<long>(j) * kWidth + lane] = -from[static_cast<long>(j) * kWidth];
      }
      for (int i = 0; i < N; ++i) {
        basic[i] = N + i;
        place[i] = place[N + i] = i;
      }
      basic[r] = 2 * N;
      place[N + r] = N;
      gone_[lane] = 1U << r;
      entering_[lane] = r;
      place_now_[lane] = r;
      z0_row_[lane] = r;
    }
    put(rows, N, Pack(1.0));
    const Mask covered = least < zero;
    const Pack moved = -least;
    for (int i = 0; i < N; ++i) {
      const Mask away = at(index_of, i) != row;
      double* to = all + i * (N + 1L) * kWidth;
      const double* from = matrix + static_cast<long>(i) * N * kWidth;
      for (int j = 0; j < N; ++j) {
        const Pack entry = at(from, j);
        const Pack step = at(rows, j);
        poison[j % 4] = fused(entry, zero, poison[j % 4]);
        put(to, j, select(away, fused(Pack(1.0), step, entry), step));
      }
      put(to, N, Pack(1.0));
      put(values, i, select(away, fused(Pack(1.0), moved, at(vector, i)), moved));
    }
    take_column();
    outcome.finite = ((poison[0] + poison[1]) + (poison[2] + poison[3]) <= zero).bits();
    const unsigned active = outcome.finite & covered.bits();
    outcome.solved = outcome.finite & ~active;
    scale_ = moved;
    return active;
  }

  /// column_: that of the lanes' entering variables.
  void take_column() {
    for (int lane = 0; lane < kWidth; ++lane) {
      const double* from = entries_ + static_cast<long>(place_now_[lane]) * kWidth + lane;
      for (int i = 0; i < N; ++i) {
        column_[static_cast<long>(i) * kWidth + lane] = from[i * (N + 1L) * kWidth];
      }
    }
  }

  /// Ratio test: chosen_ of the lanes that have a row.
  unsigned choose_rows(unsigned active) {
    const double* const index_of = index_;
    const double* const values = value_;
    const double* const columns = column_;
    const Pack zero(0.0);
    const Pack infinity(kernels::kInfinity);
    Pack largest = zero;
    for (int i = 0; i < N; ++i) largest = larger(magnitude(at(columns, i)), largest);
    const Pack smallest = Pack(Rule::kPivotTolerance) * largest;
    Pack first = infinity;
    for (int i = 0; i < N; ++i) {
      const Pack rate = -at(columns, i);
      const Pack value = larger(at(values, i), zero);
      first = smaller(select(rate > smallest, value / rate, infinity), first);
    }
    const Pack z0_row = Pack::load(z0_row_);
    const Pack tie = Pack(Rule::kTieTolerance) * scale_;
    Pack chosen(-1.0);
    Mask any = Mask::from_bits(0);
    Mask several = any;
    Mask z0 = any;
    for (int i = 0; i < N; ++i) {
      const Pack index = at(index_of, i);
      const Pack rate = -at(columns, i);
      const Pack value = larger(at(values, i), zero);
      const Mask hit = (rate > smallest) & (value - first * rate <= tie);
      hits_[i] = static_cast<std::uint8_t>(hit.bits());
      chosen = select(hit, index, chosen);
      several = several | (any & hit);
      any = any | hit;
      z0 = z0 | (hit & (index >= z0_row) & (index <= z0_row));
    }
    select(z0, z0_row, chosen).store(chosen_);
    const Mask sound = (largest < infinity) & (first < infinity);
    const unsigned found = active & any.bits() & sound.bits();
    for (unsigned left = found & several.bits() & ~z0.bits(); left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      chosen_[lane] = lexicographic_row(lane);
    }
    return found;
  }

  /// A row of a lane's B^-1 over its rate; zeros behind.
  struct InverseRow {
    Pack part[(N + kWidth - 1) / kWidth];
    CAROM_INLINE Pack operator()(int k) const { return part[k / kWidth]; }
  };

  /// kernels::Lemke's choice among the rows of a lane that block at once.
  int lexicographic_row(int lane) {
    int best = 0;
    while ((hits_[best] >> lane & 1) == 0) ++best;
    InverseRow best_row = inverse_row(lane, best);
    for (int i = best + 1; i < N; ++i) {
      if ((hits_[i] >> lane & 1) == 0) continue;
      const InverseRow row = inverse_row(lane, i);
      if (!tied_row_precedes<Isa>(N, row, best_row)) continue;
      best = i;
      best_row = row;
    }
    return best;
  }
  CAROM_INLINE InverseRow inverse_row(int lane, int i) const {
    const Pack rate(-column_[static_cast<long>(i) * kWidth + lane]);
    const int variable = basic_[static_cast<long>(lane) * N + i];
    const std::uint64_t own = variable >= N ? std::uint64_t{1} << (variable - N) : 0;
    const int* place = place_ + (2L * lane + 1) * N;
    InverseRow row;
    CAROM_UNROLLED
    for (int k = 0; k < N; k += kWidth) {
      const Pack entry = gather_marked<Isa>(entries(i) + lane, place + k, gone_[lane] >> k);
      const Mask unit = Mask::from_bits(static_cast<unsigned>(own >> k) & kAll);
      row.part[k / kWidth] = select(unit, Pack(1.0), -entry) / rate;
    }
    return row;
  }

  /// Takes the lanes' bases to the pivots chosen; the lanes whose z0 leaves.
  unsigned exchange(unsigned active) {
    unsigned ended = 0;
    for (int lane = 0; lane < kWidth; ++lane) {
      if ((active >> lane & 1U) == 0) {
        chosen_[lane] = left_place_[lane] = -1.0;
        continue;
      }
      int* place = place_ + 2L * lane * N;
      int& basic = basic_[static_cast<long>(lane) * N + static_cast<long>(chosen_[lane])];
      const int leaving = basic;
      const int entering = entering_[lane];
      const int column = static_cast<int>(place_now_[lane]);
      left_place_[lane] = column;
      basic = entering;
      if (entering >= N) gone_[lane] ^= 1U << (entering - N);
      if (leaving == 2 * N) {
        ended |= 1U << lane;
        continue;
      }
      place[leaving] = column;
      if (leaving >= N) gone_[lane] ^= 1U << (leaving - N);
      const int next = leaving < N ? leaving + N : leaving - N;
      entering_[lane] = next;
      place_now_[lane] = place[next];
    }
    return ended;
  }

  /// The lanes' pivot rows out of the tableaus to row_; what starts from -0 becomes what is added.
  void take_rows(unsigned active) {
    double* const rows = row_;
    for (int lane = 0; lane < kWidth; ++lane) {
      double* const to = rows + lane;
      if ((active >> lane & 1U) == 0) {
        for (int j = 0; j <= N; ++j) to[static_cast<long>(j) * kWidth] = 0.0;
        continue;
      }
      double* const from = entries(static_cast<long>(chosen_[lane])) + lane;
      for (int j = 0; j <= N; ++j) {
        to[static_cast<long>(j) * kWidth] = from[static_cast<long>(j) * kWidth];
        from[static_cast<long>(j) * kWidth] = -0.0;
      }
    }
  }

  /// kernels::Lemke::pivot in all lanes, only of the values where no lane goes `on`; column_: then
  /// that of the next entering variable. Lanes without a row keep what they have.
  void pivot(unsigned active, bool on) {
    if (on) take_rows(active);
    const double* const index_of = index_;  // which stores of packs might change, as others here
    double* const values = value_;
    double* const columns = column_;
    const Pack zero(0.0);
    const Pack one(1.0);
    const Pack row = Pack::load(chosen_);
    const Pack column = Pack::load(left_place_);
    const Mask moves = Mask::from_bits(active);
    Pack element = one;
    Pack old = zero;
    for (int i = 0; i < N; ++i) {
      const Mask away = at(index_of, i) != row;
      element = select(away, element, at(columns, i));
      old = select(away, old, at(values, i));
    }
    const Pack inverse = one / element;
    const Pack moved = -old * inverse;
    for (int i = 0; i < N; ++i) {
      // With a factor of one the pivot row, which starts from nothing, is what is added.
      const Mask away = at(index_of, i) != row;
      const Pack factor = select(away, select(moves, at(columns, i), zero), one);
      put(columns, i, factor);
      put(values, i, fused(factor, moved, select(away, at(values, i), zero)));
    }
    if (!on) return;
    const Pack next = Pack::load(place_now_);
    const double* const rows = row_;
    double* const all = entries_;
    Pack factor[N];
    Pack entering[N];
    for (int i = 0; i < N; ++i) factor[i] = entering[i] = at(columns, i);
    for (int j = 0; j <= N; ++j) {
      const Mask stays = at(index_of, j) != column;
      const Mask other = at(index_of, j) != next;
      const Pack step = select(stays, -at(rows, j) * inverse, inverse);
      double* const to = all + static_cast<long>(j) * kWidth;
      CAROM_UNROLLED
      for (int i = 0; i < N; ++i) {
        const Pack x = fused(factor[i], step, select(stays, at(to, i * (N + 1L)), zero));
        put(to, i * (N + 1L), x);
        entering[i] = select(other, entering[i], x);
      }
    }
    for (int i = 0; i < N; ++i) put(columns, i, entering[i]);
  }

  /// The solutions in which lanes have ended; those that hold neither NaN nor infinity.
  unsigned collect(unsigned ended, double* all) const {
    const Pack zero(0.0);
    Pack poison = zero;
    for (int i = 0; i < N; ++i) {
      const Pack value = at(value_, i);
      poison = fused(value, zero, poison);
      put(value_, i, larger(value, zero));
    }
    for (unsigned left = ended; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      const int* basic = basic_ + static_cast<long>(lane) * N;
      for (int i = 0; i < N; ++i) {
        all[static_cast<long>(basic[i]) * kWidth + lane] =
            value_[static_cast<long>(i) * kWidth + lane];
      }
    }
    return ended & (poison <= zero).bits();
  }

  double* entries_;  // [n, n + 1, lane] of the nonbasic variables
  double* value_;    // [n, lane]
  double* column_;   // [n, lane] of the entering variable
  double* row_;      // [n + 1, lane] the pivot row before the update
  double* index_;    // [n + 1, lane] 0, 1, ...
  int* basic_;       // [lane, n] variable of each row
  int* place_;       // [lane, 2 n], and what a register reads behind: column of a nonbasic variable
  Pack scale_;       // of the values: -min q
  alignas(64) double z0_row_[kWidth];
  alignas(64) double chosen_[kWidth];
  alignas(64) double left_place_[kWidth];  // column of the pivot
  alignas(64) double place_now_[kWidth];   // column of the entering variable
  int entering_[kWidth];
  unsigned gone_[kWidth];  // the w that are nonbasic, a bit each
  std::uint8_t hits_[32];  // the lanes in which a row blocks, as bits
};

}  // namespace carom::cpu::simd
