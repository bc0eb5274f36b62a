#pragma once

#include <cstdint>

#include <carom/device/numeric.hpp>
#include <carom/types/lcp.hpp>

#include "cpu/simd/gather.hpp"
#include "cpu/simd/padding.hpp"
#include "cpu/simd/programs/pack_lcp_ties.hpp"
#include "programs/lcp/kernels/lemke.hpp"

namespace carom::cpu::simd {

/// Pivots that a lane's memory holds; what needs more leaves the pack.
constexpr int lcp_pack_pivots(int n) { return n + 8; }

/// Scratch of a pack of problems of order n, of the widest instruction set.
constexpr long lcp_pack_reals(int n) {
  return (lcp_pack_pivots(n) * (n + 2L) + 2L * n + 1) * kLargestPadding +
         static_cast<long>(n) * kernels::padded(n, kLargestPadding) + 2L * n + lcp_pack_pivots(n);
}
constexpr long lcp_pack_ints(int n) {
  return 3L * n * kLargestPadding + 3L * n + lcp_pack_pivots(n);
}

/// Of the variables of a problem, at most kMaxLcpOrder.
struct VariableSet {
  std::uint64_t words[kMaxLcpOrder / 64] = {};

  CAROM_INLINE void change(int k) { words[k >> 6] ^= std::uint64_t{1} << (k & 63); }
  template <class F>
  CAROM_INLINE void each(F&& f) const {
    for (int word = 0; word < kMaxLcpOrder / 64; ++word) {
      for (std::uint64_t left = words[word]; left != 0; left &= left - 1) {
        f(64 * word + __builtin_ctzll(left));
      }
    }
  }
};

/// Lemke's method with one problem a lane of a register, and its columns only as they enter.
///
/// kernels::Lemke keeps the whole tableau and changes all of it in every pivot; a path of k pivots
/// reads k columns. Here a pivot is stored as its column, element and row, and a column that enters
/// starts from what it was when its variable last left the basis (M's at the start) and takes the
/// pivots since: the same operations on the same numbers, k n / 2 instead of n^2 of them a pivot.
/// A tie among rows without z0 asks for rows of B^-1: the columns of the w that have left, as many
/// as there were pivots at most, are brought up to date only in that lane. A lane that ends gets
/// the next problem at once. What the pack does not do, rays, broken numbers, too many pivots, is
/// left to kernels::Lemke from the start, so that every problem's answer is that of kernels::Lemke,
/// bit for bit.
template <class Isa>
class LemkePack {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;

 public:
  using Rule = kernels::LemkeRule;

  LemkePack(int n, double* reals, int* ints)
      : n_(n),
        most_(lcp_pack_pivots(n)),
        pivots_(reals),
        inverse_(pivots_ + static_cast<long>(most_) * n * kWidth),
        row_(inverse_ + static_cast<long>(most_) * kWidth),
        column_(row_ + static_cast<long>(most_ + 1) * kWidth),
        value_(column_ + static_cast<long>(n) * kWidth),
        index_(value_ + static_cast<long>(n) * kWidth),
        inverse_rows_(index_ + n),
        restored_(inverse_rows_ + n * static_cast<long>(padded())),
        basic_(ints),
        left_at_(ints + static_cast<long>(n) * kWidth),
        watched_(left_at_ + 2L * n * kWidth),
        hits_(watched_ + n + most_) {
    for (int i = 0; i < n; ++i) index_[i] = i;
    for (double* x = pivots_; x < column_; ++x) *x = 0.0;
  }

  /// M of a problem lies at base + its offset. next(problem, offset, q, min q) -> false when none
  /// is left; min q < 0. found(problem, pivots, z), or failed(problem) where the pack gives up.
  template <class Next, class Found, class Failed>
  void run(const double* base, int max_pivots, Next&& next, Found&& found, Failed&& failed) {
    base_ = base;
    limit_ = max_pivots < most_ ? max_pivots : most_;
    active_ = 0;
    step_ = 0;
    here_ = 0;
    for (int lane = 0; lane < kWidth; ++lane) {
      matrix_[lane] = 0;
      refill(lane, next, failed);
    }
    while (active_ != 0) {
      ++step_;
      here_ = after(here_);
      enter_columns();
      const unsigned chosen = choose_rows();
      pivot(chosen);
      for (unsigned left = active_; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        bool done = false;
        if ((chosen >> lane & 1U) != 0) {
          if (exchange(lane)) {
            if (step_ - start_[lane] + 1 < limit_) continue;
          } else {
            done = collect(lane);
          }
        }
        if (done) {
          found(problem_[lane], static_cast<int>(step_ - start_[lane] + 1), column_);
        } else {
          scrub(lane);
          failed(problem_[lane]);
        }
        refill(lane, next, failed);
      }
    }
  }

 private:
  /// Pivots lie in a ring: all lanes store theirs of one step in one place.
  [[nodiscard]] CAROM_INLINE int after(int place) const {
    return place + 1 < most_ ? place + 1 : 0;
  }
  /// Of one of the last steps.
  [[nodiscard]] CAROM_INLINE int place(std::int64_t step) const {
    const int place = here_ - static_cast<int>(step_ - step);
    return place >= 0 ? place : place + most_;
  }
  [[nodiscard]] CAROM_INLINE double* pivot_column(int place) const {
    return pivots_ + static_cast<long>(place) * n_ * kWidth;
  }

  /// Gives the lane the next problem, with z0 in its basis.
  template <class Next, class Failed>
  void refill(int lane, Next&& next, Failed&& failed) {
    const int n = n_;  // which stores of integers might change
    for (;;) {
      const double* vector = nullptr;
      std::int64_t offset = 0;
      double least = 0.0;
      if (!next(problem_[lane], offset, vector, least)) {
        active_ &= ~(1U << lane);
        return;
      }
      matrix_[lane] = offset;
      int row = 0;
      for (int i = 1; i < n; ++i) row = vector[i] > least ? row : i;
      least = -least;
      if (limit_ < 2) {
        failed(problem_[lane]);
        continue;
      }
      scale_[lane] = least;
      double* column = pivot_column(here_) + lane;
      int* basic = basic_ + static_cast<long>(lane) * n_;
      int* left_at = left_at_ + 2L * lane * n_;
      for (int i = 0; i < n; ++i) {
        column[i * kWidth] = 1.0;
        value_[i * kWidth + lane] = kernels::fused(1.0, least, vector[i]);
        basic[i] = n_ + i;
        left_at[i] = left_at[n_ + i] = -1;
      }
      value_[row * kWidth + lane] = least;
      inverse_[here_ * kWidth + lane] = 1.0;
      row_[here_ * kWidth + lane] = row;
      basic[row] = 2 * n_;
      left_at[n_ + row] = static_cast<int>(step_);
      gone_[lane] = {};
      gone_[lane].change(row);
      z0_row_[lane] = row;
      start_[lane] = step_;
      entering_[lane] = row;
      active_ |= 1U << lane;
      return;
    }
  }

  /// Stored numbers of a lane that may hold NaN, which idle lanes would multiply by zero.
  void scrub(int lane) {
    for (int s = 0; s < most_; ++s) {
      double* column = pivot_column(s) + lane;
      for (int i = 0; i < n_; ++i) column[i * kWidth] = 0.0;
      inverse_[s * kWidth + lane] = 0.0;
    }
  }

  /// column_: the tableau's column of each lane's entering variable.
  void enter_columns() {
    const int n = n_;  // which stores of integers might change
    std::int64_t begin = step_;
    unsigned later = 0;
    alignas(64) std::int64_t at[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      at[lane] = matrix_[lane];
      from_[lane] = kernels::kInfinity;
      if ((active_ >> lane & 1U) == 0) continue;
      const std::int64_t left = left_at_[2L * lane * n_ + entering_[lane]];
      const std::int64_t from = left >= 0 ? left + 1 : start_[lane];
      from_[lane] = static_cast<double>(from);
      if (left >= 0) {
        later |= 1U << lane;
      } else {
        at[lane] += entering_[lane];
      }
      begin = from < begin ? from : begin;
    }
    gather_rows<kWidth>(base_, at, n, n, column_);
    for (unsigned rest = later; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const int s = place(static_cast<std::int64_t>(from_[lane]) - 1);
      const double* from = pivot_column(s) + lane;
      const double inverse = inverse_[s * kWidth + lane];
      for (int i = 0; i < n; ++i) column_[i * kWidth + lane] = from[i * kWidth] * inverse;
    }
    const Pack from = Pack::load(from_);
    const Pack zero(0.0);
    int s = place(begin);
    Pack next_row = Pack::load(row_ + static_cast<long>(s) * kWidth);
    Pack element = zero;
    for (int i = 0; i < n; ++i) {
      const Pack x = Pack::load(column_ + static_cast<long>(i) * kWidth);
      element = select(next_row != Pack(index_[i]), element, x);
    }
    for (std::int64_t step = begin; step < step_; ++step) {
      const Mask takes = from <= Pack(static_cast<double>(step));
      const Pack factor =
          select(takes, -element * Pack::load(inverse_ + static_cast<long>(s) * kWidth), zero);
      const Pack row = select(takes, next_row, Pack(-1.0));
      const double* stored = pivot_column(s);
      s = after(s);
      next_row = Pack::load(row_ + static_cast<long>(s) * kWidth);
      double* to = column_;
      for (int i = 0; i < n; ++i, stored += kWidth, to += kWidth) {
        const Pack index(index_[i]);
        Pack x = fused(Pack::load(stored), factor, Pack::load(to));
        x = select(row != index, x, factor);
        element = select(next_row != index, element, x);
        x.store(to);
      }
    }
  }

  /// Ratio test: chosen_ and the lanes that have a row.
  unsigned choose_rows() {
    const int n = n_;  // which stores of integers might change
    const Pack zero(0.0);
    const Pack infinity(kernels::kInfinity);
    Pack largest = zero;
    for (int i = 0; i < n; ++i) {
      largest = larger(magnitude(Pack::load(column_ + static_cast<long>(i) * kWidth)), largest);
    }
    const Pack smallest = Pack(Rule::kPivotTolerance) * largest;
    Pack first = infinity;
    for (int i = 0; i < n; ++i) {
      const Pack rate = -Pack::load(column_ + static_cast<long>(i) * kWidth);
      const Pack value = larger(Pack::load(value_ + static_cast<long>(i) * kWidth), zero);
      first = smaller(select(rate > smallest, value / rate, infinity), first);
    }
    const Pack z0_row = Pack::load(z0_row_);
    const Pack tie = Pack(Rule::kTieTolerance) * Pack::load(scale_);
    Pack chosen(-1.0);
    Mask any = Mask::from_bits(0);
    Mask several = any;
    Mask z0 = any;
    for (int i = 0; i < n; ++i) {
      const Pack index(index_[i]);
      const Pack rate = -Pack::load(column_ + static_cast<long>(i) * kWidth);
      const Pack value = larger(Pack::load(value_ + static_cast<long>(i) * kWidth), zero);
      const Mask hit = (rate > smallest) & (value - first * rate <= tie);
      hits_[i] = static_cast<int>(hit.bits());
      chosen = select(hit, index, chosen);
      several = several | (any & hit);
      any = any | hit;
      z0 = z0 | (hit & (index >= z0_row) & (index <= z0_row));
    }
    select(z0, z0_row, chosen).store(chosen_);
    const Mask sound = (largest < infinity) & (first < infinity);
    const unsigned found = active_ & any.bits() & sound.bits();
    const unsigned ties = found & several.bits() & ~z0.bits();
    for (unsigned left = ties; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      chosen_[lane] = lexicographic_row(lane);
    }
    return found;
  }

  [[nodiscard]] CAROM_INLINE int padded() const { return kernels::padded(n_, kLargestPadding); }

  struct StoredRow {
    const double* entries;
    CAROM_INLINE Pack operator()(int k) const { return Pack::load(entries + k); }
  };

  /// kernels::Lemke's choice among the rows of a lane that block at once.
  int lexicographic_row(int lane) {
    int* tied = watched_;
    int count = 0;
    for (int i = 0; i < n_; ++i) {
      tied[count] = i;
      count += hits_[i] >> lane & 1;
    }
    const long stride = padded();
    const int* basic = basic_ + static_cast<long>(lane) * n_;
    const int* left_at = left_at_ + 2L * lane * n_;
    for (int c = 0; c < count; ++c) {
      double* entries = inverse_rows_ + c * stride;
      for (int k = 0; k < stride; ++k) entries[k] = 0.0;
      const int variable = basic[tied[c]];
      if (variable >= n_) entries[variable - n_] = 1.0;
    }
    gone_[lane].each([&](int k) {
      restore_entries(lane, left_at[n_ + k], count);
      for (int c = 0; c < count; ++c) inverse_rows_[c * stride + k] = -restored_[c];
    });
    for (int c = 0; c < count; ++c) {
      const Pack rate(-column_[tied[c] * kWidth + lane]);
      double* entries = inverse_rows_ + c * stride;
      for (int k = 0; k < stride; k += kWidth) {
        (Pack::load(entries + k) / rate).store(entries + k);
      }
    }
    int best = 0;
    for (int c = 1; c < count; ++c) {
      if (tied_row_precedes<Isa>(n_, StoredRow{inverse_rows_ + c * stride},
                                 StoredRow{inverse_rows_ + best * stride})) {
        best = c;
      }
    }
    return tied[best];
  }

  /// restored_: the entries in the `count` tied rows of the column of the variable that left in
  /// pivot `left`, as enter_columns has it. The rows of the pivots since are all that they want.
  void restore_entries(int lane, std::int64_t left, int count) {
    const int since = static_cast<int>(step_ - left) - 1;
    int s = place(left);
    int* pivot_row = watched_ + count;
    for (int t = 0, at = s; t < since; ++t) {
      at = after(at);
      pivot_row[t] = static_cast<int>(row_[at * kWidth + lane]);
    }
    const int all = count + since;
    const double* stored = pivot_column(s) + lane;
    const double start = inverse_[s * kWidth + lane];
    for (int e = 0; e < all; ++e) restored_[e] = stored[watched_[e] * kWidth] * start;
    for (int t = 0; t < since; ++t) {
      s = after(s);
      const double factor = -restored_[count + t] * inverse_[s * kWidth + lane];
      stored = pivot_column(s) + lane;
      const int row = pivot_row[t];
      for (int e = 0; e < all; ++e) {
        const int here = watched_[e];
        if (here == row) {
          restored_[e] = factor;
        } else if (factor != 0.0) {
          restored_[e] = kernels::fused(stored[here * kWidth], factor, restored_[e]);
        }
      }
    }
  }

  /// Stores the pivot of the lanes in `chosen` and takes it to their values.
  void pivot(unsigned chosen) {
    const int n = n_;  // which stores of integers might change
    alignas(64) double element[kWidth];
    alignas(64) double old[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      element[lane] = 1.0;
      old[lane] = 0.0;
      if ((chosen >> lane & 1U) == 0) {
        chosen_[lane] = -1.0;
        continue;
      }
      const long at = static_cast<long>(chosen_[lane]) * kWidth + lane;
      element[lane] = column_[at];
      old[lane] = value_[at];
    }
    const Pack inverse = Pack(1.0) / Pack::load(element);
    const Pack moved = -Pack::load(old) * inverse;
    const Pack row = Pack::load(chosen_);
    inverse.store(inverse_ + static_cast<long>(here_) * kWidth);
    row.store(row_ + static_cast<long>(here_) * kWidth);
    double* stored = pivot_column(here_);
    for (int i = 0; i < n; ++i) {
      const long at = static_cast<long>(i) * kWidth;
      const Pack index(index_[i]);
      const Pack x = Pack::load(column_ + at);
      const Pack value = fused(x, moved, Pack::load(value_ + at));
      select(row != index, value, moved).store(value_ + at);
      select(row != index, x, Pack(1.0)).store(stored + at);
    }
  }

  /// Takes a lane's basis to its last pivot; false where z0 has left.
  bool exchange(int lane) {
    const int row = static_cast<int>(chosen_[lane]);
    int& basic = basic_[static_cast<long>(lane) * n_ + row];
    const int leaving = basic;
    basic = entering_[lane];
    left_at_[2L * lane * n_ + basic] = -1;
    if (leaving == 2 * n_) return false;
    left_at_[2L * lane * n_ + leaving] = static_cast<int>(step_);
    if (basic >= n_) gone_[lane].change(basic - n_);
    if (leaving >= n_) gone_[lane].change(leaving - n_);
    entering_[lane] = leaving < n_ ? leaving + n_ : leaving - n_;
    return true;
  }

  /// column_[0 .. 2n]: the solution in which a lane has ended; false where it holds NaN or
  /// infinity.
  bool collect(int lane) {
    const int n = n_;       // which stores of integers might change
    double* all = column_;  // z, w and z0: no test of what each row's variable is
    for (int i = 0; i < n; ++i) all[i] = 0.0;
    const int* basic = basic_ + static_cast<long>(lane) * n_;
    bool finite = true;
    for (int i = 0; i < n; ++i) {
      const double value = value_[i * kWidth + lane];
      finite = finite & kernels::is_finite(value);
      all[basic[i]] = kernels::at_least_zero(value);
    }
    return finite;
  }

  int n_;
  int most_;
  double* pivots_;        // [most, n, lane] columns before their pivots, 1 in the pivot's row
  double* inverse_;       // [most, lane] 1 / element
  double* row_;           // [most + 1, lane]
  double* column_;        // [n, lane]
  double* value_;         // [n, lane]
  double* index_;         // [n] 0, 1, ...
  double* inverse_rows_;  // [tied row, n padded] of B^-1 in one lane
  double* restored_;      // [n + most] entries of a column of one lane
  int* basic_;            // [lane, n] variable of each row
  int* left_at_;          // [lane, 2 n] pivot in which a nonbasic variable last left, or -1
  int* watched_;          // [n + most] rows of one lane that block at once, then others
  int* hits_;             // [n] the lanes in which a row blocks, as bits
  const double* base_ = nullptr;
  unsigned active_ = 0;
  int limit_ = 0;
  std::int64_t step_ = 0;
  int here_ = 0;                     // place of step_
  alignas(64) double from_[kWidth];  // first pivot that the entering column takes
  alignas(64) double z0_row_[kWidth] = {};
  alignas(64) double scale_[kWidth] = {};
  alignas(64) double chosen_[kWidth];
  std::int64_t start_[kWidth] = {};  // step of its first pivot
  std::int64_t matrix_[kWidth];      // of M from base_
  std::int64_t problem_[kWidth];
  int entering_[kWidth] = {};
  VariableSet gone_[kWidth] = {};  // the w that are nonbasic
};

}  // namespace carom::cpu::simd
