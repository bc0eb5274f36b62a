#pragma once

#include <carom/certificate_qp.hpp>

#include "cuda/programs/qp_pivot_warp.cuh"
#include "cuda/quotient.cuh"

/// certificate::QpJudge of an answer by dual pivots whose residual is rounding, by a warp: a lane
/// has a row, and one of the first also a column. Bits as there; everything else is refused.
namespace carom::cuda {

template <int N, int R>
class QpPivotJudge {
 public:
  using Layout = QpPivotWarpLayout<N, R>;

  /// lower, upper: of the lane's row.
  CAROM_INLINE QpPivotJudge(const Layout& memory, int rows, double lower, double upper)
      : at_(memory),
        lane_(WarpLanes::lane()),
        column_(lane_ < N ? lane_ : N - 1),
        rows_(rows),
        has_row_(lane_ < rows),
        has_column_(lane_ < N),
        row_rounding_(certificate::sum_rounding(N)),
        column_rounding_(certificate::sum_rounding(static_cast<long>(N) + rows)),
        lower_(lower),
        upper_(upper) {}

  double objective = 0.0;

  /// The residual of memory.x and y, that of the lane's row; infinite where it is more than
  /// rounding, or the answer leans on data that rounding hides.
  CAROM_INLINE double residual(double y) {
    multiply(y);
    WarpLanes::barrier();
    explain(y);
    weigh(y);
    const double judged = evaluate(y);
    return judged <= kClose && !leans_on_hidden(y) ? judged : kernels::kInfinity;
  }

 private:
  // As in QpJudge.
  static constexpr int kStep = 2;  // of loops over columns
  static constexpr double kClose = 1e-13;
  static constexpr double kGapShare = 1e-3;
  static constexpr double kComputedZero = 8.0;
  static constexpr double kHiddenDatum = 1e-3;

  CAROM_INLINE static bool any(bool flag) { return WarpLanes::any(flag); }
  CAROM_INLINE const double* row() const {
    return at_.matrix + (lane_ < R ? lane_ : R - 1) * Layout::kStride;
  }

  CAROM_INLINE void multiply(double y) {
    using kernels::magnitude;
    value_ = 0.0;
    row_size_ = 0.0;
    in_turn<kStep>(N, [&](int j) {
      const double term = row()[j] * at_.x[j];
      value_ = value_ + term;
      row_size_ = row_size_ + magnitude(term);
    });
    WarpLanes::barrier();
    bent_ = 0.0;
    column_size_ = 0.0;
    in_turn<kStep>(N, [&](int k) {
      const double term = at_.hessian[column_ * Layout::kStride + k] * at_.x[k];
      bent_ = bent_ + term;
      column_size_ = column_size_ + magnitude(term);
    });
    pull_ = 0.0;
    held_ = WarpLanes::where(has_row_ && y != 0.0);
    for (unsigned left = held_; left != 0; left &= left - 1U) {
      const int i = WarpLanes::lowest(left);
      const double term = at_.matrix[i * Layout::kStride + column_] * WarpLanes::from(y, i);
      pull_ = pull_ + term;
      column_size_ = column_size_ + magnitude(term);
    }
    // Only the lane's own element of x where it has a column.
    own_x_ = at_.x[column_];
    q_ = at_.gradient[column_];
  }

  CAROM_INLINE double row_seed() const {
    using kernels::magnitude;
    const double most = 2.0 * row_size_;
    const double l = magnitude(lower_);
    const double u = magnitude(upper_);
    return kernels::larger(l <= most ? l : 0.0, u <= most ? u : 0.0);
  }

  /// QpScales::explain. What is known of x and y are bits.
  CAROM_INLINE void explain(double y) {
    using certificate::reached;
    using kernels::magnitude;
    constexpr unsigned kAllColumns = first_bits(N);
    const unsigned all_rows = first_bits(rows_);
    unsigned known_x = WarpLanes::where(has_column_ && !(own_x_ != 0.0));
    unsigned known_y = all_rows & ~held_;
    int before = -1;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (;;) {
      gather(y, known_x, known_y);
      bool of_x = false;
      bool of_y = false;
      const double size = magnitude(own_x_);
      in_turn<kStep>(N, [&](int k) {
        const double datum = at_.b[k];
        of_x = of_x ||
               reached(magnitude(at_.hessian[column_ * Layout::kStride + k]) * size, datum) > 0.0;
        of_y = of_y || reached(magnitude(row()[k] * y), datum) > 0.0;
      });
      known_x |= WarpLanes::where(has_column_ && of_x);
      WarpLanes::barrier();
      in_turn<kStep>(N, [&](int j) {
        const bool here = has_row_ && reached(magnitude(row()[j] * at_.x[j]), row_datum_) > 0.0;
        if (any(here)) known_x |= 1U << j;
      });
      known_y |= WarpLanes::where(has_row_ && of_y);
      if (known_x == kAllColumns && known_y == all_rows) {  // then every term counts
        row_datum_ = row_seed() + row_size_;
        column_datum_ = magnitude(q_) + column_size_;
        return;
      }
      const int count = WarpLanes::bits_in(known_x) + WarpLanes::bits_in(known_y);
      if (count <= before) return;
      before = count;
    }
  }
  /// The data with the terms that are known; those of columns for all lanes in `b`.
  CAROM_INLINE void gather(double y, unsigned known_x, unsigned known_y) {
    using kernels::magnitude;
    double datum = 0.0;
    in_turn<kStep>(N, [&](int j) {
      const double term = magnitude(row()[j] * at_.x[j]);
      datum = datum + ((known_x >> j & 1U) != 0 ? term : 0.0);
    });
    row_datum_ = row_seed() + datum;
    WarpLanes::barrier();
    datum = 0.0;
    in_turn<kStep>(N, [&](int k) {
      const double term = magnitude(at_.hessian[column_ * Layout::kStride + k] * at_.x[k]);
      datum = datum + ((known_x >> k & 1U) != 0 ? term : 0.0);
    });
    for (unsigned left = held_ & known_y; left != 0; left &= left - 1U) {
      const int i = WarpLanes::lowest(left);
      datum = datum + magnitude(at_.matrix[i * Layout::kStride + column_] * WarpLanes::from(y, i));
    }
    column_datum_ = magnitude(q_) + datum;
    WarpLanes::barrier();
    if (has_column_) at_.b[lane_] = column_datum_;
    WarpLanes::barrier();
  }

  /// QpJudge::weigh_multipliers.
  CAROM_INLINE void weigh(double y) {
    using kernels::larger;
    using kernels::magnitude;
    const bool there = column_datum_ > certificate::kTiny;
    const double inverse = there ? 1.0 / (there ? column_datum_ : 1.0) : 0.0;
    WarpLanes::barrier();
    if (has_column_) at_.b[lane_] = inverse;
    WarpLanes::barrier();
    double most = 0.0;
    in_turn<kStep>(N, [&](int j) { most = larger(magnitude(row()[j]) * at_.b[j], most); });
    weight_ = y != 0.0 ? most : 0.0;
  }

  /// certificate::missed and its unit.
  CAROM_INLINE static double missed(double value, double size, double unit, double rounding) {
    using kernels::magnitude;
    const double beyond = magnitude(value) - rounding * size;
    const bool rounded = beyond <= 0.0;
    const double share = rounded ? size : unit;
    return quotient(rounded ? magnitude(value) : beyond,
                    share > certificate::kTiny ? share : certificate::kTiny);
  }
  CAROM_INLINE static double unit_of(double datum, double own, double size, double rounding) {
    return certificate::unit_of_residual(datum, own > kComputedZero * rounding * size ? own : 0.0);
  }

  CAROM_INLINE double evaluate(double y) {
    using kernels::larger;
    using kernels::magnitude;
    certificate::MaxAbs<> worst;
    if (has_column_) {
      worst.add(missed(
          bent_ + q_ + pull_, column_size_,
          unit_of(column_datum_, magnitude(q_), column_size_ + magnitude(q_), column_rounding_),
          column_rounding_));
      worst.add(certificate::beyond_reach(column_size_, column_datum_, column_rounding_));
    }
    double gap = 0.0;
    double terms = 0.0;
    double bend = 0.0;
    double noise = 0.0;
    sum_columns(gap, terms, bend, noise);
    gap = gap + bend;
    terms = terms + magnitude(bend);

    double upper_term = 0.0;
    double lower_term = 0.0;
    const auto side = [&](double bound, double value, double multiplier, double& term) {
      const double there = kernels::presence(bound);
      const double limit = there > 0.0 ? bound : 0.0;
      const double size = magnitude(limit) + row_size_;
      const double datum =
          unit_of(larger(magnitude(limit), row_datum_), magnitude(limit), size, row_rounding_);
      const double slack = missed(value - limit, size, datum, row_rounding_);
      worst.add(there * (value <= limit ? 0.0 : slack));
      worst.add(there * (multiplier * weight_) * slack);
      term = limit * multiplier;
      worst.add((1.0 - there) * (multiplier * weight_));
    };
    if (has_row_) {
      side(upper_, value_, certificate::positive_part(y), upper_term);
      side(-lower_, -value_, certificate::positive_part(-y), lower_term);
      const double to_upper = upper_ - value_;
      const double to_lower = value_ - lower_;
      const double rounding = row_rounding_ * row_size_;
      if (!((to_upper > rounding) & (to_lower > rounding))) {
        worst.add(certificate::beyond_reach(row_size_, row_datum_, row_rounding_));
      }
      if (lower_ > upper_) worst.add(kernels::kInfinity);
    }
    // Zeros change no sum.
    const unsigned above = WarpLanes::where(upper_term != 0.0);
    const unsigned below = WarpLanes::where(lower_term != 0.0);
    for (unsigned left = above | below; left != 0; left &= left - 1U) {
      const int i = WarpLanes::lowest(left);
      const double first = WarpLanes::from(upper_term, i);
      const double second = WarpLanes::from(lower_term, i);
      gap = gap + first;
      terms = terms + magnitude(first);
      gap = gap + second;
      terms = terms + magnitude(second);
    }
    const double beyond = certificate::positive_part(magnitude(gap) - column_rounding_ * noise);
    const double of_gap =
        quotient(kGapShare * beyond, terms > certificate::kTiny ? terms : certificate::kTiny);
    worst.add(of_gap);
    return WarpLanes{}.largest_of(WarpLanes::kWidth, [&](int) { return worst.value; });
  }

  /// Sums over the columns in their order, each by a lane of its own.
  CAROM_INLINE void sum_columns(double& gap, double& terms, double& bend, double& noise) {
    using kernels::magnitude;
    double* const parts = at_.inverse;  // [5, N]
    WarpLanes::barrier();
    if (has_column_) {
      const double slope = own_x_ * q_;
      parts[lane_] = own_x_ * (0.5 * bent_ + q_);
      parts[N + lane_] = own_x_ * bent_;
      parts[2 * N + lane_] = magnitude(own_x_) * column_size_;
      parts[3 * N + lane_] = slope;
      parts[4 * N + lane_] = magnitude(slope);
    }
    WarpLanes::barrier();
    const double* const mine = parts + (lane_ < 5 ? lane_ : 4) * N;
    double sum = 0.0;
    unrolled<N>([&](auto j) { sum = sum + mine[j]; });
    objective = WarpLanes::from(sum, 0);
    bend = WarpLanes::from(sum, 1);
    noise = WarpLanes::from(sum, 2);
    gap = WarpLanes::from(sum, 3);
    terms = WarpLanes::from(sum, 4);
  }

  /// QpJudge::hidden_data of an answer that leans on its active rows.
  CAROM_INLINE bool leans_on_hidden(double y) const {
    using kernels::magnitude;
    const double rounding = row_rounding_ * row_size_;
    const auto hidden = [&](double bound) {
      const double own = magnitude(bound);
      return (own > 0.0) & (kHiddenDatum * own < rounding);
    };
    const bool at_upper = !(upper_ - value_ > rounding);
    const bool at_lower = !(value_ - lower_ > rounding);
    const bool leans = (at_upper & hidden(upper_)) | (at_lower & hidden(lower_));
    return any(has_row_ && leans && !(y != 0.0));
  }

  const Layout& at_;
  int lane_, column_, rows_;
  bool has_row_, has_column_;
  double row_rounding_, column_rounding_;
  double lower_, upper_;
  double value_ = 0.0, row_size_ = 0.0, row_datum_ = 0.0;
  double bent_ = 0.0, pull_ = 0.0, column_size_ = 0.0, column_datum_ = 0.0;
  double own_x_ = 0.0, q_ = 0.0;
  double weight_ = 0.0;  ///< of a multiplier of the lane's row
  unsigned held_ = 0;    ///< rows with a multiplier
};

}  // namespace carom::cuda
