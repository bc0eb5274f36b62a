#pragma once

#include <carom/certificate_qp.hpp>

#include "cpu/simd/programs/qp_wide_layout.hpp"
#include "cpu/simd/programs/qp_wide_linear.hpp"

/// certificate::QpJudge of one problem without cones, in vectors along its rows and columns: the
/// same sums in the same order, so the same bits. It answers where the residual is far below any
/// tolerance; every other answer is left to QpJudge.
namespace carom::cpu::simd {

/// What an active set leaves: x in at.x, multipliers of the rows `active` in at.multiplier, bounds
/// in at.lower and at.upper.
struct QpWideAnswer {
  const kernels::QpShape& shape;
  const double* gradient;
  const int* active;
  int count;
};

/// RowOf: the numbers of a row. Overwrites what the active set kept for its steps.
template <class Isa, class RowOf>
class QpWideJudge {
  using Vector = Eight<Isa>;

 public:
  CAROM_INLINE QpWideJudge(const QpWideLayout<double*>& at, const QpWideAnswer& answer,
                           const RowOf& row_of)
      : at_(at),
        row_of_(row_of),
        shape_(answer.shape),
        n_(answer.shape.variables),
        rows_(answer.shape.rows),
        sparse_(is_sparse(shape_)),
        columns_(8L * eights(n_)),
        width_(8L * eights(rows_)),
        count_(answer.count),
        row_rounding_(certificate::sum_rounding(n_)),
        column_rounding_(certificate::sum_rounding(static_cast<long>(n_) + rows_)) {
    for_row(answer.gradient, [&](long v, const Vector& q) { q.store(q_ + v); });
    for (long v = 0; v < width_; v += 8) Vector(0.0).store(y_ + v);
    std::uint64_t marks[kLargestWideRows / 64] = {};
    for (int k = 0; k < count_; ++k) {
      const int i = answer.active[k];
      y_[i] = at_.multiplier[k];
      if (y_[i] != 0.0) marks[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    int met = 0;
    for (int w = 0; 64 * w < rows_; ++w) {
      for (std::uint64_t left = marks[w]; left != 0; left &= left - 1) {
        listed_[met++] = 64 * w + __builtin_ctzll(left);
      }
    }
    count_ = met;
  }

  [[nodiscard]] double residual() const { return residual_; }
  [[nodiscard]] double objective() const { return objective_; }
  /// [rows]
  [[nodiscard]] const double* multipliers() const { return y_; }
  /// P x and A'y.
  [[nodiscard]] const double* bent() const { return bent_; }
  [[nodiscard]] const double* pull() const { return pull_; }

  /// Whether QpJudge would say residual() by the data as they stand.
  bool certifies(certificate::Leaning leaning) {
    multiply();
    return explain() && evaluate() && !leans(leaning);
  }

 private:
  static constexpr double kClose = 1e-13;    // as QpJudge: up to it nothing is widened
  static constexpr double kGapShare = 1e-3;  // these as well
  static constexpr double kComputedZero = 8.0;
  static constexpr double kHiddenDatum = 1e-3;
  static constexpr int kFew = 4;
  static constexpr int kAtOnce = Isa::kWidth == 8 ? 4 : 2;  // eights whose sums run together

  /// P x, A x and A'y, and the sizes of their terms.
  CAROM_INLINE void multiply() {
    add_terms(at_.hessian, columns_, bent_, column_size_);
    add_terms(at_.matrix, width_, at_.value, row_size_);
    if (!sparse_) {
      long v = 0;
      for (; v + 8 * kAtOnce <= columns_; v += 8 * kAtOnce) add_pull<kAtOnce>(v);
      for (; v < columns_; v += 8) add_pull<1>(v);
      return;
    }
    for (long v = 0; v < columns_; v += 8) Vector(0.0).store(pull_ + v);
    double* __restrict pull = pull_;
    double* __restrict size = column_size_;
    for (int t = 0; t < count_; ++t) {
      for_terms(listed_[t], [&](int j, double term) {
        pull[j] += term;
        size[j] += kernels::magnitude(term);
      });
    }
  }
  /// Of 8 Count columns from v on. known_y_: whether their q explains a multiplier.
  template <int Count>
  CAROM_INLINE void add_pull(long v) {
    Vector sum[Count];
    Vector sizes[Count];
    Vector given[Count];
    for (int b = 0; b < Count; ++b) {
      sum[b] = Vector(0.0);
      sizes[b] = Vector::load(column_size_ + v + 8 * b);
      given[b] = magnitude(Vector::load(q_ + v + 8 * b));
    }
    const bool whole = v + 8 * Count <= n_;
    for (int t = 0; t < count_; ++t) {
      const int i = listed_[t];
      const double* row = row_of_(i) + v;
      const Vector y(y_[i]);
      Vector met(0.0);
      for (int b = 0; b < Count; ++b) {
        const Vector a = whole || v + 8 * b + 8 <= n_
                             ? Vector::load(row + 8 * b)
                             : Vector::load_first(row + 8 * b, static_cast<int>(n_ - v) - 8 * b);
        const Vector term = a * y;
        const Vector own = magnitude(term);
        sum[b] = sum[b] + term;
        sizes[b] = sizes[b] + own;
        met = larger(reached(own, given[b]), met);
      }
      const bool before = v > 0 && known_y_[i] != 0.0;
      known_y_[i] = before || Vector::any_greater(met, Vector(0.0)) ? 1.0 : 0.0;
    }
    for (int b = 0; b < Count; ++b) {
      sum[b].store(pull_ + v + 8 * b);
      sizes[b].store(column_size_ + v + 8 * b);
    }
  }
  /// f(v, of eight numbers of a row) for v = 0, 8, ..., with zeros after the last one.
  template <class F>
  CAROM_INLINE void for_row(const double* row, F&& f) const {
    long v = 0;
    for (; v + 8 <= n_; v += 8) f(v, Vector::load(row + v));
    if (v < n_) f(v, Vector::load_first(row + v, static_cast<int>(n_ - v)));
  }
  /// f(j, a_ij y_i) for the numbers of row i.
  template <class F>
  CAROM_INLINE void for_terms(int i, F&& f) const {
    const double* __restrict row = row_of_(i);
    const double y = y_[i];
    if (sparse_) {
      for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
        f(shape_.column[t], row[shape_.column[t]] * y);
      }
    } else {
      for (int j = 0; j < n_; ++j) f(j, row[j] * y);
    }
  }
  /// to = sum over j of x_j rows[j], and the sizes of its terms; rows lie `width` apart.
  CAROM_INLINE void add_terms(const double* rows, long width, double* to, double* size) const {
    long v = 0;
    for (; v + 8 * kAtOnce <= width; v += 8 * kAtOnce) {
      add_block<kAtOnce>(rows + v, width, to + v, size + v);
    }
    for (; v < width; v += 8) add_block<1>(rows + v, width, to + v, size + v);
  }
  /// Several sums at once hide each other's latency.
  template <int Count>
  CAROM_INLINE void add_block(const double* rows, long width, double* to, double* size) const {
    Vector sum[Count];
    Vector sizes[Count];
    for (int b = 0; b < Count; ++b) sum[b] = sizes[b] = Vector(0.0);
    for (int j = 0; j < n_; ++j) {
      const Vector x(at_.x[j]);
      for (int b = 0; b < Count; ++b) {
        const Vector term = Vector::load(rows + j * width + 8 * b) * x;
        sum[b] = sum[b] + term;
        sizes[b] = sizes[b] + magnitude(term);
      }
    }
    for (int b = 0; b < Count; ++b) {
      sum[b].store(to + 8 * b);
      sizes[b].store(size + 8 * b);
    }
  }

  /// QpScales::explain. False where unknowns are left, for QpJudge.
  CAROM_INLINE bool explain() {
    for (long j = 0; j < columns_; ++j) known_x_[j] = at_.x[j] != 0.0 ? 0.0 : 1.0;
    // Nothing but zeros is known: the data are what is given.
    for (long v = 0; v < columns_; v += 8) magnitude(Vector::load(q_ + v)).store(column_datum_ + v);
    if (q_explains_all()) {
      know_all();
      return true;
    }
    for (int t = 0; t < count_ && sparse_; ++t) known_y_[listed_[t]] = 0.0;
    for (long v = 0; v < width_; v += 8) {
      seed(Vector::load(at_.lower + v), Vector::load(at_.upper + v), Vector::load(row_size_ + v))
          .store(row_datum_ + v);
    }
    for (int round = 0; round <= n_ + rows_; ++round) {
      const bool at_once = round == 0 && !sparse_;
      const double before = known();
      if (at_once) {
        reach();
      } else {
        sweep();
      }
      const double after = known();
      if (after == static_cast<double>(columns_ + count_)) {
        know_all();
        return true;
      }
      if (!(after > before)) return false;
      if (at_once) gather();
    }
    return false;
  }
  /// Mostly so: its first few numbers explain x, and those of an active row's columns its
  /// multiplier.
  CAROM_INLINE bool q_explains_all() {
    if (sparse_) return false;
    bool all = false;
    for (int k = 0; k < n_ && k < kFew && !all; ++k) {
      all = reach_from(column_of(k), column_datum_[k]);
    }
    for (int t = 0; t < count_; ++t) all = all && known_y_[listed_[t]] != 0.0;
    return all;
  }
  CAROM_INLINE void know_all() {
    for (long v = 0; v < columns_; v += 8) {
      (magnitude(Vector::load(q_ + v)) + Vector::load(column_size_ + v)).store(column_datum_ + v);
    }
  }
  /// What the bounds of rows explain.
  CAROM_INLINE static Vector seed(const Vector& lower, const Vector& upper, const Vector& size) {
    const Vector zero(0.0);
    const Vector most = Vector(2.0) * size;
    const Vector l = magnitude(lower);
    const Vector u = magnitude(upper);
    return larger(Vector::where_greater(l, most, zero, l), Vector::where_greater(u, most, zero, u));
  }
  /// Marks what the data explain of x.
  CAROM_INLINE void reach() {
    bool all = false;
    for (int t = 0; t < count_ && !all; ++t) {
      all = reach_from(row_of_(listed_[t]), row_datum_[listed_[t]]);
    }
    if (!all) {
      all = true;
      for (int j = 0; j < n_; ++j) {
        if (known_x_[j] == 0.0) all = reach_by_rows(j) && all;
      }
    }
    for (int k = kFew; k < n_ && !all; ++k) all = reach_from(column_of(k), column_datum_[k]);
  }
  [[nodiscard]] CAROM_INLINE const double* column_of(int k) const {
    return at_.hessian + k * columns_;
  }
  /// Marks what a sum of x times `row` and `datum` explain; whether all of x is known then.
  CAROM_INLINE bool reach_from(const double* row, double datum) {
    const Vector given(datum);
    Vector least(1.0);
    for_row(row, [&](long v, const Vector& a) {
      const Vector term = magnitude(a * Vector::load(at_.x + v));
      const Vector known = larger(reached(term, given), Vector::load(known_x_ + v));
      known.store(known_x_ + v);
      least = smaller(known, least);
    });
    return !Vector::any_greater(Vector(1.0), least);
  }
  CAROM_INLINE bool reach_by_rows(int j) {
    const Vector x(at_.x[j]);
    const double* column = at_.matrix + j * width_;
    bool met = false;
    long v = 0;
    for (; v + 8 * kAtOnce <= width_ && !met; v += 8 * kAtOnce) {
      met = rows_reach<kAtOnce>(column, v, x);
    }
    for (; v < width_ && !met; v += 8) met = rows_reach<1>(column, v, x);
    if (met) known_x_[j] = 1.0;
    return met;
  }
  /// Whether one of 8 Count rows from v on explains x.
  template <int Count>
  [[nodiscard]] CAROM_INLINE bool rows_reach(const double* column, long v, const Vector& x) const {
    Vector size[Count];
    for (int b = 0; b < Count; ++b) {
      const Vector term = magnitude(Vector::load(column + v + 8 * b) * x);
      size[b] = reached(term, Vector::load(row_datum_ + v + 8 * b));
    }
    for (int b = 1; b < Count; ++b) size[0] = larger(size[b], size[0]);
    return Vector::any_greater(size[0], Vector(0.0));
  }
  [[nodiscard]] CAROM_INLINE bool reached_by_columns(int i) const {
    const double* row = row_of_(i);
    if (!sparse_) {
      const Vector y(y_[i]);
      Vector most(0.0);
      for_row(row, [&](long v, const Vector& a) {
        most = larger(reached(magnitude(a * y), Vector::load(column_datum_ + v)), most);
      });
      return Vector::any_greater(most, Vector(0.0));
    }
    const int* column = shape_.column + shape_.row_first[i];
    const int entries = shape_.row_first[i + 1] - shape_.row_first[i];
    for (int t = 0; t < entries; ++t) {
      const int j = column[t];
      if (certificate::reached(kernels::magnitude(row[j] * y_[i]), column_datum_[j]) > 0.0) {
        return true;
      }
    }
    return false;
  }
  /// How many, with the zeros after the last column.
  [[nodiscard]] CAROM_INLINE double known() const {
    Vector columns(0.0);
    for (long v = 0; v < columns_; v += 8) columns = columns + Vector::load(known_x_ + v);
    double count = columns.sum();
    for (int t = 0; t < count_; ++t) count += known_y_[listed_[t]];
    return count;
  }
  /// The same for the others, where the next row knows at once what one explains: along chains of
  /// rows the unknowns are met in few sweeps. What all of them leave does not depend on the order.
  CAROM_INLINE void sweep() {
    for (int i = 0; i < rows_; ++i) {
      const double* row = row_of_(i);
      const int* first = shape_.column + shape_.row_first[i];
      const int* last = shape_.column + shape_.row_first[i + 1];
      double datum = row_datum_[i];  // its bounds
      double open = 0.0;
      for (const int* j = first; j != last; ++j) {
        datum += known_x_[*j] * kernels::magnitude(row[*j] * at_.x[*j]);
        open += 1.0 - known_x_[*j];
      }
      for (const int* j = first; open > 0.0 && j != last; ++j) {
        const double term = kernels::magnitude(row[*j] * at_.x[*j]);
        if (known_x_[*j] == 0.0 && certificate::reached(term, datum) != 0.0) learn(*j);
      }
    }
    for (int j = 0; j < n_; ++j) {
      if (known_x_[j] != 0.0) continue;
      const Vector size(kernels::magnitude(at_.x[j]));
      Vector most(0.0);
      for (long v = 0; v < columns_; v += 8) {
        const Vector term = magnitude(Vector::load(at_.hessian + j * columns_ + v)) * size;
        most = larger(reached(term, Vector::load(column_datum_ + v)), most);
      }
      if (most.sum() > 0.0) learn(j);
    }
    for (int t = 0; t < count_; ++t) {
      const int i = listed_[t];
      if (known_y_[i] != 0.0 || !reached_by_columns(i)) continue;
      known_y_[i] = 1.0;
      for_terms(i, [&](int j, double term) { column_datum_[j] += kernels::magnitude(term); });
    }
  }
  CAROM_INLINE void learn(int j) {
    known_x_[j] = 1.0;
    const Vector x(at_.x[j]);
    for (long v = 0; v < columns_; v += 8) {
      (magnitude(Vector::load(at_.hessian + j * columns_ + v) * x) +
       Vector::load(column_datum_ + v))
          .store(column_datum_ + v);
    }
  }
  CAROM_INLINE static Vector reached(const Vector& term, const Vector& datum) {
    const Vector zero(0.0);
    const Vector most = Vector(certificate::kExplained) * datum;
    const Vector small = Vector::where_greater(term, most, zero, Vector(1.0));
    return Vector::where_greater(term, zero, small, zero);
  }
  /// The columns' data with the terms that are explained so far.
  CAROM_INLINE void gather() {
    for (long v = 0; v < columns_; v += 8) {
      known_terms(at_.hessian + v, columns_).store(column_datum_ + v);
    }
    for (int t = 0; t < count_; ++t) {
      const double known = known_y_[listed_[t]];
      double* __restrict datum = column_datum_;
      for_terms(listed_[t],
                [&](int j, double term) { datum[j] += known * kernels::magnitude(term); });
    }
    for (long v = 0; v < columns_; v += 8) {
      (magnitude(Vector::load(q_ + v)) + Vector::load(column_datum_ + v)).store(column_datum_ + v);
    }
  }
  CAROM_INLINE Vector known_terms(const double* column, long stride) const {
    Vector sum(0.0);
    for (int j = 0; j < n_; ++j) {
      sum = sum +
            Vector(known_x_[j]) * magnitude(Vector::load(column + j * stride) * Vector(at_.x[j]));
    }
    return sum;
  }

  /// QpJudge::evaluate. False where the residual is not close to rounding.
  CAROM_INLINE bool evaluate() {
    const Vector zero(0.0);
    const Vector one(1.0);
    const Vector tiny(certificate::kTiny);
    for (long v = 0; v < columns_; v += 8) {
      const Vector datum = Vector::load(column_datum_ + v);
      const Vector share = one / Vector::where_greater(datum, tiny, datum, one);
      Vector::where_greater(datum, tiny, share, zero).store(known_x_ + v);
    }
    // Of rows without a multiplier nothing is weighed.
    for (long v = 0; v < width_; v += 8) zero.store(known_y_ + v);
    for (int t = 0; t < count_; ++t) known_y_[listed_[t]] = largest_share(row_of_(listed_[t]));
    for (long v = 0; v < columns_; v += 8) judge_columns(v);
    pack();
    for (long t = 0; t < count_; t += 8) judge_rows(packed(t));
    for (long v = 0; v < width_; v += 8) {
      if (has_close(v)) judge_rows(rows_at(v));
    }
    double gap = 0.0;
    double terms = 0.0;
    double bend = 0.0;
    double noise = 0.0;
    const auto earn = [&](double term) {
      gap += term;
      terms += kernels::magnitude(term);
    };
    objective_ = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double x = at_.x[j];
      objective_ += x * (0.5 * bent_[j] + q_[j]);
      bend += x * bent_[j];
      noise += kernels::magnitude(x) * column_size_[j];
      earn(x * q_[j]);
    }
    earn(bend);
    for (int t = 0; t < count_; ++t) {
      const int i = listed_[t];
      const double bound = y_[i] > 0.0 ? at_.upper[i] : at_.lower[i];
      earn((kernels::magnitude(bound) < kernels::kInfinity ? bound : 0.0) * y_[i]);
    }
    const double beyond =
        certificate::positive_part(kernels::magnitude(gap) - column_rounding_ * noise);
    const double share = kGapShare * beyond / kernels::larger(terms, certificate::kTiny);
    residual_ = kernels::larger(share, worst_.largest());
    return close_.sum() == 8.0 && share <= kClose && residual_ <= kClose;
  }
  /// The largest of |known_x_j a_j|.
  [[nodiscard]] CAROM_INLINE double largest_share(const double* row) const {
    Vector most(0.0);
    for_row(row, [&](long v, const Vector& a) {
      most = larger(magnitude(Vector::load(known_x_ + v) * a), most);
    });
    return most.largest();
  }
  /// A NaN is no more close than what is large.
  CAROM_INLINE void add(const Vector& value) {
    const Vector size = magnitude(value);
    worst_ = larger(size, worst_);
    close_ = Vector::where_greater(Vector(kClose), size, close_, Vector(0.0));
  }
  CAROM_INLINE void judge_columns(long v) {
    const Vector q = Vector::load(q_ + v);
    const Vector size = Vector::load(column_size_ + v);
    const Vector datum = Vector::load(column_datum_ + v);
    const Vector sum = Vector::load(bent_ + v) + q + Vector::load(pull_ + v);
    const Vector own = magnitude(q);
    add(missed(sum, size, unit_of(datum, own, size + own, column_rounding_), column_rounding_));
    add(beyond_reach(size, datum, column_rounding_));
  }
  /// Eight rows.
  struct Rows {
    Vector value, lower, upper, y, size, share;
  };
  CAROM_INLINE Rows rows_at(long v) const {
    return {Vector::load(at_.value + v), Vector::load(at_.lower + v), Vector::load(at_.upper + v),
            Vector::load(y_ + v),        Vector::load(row_size_ + v), Vector::load(known_y_ + v)};
  }
  /// Those with a multiplier, side by side; after them rows of which there is nothing to say.
  CAROM_INLINE void pack() {
    for (int t = 0; t < count_; ++t) {
      const int i = listed_[t];
      packed_[0][t] = at_.value[i];
      packed_[1][t] = at_.lower[i];
      packed_[2][t] = at_.upper[i];
      packed_[3][t] = y_[i];
      packed_[4][t] = row_size_[i];
      packed_[5][t] = known_y_[i];
    }
    for (int t = count_; t % 8 != 0; ++t) {
      for (auto& part : packed_) part[t] = 0.0;
      packed_[1][t] = -1.0;
      packed_[2][t] = 1.0;
    }
  }
  CAROM_INLINE Rows packed(long t) const {
    return {Vector::load(packed_[0] + t), Vector::load(packed_[1] + t),
            Vector::load(packed_[2] + t), Vector::load(packed_[3] + t),
            Vector::load(packed_[4] + t), Vector::load(packed_[5] + t)};
  }
  /// Whether one of eight rows without a multiplier is not inside its bounds by more than rounding.
  [[nodiscard]] CAROM_INLINE bool has_close(long v) const {
    const Vector zero(0.0);
    const Vector one(1.0);
    const Vector value = Vector::load(at_.value + v);
    const Vector rounding = Vector(row_rounding_) * Vector::load(row_size_ + v);
    const Vector open = Vector::where_greater(magnitude(Vector::load(y_ + v)), zero, zero, one);
    const Vector below =
        Vector::where_greater(Vector::load(at_.upper + v) - value, rounding, zero, open);
    const Vector above =
        Vector::where_greater(value - Vector::load(at_.lower + v), rounding, zero, open);
    return Vector::any_greater(larger(below, above), zero);
  }
  CAROM_INLINE void judge_rows(const Rows& at) {
    const Vector zero(0.0);
    const Vector datum = seed(at.lower, at.upper, at.size) + at.size;
    judge_side(at, datum, at.upper, at.value, larger(at.y, zero));
    judge_side(at, datum, zero - at.lower, zero - at.value, larger(zero - at.y, zero));
    const Vector rounding = Vector(row_rounding_) * at.size;
    const Vector beyond = beyond_reach(at.size, datum, row_rounding_);
    add(Vector::where_greater(at.upper - at.value, rounding,
                              Vector::where_greater(at.value - at.lower, rounding, zero, beyond),
                              beyond));
  }
  CAROM_INLINE void judge_side(const Rows& at, const Vector& datum, const Vector& bound,
                               const Vector& value, const Vector& multiplier) {
    const Vector zero(0.0);
    const Vector one(1.0);
    const Vector infinity(kernels::kInfinity);
    const Vector weight = multiplier * at.share;
    // Mostly no row lies beyond its bound or presses on it.
    if (!Vector::any_greater(value, bound) && !Vector::any_greater(weight, zero)) return;
    const Vector there = Vector::where_greater(infinity, magnitude(bound), one, zero);
    const Vector limit = Vector::where_greater(there, zero, bound, zero);
    const Vector own = magnitude(limit);
    const Vector size = own + at.size;
    const Vector unit = unit_of(larger(own, datum), own, size, row_rounding_);
    const Vector slack = missed(value - limit, size, unit, row_rounding_);
    add(there * Vector::where_greater(value, limit, slack, zero));
    add(there * weight * slack);
    add((one - there) * weight);
  }
  CAROM_INLINE static Vector missed(const Vector& value, const Vector& size, const Vector& unit,
                                    double rounding) {
    const Vector zero(0.0);
    const Vector beyond = magnitude(value) - Vector(rounding) * size;
    const Vector share = Vector::where_greater(beyond, zero, unit, size);
    return Vector::where_greater(beyond, zero, beyond, magnitude(value)) /
           larger(share, Vector(certificate::kTiny));
  }
  CAROM_INLINE static Vector unit_of(const Vector& datum, const Vector& own, const Vector& size,
                                     double rounding) {
    const Vector zero(0.0);
    const Vector given =
        Vector::where_greater(own, Vector(kComputedZero * rounding) * size, own, zero);
    return Vector::where_greater(given, zero, smaller(datum, Vector(certificate::kOwn) * given),
                                 datum);
  }
  CAROM_INLINE static Vector beyond_reach(const Vector& size, const Vector& datum,
                                          double rounding) {
    const Vector zero(0.0);
    const Vector there = Vector::where_greater(size, zero, Vector(kernels::kInfinity), zero);
    return Vector::where_greater(Vector(rounding) * size, Vector(certificate::kHidden) * datum,
                                 there, zero);
  }

  /// QpJudge::hidden_data.
  CAROM_INLINE bool leans(certificate::Leaning leaning) const {
    using certificate::Leaning;
    if (leaning == Leaning::allowed) return false;
    const Vector zero(0.0);
    const Vector one(1.0);
    const auto hidden = [&](const Vector& own, const Vector& rounding) {
      return Vector::where_greater(
          own, zero, Vector::where_greater(rounding, Vector(kHiddenDatum) * own, one, zero), zero);
    };
    Vector found(0.0);
    for (long v = 0; leaning == Leaning::refused && v < columns_; v += 8) {
      const Vector rounding = Vector(column_rounding_) * Vector::load(column_size_ + v);
      found = larger(hidden(magnitude(Vector::load(q_ + v)), rounding), found);
    }
    const auto look_at = [&](const Rows& at) {
      const Vector rounding = Vector(row_rounding_) * at.size;
      const auto side = [&](const Vector& bound, const Vector& slack) {
        found =
            larger(Vector::where_greater(slack, rounding, zero, hidden(magnitude(bound), rounding)),
                   found);
      };
      side(at.upper, at.upper - at.value);
      side(at.lower, at.value - at.lower);
    };
    if (leaning == Leaning::by_active_rows) {
      for (long t = 0; t < count_; t += 8) look_at(packed(t));
    } else {
      for (long v = 0; v < width_; v += 8) look_at(rows_at(v));
    }
    return found.sum() > 0.0;
  }

  QpWideLayout<double*> at_;
  const RowOf& row_of_;
  const kernels::QpShape& shape_;
  int n_, rows_;
  bool sparse_;
  long columns_, width_;
  int count_;
  double row_rounding_, column_rounding_;
  double residual_ = 0.0;
  double objective_ = 0.0;
  Vector worst_{0.0};
  Vector close_{1.0};
  int listed_[kLargestWideVariables];
  double packed_[6][kLargestWideVariables];
  // Of columns.
  double* bent_ = at_.step;
  double* pull_ = at_.work;
  double* column_size_ = at_.centre;
  double* column_datum_ = at_.rate;
  double* known_x_ = at_.entry;
  double* q_ = at_.proximity;
  // Of rows.
  double* y_ = at_.slope;
  double* row_size_ = at_.size;
  double* row_datum_ = at_.scale;
  double* known_y_ = at_.feasible;
};

}  // namespace carom::cpu::simd
