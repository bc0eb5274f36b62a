#pragma once

#include <cstring>

#include "cpu/simd/ahead.hpp"
#include "cpu/simd/programs/qp_wide_rows.hpp"

namespace carom::cpu::simd {

/// Dual active set for one problem with a definite P whose inverse is kept. It begins with rows
/// which may be active: those of them whose multipliers would have the wrong sign are let go; where
/// that is done the start is as good as any (Goldfarb and Idnani 1983).
template <class Isa>
class QpWarmActiveSet : public QpWideRows<Isa, QpWarmActiveSet<Isa>> {
  using Base = QpWideRows<Isa, QpWarmActiveSet<Isa>>;

 public:
  using Kept = QpKeptLayout<double*>;
  using Shared = QpSharedLayout<double*>;

  /// shared: what share() filled, where all problems have the matrices of one, or null. memory:
  /// qp_wide_workspace, starts: QpStartsLayout, both on a cache line.
  CAROM_INLINE QpWarmActiveSet(const kernels::QpTaskArrays& task, double* shared, double* memory,
                               double* starts)
      : Base(task, memory),
        shared_(shared != nullptr),
        stride_(8L * eights(n_ < rows_ ? n_ : rows_)),
        starts_(kernels::placed<QpStartsLayout>(starts, n_, rows_)),
        spare_scale_(at_.scale),
        spare_size_(at_.size),
        way_(at_.factor) {
    fill(at_.zeros, columns_, 0.0);
    fill(at_.x, columns_, 0.0);
    if (!shared_) return;
    all_ = kernels::placed<QpSharedLayout>(shared, n_, rows_);
    way_ = all_.way;
  }

  /// Fills `kept`, a QpKeptLayout, by problem p. False where P is not definite.
  bool keep(long p, double* kept) {
    this->read_matrices(p);
    if (!this->factorise_definite()) return false;
    Linear::find_last(n_, at_.factor, columns_, last_);
    this->know_units(nullptr);
    Linear::lower_solve_rows(n_, at_.factor, columns_, at_.pivot_inverse, last_, vectors(),
                             at_.matrix, at_.through, width_, at_.value);
    const Kept to = kernels::placed<QpKeptLayout>(kept, n_, rows_);
    copy(at_.hessian, to.hessian, n_ * columns_);
    copy(at_.matrix, to.matrix, n_ * width_);
    copy(at_.unit, to.unit, columns_);
    for (int j = 0; j < n_; ++j) {
      double* column = to.inverse + j * columns_;
      fill(column, columns_, 0.0);
      column[j] = 1.0;
      solve(column);
    }
    for (long i = 0; i < width_; ++i) {
      const double norm = kernels::square_root(at_.value[i]);
      to.norm[i] = norm;
      to.scale[i] = norm > kTiny ? 1.0 / norm : 0.0;
    }
    return true;
  }
  /// Fills what the constructor takes, a QpSharedLayout, after keep().
  void share(double* shared) {
    const Shared to = kernels::placed<QpSharedLayout>(shared, n_, rows_);
    for (int i = 0; i < rows_; ++i) {
      double* row = to.given + i * columns_;
      double* way = to.way + i * columns_;
      fill(row, columns_, 0.0);
      for (int j = 0; j < n_; ++j) row[j] = row_of(i)[j];
      copy(row, way, columns_);
      solve(way);
      for (int j = 0; j < n_; ++j) at_.work[j] = at_.through[j * width_ + i] * at_.pivot_inverse[j];
      Linear::combine(vectors(), n_, at_.work, at_.through, width_, nullptr, to.reach + i * width_);
    }
    for (int j = 0; j < n_; ++j) {
      double* slope = to.slope + j * width_;
      fill(slope, width_, 0.0);
      for (int i = 0; i < rows_; ++i) slope[i] = to.way[i * columns_ + j];
    }
  }

  /// Takes the matrices that keep() left, of problem p.
  CAROM_INLINE void adopt(long p, double* kept) {
    const Kept from = kernels::placed<QpKeptLayout>(kept, n_, rows_);
    at_.hessian = from.hessian;
    at_.matrix = from.matrix;
    at_.unit = from.unit;
    at_.scale = from.scale;
    inverse_ = from.inverse;
    norm_ = from.norm;
    matrix_ = shared_ ? all_.given : task_.matrix + p * rows_ * n_;
    row_stride_ = shared_ ? columns_ : n_;
  }

  /// The problem that is solved next, and the `count` numbers that are then adopted, or null.
  CAROM_INLINE void look_ahead(long next, const double* kept, long count) {
    ahead_ = Ahead();
    ahead_.add(task_.lower + next * rows_, rows_);
    ahead_.add(task_.upper + next * rows_, rows_);
    ahead_.add(task_.vector + next * n_, n_);
    if (kept != nullptr) ahead_.add(kept, count);
  }

  /// Where the problems [first, end), at most kStarts that share their matrices, begin: they are
  /// read once for all.
  CAROM_INLINE void know_starts(long first, long end) {
    first_ = first;
    const int count = static_cast<int>(end - first);
    for (int w = 0; w < count; ++w) {
      turn(task_.vector + (first + w) * n_, starts_.push + w * columns_);
    }
    Linear::combine_several(eights(n_), n_, count, starts_.push, columns_, inverse_, columns_,
                            starts_.x, columns_);
    Linear::combine_several(vectors(), n_, count, starts_.push, columns_, all_.slope, width_,
                            starts_.value, width_);
  }

  /// Problem p by the matrices that were adopted, from the rows that `held` names: 1 at its lower
  /// bound, 2 at its upper one. False where it may have no answer, then mostly with a proof, and
  /// where a number is refused.
  bool solve(long p, int limit, const std::uint8_t* held) {
    limit_ = limit;
    count_ = 0;
    iterations_ = 0;
    refuted_ = -1;
    if (!read_limits(p)) return false;
    const double energy = start(p);
    if (!(energy < kernels::kInfinity)) return false;
    look();
    know_feasible(kFeasible * kernels::square_root(energy));
    list(held);
    look();
    balance();
    look();
    know_values();
    look();
    if (!this->descend()) return false;
    if (shared_) find_point();
    look();
    meet_bounds();
    look();
    know_length();
    drop_rounding();
    return true;
  }

  CAROM_INLINE QpWideCertified certify() {
    look();
    QpWideLayout<double*> at = at_;
    at.scale = spare_scale_;
    at.size = spare_size_;
    return Base::certify(at, certificate::Leaning::by_active_rows);
  }
  /// A step of Newton's from what certify() left: where the certificate asks for more.
  CAROM_INLINE void correct(const QpWideCertified& seen) {
    for (int j = 0; j < n_; ++j) at_.least[j] = -(seen.bent[j] + gradient_[j] + seen.pull[j]);
    fill(at_.least + n_, columns_ - n_, 0.0);
    Linear::combine(eights(n_), n_, at_.least, inverse_, columns_, at_.x, at_.x);
    meet_bounds();
    know_length();
    drop_rounding();
  }
  /// As solve() takes it, of the answer.
  CAROM_INLINE void read_held(std::uint8_t* held) const {
    std::memset(held, 0, static_cast<std::size_t>(rows_));
    for (int k = 0; k < count_; ++k) {
      if (at_.sign[k] != 0.0) held[active_[k]] = at_.sign[k] > 0.0 ? 2 : 1;
    }
  }

 private:
  friend Base;
  using Base::active_, Base::at_, Base::columns_, Base::count_, Base::gradient_, Base::iterations_,
      Base::length_, Base::limit_, Base::lower_, Base::matrix_, Base::n_, Base::refuted_,
      Base::row_stride_, Base::rows_, Base::task_, Base::upper_, Base::width_;
  using Base::append, Base::border, Base::copy, Base::drop_rounding, Base::fill, Base::know_length,
      Base::pad, Base::remove, Base::row_of, Base::vectors;
  using Base::kDependent, Base::kFeasible;
  using typename Base::Linear;
  using typename Base::Vector;

  static constexpr double kTiny = 1e-300;
  static constexpr int kAtOnce = 96;  // lines that are asked for
  static constexpr int kSteps = 4;    // that are made at once; they divide eight
  static constexpr double kPlaces[8] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};

  CAROM_INLINE void look() { ahead_.ask<kAtOnce, 2>(); }
  CAROM_INLINE void solve(double* x) const {
    Linear::solve(n_, at_.factor, columns_, at_.pivot_inverse, last_, x);
  }
  [[nodiscard]] CAROM_INLINE double bound_of(int k) const {
    // Which side is as good as random: a choice of addresses is no branch.
    const double* const bounds = at_.sign[k] < 0.0 ? lower_ : upper_;
    return bounds[active_[k]];
  }
  /// a_i'x; x: with zeros after its numbers.
  [[nodiscard]] CAROM_INLINE double times(int i, const double* x) const {
    const double* row = row_of(i);
    if (shared_) return Linear::dot(eights(n_), row, x);
    Vector sum(0.0);
    int j = 0;
    for (; j + 8 <= n_; j += 8) sum = fused(Vector::load(row + j), Vector::load(x + j), sum);
    if (j < n_) sum = fused(Vector::load_first(row + j, n_ - j), Vector::load(x + j), sum);
    return sum.sum();
  }
  /// to: P^-1 a_i
  CAROM_INLINE void find_way(int i, double* to) const {
    Linear::combine(eights(n_), n_, row_of(i), inverse_, columns_, nullptr, to);
  }
  /// Bounds and q of problem p. False where a bound is refused or bounds cross.
  CAROM_INLINE bool read_limits(long p) {
    const long m = rows_;
    gradient_ = task_.vector + p * n_;
    lower_ = task_.lower + p * m;
    upper_ = task_.upper + p * m;
    const Vector infinity(kernels::kInfinity);
    const Vector zero(0.0);
    const Vector one(1.0);
    Vector good = one;
    Vector apart = one;
    for (long i = 0; i < width_; i += 8) {
      Vector lower;
      Vector upper;
      if (i + 8 <= m) {
        lower = Vector::load(lower_ + i);
        upper = Vector::load(upper_ + i);
        lower.store(at_.lower + i);
        upper.store(at_.upper + i);
      } else {
        fill(at_.lower + i, 8, -kernels::kInfinity);
        fill(at_.upper + i, 8, kernels::kInfinity);
        for (long e = i; e < m; ++e) {
          at_.lower[e] = lower_[e];
          at_.upper[e] = upper_[e];
        }
        lower = Vector::load(at_.lower + i);
        upper = Vector::load(at_.upper + i);
      }
      apart = Vector::where_greater(upper, lower, apart, zero);
      good = Vector::where_greater(infinity, lower, good, zero);
      good = Vector::where_greater(upper, zero - infinity, good, zero);
      good = Vector::where_greater(lower, upper, zero, good);
    }
    equations_ = Vector::any_greater(one, apart);
    return !Vector::any_greater(one, good);
  }

  /// The minimum without rows: its point in x, in shared problems its rows in `value`; q'P^-1 q.
  CAROM_INLINE double start(long p) {
    if (shared_) {
      const long at = p - first_;
      at_.x = starts_.x + at * columns_;
      at_.value = starts_.value + at * width_;
      return Linear::dot(eights(n_), starts_.push + at * columns_, at_.x);
    }
    turn(gradient_, at_.work);
    Linear::combine(eights(n_), n_, at_.work, inverse_, columns_, nullptr, at_.x);
    return Linear::dot(eights(n_), at_.work, at_.x);
  }
  /// to: -q, padded
  CAROM_INLINE void turn(const double* q, double* to) const {
    for (int j = 0; j < n_; ++j) to[j] = -q[j];
    fill(to + n_, columns_ - n_, 0.0);
  }
  /// feasible: what counts as met.
  CAROM_INLINE void know_feasible(double size) {
    const Vector limit(size);
    for (long i = 0; i < width_; i += 8) (limit * Vector::load(norm_ + i)).store(at_.feasible + i);
  }

  /// The rows to begin with: equations, then those held.
  CAROM_INLINE void list(const std::uint8_t* held) {
    for (int i = 0; i < rows_ && equations_ && count_ < n_; ++i) {
      if (lower_[i] == upper_[i]) take(i, 0.0);
    }
    for (int i = 0; i < rows_; i += 8) {
      std::uint64_t sides = 0;
      std::memcpy(&sides, held + i, static_cast<std::size_t>(rows_ - i < 8 ? rows_ - i : 8));
      while (sides != 0 && count_ < n_) {
        const int byte = __builtin_ctzll(sides) / 8;
        const int side = static_cast<int>(sides >> (8 * byte)) & 0xff;
        sides &= ~(std::uint64_t{0xff} << (8 * byte));
        const int row = i + byte;
        const double* const bounds = side == 1 ? lower_ : upper_;
        if (kernels::magnitude(bounds[row]) < kernels::kInfinity && lower_[row] != upper_[row]) {
          take(row, side == 1 ? -1.0 : 1.0);
        }
      }
    }
    if (count_ == 0) return;
    pad(at_.sign);
    const int asked = count_;
    know_products();
    if (invert()) return;
    // One by one, without those that depend on others.
    for (int k = 0; k < asked; ++k) at_.slope[k] = at_.sign[k];
    count_ = 0;
    for (int k = 0; k < asked; ++k) {
      const int i = active_[k];
      at_.lower[i] = lower_[i];
      at_.upper[i] = upper_[i];
      const double whole = reach_row(i);
      const double pivot = border(whole);
      if (!(pivot > kDependent * whole)) continue;
      append(i, at_.slope[k], pivot, 0.0, at_.slope[k] == 0.0);
    }
  }
  CAROM_INLINE void take(int i, double sign) {
    active_[count_] = i;
    at_.sign[count_] = sign;
    at_.lower[i] = -kernels::kInfinity;
    at_.upper[i] = kernels::kInfinity;
    ++count_;
  }
  /// inverse: A_W P^-1 A_W' so far.
  CAROM_INLINE void know_products() {
    if (shared_) {
      for (int k = 0; k < count_; ++k) {
        gather_active(all_.reach + active_[k] * width_, at_.inverse + k * columns_);
      }
      return;
    }
    double* const rows = at_.reach;
    const double* row[8];
    for (int k = 0; k < count_; k += 8) {
      for (int r = 0; r < 8; ++r) row[r] = k + r < count_ ? row_of(active_[k + r]) : at_.zeros;
      Linear::transpose_eight(row, n_, rows + k, stride_);
    }
    for (int k = 0; k < count_; ++k) {
      double* way = way_ + k * columns_;
      find_way(active_[k], way);
      look();
      Linear::combine(eights(count_), n_, way, rows, stride_, nullptr, at_.inverse + k * columns_);
    }
  }
  /// to[k]: of active row k.
  CAROM_INLINE void gather_active(const double* from, double* to) const {
    // One by one: some machines gather no faster, others much slower.
    for (int k = 0; k < count_; ++k) to[k] = from[active_[k]];
    pad(to);
  }
  /// By Gauss and Jordan's method. False where the active rows depend on each other.
  CAROM_INLINE bool invert() {
    for (int k = 0; k < count_; ++k) at_.entry[k] = at_.inverse[k * columns_ + k];
    switch (eights(count_)) {
      case 1:
        return invert_eights<1>();
      case 2:
        return invert_eights<2>();
      case 3:
        return invert_eights<3>();
      case 4:
        return invert_eights<4>();
      default:
        return invert_eights<0>();
    }
  }
  /// Four steps at a time. Eights: of a row, or 0 where it has more than four.
  template <int Eights>
  bool invert_eights() {
    for (int k = 0; k < count_; k += kSteps) {
      const int end = k + kSteps < count_ ? k + kSteps : count_;
      for (int step = k; step < end; ++step) {
        double* mine = at_.inverse + step * columns_;
        if (!(mine[step] > kDependent * at_.entry[step])) return false;
        const Vector share(1.0 / mine[step]);
        const Vector apart = places_from(step, step + 1);
        for (int v = 0; v < eights_of<Eights>(); ++v) {
          Vector own = share * Vector::load(mine + 8 * v);
          if (v == step / 8) own = Vector::where_greater(Vector(0.5), apart, share, own);
          own.store(mine + 8 * v);
        }
        sweep<Eights, 1>(step, k, step);
        sweep<Eights, 1>(step, step + 1, end);
      }
      switch (end - k) {
        case 1:
          sweep_others<Eights, 1>(k);
          break;
        case 2:
          sweep_others<Eights, 2>(k);
          break;
        case 3:
          sweep_others<Eights, 3>(k);
          break;
        default:
          sweep_others<Eights, kSteps>(k);
      }
    }
    return true;
  }
  /// The next rows first, as the next steps wait for them.
  template <int Eights, int Steps>
  CAROM_INLINE void sweep_others(int first) {
    sweep<Eights, Steps>(first, first + Steps, count_);
    sweep<Eights, Steps>(first, 0, first);
  }
  /// Rows [begin, end) without what they have of the rows first, ..., which are done. In the
  /// columns of those stands what the unit matrix leaves there. No single number is stored: a
  /// vector that it is part of would wait for it.
  template <int Eights, int Steps>
  CAROM_INLINE void sweep(int first, int begin, int end) {
    const double* done = at_.inverse + first * columns_;
    const Vector apart = places_from(first, first + Steps);
    const Vector inside(0.5 * Steps);
    const Vector zero(0.0);
    // Held, as the compiler cannot know that `row` is none of them; one place more, as 0 is none.
    Vector taken[Steps][Eights + 1];
    for (int s = 0; s < Steps; ++s) {
      for (int v = 0; v < Eights; ++v) {
        taken[s][v] = zero - Vector::load(done + s * columns_ + 8 * v);
      }
    }
    for (int c = begin; c < end; ++c) {
      double* row = at_.inverse + c * columns_;
      Vector by[Steps];
      for (int s = 0; s < Steps; ++s) by[s] = Vector(row[first + s]);
      for (int v = 0; v < eights_of<Eights>(); ++v) {
        Vector own = Vector::load(row + 8 * v);
        if (v == first / 8) own = Vector::where_greater(inside, apart, zero, own);
        for (int s = 0; s < Steps; ++s) {
          const Vector part =
              Eights > 0 ? taken[s][v] : zero - Vector::load(done + s * columns_ + 8 * v);
          own = fused(by[s], part, own);
        }
        own.store(row + 8 * v);
      }
    }
  }
  template <int Eights>
  [[nodiscard]] CAROM_INLINE int eights_of() const {
    return Eights > 0 ? Eights : eights(count_);
  }
  /// How far the places of a vector are from the middle of those of [begin, end).
  [[nodiscard]] CAROM_INLINE static Vector places_from(int begin, int end) {
    return magnitude(Vector::load(kPlaces) - Vector(begin % 8 + 0.5 * (end - begin - 1)));
  }
  /// The multipliers of the active rows, without those rows for which they have the wrong sign.
  CAROM_INLINE void balance() {
    if (!shared_) {
      for (int k = 0; k < count_; ++k) at_.value[active_[k]] = times(active_[k], at_.x);
    }
    for (bool dropped = true; dropped && count_ > 0;) {
      for (int k = 0; k < count_; ++k) at_.entry[k] = at_.value[active_[k]] - bound_of(k);
      pad(at_.entry);
      Linear::combine(eights(count_), count_, at_.entry, at_.inverse, columns_, nullptr,
                      at_.multiplier);
      dropped = false;
      if (!has_wrong_sign()) return;
      for (int k = count_ - 1; k >= 0; --k) {
        if (!(at_.multiplier[k] * at_.sign[k] < 0.0)) continue;
        remove(k);
        ++iterations_;
        dropped = true;
      }
    }
  }
  [[nodiscard]] CAROM_INLINE bool has_wrong_sign() const {
    Vector least(0.0);
    for (int k = 0; k < count_; k += 8) {
      least = smaller(Vector::load(at_.multiplier + k) * Vector::load(at_.sign + k), least);
    }
    return Vector::any_greater(Vector(0.0), least);
  }
  /// Values of the rows, and the point where those do not do without it.
  CAROM_INLINE void know_values() {
    if (!shared_) {
      find_point();
      Linear::combine(vectors(), n_, at_.x, at_.matrix, width_, nullptr, at_.value);
      return;
    }
    for (int k = 0; k < count_; ++k) at_.entry[k] = -at_.multiplier[k];
    Linear::combine_listed(vectors(), count_, at_.entry, active_, all_.reach, width_, at_.value,
                           at_.value);
  }
  /// x without what the multipliers take.
  CAROM_INLINE void find_point() { give_way(at_.multiplier); }
  CAROM_INLINE void give_way(const double* multiplier) {
    for (int k = 0; k < count_; ++k) at_.entry[k] = -multiplier[k];
    if (shared_) {
      Linear::combine_listed(eights(n_), count_, at_.entry, active_, way_, columns_, at_.x, at_.x);
    } else {
      Linear::combine(eights(n_), count_, at_.entry, way_, columns_, at_.x, at_.x);
    }
  }
  /// Active rows are met as exactly as x is known: the sums of many steps are not.
  CAROM_INLINE void meet_bounds() {
    for (int k = 0; k < count_; ++k) at_.entry[k] = times(active_[k], at_.x) - bound_of(k);
    pad(at_.entry);
    Linear::combine(eights(count_), count_, at_.entry, at_.inverse, columns_, nullptr, at_.rate);
    for (int k = 0; k < count_; ++k) at_.multiplier[k] += at_.rate[k];
    give_way(at_.rate);
  }

  // What QpWideRows asks.
  CAROM_INLINE double reach_row(int i) {
    row_ = i;
    if (shared_) return all_.reach[i * width_ + i];
    find_way(i, at_.step);
    look();
    return times(i, at_.step);
  }
  CAROM_INLINE void meet_active() {
    if (shared_) {
      gather_active(all_.reach + row_ * width_, at_.entry);
    } else {
      for (int k = 0; k < count_; ++k) at_.entry[k] = times(active_[k], at_.step);
    }
  }
  CAROM_INLINE void move(double change) {
    double* const by = at_.slope;
    for (int k = 0; k < count_; ++k) by[k] = change * at_.rate[k];
    if (shared_) {
      by[count_] = -change;
      active_[count_] = row_;
      Linear::combine_listed(vectors(), count_ + 1, by, active_, all_.reach, width_, at_.value,
                             at_.value);
      return;
    }
    // work: by how much x moves.
    const Vector back(-change);
    for (long j = 0; j < columns_; j += 8) {
      (back * Vector::load(at_.step + j)).store(at_.work + j);
    }
    Linear::combine(eights(n_), count_, by, way_, columns_, at_.work, at_.work);
    for (long j = 0; j < columns_; j += 8) {
      (Vector::load(at_.x + j) + Vector::load(at_.work + j)).store(at_.x + j);
    }
    Linear::combine(vectors(), n_, at_.work, at_.matrix, width_, at_.value, at_.value);
  }
  CAROM_INLINE void keep_reach(int k) {
    if (!shared_) copy(at_.step, way_ + k * columns_, columns_);
  }
  CAROM_INLINE void move_reach(int from, int to) {
    if (!shared_) copy(way_ + from * columns_, way_ + to * columns_, columns_);
  }
  CAROM_INLINE void meet_rows() {
    Linear::combine(eights(n_), n_, at_.step, inverse_, columns_, nullptr, at_.work);
    for (int k = 0; k < count_; ++k) at_.entry[k] = times(active_[k], at_.work);
  }

  Shared all_{};
  Ahead ahead_;
  bool shared_;
  bool equations_ = false;
  long stride_;  // of A' of the active rows
  int row_ = 0;  // that was reached
  QpStartsLayout<double*> starts_;
  long first_ = 0;  // problem in starts_
  double* spare_scale_;
  double* spare_size_;
  double* way_;  // P^-1 a of each active row, or of each row
  const double* inverse_ = nullptr;
  const double* norm_ = nullptr;
  int last_[kLargestWideVariables] = {};
};

}  // namespace carom::cpu::simd
