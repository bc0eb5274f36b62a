#pragma once

#include <carom/device/numeric.hpp>

#include "cpu/simd/programs/qp_wide_judge.hpp"
#include "cpu/simd/programs/qp_wide_layout.hpp"
#include "cpu/simd/programs/qp_wide_linear.hpp"
#include "programs/qp/kernels/qp_task_arrays.hpp"

/// The steps that dual active sets have in common (Goldfarb and Idnani 1983), for one problem with
/// interval rows, in vectors along its rows: the inverse of A H^-1 A' among active rows is bordered
/// and cut down.
namespace carom::cpu::simd {

struct QpWideCertified {
  bool close;
  double residual, objective;
  const double *x, *y;        ///< y[i]: of each row
  const double *bent, *pull;  ///< P x and A'y
};

/// Self knows what a row does through H^-1:
/// - double reach_row(int i): chooses the row that the others are about; how far it moves itself.
/// - void meet_active(): entry[k], how far it moves active row k.
/// - void move(double change): the rows' values, its multiplier changing and the active ones by
///   `rate`.
/// - void keep_reach(int k): it becomes active row k.
/// - void move_reach(int from, int to): active row `from` takes the place of `to`.
/// - void meet_rows(): entry[k], how far `step`, which is overwritten, moves active row k.
template <class Isa, class Self>
class QpWideRows {
 public:
  /// memory: qp_wide_workspace, on a cache line.
  CAROM_INLINE QpWideRows(const kernels::QpTaskArrays& task, double* memory)
      : task_(task),
        n_(task.shape.variables),
        rows_(task.shape.rows),
        columns_(8L * eights(n_)),
        width_(8L * eights(rows_)),
        row_stride_(n_),
        at_(kernels::placed<QpWideLayout>(memory, n_, rows_)) {}

  [[nodiscard]] int iterations() const { return iterations_; }

  /// value[i]: to be read after all multipliers were written to it.
  template <class F>
  CAROM_INLINE void read_multipliers(F&& take) const {
    for (int k = 0; k < count_; ++k) take(active_[k], at_.multiplier[k]);
    if (refuted_ >= 0) take(refuted_, refuted_side_);
  }

  /// Whether solve() ended at rows that exclude each other; then the multipliers are their proof.
  [[nodiscard]] bool has_proof() const { return refuted_ >= 0; }

 protected:
  using Linear = Wide<Isa>;
  using Vector = Eight<Isa>;

  static constexpr double kDefinite = 1e-8;   // smallest pivot of P relative to its diagonal
  static constexpr double kProximity = 1e-4;  // of a diagonal of P
  static constexpr double kDependent = 1e-9;  // of a new pivot relative to its diagonal
  static constexpr double kDoubtful = 1e-3;   // the same, where it may be rounding
  static constexpr double kFeasible = 1e-13;
  static constexpr double kMissed = 1e3;   // times kFeasible, by a row that depends on active ones
  static constexpr double kEqual = 1e-12;  // the same of an equation, relative to its bound
  static constexpr double kSettled = 1e-14;
  static constexpr int kProofPasses = 2;

  /// What QpWideJudge says of x and the multipliers, which stay until the next problem is solved.
  /// at: at_, with other memory for what the judge may overwrite.
  CAROM_INLINE QpWideCertified certify(const QpWideLayout<double*>& at,
                                       certificate::Leaning leaning) {
    for (int k = 0; k < count_; ++k) {
      at.lower[active_[k]] = lower_of(active_[k]);
      at.upper[active_[k]] = upper_of(active_[k]);
    }
    const auto row = [this](int i) { return row_of(i); };
    QpWideJudge<Isa, decltype(row)> judge(at, {task_.shape, gradient_, active_, count_}, row);
    const bool close = judge.certifies(leaning);
    return {close,        judge.residual(), judge.objective(), at.x, judge.multipliers(),
            judge.bent(), judge.pull()};
  }

  [[nodiscard]] CAROM_INLINE Self& self() { return static_cast<Self&>(*this); }
  CAROM_INLINE static void copy(const double* from, double* to, long count) {
    for (long e = 0; e < count; e += 8) Vector::load(from + e).store(to + e);
  }
  CAROM_INLINE static void fill(double* to, long count, double value) {
    for (long e = 0; e < count; ++e) to[e] = value;
  }
  [[nodiscard]] CAROM_INLINE int vectors() const { return static_cast<int>(width_ / 8); }

  void read_matrices(long p) {
    const long n = n_;
    const long m = task_.interval_rows;
    const long k = rows_ - m;
    fill(at_.zeros, columns_, 0.0);
    hessian_ = task_.hessian + p * n * n;
    matrix_ = task_.matrix + p * m * n;
    // Of rows from m on; without any there may be no array.
    cone_matrix_ = k > 0 ? task_.cone_matrix + (p * k - m) * n : nullptr;
    Linear::transpose_rows(hessian_, n_, n_, at_.hessian, columns_, at_.zeros);
    for (long j = 1; j < n; ++j) {  // the lower half for both
      for (long i = 0; i < j; ++i) at_.hessian[j * columns_ + i] = hessian_[j * n + i];
    }
    if (is_sparse(task_.shape)) {
      fill(at_.matrix, n * width_, 0.0);
      for (int i = 0; i < rows_; ++i) {
        const double* row = row_of(i);
        for (int t = task_.shape.row_first[i]; t < task_.shape.row_first[i + 1]; ++t) {
          at_.matrix[task_.shape.column[t] * width_ + i] = row[task_.shape.column[t]];
        }
      }
    } else if (k == 0) {
      Linear::transpose_rows(matrix_, rows_, n_, at_.matrix, width_, at_.zeros);
    } else {
      const double* row[8];
      for (int i = 0; i < rows_; i += 8) {
        for (int r = 0; r < 8; ++r) row[r] = i + r < rows_ ? row_of(i + r) : at_.zeros;
        Linear::transpose_eight(row, n_, at_.matrix + i, width_);
      }
    }
  }
  /// False where a row's bounds cross.
  bool read_bounds(long p) {
    const long m = task_.interval_rows;
    const long k = rows_ - m;
    gradient_ = task_.vector + p * n_;
    const double* lower = task_.lower + p * m;
    const double* upper = task_.upper + p * m;
    bool crossed = false;
    for (long i = 0; i < m; ++i) {
      at_.lower[i] = lower[i];
      at_.upper[i] = upper[i];
      crossed = crossed || lower[i] > upper[i];
    }
    for (long i = m; i < rows_; ++i) {
      const double b = task_.cone_vector[p * k + i - m];
      at_.upper[i] = b;
      at_.lower[i] = task_.equation[i] != 0 ? b : -kernels::kInfinity;
    }
    for (long i = rows_; i < width_; ++i) {
      at_.lower[i] = -kernels::kInfinity;
      at_.upper[i] = kernels::kInfinity;
    }
    lower_ = lower;
    upper_ = upper;
    cone_vector_ = k > 0 ? task_.cone_vector + (p * k - m) : nullptr;
    return !crossed;
  }
  [[nodiscard]] CAROM_INLINE const double* row_of(int i) const {
    return (i < task_.interval_rows ? matrix_ : cone_matrix_) + static_cast<long>(i) * row_stride_;
  }
  [[nodiscard]] CAROM_INLINE double lower_of(int i) const {
    return i < task_.interval_rows  ? lower_[i]
           : task_.equation[i] != 0 ? cone_vector_[i]
                                    : -kernels::kInfinity;
  }
  [[nodiscard]] CAROM_INLINE double upper_of(int i) const {
    return i < task_.interval_rows ? upper_[i] : cone_vector_[i];
  }

  /// Factors of P where it is definite.
  bool factorise_definite() {
    for (int j = 0; j < n_; ++j) at_.least[j] = kDefinite * diagonal(j);
    copy_hessian(nullptr, 0.0);
    return factorise();
  }
  [[nodiscard]] CAROM_INLINE double diagonal(int j) const { return at_.hessian[j * columns_ + j]; }
  CAROM_INLINE bool factorise() {
    return Linear::factorise(n_, at_.factor, columns_, at_.pivot, at_.pivot_inverse, at_.least);
  }
  CAROM_INLINE void copy_hessian(const double* shift, double share) {
    for (long e = 0; e < n_ * columns_; e += 8) {
      Vector::load(at_.hessian + e).store(at_.factor + e);
    }
    if (shift == nullptr) return;
    for (long j = 0; j < n_; ++j) {
      double& entry = at_.factor[j * columns_ + j];
      entry = kernels::fused(shift[j], share, entry);
    }
  }

  /// Rows enter until none is violated.
  bool descend() {
    for (;;) {
      const int entering = most_violated();
      if (entering < 0) return true;
      if (!enter(entering)) return false;
    }
  }
  /// The row that is violated most in the norm of H^-1, or -1.
  [[nodiscard]] CAROM_INLINE int most_violated() const {
    const Vector none(kernels::kInfinity);
    const Vector zero(0.0);
    const Vector eight(8.0);
    Vector best = none;
    Vector place(-1.0);
    Vector index = zero;
    for (long i = 0; i < width_; i += 8) {
      const Vector value = Vector::load(at_.value + i);
      const Vector outside =
          larger(Vector::load(at_.lower + i) - value, value - Vector::load(at_.upper + i));
      const Vector key = Vector::where_greater(outside, Vector::load(at_.feasible + i),
                                               zero - outside * Vector::load(at_.scale + i), none);
      place = Vector::where_greater(best, key, index, place);
      best = smaller(key, best);
      index = index + eight;
    }
    return Vector::first_smallest(best, place).index;
  }

  /// rate: what the active rows' multipliers lose where that of the row in `column` grows; returns
  /// the pivot of that row.
  CAROM_INLINE double border(double diagonal) {
    const int active = eights(count_);
    self().meet_active();
    pad(at_.entry);
    Linear::combine(active, count_, at_.entry, at_.inverse, columns_, nullptr, at_.rate);
    return diagonal - Linear::dot(active, at_.entry, at_.rate);
  }

  /// The largest length of what a row is made of: its own, or rate times that of an active row.
  /// Overwrites `entry`.
  [[nodiscard]] CAROM_INLINE double largest_share(double diagonal) const {
    const int active = eights(count_);
    for (int k = 0; k < count_; ++k) at_.entry[k] = at_.scale[active_[k]];
    for (int k = count_; k < 8 * active; ++k) at_.entry[k] = 1.0;
    Vector most(diagonal);
    for (int k = 0; k < 8 * active; k += 8) {
      const Vector share = Vector::load(at_.rate + k) / Vector::load(at_.entry + k);
      most = larger(share * share, most);
    }
    return kernels::square_root(most.largest());
  }

  /// Adds row i, after those have left whose multipliers would change their sign on the way. False
  /// where no multiplier ends a way that meets no point, or too many steps were made.
  bool enter(int i) {
    const bool equation = at_.lower[i] == at_.upper[i];
    const double above = at_.value[i] - at_.upper[i];
    const double below = at_.lower[i] - at_.value[i];
    const double side = above > below ? 1.0 : -1.0;
    double multiplier = 0.0;
    const double diagonal = self().reach_row(i);
    if (!(diagonal > 0.0)) {
      if (equation && above <= 0.0 && below <= 0.0) return true;
      return refute(i, side, 0);
    }
    for (;;) {
      if (++iterations_ > limit_) return false;
      const int active = eights(count_);
      const double pivot = border(diagonal);
      // Rounding of a pivot is that of the active rows that the row is made of.
      const double share =
          pivot > kDoubtful * diagonal && count_ < n_ ? 0.0 : largest_share(diagonal);
      const bool dependent = !(pivot > kDependent * share * share) || count_ == n_;
      const double outside = side > 0.0 ? at_.value[i] - at_.upper[i] : at_.lower[i] - at_.value[i];
      int blocking = -1;
      double length = dependent ? kernels::kInfinity : kernels::larger(outside, 0.0) / pivot;
      const auto first = first_loss(active, side, dependent ? kDependent * share : 0.0);
      if (first.key < length) {
        length = first.key;
        blocking = first.index;
      }
      const bool ends = !(length < kernels::kInfinity);
      // A row that depends on active ones and is not missed by more than rounding.
      if (dependent && (ends || multiplier == 0.0) && outside <= kMissed * at_.feasible[i]) {
        at_.feasible[i] = outside;
        return true;
      }
      if (ends) {
        if (equation && outside <= kEqual * kernels::magnitude(at_.upper[i])) return true;
        return refute(i, side, count_);
      }
      const double change = side * length;
      multiplier += change;
      const Vector back(-change);
      for (int k = 0; k < 8 * active; k += 8) {
        fused(back, Vector::load(at_.rate + k), Vector::load(at_.multiplier + k))
            .store(at_.multiplier + k);
      }
      self().move(change);
      if (blocking < 0) {
        append(i, side, pivot, multiplier, equation);
        return true;
      }
      remove(blocking);
    }
  }

  /// What proves that no x meets the rows: row i and `active` ones that it depends on, by what they
  /// leave of A'y corrected. False.
  bool refute(int i, double side, int active) {
    refuted_ = i;
    refuted_side_ = side;
    if (active == 0) count_ = 0;
    for (int k = 0; k < count_; ++k) at_.multiplier[k] = -side * at_.rate[k];
    for (int pass = 0; pass < kProofPasses && count_ > 0; ++pass) {
      const double* row = row_of(i);
      for (int j = 0; j < n_; ++j) at_.step[j] = -side * row[j];
      fill(at_.step + n_, columns_ - n_, 0.0);
      subtract_rows(at_.multiplier, at_.step);
      self().meet_rows();
      pad(at_.entry);
      Linear::combine(eights(count_), count_, at_.entry, at_.inverse, columns_, nullptr, at_.rate);
      for (int k = 0; k < count_; ++k) at_.multiplier[k] += at_.rate[k];
    }
    for (int k = 0; k < count_; ++k) {
      if (at_.multiplier[k] * at_.sign[k] < 0.0) at_.multiplier[k] = 0.0;
    }
    return false;
  }

  /// The first active row whose multiplier a way along `rate` takes to zero, and its length; none
  /// where rate times the row's length is at most `noise`. Overwrites `entry` where there is noise.
  [[nodiscard]] CAROM_INLINE kernels::ArgMin<double> first_loss(int active, double side,
                                                                double noise) const {
    for (int k = 0; noise > 0.0 && k < count_; ++k) {
      const bool rounding = kernels::magnitude(at_.rate[k]) <= noise * at_.scale[active_[k]];
      at_.entry[k] = rounding ? 0.0 : at_.rate[k];
    }
    const double* const rate = noise > 0.0 ? at_.entry : at_.rate;
    const Vector none(kernels::kInfinity);
    const Vector zero(0.0);
    const Vector way(side);
    Vector best = none;
    Vector place(-1.0);
    for (int k = 0; k < 8 * active; k += 8) {
      const Vector sign = Vector::load(at_.sign + k);
      const Vector loss = way * Vector::load(rate + k) * sign;
      const Vector room = larger(Vector::load(at_.multiplier + k) * sign, zero);
      const Vector key = Vector::where_greater(loss, zero, room / loss, none);
      place = Vector::where_greater(best, key, Vector(static_cast<double>(k)), place);
      best = smaller(key, best);
    }
    return Vector::first_smallest(best, place);
  }
  /// Zeros after the active rows.
  CAROM_INLINE void pad(double* of) const {
    for (int k = count_; k < 8 * eights(count_); ++k) of[k] = 0.0;
  }

  /// The inverse bordered by a row whose entries are `rate` and whose pivot is `pivot`.
  CAROM_INLINE void append(int i, double side, double pivot, double multiplier, bool equation) {
    const double share = 1.0 / pivot;
    const int last = count_;
    if (last % 8 == 0) {  // a vector that was not in use
      for (int k = 0; k < n_; ++k) Vector(0.0).store(at_.inverse + k * columns_ + last);
      for (double* part : {at_.rate, at_.multiplier, at_.sign}) Vector(0.0).store(part + last);
      if (last == 0) fill(at_.rate, 8, 0.0);
    }
    ++count_;
    const int active = eights(count_);
    at_.rate[last] = -1.0;
    fill(at_.inverse + last * columns_, columns_, 0.0);
    Linear::add_outer(active, count_, at_.rate, share, at_.rate, at_.inverse, columns_);
    self().keep_reach(last);
    active_[last] = i;
    at_.multiplier[last] = multiplier;
    at_.sign[last] = equation ? 0.0 : side;
    leave_out(i);
  }
  /// Row i is not violated, whatever its value.
  CAROM_INLINE void leave_out(int i) {
    at_.lower[i] = -kernels::kInfinity;
    at_.upper[i] = kernels::kInfinity;
  }

  /// Takes the active row at place r out of the inverse; the last one takes its place.
  CAROM_INLINE void remove(int r) {
    const int row = active_[r];
    at_.lower[row] = lower_of(row);
    at_.upper[row] = upper_of(row);
    const int active = eights(count_);
    double* mine = at_.inverse + r * columns_;
    const double share = -1.0 / mine[r];
    // Its own row is changed as well: the last one takes its place, or it goes.
    copy(mine, at_.entry, 8L * active);
    for (int k = 0; k < count_; ++k) at_.rate[k] = at_.inverse[k * columns_ + r];
    Linear::add_outer(active, count_, at_.rate, share, at_.entry, at_.inverse, columns_);
    const int last = --count_;
    if (r != last) {
      const double* from = at_.inverse + last * columns_;
      for (int v = 0; v < active; ++v) Vector::load(from + 8L * v).store(mine + 8L * v);
      for (int k = 0; k < count_; ++k) {
        double* other = at_.inverse + k * columns_;
        other[r] = other[last];
      }
      mine[r] = from[last];
      self().move_reach(last, r);
      active_[r] = active_[last];
      at_.multiplier[r] = at_.multiplier[last];
      at_.sign[r] = at_.sign[last];
    }
    for (int k = 0; k < count_; ++k) at_.inverse[k * columns_ + last] = 0.0;
    at_.multiplier[last] = 0.0;
    at_.sign[last] = 0.0;
  }

  /// Zeros where x holds nothing but rounding: rows of such numbers know no other unit.
  CAROM_INLINE void drop_rounding() {
    const Vector share(kSettled * length_);
    for (long j = 0; j < columns_; j += 8) {
      const Vector x = Vector::load(at_.x + j);
      const Vector size = magnitude(x);
      const Vector least = share * Vector::load(at_.unit + j);
      Vector::where_greater(size, least, x, size * Vector(0.0)).store(at_.x + j);
    }
  }
  /// to -= A'of the active rows
  CAROM_INLINE void subtract_rows(const double* of, double* to) const {
    for (int k = 0; k < count_; ++k) {
      const double* row = row_of(active_[k]);
      const double by = -of[k];
      for (int j = 0; j < n_; ++j) to[j] = kernels::fused(by, row[j], to[j]);
    }
  }
  /// unit: of x_j, 1 / sqrt(P_jj); size: of a row, its largest entry in those units. diagonals: in
  /// the place of those of P, or null.
  CAROM_INLINE void know_units(const double* diagonals) {
    for (int j = 0; j < n_; ++j) {
      at_.unit[j] = diagonals != nullptr ? diagonals[j] / kProximity : diagonal(j);
    }
    for (int j = n_; j < columns_; ++j) at_.unit[j] = 1.0;
    for (long j = 0; j < columns_; j += 8) {
      (Vector(1.0) / square_root(Vector::load(at_.unit + j))).store(at_.unit + j);
    }
    Linear::largest(vectors(), n_, at_.unit, at_.matrix, width_, at_.size);
  }

  CAROM_INLINE void know_length() {
    Vector most(0.0);
    for (long j = 0; j < columns_; j += 8) {
      most = larger(magnitude(Vector::load(at_.x + j)) / Vector::load(at_.unit + j), most);
    }
    length_ = most.largest();
  }

  const kernels::QpTaskArrays& task_;
  int n_, rows_;
  long columns_, width_;
  long row_stride_;  // of A
  QpWideLayout<double*> at_;
  const double* hessian_ = nullptr;
  const double* gradient_ = nullptr;
  const double* matrix_ = nullptr;
  const double* cone_matrix_ = nullptr;
  const double* lower_ = nullptr;
  const double* upper_ = nullptr;
  const double* cone_vector_ = nullptr;
  int active_[kLargestWideVariables + 8] = {};  // in whole eights
  int count_ = 0;
  int iterations_ = 0;
  int limit_ = 0;
  double length_ = 0.0;
  int refuted_ = -1;  // row that no x meets beside active ones
  double refuted_side_ = 0.0;
};

}  // namespace carom::cpu::simd
