#pragma once

#include <carom/device/numeric.hpp>

#include "cpu/simd/programs/qp_wide_rows.hpp"
#include "programs/qp/kernels/qp_scaling.hpp"

namespace carom::cpu::simd {

/// Dual active set for one convex problem from a start without rows. With P = L D L' a row of
/// A (L D^1/2)^-T is all that is read of it; columns of A P^-1 A' are formed for rows that enter. A
/// semidefinite P is made definite by proximal steps, which end exactly (Rockafellar 1976).
template <class Isa>
class QpWideActiveSet : public QpWideRows<Isa, QpWideActiveSet<Isa>> {
  using Base = QpWideRows<Isa, QpWideActiveSet<Isa>>;

 public:
  using Base::Base;

  /// Whether P is definite.
  [[nodiscard]] bool is_strictly_convex() const { return !proximal_; }
  [[nodiscard]] double solution(int j) const { return at_.x[j]; }
  /// Solves problem p, whose numbers are finite. True where x and multipliers meet the conditions
  /// as far as this can tell.
  bool solve(long p, int limit) {
    limit_ = limit;
    count_ = 0;
    iterations_ = 0;
    proximal_ = false;
    refuted_ = -1;
    this->read_matrices(p);
    if (!this->read_bounds(p) || !prepare()) return false;
    Linear::find_last(n_, at_.factor, columns_, last_);
    know_units(proximal_ ? at_.proximity : nullptr);
    Linear::lower_solve_rows(n_, at_.factor, columns_, at_.pivot_inverse, last_, vectors(),
                             at_.matrix, at_.through, width_, at_.scale);
    start();
    if (!enter_equations()) return false;
    if (!descend() || !settle()) return false;
    drop_rounding();
    return true;
  }
  QpWideCertified certify(certificate::Leaning leaning) {
    for (int i = 0; i < rows_; ++i) {
      at_.lower[i] = lower_of(i);
      at_.upper[i] = upper_of(i);
    }
    QpWideCertified answer = Base::certify(at_, leaning);
    if (!answer.close && drop_noise()) answer = Base::certify(at_, leaning);
    return answer;
  }

 private:
  friend Base;
  using Base::active_, Base::at_, Base::columns_, Base::count_, Base::gradient_, Base::iterations_,
      Base::length_, Base::limit_, Base::n_, Base::refuted_, Base::rows_, Base::task_, Base::width_;
  using Base::append, Base::border, Base::copy, Base::copy_hessian, Base::descend, Base::diagonal,
      Base::drop_rounding, Base::enter, Base::factorise, Base::factorise_definite, Base::fill,
      Base::know_length, Base::know_units, Base::lower_of, Base::most_violated, Base::pad,
      Base::remove, Base::row_of, Base::subtract_rows, Base::upper_of, Base::vectors;
  using Base::kDependent, Base::kFeasible, Base::kProximity, Base::kSettled;
  using typename Base::Linear;
  using typename Base::Vector;

  static constexpr double kRounded = 0x1p-50;  // then a step of Newton's changes nothing
  static constexpr int kMaxPasses = 60;

  /// Factors of P, or of P with a proximal term where it is convex but not definite.
  bool prepare() {
    if (factorise_definite()) return true;
    // Convex at all, as the interior point asks it.
    for (int j = 0; j < n_; ++j) {
      if (!(diagonal(j) > 0.0) && !is_empty(j)) return false;
      at_.proximity[j] = diagonal(j) > 0.0 ? diagonal(j) : 1.0;
      at_.least[j] = 0.0;
    }
    copy_hessian(at_.proximity, kernels::kConvexityShift);
    if (!factorise()) return false;
    weigh();
    proximal_ = true;
    copy_hessian(at_.proximity, 1.0);
    return factorise();
  }
  [[nodiscard]] bool is_empty(int j) const {
    bool empty = true;
    for (int i = 0; i < n_; ++i) empty = empty && at_.hessian[j * columns_ + i] == 0.0;
    return empty;
  }

  /// proximity: a share of the diagonal of P, and of what the rows suggest where there is none.
  void weigh() {
    double most = 0.0;
    for (int j = 0; j < n_; ++j) most = kernels::larger(diagonal(j), most);
    double ratio = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double entry = largest_entry(j);
      at_.work[j] = entry > 0.0 ? entry * entry : 1.0;
      if (diagonal(j) > 1e-12 * most) ratio = kernels::larger(diagonal(j) / at_.work[j], ratio);
    }
    if (!(ratio > 0.0)) ratio = slope_per_length();
    for (int j = 0; j < n_; ++j) {
      at_.proximity[j] =
          kProximity * (diagonal(j) > 1e-12 * most ? diagonal(j) : ratio * at_.work[j]);
      at_.least[j] = 0.25 * at_.proximity[j];
      at_.centre[j] = 0.0;
    }
  }
  [[nodiscard]] double largest_entry(int j) const {
    double largest = 0.0;
    for (int i = 0; i < rows_; ++i) {
      largest = kernels::larger(kernels::magnitude(at_.matrix[j * width_ + i]), largest);
    }
    return largest;
  }
  /// Of a linear objective: what its gradient is to the rows' bounds.
  [[nodiscard]] double slope_per_length() const {
    double push = 0.0;
    for (int j = 0; j < n_; ++j) {
      push = kernels::larger(gradient_[j] * gradient_[j] / at_.work[j], push);
    }
    double bounds = 0.0;
    const auto add = [&](double bound) {
      const double size = kernels::magnitude(bound);
      if (size < kernels::kInfinity) bounds = kernels::larger(size, bounds);
    };
    for (int i = 0; i < rows_; ++i) {
      add(at_.lower[i]);
      add(at_.upper[i]);
    }
    push = kernels::square_root(push);
    return push > 0.0 ? push / (bounds > 0.0 ? bounds : 1.0) : 1.0;
  }

  /// The minimum without rows, as the rows see it.
  void start() {
    for (int j = 0; j < n_; ++j) at_.work[j] = gradient_[j];
    fill(at_.work + n_, columns_ - n_, 0.0);
    Linear::lower_solve(n_, at_.factor, columns_, last_, at_.work);
    double energy = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double pushed = at_.work[j] * at_.pivot_inverse[j];
      energy = kernels::fused(pushed, at_.work[j], energy);
      at_.work[j] = -pushed;
    }
    Linear::combine(vectors(), n_, at_.work, at_.through, width_, nullptr, at_.value);
    know_feasible(energy);
  }
  /// scale: of a row's length in the norm of H^-1, squared so far; feasible: what counts as met.
  CAROM_INLINE void know_feasible(double energy) {
    const Vector tiny(1e-300);
    const Vector one(1.0);
    const Vector zero(0.0);
    const Vector limit(kFeasible * kernels::square_root(energy));
    for (long i = 0; i < width_; i += 8) {
      const Vector size = square_root(Vector::load(at_.scale + i));
      Vector::where_greater(size, tiny, one / larger(size, tiny), zero).store(at_.scale + i);
      (limit * size).store(at_.feasible + i);
    }
  }

  /// All equations: those that are independent by one step, the others one by one.
  CAROM_INLINE bool enter_equations() {
    int dependent = 0;
    for (int i = 0; i < rows_; ++i) {
      if (at_.lower[i] != at_.upper[i]) continue;
      const double whole = reach_row(i);
      const double pivot = whole > 0.0 ? border(whole) : 0.0;
      if (pivot > kDependent * whole && count_ < n_) {
        ++iterations_;
        append(i, 1.0, pivot, 0.0, true);
      } else {
        ++dependent;
      }
    }
    if (count_ == 0) return true;
    if (iterations_ > limit_) return false;
    for (int k = 0; k < count_; ++k) {
      at_.entry[k] = at_.value[active_[k]] - upper_of(active_[k]);
    }
    pad(at_.entry);
    Linear::combine(eights(count_), count_, at_.entry, at_.inverse, columns_, nullptr,
                    at_.multiplier);
    move_values(at_.multiplier);
    for (int i = 0; i < rows_ && dependent > 0; ++i) {
      if (at_.lower[i] != at_.upper[i]) continue;
      if (!enter(i)) return false;
      this->leave_out(i);  // those that it depends on keep it, whatever rounding makes of its value
    }
    return true;
  }
  /// value: after a change of the active rows' multipliers.
  CAROM_INLINE void move_values(const double* change) {
    for (int k = 0; k < count_; ++k) at_.entry[k] = -change[k];
    Linear::combine(vectors(), count_, at_.entry, at_.reach, width_, at_.value, at_.value);
  }

  // What QpWideRows asks.
  /// column: row i through H^-1, what a change of its multiplier moves.
  CAROM_INLINE double reach_row(int i) {
    const int entries = gather_row(i);
    if (entries < n_) {
      Linear::combine_listed(vectors(), entries, at_.work, listed_, at_.through, width_, nullptr,
                             at_.column);
    } else {
      Linear::combine(vectors(), n_, at_.work, at_.through, width_, nullptr, at_.column);
    }
    return at_.column[i];
  }
  CAROM_INLINE void meet_active() {
    for (int k = 0; k < count_; ++k) at_.entry[k] = at_.column[active_[k]];
  }
  CAROM_INLINE void move(double change) {
    for (int k = 0; k < count_; ++k) at_.entry[k] = -at_.rate[k];
    Linear::combine(vectors(), count_, at_.entry, at_.reach, width_, at_.column, at_.slope);
    const Vector back(-change);
    for (long e = 0; e < width_; e += 8) {
      fused(back, Vector::load(at_.slope + e), Vector::load(at_.value + e)).store(at_.value + e);
    }
  }
  CAROM_INLINE void keep_reach(int k) { copy(at_.column, at_.reach + k * width_, width_); }
  CAROM_INLINE void move_reach(int from, int to) {
    copy(at_.reach + from * width_, at_.reach + to * width_, width_);
  }
  CAROM_INLINE void meet_rows() {
    Linear::solve(n_, at_.factor, columns_, at_.pivot_inverse, last_, at_.step);
    Linear::combine(vectors(), n_, at_.step, at_.matrix, width_, nullptr, at_.column);
    meet_active();
  }

  /// work, listed: the numbers of row i of A (L D)^-T, and where they stand; returns how many.
  CAROM_INLINE int gather_row(int i) {
    int count = 0;
    for (int j = 0; j < n_; ++j) {
      const double entry = at_.through[j * width_ + i];
      at_.work[count] = entry * at_.pivot_inverse[j];
      listed_[count] = j;
      count += entry != 0.0 ? 1 : 0;
    }
    return count;
  }

  /// x from the multipliers, then Newton's steps on the active rows with P itself, until rounding
  /// is all that is left; rows enter or leave where those change what is active.
  bool settle() {
    find_point();
    measure();
    double last = kernels::kInfinity;
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      const double missed = newton();
      if (missed > kRounded) measure();
      if (drop_wrong()) {
        last = kernels::kInfinity;
        continue;
      }
      if (most_violated() >= 0) {
        if (!descend()) return false;
        find_point();
        measure();
        last = kernels::kInfinity;
        continue;
      }
      if (missed <= kSettled) return true;
      if (missed > 0.5 * last) return missed <= 1e-9;
      last = missed;
    }
    return false;
  }
  /// x = -H^-1 (q - E c + A'y)
  CAROM_INLINE void find_point() {
    for (int j = 0; j < n_; ++j) at_.x[j] = -gradient_[j];
    fill(at_.x + n_, columns_ - n_, 0.0);
    if (proximal_) {
      for (int j = 0; j < n_; ++j) {
        at_.x[j] = kernels::fused(at_.proximity[j], at_.centre[j], at_.x[j]);
      }
    }
    subtract_rows(at_.multiplier, at_.x);
    Linear::solve(n_, at_.factor, columns_, at_.pivot_inverse, last_, at_.x);
  }

  /// Values of the rows at x, and what counts as rounding of them.
  CAROM_INLINE void measure() {
    Linear::combine(vectors(), n_, at_.x, at_.matrix, width_, nullptr, at_.value);
    know_length();
    const Vector share(kFeasible * length_);
    for (long i = 0; i < width_; i += 8) {
      (share * Vector::load(at_.size + i)).store(at_.feasible + i);
    }
  }

  /// One step on P dx + A_W'dy = -(P x + q + A_W'y), A_W dx = b_W - A_W x, with H in place of P.
  /// Returns the largest residual before it, relative to its terms; none is made where that is
  /// rounding already.
  double newton() {
    // work: -(P x + q + A'y)
    Linear::combine(eights(n_), n_, at_.x, at_.hessian, columns_, nullptr, at_.work);
    for (int j = 0; j < n_; ++j) {
      at_.step[j] =
          kernels::larger(kernels::magnitude(at_.work[j]), kernels::magnitude(gradient_[j]));
      at_.work[j] = -at_.work[j] - gradient_[j];
    }
    subtract_rows(at_.multiplier, at_.work);
    double residual = 0.0;
    double terms = 0.0;
    for (int j = 0; j < n_; ++j) {
      residual = kernels::larger(kernels::magnitude(at_.work[j]) * at_.unit[j], residual);
      terms = kernels::larger(at_.step[j] * at_.unit[j], terms);
    }
    terms_ = terms;
    double missed = terms > 0.0 ? residual / terms : 0.0;
    for (int k = 0; k < count_; ++k) {
      const int i = active_[k];
      const double bound = at_.sign[k] < 0.0 ? lower_of(i) : upper_of(i);
      const double gap = at_.value[i] - bound;
      const double size = kernels::larger(kernels::magnitude(bound), length_ * at_.size[i]);
      if (kernels::magnitude(gap) > missed * size) missed = kernels::magnitude(gap) / size;
      at_.entry[k] = gap;
    }
    if (missed <= kRounded) return missed;
    // dy is for A_W x + A_W H^-1 work - b.
    copy(at_.work, at_.step, columns_);
    Linear::lower_solve(n_, at_.factor, columns_, last_, at_.step);
    for (int j = 0; j < n_; ++j) at_.step[j] *= at_.pivot_inverse[j];
    Linear::combine(vectors(), n_, at_.step, at_.through, width_, nullptr, at_.column);
    for (int k = 0; k < count_; ++k) at_.entry[k] += at_.column[active_[k]];
    pad(at_.entry);
    Linear::combine(eights(count_), count_, at_.entry, at_.inverse, columns_, nullptr, at_.rate);
    subtract_rows(at_.rate, at_.work);
    Linear::solve(n_, at_.factor, columns_, at_.pivot_inverse, last_, at_.work);
    if (proximal_) {
      for (int j = 0; j < n_; ++j) at_.centre[j] = at_.x[j];
    }
    for (int j = 0; j < n_; ++j) at_.x[j] += at_.work[j];
    for (int k = 0; k < count_; ++k) at_.multiplier[k] += at_.rate[k];
    return missed;
  }

  /// Sets multipliers to zero that are rounding relative to the gradient, and returns whether there
  /// were any: a column with no other terms would be judged in units of that rounding.
  bool drop_noise() {
    bool dropped = false;
    for (int k = 0; k < count_; ++k) {
      const double* row = row_of(active_[k]);
      double pull = 0.0;
      for (int j = 0; j < n_; ++j) {
        pull = kernels::larger(kernels::magnitude(row[j]) * at_.unit[j], pull);
      }
      if (at_.multiplier[k] == 0.0 ||
          !(pull * kernels::magnitude(at_.multiplier[k]) <= kSettled * terms_)) {
        continue;
      }
      at_.multiplier[k] = 0.0;
      dropped = true;
    }
    return dropped;
  }

  /// Lets rows go whose multipliers have the wrong sign; true where there are any.
  CAROM_INLINE bool drop_wrong() {
    bool dropped = false;
    for (int k = count_ - 1; k >= 0; --k) {
      if (at_.multiplier[k] * at_.sign[k] < 0.0) {
        remove(k);
        dropped = true;
      }
    }
    return dropped;
  }

  int listed_[kLargestWideVariables] = {};
  int last_[kLargestWideVariables] = {};
  double terms_ = 0.0;  // the largest of the gradient
  bool proximal_ = false;
};

}  // namespace carom::cpu::simd
