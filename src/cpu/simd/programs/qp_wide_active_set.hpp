#pragma once

#include <carom/device/numeric.hpp>

#include "cpu/simd/programs/qp_wide_judge.hpp"
#include "cpu/simd/programs/qp_wide_layout.hpp"
#include "cpu/simd/programs/qp_wide_linear.hpp"
#include "programs/qp/kernels/qp_scaling.hpp"
#include "programs/qp/kernels/qp_task_arrays.hpp"

/// Dual active set (Goldfarb and Idnani 1983) for one convex problem with interval rows, in vectors
/// along its rows. With P = L D L' a row of A (L D^1/2)^-T is all that is read of it; columns of
/// A P^-1 A' are formed for rows that enter, and their inverse is bordered and cut down. A
/// semidefinite P is made definite by proximal steps, which end exactly (Rockafellar 1976).
namespace carom::cpu::simd {

template <class Isa>
class QpWideActiveSet {
 public:
  /// memory: qp_wide_workspace, on a cache line.
  CAROM_INLINE QpWideActiveSet(const kernels::QpTaskArrays& task, double* memory)
      : task_(task),
        n_(task.shape.variables),
        rows_(task.shape.rows),
        columns_(8L * eights(n_)),
        width_(8L * eights(rows_)),
        at_(kernels::placed<QpWideLayout>(memory, n_, rows_)) {}

  /// Of problems whose P and A are those of `shared`, which outlives it; memory of its own: as
  /// above.
  CAROM_INLINE QpWideActiveSet(const kernels::QpTaskArrays& task, const QpWideActiveSet& shared,
                               double* memory)
      : QpWideActiveSet(task, memory) {
    shared_ = &shared;
    at_.hessian = shared.at_.hessian;
    at_.factor = shared.at_.factor;
    at_.matrix = shared.at_.matrix;
    at_.pivot = shared.at_.pivot;
    at_.pivot_inverse = shared.at_.pivot_inverse;
    at_.unit = shared.at_.unit;
    for (int j = 0; j < n_; ++j) last_[j] = shared.last_[j];
    fill(at_.zeros, columns_, 0.0);
  }

  [[nodiscard]] int iterations() const { return iterations_; }
  /// Whether P is definite.
  [[nodiscard]] bool is_strictly_convex() const { return !proximal_; }
  [[nodiscard]] double solution(int j) const { return at_.x[j]; }
  /// value[i]: to be read after all multipliers were written to it.
  template <class F>
  CAROM_INLINE void read_multipliers(F&& take) const {
    for (int k = 0; k < count_; ++k) take(active_[k], at_.multiplier[k]);
    if (refuted_ >= 0) take(refuted_, refuted_side_);
  }

  /// Whether solve() ended at rows that exclude each other; then the multipliers are their proof.
  [[nodiscard]] bool has_proof() const { return refuted_ >= 0; }

  /// What QpWideJudge says of x and the multipliers, which stay: y[i] for each row, until the next
  /// problem is solved.
  struct Certified {
    bool close;
    double residual, objective;
    const double *x, *y;
  };
  CAROM_INLINE Certified certify(certificate::Leaning leaning) {
    for (int k = 0; k < count_; ++k) {
      at_.lower[active_[k]] = lower_of(active_[k]);
      at_.upper[active_[k]] = upper_of(active_[k]);
    }
    const auto row = [this](int i) { return row_of(i); };
    QpWideJudge<Isa, decltype(row)> judge(at_, {task_.shape, gradient_, active_, count_}, row);
    const bool close = judge.certifies(leaning);
    return {close, judge.residual(), judge.objective(), at_.x, judge.multipliers()};
  }

  /// Solves problem p, whose numbers are finite. True where x and multipliers meet the conditions
  /// as far as this can tell. held: rows to begin with, as solve_from takes them, or null.
  bool solve(long p, int limit, const std::uint8_t* held = nullptr) {
    limit_ = limit;
    count_ = 0;
    iterations_ = 0;
    proximal_ = false;
    refuted_ = -1;
    if (!read(p) || !prepare()) return false;
    Linear::find_last(n_, at_.factor, columns_, last_);
    know_units();
    Linear::lower_solve_rows(n_, at_.factor, columns_, at_.pivot_inverse, last_, vectors(),
                             at_.matrix, at_.through, width_, at_.scale);
    start();
    if (!enter_equations()) return false;
    if (held != nullptr && !proximal_) hold(held);
    return end();
  }

  /// What problems that share P and A keep of them, beside the factors.
  template <class Memory>
  struct SharedLayout {
    Memory inverse;  ///< P^-1, [n, columns]
    Memory slope;    ///< P^-1 A', [n, width]
    Memory reach;    ///< A P^-1 A', [rows, width]

    SharedLayout() = default;
    CAROM_INLINE constexpr SharedLayout(kernels::Arena<Memory>& arena, long n, long rows)
        : inverse(arena.take(n * 8L * eights(static_cast<int>(n)))),
          slope(arena.take(n * 8L * eights(static_cast<int>(rows)))),
          reach(arena.take(rows * 8L * eights(static_cast<int>(rows)))) {}
  };
  /// Of problem 0. kept: as many values as SharedLayout has. False where P is not definite.
  bool factorise_shared(double* kept) {
    if (!read(0) || !prepare() || proximal_) return false;
    Linear::find_last(n_, at_.factor, columns_, last_);
    know_units();
    Linear::lower_solve_rows(n_, at_.factor, columns_, at_.pivot_inverse, last_, vectors(),
                             at_.matrix, at_.through, width_, at_.scale);
    adopt(kept);
    for (int i = 0; i < rows_; ++i) {
      reach_row(i);
      copy(at_.column, kept_.reach + i * width_, width_);
    }
    for (int j = 0; j < n_; ++j) {
      double* column = kept_.inverse + j * columns_;
      fill(column, columns_, 0.0);
      column[j] = 1.0;
      Linear::solve(n_, at_.factor, columns_, at_.pivot_inverse, last_, column);
      Linear::combine(vectors(), n_, column, at_.matrix, width_, nullptr, kept_.slope + j * width_);
    }
    return true;
  }
  /// What factorise_shared left in this memory and in `kept`.
  void adopt(double* kept) {
    kept_ = kernels::placed<SharedLayout>(kept, n_, rows_);
    Linear::find_last(n_, at_.factor, columns_, last_);
  }

  /// Problem p by what is shared, its numbers finite, beginning with the rows that `held` names: 1
  /// at its lower bound, 2 at its upper one. Those of them whose multipliers would have the wrong
  /// sign are let go; where that is done the start is as good as any (Goldfarb and Idnani 1983).
  bool solve_from(long p, int limit, const std::uint8_t* held) {
    limit_ = limit;
    count_ = 0;
    iterations_ = 0;
    refuted_ = -1;
    if (!read_bounds(p)) return false;
    copy(shared_->at_.size, at_.size, width_);
    copy(shared_->at_.scale, at_.scale, width_);
    start_shared();
    if (!enter_equations()) return false;
    hold(held);
    if (!descend()) return false;
    find_point();
    know_length();
    drop_rounding();
    return true;
  }
  /// Where the certificate asks for more than solve_from gives.
  bool settle_from() {
    copy(shared_->at_.size, at_.size, width_);
    copy(shared_->at_.scale, at_.scale, width_);
    know_feasible(0.0);
    for (int k = 0; k < count_; ++k) {
      at_.lower[active_[k]] = -kernels::kInfinity;
      at_.upper[active_[k]] = kernels::kInfinity;
    }
    if (!settle()) return false;
    drop_rounding();
    return true;
  }
  /// As solve_from takes it, of the answer.
  CAROM_INLINE void read_held(std::uint8_t* held) const {
    for (int i = 0; i < rows_; ++i) held[i] = 0;
    for (int k = 0; k < count_; ++k) {
      held[active_[k]] = static_cast<std::uint8_t>(at_.sign[k] > 0.0 ? 2 : at_.sign[k] < 0.0);
    }
  }

 private:
  using Linear = Wide<Isa>;
  using Vector = Eight<Isa>;

  static constexpr double kDefinite = 1e-8;   // smallest pivot of P relative to its diagonal
  static constexpr double kProximity = 1e-4;  // of a diagonal of P
  static constexpr double kDependent = 1e-9;  // of a new pivot relative to its diagonal
  static constexpr double kFeasible = 1e-13;
  static constexpr double kMissed = 1e3;   // times kFeasible, by a row that depends on active ones
  static constexpr double kEqual = 1e-12;  // the same of an equation, relative to its bound
  static constexpr double kSettled = 1e-14;
  static constexpr double kRounded = 0x1p-50;  // then a step of Newton's changes nothing
  static constexpr int kMaxPasses = 60;
  static constexpr int kProofPasses = 2;

  bool end() {
    if (!descend() || !settle()) return false;
    drop_rounding();
    return true;
  }
  CAROM_INLINE static void copy(const double* from, double* to, long count) {
    for (long e = 0; e < count; e += 8) Vector::load(from + e).store(to + e);
  }

  [[nodiscard]] CAROM_INLINE int vectors() const { return static_cast<int>(width_ / 8); }
  CAROM_INLINE static void fill(double* to, long count, double value) {
    for (long e = 0; e < count; ++e) to[e] = value;
  }

  /// False where a row's bounds cross.
  bool read(long p) {
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
    return read_bounds(p);
  }
  /// False where a row's bounds cross.
  bool read_bounds(long p) {
    const long m = task_.interval_rows;
    const long k = rows_ - m;
    gradient_ = task_.vector + p * n_;
    if (shared_ != nullptr) matrix_ = task_.matrix;
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
    return (i < task_.interval_rows ? matrix_ : cone_matrix_) + static_cast<long>(i) * n_;
  }
  [[nodiscard]] CAROM_INLINE double lower_of(int i) const {
    return i < task_.interval_rows  ? lower_[i]
           : task_.equation[i] != 0 ? cone_vector_[i]
                                    : -kernels::kInfinity;
  }
  [[nodiscard]] CAROM_INLINE double upper_of(int i) const {
    return i < task_.interval_rows ? upper_[i] : cone_vector_[i];
  }

  /// Factors of P, or of P with a proximal term where it is convex but not definite.
  bool prepare() {
    for (int j = 0; j < n_; ++j) at_.least[j] = kDefinite * diagonal(j);
    copy_hessian(nullptr, 0.0);
    if (factorise()) return true;
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

  /// The same by what is shared.
  void start_shared() {
    double energy = 0.0;
    Linear::combine(eights(n_), n_, gradient_, shared_->kept_.inverse, columns_, nullptr, at_.work);
    for (int j = 0; j < n_; ++j) energy = kernels::fused(at_.work[j], gradient_[j], energy);
    for (int j = 0; j < n_; ++j) at_.step[j] = -gradient_[j];
    Linear::combine(vectors(), n_, at_.step, shared_->kept_.slope, width_, nullptr, at_.value);
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

  /// All equations: those that are independent by one step, the others one by one.
  CAROM_INLINE bool enter_equations() {
    int dependent = 0;
    for (int i = 0; i < rows_; ++i) {
      if (at_.lower[i] != at_.upper[i]) continue;
      reach_row(i);
      const double diagonal = at_.column[i];
      const double pivot = diagonal > 0.0 ? border(diagonal) : 0.0;
      if (pivot > kDependent * diagonal && count_ < n_) {
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
      if (at_.lower[i] == at_.upper[i] && !enter(i)) return false;
    }
    return true;
  }
  /// Rows of a start, as solve_from takes them.
  CAROM_INLINE void hold(const std::uint8_t* held) {
    const int equations = count_;
    for (int i = 0; i < rows_ && count_ < n_; ++i) {
      if (held[i] == 0 || lower_of(i) == upper_of(i)) continue;
      const double bound = held[i] == 1 ? lower_of(i) : upper_of(i);
      if (!(kernels::magnitude(bound) < kernels::kInfinity)) continue;
      activate(count_, i, held[i] == 1 ? -1.0 : 1.0);
      ++count_;
    }
    if (count_ == equations) return;
    if (!invert_active()) {  // one by one, without those that depend on others
      const int asked = count_;
      for (int k = 0; k < asked; ++k) {
        at_.step[k] = at_.sign[k];
        at_.work[k] = at_.multiplier[k];
      }
      count_ = 0;
      for (int k = 0; k < asked; ++k) {
        const int i = active_[k];
        const double side = at_.step[k];
        at_.lower[i] = lower_of(i);
        at_.upper[i] = upper_of(i);
        reach_row(i);
        const double pivot = border(at_.column[i]);
        if (!(pivot > kDependent * at_.column[i])) continue;
        append(i, side, pivot, at_.work[k], side == 0.0);
      }
    }
    while (count_ > 0) {
      for (int k = 0; k < count_; ++k) {
        const int i = active_[k];
        at_.entry[k] = at_.value[i] - (at_.sign[k] < 0.0 ? lower_of(i) : upper_of(i));
      }
      pad(at_.entry);
      Linear::combine(eights(count_), count_, at_.entry, at_.inverse, columns_, nullptr, at_.rate);
      for (int k = 0; k < count_; ++k) at_.multiplier[k] += at_.rate[k];
      move_values(at_.rate);
      bool dropped = false;
      for (int k = count_ - 1; k >= 0; --k) {
        if (!(at_.multiplier[k] * at_.sign[k] < 0.0)) continue;
        const double multiplier = at_.multiplier[k];
        const double* reach = at_.reach + k * width_;
        const Vector back(multiplier);
        for (long e = 0; e < width_; e += 8) {
          fused(back, Vector::load(reach + e), Vector::load(at_.value + e)).store(at_.value + e);
        }
        remove(k);
        ++iterations_;
        dropped = true;
      }
      if (!dropped) return;
    }
  }
  /// Row i at place k of the active ones, before their inverse is made.
  CAROM_INLINE void activate(int k, int i, double side) {
    reach_row(i);
    copy(at_.column, at_.reach + k * width_, width_);
    active_[k] = i;
    at_.multiplier[k] = 0.0;
    at_.sign[k] = side;
    at_.lower[i] = -kernels::kInfinity;
    at_.upper[i] = kernels::kInfinity;
  }
  /// The inverse of the active rows among themselves by Gauss and Jordan's method. False where they
  /// depend on each other.
  CAROM_INLINE bool invert_active() {
    const int active = eights(count_);
    for (double* part : {at_.rate, at_.multiplier, at_.sign}) pad(part);
    for (int k = 0; k < count_; ++k) {
      double* row = at_.inverse + k * columns_;
      const double* reach = at_.reach + k * width_;
      for (int c = 0; c < count_; ++c) row[c] = reach[active_[c]];
      pad(row);
      at_.entry[k] = row[k];
    }
    for (int k = 0; k < count_; ++k) {
      double* mine = at_.inverse + k * columns_;
      if (!(mine[k] > kDependent * at_.entry[k])) return false;
      // Single numbers are stored after the vectors that they are part of: a vector is not loaded
      // before they have arrived.
      const double share = 1.0 / mine[k];
      const Vector shares(share);
      for (int v = 0; v < 8 * active; v += 8) (shares * Vector::load(mine + v)).store(mine + v);
      mine[k] = share;
      for (int c = 0; c < count_; ++c) {
        if (c == k) continue;
        double* other = at_.inverse + c * columns_;
        const double factor = -other[k];
        const Vector by(factor);
        for (int v = 0; v < 8 * active; v += 8) {
          fused(by, Vector::load(mine + v), Vector::load(other + v)).store(other + v);
        }
        other[k] = factor * share;
      }
    }
    return true;
  }
  /// value: after a change of the active rows' multipliers.
  CAROM_INLINE void move_values(const double* change) {
    for (int k = 0; k < count_; ++k) at_.entry[k] = -change[k];
    Linear::combine(vectors(), count_, at_.entry, at_.reach, width_, at_.value, at_.value);
  }
  /// column: row i through H^-1, what a change of its multiplier moves.
  CAROM_INLINE void reach_row(int i) {
    if (shared_ != nullptr) return copy(shared_->kept_.reach + i * width_, at_.column, width_);
    const int entries = gather_row(i);
    if (entries < n_) {
      Linear::combine_listed(vectors(), entries, at_.work, listed_, at_.through, width_,
                             at_.column);
    } else {
      Linear::combine(vectors(), n_, at_.work, at_.through, width_, nullptr, at_.column);
    }
  }
  /// rate: what the active rows' multipliers lose where that of the row in `column` grows; returns
  /// the pivot of that row.
  CAROM_INLINE double border(double diagonal) {
    const int active = eights(count_);
    for (int k = 0; k < count_; ++k) at_.entry[k] = at_.column[active_[k]];
    pad(at_.entry);
    Linear::combine(active, count_, at_.entry, at_.inverse, columns_, nullptr, at_.rate);
    return diagonal - Linear::dot(active, at_.entry, at_.rate);
  }

  /// Adds row i, after those have left whose multipliers would change their sign on the way. False
  /// where no multiplier ends a way that meets no point, or too many steps were made.
  bool enter(int i) {
    const bool equation = at_.lower[i] == at_.upper[i];
    const double above = at_.value[i] - at_.upper[i];
    const double below = at_.lower[i] - at_.value[i];
    const double side = above > below ? 1.0 : -1.0;
    double multiplier = 0.0;
    reach_row(i);
    const double diagonal = at_.column[i];
    if (!(diagonal > 0.0)) {
      if (equation && above <= 0.0 && below <= 0.0) return true;
      return refute(i, side, 0);
    }
    for (;;) {
      if (++iterations_ > limit_) return false;
      const int active = eights(count_);
      const double pivot = border(diagonal);
      for (int k = 0; k < count_; ++k) at_.entry[k] = -at_.rate[k];
      Linear::combine(vectors(), count_, at_.entry, at_.reach, width_, at_.column, at_.slope);
      const bool dependent = !(pivot > kDependent * diagonal) || count_ == n_;
      const double outside = side > 0.0 ? at_.value[i] - at_.upper[i] : at_.lower[i] - at_.value[i];
      int blocking = -1;
      double length = dependent ? kernels::kInfinity : kernels::larger(outside, 0.0) / pivot;
      if (const auto first = first_loss(active, side); first.key < length) {
        length = first.key;
        blocking = first.index;
      }
      if (!(length < kernels::kInfinity)) {
        // A row that depends on active ones and is not missed by more than rounding.
        if (outside <= kMissed * at_.feasible[i]) {
          at_.feasible[i] = outside;
          return true;
        }
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
      for (long e = 0; e < width_; e += 8) {
        fused(back, Vector::load(at_.slope + e), Vector::load(at_.value + e)).store(at_.value + e);
      }
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
      Linear::solve(n_, at_.factor, columns_, at_.pivot_inverse, last_, at_.step);
      Linear::combine(vectors(), n_, at_.step, at_.matrix, width_, nullptr, at_.column);
      for (int k = 0; k < count_; ++k) at_.entry[k] = at_.column[active_[k]];
      pad(at_.entry);
      Linear::combine(eights(count_), count_, at_.entry, at_.inverse, columns_, nullptr, at_.rate);
      for (int k = 0; k < count_; ++k) at_.multiplier[k] += at_.rate[k];
    }
    for (int k = 0; k < count_; ++k) {
      if (at_.multiplier[k] * at_.sign[k] < 0.0) at_.multiplier[k] = 0.0;
    }
    return false;
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
  /// The first active row whose multiplier a way along `rate` takes to zero, and its length.
  [[nodiscard]] CAROM_INLINE kernels::ArgMin<double> first_loss(int active, double side) const {
    const Vector none(kernels::kInfinity);
    const Vector zero(0.0);
    const Vector way(side);
    Vector best = none;
    Vector place(-1.0);
    for (int k = 0; k < 8 * active; k += 8) {
      const Vector sign = Vector::load(at_.sign + k);
      const Vector loss = way * Vector::load(at_.rate + k) * sign;
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
    for (int k = 0; k < count_; ++k) {
      const Vector by(at_.rate[k] * share);
      double* row = at_.inverse + k * columns_;
      for (int v = 0; v < active; ++v) {
        fused(by, Vector::load(at_.rate + 8L * v), Vector::load(row + 8L * v)).store(row + 8L * v);
      }
    }
    double* reach = at_.reach + last * width_;
    for (long e = 0; e < width_; e += 8) Vector::load(at_.column + e).store(reach + e);
    active_[last] = i;
    at_.multiplier[last] = multiplier;
    at_.sign[last] = equation ? 0.0 : side;
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
    for (int k = 0; k < count_; ++k) {
      if (k == r) continue;
      double* other = at_.inverse + k * columns_;
      const Vector by(other[r] * share);
      for (int v = 0; v < active; ++v) {
        fused(by, Vector::load(mine + 8L * v), Vector::load(other + 8L * v)).store(other + 8L * v);
      }
    }
    const int last = --count_;
    if (r != last) {
      const double* from = at_.inverse + last * columns_;
      for (int v = 0; v < active; ++v) Vector::load(from + 8L * v).store(mine + 8L * v);
      for (int k = 0; k < count_; ++k) {
        double* other = at_.inverse + k * columns_;
        other[r] = other[last];
      }
      mine[r] = from[last];
      const double* reach = at_.reach + last * width_;
      double* to = at_.reach + r * width_;
      for (long e = 0; e < width_; e += 8) Vector::load(reach + e).store(to + e);
      active_[r] = active_[last];
      at_.multiplier[r] = at_.multiplier[last];
      at_.sign[r] = at_.sign[last];
    }
    for (int k = 0; k < count_; ++k) at_.inverse[k * columns_ + last] = 0.0;
    at_.multiplier[last] = 0.0;
    at_.sign[last] = 0.0;
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

  /// Zeros where x holds nothing but rounding: rows of such numbers know no other unit.
  CAROM_INLINE void drop_rounding() {
    for (int j = 0; j < n_; ++j) {
      if (kernels::magnitude(at_.x[j]) <= kSettled * length_ * at_.unit[j]) at_.x[j] = 0.0;
    }
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
    if (shared_ == nullptr) {
      Linear::solve(n_, at_.factor, columns_, at_.pivot_inverse, last_, at_.x);
      return;
    }
    copy(at_.x, at_.work, columns_);
    Linear::combine(eights(n_), n_, at_.work, shared_->kept_.inverse, columns_, nullptr, at_.x);
  }
  /// to -= A'of the active rows
  CAROM_INLINE void subtract_rows(const double* of, double* to) const {
    for (int k = 0; k < count_; ++k) {
      const double* row = row_of(active_[k]);
      const double by = -of[k];
      for (int j = 0; j < n_; ++j) to[j] = kernels::fused(by, row[j], to[j]);
    }
  }

  /// unit: of x_j, 1 / sqrt(P_jj); size: of a row, its largest entry in those units.
  CAROM_INLINE void know_units() {
    for (int j = 0; j < n_; ++j)
      at_.unit[j] = proximal_ ? at_.proximity[j] / kProximity : diagonal(j);
    for (int j = n_; j < columns_; ++j) at_.unit[j] = 1.0;
    for (long j = 0; j < columns_; j += 8) {
      (Vector(1.0) / square_root(Vector::load(at_.unit + j))).store(at_.unit + j);
    }
    Linear::largest(vectors(), n_, at_.unit, at_.matrix, width_, at_.size);
  }

  CAROM_INLINE void know_length() {
    length_ = 0.0;
    for (int j = 0; j < n_; ++j) {
      length_ = kernels::larger(kernels::magnitude(at_.x[j]) / at_.unit[j], length_);
    }
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
    if (shared_ == nullptr) {
      Linear::lower_solve(n_, at_.factor, columns_, last_, at_.step);
      for (int j = 0; j < n_; ++j) at_.step[j] *= at_.pivot_inverse[j];
      Linear::combine(vectors(), n_, at_.step, at_.through, width_, nullptr, at_.column);
    } else {
      Linear::combine(vectors(), n_, at_.step, shared_->kept_.slope, width_, nullptr, at_.column);
    }
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

  const kernels::QpTaskArrays& task_;
  const QpWideActiveSet* shared_ = nullptr;
  SharedLayout<double*> kept_{};
  int n_, rows_;
  long columns_, width_;
  QpWideLayout<double*> at_;
  const double* hessian_ = nullptr;
  const double* gradient_ = nullptr;
  const double* matrix_ = nullptr;
  const double* cone_matrix_ = nullptr;
  const double* lower_ = nullptr;
  const double* upper_ = nullptr;
  const double* cone_vector_ = nullptr;
  int active_[kLargestWideVariables] = {};
  int listed_[kLargestWideVariables] = {};
  int last_[kLargestWideVariables] = {};
  int count_ = 0;
  int iterations_ = 0;
  int limit_ = 0;
  bool proximal_ = false;
  double length_ = 0.0;
  int refuted_ = -1;  // row that no x meets beside active ones
  double refuted_side_ = 0.0;
};

}  // namespace carom::cpu::simd
