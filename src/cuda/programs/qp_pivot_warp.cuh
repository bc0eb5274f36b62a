#pragma once

#include <utility>

#include <carom/device/arena.hpp>
#include <carom/device/qp_problem.hpp>

#include "cuda/lanes.cuh"
#include "programs/qp/kernels/qp_pivot_table.hpp"

/// kernels::QpDualPivots for one problem without equations per warp. Each lane has a row of the
/// problem and of the table in its registers; shared memory has the numbers that other lanes read.
/// All operations and their order are those of the CPU, so the bits are the same.
namespace carom::cuda {

/// f(k) for k = 0 .. Count - 1 as constants, so that elements of arrays stay in registers.
template <int Count, class F>
CAROM_INLINE void unrolled(F&& f) {
  [&]<int... K>(std::integer_sequence<int, K...>) { (f(std::integral_constant<int, K>{}), ...); }
  (std::make_integer_sequence<int, Count>{});
}

/// f(k) for k = 0 .. count - 1 in a loop that is unrolled only Step times: code that a warp runs
/// once would have to be fetched again for every problem.
template <int Step = 1, class F>
CAROM_INLINE void in_turn(int count, F&& f) {
#if defined(__CUDA_ARCH__)
#pragma unroll Step
#endif
  for (int k = 0; k < count; ++k) f(k);
}

/// x, but the compiler treats it as a new value at each use, so that it does not keep values
/// derived from it in registers over the rounds of a loop.
CAROM_INLINE int anew(int x) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(x));
#endif
  return x;
}
/// The lowest `count` bits.
CAROM_INLINE constexpr unsigned first_bits(int count) {
  return count >= 32 ? ~0U : (1U << count) - 1U;
}

/// Numbers of a warp's problem that other lanes read. N unknowns, at most R rows.
template <int N, int R>
struct QpPivotWarpLayout {
  static_assert(N % 2 == 0 && R % 2 == 0 && N <= R && R <= WarpLanes::kWidth);
  /// Stride of the rows of P and A, without bank conflicts for lanes that read down a column.
  static constexpr int kStride = N + 1;
  static constexpr int kTriangle = R * (R + 1) / 2;
  static constexpr int kThrough = R * N;

  double* factor;         ///< P = L D L', as QpPivotTable has it; pairs of numbers from here on
  double* pivot_inverse;  ///< [N]
  double* inverse;        ///< K, then P^-1, [N, N]
  double* through;        ///< A P^-1, [R, N], then half of the table
  double* a;              ///< column of the pivot that waits, [R]; b is 2 R after it
  double* a_down;         ///< its change of the table is a a_down', [R]; likewise b_down
  double* b;              ///< the same of the next one
  double* b_down;
  double* entering;  ///< a row of the table
  double* x;         ///< [N]
  double* gradient;  ///< [N]
  double* hessian;   ///< P, both halves, [N, kStride]
  double* matrix;    ///< A, [R, kStride]
  long end;

  CAROM_INLINE explicit constexpr QpPivotWarpLayout(double* memory) {
    long used = 0;
    const auto take = [&](long count) {
      double* place = memory + used;
      used += count;
      return place;
    };
    constexpr int kInverse = N * N;
    factor = take(N * N);
    pivot_inverse = take(N);
    inverse = take(kInverse + kThrough > kTriangle ? kInverse + kThrough : kTriangle);
    through = inverse + kInverse;
    a = take(R);
    a_down = take(R);
    b = take(R);
    b_down = take(R);
    entering = take(R);
    x = take(N);
    gradient = take(N);
    hessian = take(N * kStride);
    matrix = take(R * kStride);
    end = used;
  }
  static constexpr long kInPairs = 2L * N * N + N + kThrough + 5L * R + 2L * N;
  /// An even number.
  static constexpr long kValues = (kInPairs + (N + R) * kStride + 1) / 2 * 2;
  static_assert(kThrough + N * N >= kTriangle);
};

template <int N, int R, bool TwoSided>
class QpPivotWarp {
 public:
  using Layout = QpPivotWarpLayout<N, R>;

  CAROM_INLINE QpPivotWarp(const kernels::QpShape& shape, double* memory)
      : at_(memory), lane_(WarpLanes::lane()), row_(lane_ < R ? lane_ : R - 1) {
    static_assert(kChains == 4);
    in_fours_ = first_bits(shape.rows / kChains * kChains);
    behind_ = first_bits(shape.rows) & ~in_fours_;
    structure_ = 0;
    for (int i = 0; i < shape.rows; ++i) {
      for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
        if (shape.column[t] == lane_) structure_ |= 1U << i;
      }
    }
  }

  double lower, upper;  ///< of the lane's row; a lane without one has a row without entries

  [[nodiscard]] CAROM_INLINE const Layout& memory() const { return at_; }
  [[nodiscard]] CAROM_INLINE int row() const { return row_; }
  [[nodiscard]] CAROM_INLINE int pivots() const { return pivots_; }
  /// Of the lane's row.
  [[nodiscard]] CAROM_INLINE double dual() const { return -second_; }

  /// False where this is not what dual pivots solve, or not `good`. `memory()` and the bounds hold
  /// the problem, memory().x then the solution. meet(): called as often by all problems.
  template <class Meet>
  CAROM_INLINE bool solve(bool good, double tolerance, int most, Meet&& meet) {
    lane_ = anew(lane_);
    row_ = anew(row_);
    meet();
    if (good) good = factorise();
    if (good) invert();
    meet();
    if (good) fill();
    meet();
    double added = 0.0;
    // One text for what begins, follows and corrects.
    in_turn(3, [&](int pass) {
      if (good) {
        double x[N];
        if (pass == 0) {
          over_pairs<0, N>(at_.gradient, [&](auto j, double q) { x[j] = -q; });
        } else {
          // Where no row has an entry, -0 stays what it is.
          const double own = lane_ < N ? -at_.gradient[lane_ < N ? lane_ : 0] : 0.0;
          add_rows(pass == 1 ? second_ : added, pass == 1 ? own : 0.0, pass == 1 ? structure_ : ~0U,
                   x);
        }
        solve_factors(x);
        if (pass == 0) {
          start(x);
          good = pivot(tolerance, most);
          double value = scale_ * multiplier_;
          if constexpr (TwoSided) value = side_ * value;
          second_ = multiplier_ < kernels::kInfinity ? value : 0.0;
        } else if (pass == 1) {
          added = correct(x);
        } else {
          over_pairs<0, N>(at_.entering, [&](auto j, double value) { x[j] = value + x[j]; });
          barrier();
          if (lane_ == 0) unrolled<N>([&](auto j) { at_.x[j] = x[j]; });
          barrier();
        }
      }
      if (pass < 2) meet();
    });
    return good;
  }

  /// Sum of the lane's row times x, fused.
  CAROM_INLINE double row_product(const double (&x)[N]) const {
    const double* const row = at_.matrix + row_ * Layout::kStride;
    double sum = 0.0;
    unrolled<N>([&](auto t) { sum = kernels::fused(row[t], x[t], sum); });
    return sum;
  }

 private:
  // As in QpDualPivots and QpPivotTable.
  static constexpr double kDefinite = 1e-13;
  static constexpr double kFeasible = 1e-13;
  static constexpr double kDependent = 1e-9;
  static constexpr double kFeasibleDependent = 1e-10;
  static constexpr int kChains = 4;
  static constexpr int kTogether = 8;  ///< columns of the table

  struct alignas(16) Pair {
    double first, second;
  };
  /// f(k, values[k]) for k from First on, two at a time; `values` at an even place.
  template <int First, int Count, class F>
  CAROM_INLINE static void over_pairs(const double* values, F&& f) {
    unrolled<Count / 2>([&](auto half) {
      constexpr int k = 2 * decltype(half)::value;
      if constexpr (k + 1 >= First) {
        const Pair pair = *reinterpret_cast<const Pair*>(values + k);
        if constexpr (k >= First) f(std::integral_constant<int, k>{}, pair.first);
        f(std::integral_constant<int, k + 1>{}, pair.second);
      }
    });
  }
  template <class T>
  CAROM_INLINE static T from(T value, int lane) {
    return WarpLanes::from(value, lane);
  }
  CAROM_INLINE static void barrier() { WarpLanes::barrier(); }
  /// Every few steps: a compiler begins all reads of a long chain at once and runs out of
  /// registers.
  template <int Step>
  CAROM_INLINE static void hold() {
    if constexpr (Step % 2 == 1) barrier();
  }

  /// Lane i has row i of the lower half, from the pivot's column on.
  CAROM_INLINE bool factorise() {
    using kernels::fused;
    const int i = lane_ < N ? lane_ : N - 1;
    double row[N];
    unrolled<N>([&](auto j) { row[j] = at_.hessian[i * Layout::kStride + j]; });
    bool definite = true;
    in_turn(N, [&](int k) {
      const double own = row[0];
      const double pivot = from(own, k);
      const double reciprocal = pivot > 0.0 ? 1.0 / pivot : 0.0;
      definite = definite & (pivot > kDefinite * at_.hessian[k * Layout::kStride + k]);
      double* const factor = k % 2 == 0 ? at_.a : at_.b;
      if (lane_ == 0) at_.pivot_inverse[k] = reciprocal;
      if (lane_ < N) at_.factor[k * N + lane_] = own;
      if (lane_ > k && lane_ < N) factor[lane_ - k - 1] = -(own * reciprocal);
      barrier();
      // What is after the last column is not used.
      over_pairs<0, N>(factor, [&](auto j, double value) {
        constexpr int kNext = decltype(j)::value + 1;
        if constexpr (kNext < N) row[j] = fused(value, own, row[kNext]);
      });
    });
    return definite;
  }

  /// Lane j has column j of K = L^-1 from the diagonal on, then of P^-1.
  CAROM_INLINE void invert() {
    using kernels::fused;
    double column[N];
    unrolled<N>([&](auto i) { column[i] = lane_ == i ? 1.0 : 0.0; });
    in_turn(N, [&](int k) {
      const double own = column[0];
      if (lane_ < N) at_.inverse[k * N + lane_] = own;
      const double value = -(own * at_.pivot_inverse[k]);
      const double* const below = at_.factor + k * (N + 1) + 1;  // after the last row not used
      unrolled<N - 1>([&](auto i) { column[i] = fused(value, below[i], column[i + 1]); });
    });
    barrier();
    // Above K's diagonal are zeros.
    double product[N];
    unrolled<N>([&](auto i) { product[i] = 0.0; });
    const int own = lane_ < N ? lane_ : N - 1;
    in_turn(N, [&](int k) {
      const double value = at_.inverse[k * N + own] * at_.pivot_inverse[k];
      over_pairs<0, N>(at_.inverse + k * N,
                       [&](auto i, double entry) { product[i] = fused(value, entry, product[i]); });
    });
    barrier();
    const int lane = anew(lane_);
    if (lane < N) {
      unrolled<N>([&](auto i) {
        if (i >= lane) {
          at_.inverse[lane * N + i] = product[i];
          at_.inverse[i * N + lane] = product[i];
        }
      });
    }
    barrier();
  }

  /// The table. A zero times what is finite changes no sum that began with zero.
  CAROM_INLINE void fill() {
    using kernels::fused;
    const double* const of_row = at_.matrix + row_ * Layout::kStride;
    double row[N];
    unrolled<N>([&](auto j) { row[j] = 0.0; });
    in_turn(N, [&](int t) {
      const double own = lane_ < R ? of_row[t] : 0.0;
      over_pairs<0, N>(at_.inverse + t * N,
                       [&](auto j, double value) { row[j] = fused(own, value, row[j]); });
    });
    double entry[N];
    unrolled<N>([&](auto t) { entry[t] = lane_ < R ? of_row[t] : 0.0; });
    double size = 0.0;
    unrolled<N>([&](auto t) { size = fused(entry[t], row[t], size); });
    scale_ = size > 0.0 ? 1.0 / kernels::square_root(size) : 0.0;
    unrolled<N>([&](auto t) { entry[t] = entry[t] * scale_; });
    if (lane_ < R) {
      unrolled<N>([&](auto j) { at_.through[lane_ * N + j] = row[j] * scale_; });
    }
    barrier();
    static_assert(R % kTogether == 0);
    unrolled<R>([&](auto j) { table_[j] = 0.0; });
    in_turn(R / kTogether, [&](int part) {
      unrolled<R - kTogether>([&](auto j) { table_[j] = table_[j + kTogether]; });
      unrolled<kTogether>([&](auto j) {
        double sum = 0.0;
        over_pairs<0, N>(at_.through + (part * kTogether + j) * N,
                         [&](auto t, double value) { sum = fused(entry[t], value, sum); });
        table_[R - kTogether + j] = sum;
        hold<j>();
      });
    });
    barrier();
    // The later row of two has their entry.
    double* const half = at_.inverse;
    int lane = anew(lane_);
    if (lane < R) {
      double* const mine = half + lane * (lane + 1) / 2;
      unrolled<R>([&](auto j) {
        if (j <= lane) mine[j] = table_[j];
      });
    }
    barrier();
    lane = anew(lane);
    unrolled<R>([&](auto j) {
      constexpr int kBegin = decltype(j)::value * (decltype(j)::value + 1) / 2;
      if (j > lane) table_[j] = half[kBegin + lane];
    });
    diagonal_ = lane < R ? half[lane * (lane + 1) / 2 + lane] : 0.0;
  }

  /// x := P^-1 x, on every lane.
  CAROM_INLINE void solve_factors(double (&x)[N]) const {
    using kernels::fused;
    unrolled<N>([&](auto step) {
      constexpr int k = decltype(step)::value;
      const double value = x[k] * at_.pivot_inverse[k];
      x[k] = value;
      over_pairs<k + 1, N>(at_.factor + k * N,
                           [&](auto i, double entry) { x[i] = fused(-value, entry, x[i]); });
      hold<k>();
    });
    barrier();
    unrolled<N - 1>([&](auto step) {
      constexpr int k = N - 2 - decltype(step)::value;
      constexpr int kFours = (N - k - 1) / 4 * 4;
      double sum[4] = {0.0, 0.0, 0.0, 0.0};
      over_pairs<k + 1, N>(at_.factor + k * N, [&](auto i, double entry) {
        constexpr int t = decltype(i)::value - k - 1;
        constexpr int part = t < kFours ? t % 4 : 0;
        sum[part] = fused(entry, x[i], sum[part]);
      });
      x[k] = fused(-at_.pivot_inverse[k], (sum[0] + sum[1]) + (sum[2] + sum[3]), x[k]);
      hold<k>();
    });
  }

  CAROM_INLINE void start(const double (&x)[N]) {
    using kernels::fused;
    energy_ = 0.0;
    barrier();
    over_pairs<0, N>(at_.gradient, [&](auto j, double q) { energy_ = fused(-q, x[j], energy_); });
    const double value = row_product(x);
    const bool there = scale_ > 0.0;
    below_ = there ? scale_ * (lower - value) : -kernels::kInfinity;
    above_ = there ? scale_ * (value - upper) : -kernels::kInfinity;
    multiplier_ = kernels::kInfinity;
    side_ = 1.0;
  }

  struct Progress {
    bool pending = false;
    int entering = 0;
    double side = 1.0;
    double multiplier = 0.0;
  };
  enum class Step : unsigned char { done, broken, pivoted };

  CAROM_INLINE bool pivot(double tolerance, int most) {
    const double feasible = kernels::smaller(kFeasible, 0.1 * tolerance);
    limit_ = feasible * feasible;
    pivots_ = 0;
    Progress at;
    nothing_waits();
    bool second = false;
    const int pairs = (most + 1) / 2 * 2;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int count = 0; count < pairs; ++count) {
      double b = 0.0;
      double b_down = -0.0;  // as nothing_waits has it
      const Step made = step(at, b, b_down);
      if (!second) {
        if (made != Step::pivoted) return made == Step::done;
        a_ = b;
        a_down_ = b_down;
        put(at_.a, at_.a_down, a_, a_down_);
      } else {
        put(at_.b, at_.b_down, b, b_down);
        change(b, b_down);
        if (made != Step::pivoted) return made == Step::done;
        nothing_waits();
      }
      second = !second;
    }
    return false;
  }
  /// A pivot that waits and changes no bit: 0 times -0 is added.
  CAROM_INLINE void nothing_waits() {
    a_ = 0.0;
    a_down_ = -0.0;
    put(at_.a, at_.a_down, a_, a_down_);
  }
  CAROM_INLINE void put(double* column, double* down, double own, double own_down) const {
    if (lane_ < R) {
      column[lane_] = own;
      down[lane_] = own_down;
    }
    barrier();
  }

  struct Violation {
    double score;
    int index;
  };
  /// QpDualPivots::most_violated, where of equal ones the first of the first chain is taken.
  CAROM_INLINE Violation most_violated() const {
    double outside = below_;
    if constexpr (TwoSided) outside = kernels::larger(above_, outside);
    outside = kernels::larger(outside, 0.0);
    const double own = outside * outside;
    const double most = WarpLanes{}.largest_of(WarpLanes::kWidth, [&](int) { return own; });
    if (!(most > 0.0)) return {0.0, 0};
    const unsigned where = WarpLanes::where(own == most);
    unsigned first = where;
    unrolled<kChains>([&](auto c) {
      const unsigned of_chain = where & chain(kChains - 1 - c);
      first = of_chain != 0 ? of_chain : first;
    });
    return {most, WarpLanes::lowest(first)};
  }

  CAROM_INLINE unsigned chain(int c) const {
    return (in_fours_ & (0x11111111U << c)) | (c == 0 ? behind_ : 0U);
  }

  struct Block {
    double room, rate;
    int index;
  };
  CAROM_INLINE static void take_sooner(const Block& other, Block& block) {
    if (other.room * block.rate < block.room * other.rate) block = other;
  }
  /// QpDualPivots::first_block: rows that cannot be sooner are left out, the others meet in its
  /// order.
  CAROM_INLINE Block first_block(double entry, double side, const Block& entering) const {
    const double room = multiplier_;
    double loss = entry;
    if constexpr (TwoSided) loss = loss * (side * side_);
    loss = kernels::larger(loss, 0.0);
    const unsigned candidates = WarpLanes::where((loss > 0.0) & (room < kernels::kInfinity));
    Block best = entering;
    if (candidates == 0) return best;
    in_turn(kChains, [&](int c) {
      unsigned left = candidates & chain(c);
      if (left == 0) return;
      Block chain = c == 0 ? entering : Block{1.0, 0.0, -1};
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
      for (; left != 0; left &= left - 1U) {
        const int i = WarpLanes::lowest(left);
        take_sooner({from(room, i), from(loss, i), i}, chain);
      }
      if (c == 0) {
        best = chain;
      } else {
        take_sooner(chain, best);
      }
    });
    return best;
  }

  /// The lane's entry of column `index` of the table.
  CAROM_INLINE double take_column(int index) const {
    barrier();  // the last one has been read
    if (lane_ == index) {
      unrolled<R / 2>([&](auto half) {
        constexpr int k = 2 * decltype(half)::value;
        *reinterpret_cast<Pair*>(at_.entering + k) = {table_[k], table_[k + 1]};
      });
      at_.entering[index] = diagonal_;
    }
    barrier();
    double entry = at_.entering[row_];
    entry = kernels::fused(a_, at_.a_down[index], entry);
    return entry;
  }

  CAROM_INLINE Step step(Progress& at, double& column, double& column_down) {
    using kernels::fused;
    constexpr double kNone = -kernels::kInfinity;
    const Violation worst = most_violated();
    const int entering = at.pending ? at.entering : worst.index;
    double side = at.side;
    if constexpr (TwoSided) {
      const double own_side = worst.score > 0.0 && above_ > below_ ? -1.0 : 1.0;
      side = at.pending ? side : from(own_side, worst.index);
    }
    double multiplier = at.pending ? at.multiplier : 0.0;
    double own = diagonal_;
    own = fused(a_, a_down_, own);
    const double diagonal = from(own, entering);
    const bool dependent = diagonal <= kDependent;
    const double least = energy_ * (dependent ? kFeasibleDependent * kFeasibleDependent : limit_);
    if (!(worst.score > least || at.pending)) return Step::done;
    ++pivots_;

    double entry = take_column(entering);
    const double outside = from(TwoSided && !(side > 0.0) ? above_ : below_, entering);
    const Block block = first_block(entry, side, {outside, dependent ? 0.0 : diagonal, -1});
    if (!(block.rate > 0.0)) return Step::broken;
    const double length = block.room / block.rate;
    const bool drops = block.index >= 0;
    multiplier = multiplier + length;
    energy_ = fused(length, fused(-length, diagonal, 2.0 * outside), energy_);
    move(entry, length, side);
    int index = entering;
    if (drops) {
      index = block.index;
      entry = take_column(index);
    }
    const double sign = drops ? -1.0 : 1.0;
    const double pivot = from(entry, index);
    const double down = -1.0 / pivot;
    if (lane_ == index) {
      double below = drops ? 0.0 : kNone;
      if constexpr (TwoSided) {
        const double width = scale_ * (lower - upper);
        below = drops ? (side_ > 0.0 ? 0.0 : width) : kNone;
        above_ = drops ? (side_ > 0.0 ? width : 0.0) : kNone;
        side_ = side;
      }
      below_ = below;
      multiplier_ = drops ? kernels::kInfinity : multiplier;
      diagonal_ = fused(-2.0, sign, diagonal_);
      entry = pivot - sign;
    }
    column = entry;
    column_down = entry * down;
    at = {drops, entering, side, multiplier};
    return Step::pivoted;
  }

  CAROM_INLINE void move(double entry, double length, double side) {
    using kernels::fused;
    const double back = TwoSided ? -(length * side) : -length;
    below_ = fused(back, entry, below_);
    if constexpr (TwoSided) {
      above_ = fused(-back, entry, above_);
      multiplier_ = kernels::larger(fused(back * side_, entry, multiplier_), 0.0);
    } else {
      multiplier_ = kernels::larger(fused(back, entry, multiplier_), 0.0);
    }
  }

  /// QpPivotTable::change: of two rows the later one is the left factor. The lane's own place in
  /// `table_` is not used.
  CAROM_INLINE void change(double b, double b_down) {
    using kernels::fused;
    const int lane = anew(lane_);
    unrolled<R>([&](auto j) {
      // Of rows before the lane's it reads a_down and b_down, of those after it a and b.
      const bool earlier = j < lane;
      const double* const right = (earlier ? at_.a_down : at_.a) + j;
      double entry = fused(earlier ? a_ : a_down_, right[0], table_[j]);
      entry = fused(earlier ? b : b_down, right[2 * R], entry);
      table_[j] = entry;
      if constexpr (decltype(j)::value % 8 == 7) barrier();
    });
    diagonal_ = fused(a_, a_down_, diagonal_);
    diagonal_ = fused(b, b_down, diagonal_);
    barrier();
  }

  /// What the duals change once more, x being kept in `entering`.
  CAROM_INLINE double correct(const double (&x)[N]) {
    using kernels::fused;
    const bool active = multiplier_ < kernels::kInfinity;
    double bound = lower;
    if constexpr (TwoSided) bound = side_ > 0.0 ? lower : upper;
    const double gap = scale_ * (row_product(x) - bound);
    const double misfit = active ? gap : 0.0;
    if (lane_ == 0) unrolled<N>([&](auto j) { at_.entering[j] = x[j]; });
    put(at_.b, at_.b_down, misfit, 0.0);
    double sum = diagonal_ * misfit;
    const int lane = anew(lane_);
    over_pairs<0, R>(at_.b, [&](auto j, double of_row) {
      sum = j == lane ? 0.0 + sum : fused(table_[j], of_row, sum);
    });
    const double moved = active ? scale_ * sum : 0.0;
    second_ = second_ + moved;
    return moved;
  }

  /// x: start + A' of, whose element of the lane's row is `own`; `start`: of the lane's column.
  /// rows: bits of those that are added.
  CAROM_INLINE void add_rows(double own, double start, unsigned rows, double (&x)[N]) const {
    put(at_.a, at_.a_down, own, 0.0);
    const int j = lane_ < N ? lane_ : N - 1;
    const auto entries = rows;
    double sum = start;
    in_turn<4>(R, [&](int i) {
      const double more = kernels::fused(at_.a[i], at_.matrix[i * Layout::kStride + j], sum);
      sum = (entries >> i & 1U) != 0 ? more : sum;
    });
    if (lane_ < N) at_.x[lane_] = sum;
    barrier();
    over_pairs<0, N>(at_.x, [&](auto k, double value) { x[k] = value; });
  }

  Layout at_;
  int lane_;
  int row_;                     ///< a lane after the last row reads the last one's numbers
  unsigned in_fours_, behind_;  ///< rows of the chains
  unsigned structure_;          ///< rows with an entry in the lane's column
  double table_[R];             ///< the lane's row, but for its own place
  double diagonal_;
  double scale_, below_, above_, multiplier_, side_;
  double second_;
  double energy_, limit_;
  double a_, a_down_;
  int pivots_;
};

}  // namespace carom::cuda
