#pragma once

#include <initializer_list>

#include "programs/qp/kernels/qp_homogeneous_equations.hpp"
#include "programs/qp/kernels/qp_least_squares.hpp"

/// The last digits: which slacks and multipliers of an iterate of the homogeneous method vanish,
/// and the point of that face by Newton's method with least squares, so that faces without strict
/// complementarity, redundant rows and multipliers that are not unique are met as well.
namespace carom::kernels {

/// So many columns that depend on others are looked at one by one.
inline constexpr long kQpFreeColumns = 4;

CAROM_INLINE constexpr long qp_face_workspace(long n, long rows) {
  const long columns = n + rows + 1;
  const long tall = n + 2 * rows + 2;
  return 2 * (tall * columns + 5 * columns + 2 * n + 6 * rows) + 3 * columns + 6 * rows +
         tall * columns + 2 * columns + 2 * kQpFreeColumns * columns;
}

template <class Real>
class QpFace : public QpFaceEquations<Real> {
  using Base = QpFaceEquations<Real>;

 public:
  using Base::u, Base::z;

  CAROM_HOST_DEVICE QpFace(const QpShape& shape, const QpReduction<Real>& problem,
                           const QpEmbedding<Real>& iterate, QpArena& arena)
      : Base(shape, problem, iterate, arena) {
    const long columns = static_cast<long>(shape.variables) + shape.rows + 1;
    order_ = arena.take<int>(columns);
    size_ = arena.take<double>(columns);
    step_ = arena.take<Real>(columns);
    head_ = arena.take<Real>(columns);
    const long tall = static_cast<long>(shape.variables) + 2L * shape.rows + 2;
    rough_table_ = arena.take<double>(tall * columns);
    rough_head_ = arena.take<double>(columns);
    rough_step_ = arena.take<double>(columns);
    share_ = arena.take<Real>(kQpFreeColumns * columns);
  }

  /// band: of slack over multiplier, within [1/band, band] both count as zero. Of proofs: what is
  /// below 1/band of the largest is zero. dependent, least: of least_squares. False where there is
  /// nothing to start from.
  CAROM_CALL bool find(QpFaceKind kind, double band, double dependent, double least) {
    kind_ = kind;
    if (!start()) return false;
    classify(band);
    list_unknowns();
    dependent_ = dependent;
    least_ = least;
    refine();
    if (kind_ == QpFaceKind::contradiction) {
      for (int e = 0; e < p_.elements; ++e) s_[e] = Real(0.0);
    }
    settle();
    return true;
  }

  /// Unknowns that the face leaves open to zero, one after another, as far as no slack and no
  /// multiplier forbids it: what the data do not ask for is not in the answer. False where none is.
  CAROM_CALL bool simplify() {
    const int rows = linearise();
    const bool rough = is_sharp() && factorise_roughly(rows);
    LeastSquares<Real> fine = system(rows);
    if (!rough) fine.reflect(dependent_, least_, step_);
    const int rank = rough ? rough_.rank : fine.rank;
    // Those of order[first..last) at once.
    const auto clear = [&](int first, int last) {
      for (int j = 0; j < columns_; ++j) step_[j] = Real(0.0);
      bool any = false;
      for (int c = first; c < last; ++c) {
        step_[order_[c]] = -unknown(order_[c]);
        any = any || static_cast<double>(step_[order_[c]]) != 0.0;
      }
      if (!any) return false;
      // What the table leaves alone: R d = 0.
      for (int k = rank - 1; k >= 0; --k) {
        const Real* const row = fine.row(k);
        Real sum(0.0);
        for (int c = k + 1; c < rank && !rough; ++c) sum += row[c] * step_[order_[c]];
        for (int c = first; c < last; ++c) {
          sum += (rough ? share(c - rank)[k] : row[c]) * step_[order_[c]];
        }
        step_[order_[k]] = -(rough ? sum : sum / row[k]);
      }
      move(1.0);
      if (is_inside()) return true;
      move(-1.0);
      return false;
    };
    bool changed = clear(rank, columns_);
    if (!changed) {
      for (int c = columns_ - 1; c >= rank; --c) changed = clear(c, c + 1) || changed;
    }
    if (!changed) return false;
    refine();
    settle();
    return true;
  }

  /// Whether the face has a point where we are, in the method's units: what only shrinks while the
  /// point escapes is no answer. On the boundary of a cone an escape leaves the square of its rest
  /// only, so that far points say nothing there; and a proof that large excludes nothing.
  [[nodiscard]] CAROM_CALL bool is_met() const {
    double size = larger(1.0, largest(z));
    for (int c = 0; c < p_.unknowns; ++c) {
      size = larger(magnitude(static_cast<double>(u[c])), size);
    }
    double round = 0.0;
    int touched = 0;
    iterate_.for_cones([&](int first, int count) {
      double own = 0.0;
      for (const Real* const part : {s_, z}) {
        const Real* const v = part + first;
        const auto head = static_cast<double>(v[0]);
        if (static_cast<double>(v[0] - soc::tail_norm(v, count)) < kOnBoundary * head) {
          own = larger(head, own);
        }
      }
      round = larger(own, round);
      touched += own > 0.0 ? 1 : 0;
    });
    // An escape along one cone leaves the inverse square; each further cone may square that again.
    const bool one = kind_ == QpFaceKind::answer && touched == 1;
    return rest_ * size <= kMet && round <= (one ? kFarOnOneBoundary : kFarOnBoundary) &&
           (kind_ == QpFaceKind::answer || size <= kLargestProof) && is_clear();
  }

 private:
  /// check(values, first, size, face) of each half-space and cone of the slacks and duals that the
  /// kind of face has.
  template <class Check>
  CAROM_INLINE void each_with_face(Check&& check) const {
    const bool with_u = kind_ != QpFaceKind::contradiction;
    const bool with_z = kind_ != QpFaceKind::ray;
    const auto both = [&](int first, int size) {
      if (with_u) check(s_, first, size, slack_face_[first]);
      if (with_z) check(z, first, size, dual_face_[first]);
    };
    for (int e = 0; e < p_.halves; ++e) both(e, 1);
    iterate_.for_cones(both);
  }
  using Base::linearise;
  using Base::p_, Base::iterate_, Base::kind_, Base::columns_, Base::s_, Base::place_, Base::owner_;
  using Base::slack_face_, Base::dual_face_, Base::table_;
  using Base::start, Base::classify, Base::largest, Base::list_unknowns, Base::find_slacks;
  using Base::zero, Base::boundary, Base::inside;

  static constexpr double kMet = 1e-24;  // what a double cannot hide: far points meet 1e-12
  static constexpr double kClear = 1e-10;
  static constexpr double kOnCone = 1e-28;
  static constexpr double kOnBoundary = 1e-6;
  static constexpr double kFarOnBoundary = 1e5;
  static constexpr double kFarOnOneBoundary = 1e10;
  static constexpr double kLargestProof = 1e11;

  static constexpr int kSteps = 12;
  static constexpr double kRough = 1e-6;  // of a column: doubles see that it is independent
  static constexpr double kExplained = 1e-28;
  static constexpr double kSteep = 1e-4;
  static constexpr double kLastDigits = 1e-28;  // rounding may stop at this

  [[nodiscard]] CAROM_INLINE Real& unknown(int column) {
    return owner_[column] < 0 ? u[column] : z[owner_[column]];
  }
  CAROM_CALL void move(double sign) {
    for (int j = 0; j < columns_; ++j) unknown(j) += step_[j] * sign;
  }

  [[nodiscard]] CAROM_CALL LeastSquares<Real> system(int rows) const {
    return {rows, columns_, table_, order_, size_, head_};
  }
  /// Whether all that is not rounding counts.
  [[nodiscard]] CAROM_INLINE bool is_sharp() const { return least_ == 0.0; }

  /// Newton's method. Its equations are solved in plain doubles as long as those tell which columns
  /// depend on others: what is left of the equations is known in all digits, so that only the
  /// number of steps could differ. A factor serves as long as what is left falls steeply.
  CAROM_CALL void refine() {
    bool rough = is_sharp();
    bool factorised = false;
    rest_ = kInfinity;
    for (int pass = 0; pass < kSteps; ++pass) {
      const int rows = linearise(!factorised);
      const double rest = right_side(rows);
      const bool falls = rest < rest_;
      if (!falls && pass > 0) move(-1.0);
      const bool slow = !(rest < 0.5 * rest_);
      if (slow && (!rough || !(rest_ > kLastDigits))) {
        if (falls) rest_ = rest;
        return;
      }
      if (!falls) {  // from here on in all digits
        rough = factorised = false;
        rest_ = kInfinity;
        pass = -1;
        continue;
      }
      const bool steep = rest < kSteep * rest_;
      rest_ = rest;
      if (rest < 1e-31) return;
      const bool serves = factorised && steep;
      if (factorised && !serves) linearise();
      rough = rough && !slow && (serves || factorise_roughly(rows));
      factorised = rough;
      if (rough) {
        step_roughly(rows);
      } else {
        LeastSquares<Real> fine = system(rows);
        fine.reflect(dependent_, least_, step_);
        fine.solve(step_);
      }
      move(1.0);
    }
  }

  /// Of the table, which stays as it is. False where doubles do not tell its rank, or `dependent`
  /// and all digits of the table decide otherwise.
  CAROM_CALL bool factorise_roughly(int rows) {
    rough_ = {rows, columns_, rough_table_, order_, size_, rough_head_};
    const long count = static_cast<long>(rows) * (columns_ + 1);
    for (long e = 0; e < count; ++e) rough_table_[e] = static_cast<double>(table_[e]);
    rough_.reflect(kRough, 0.0, rough_step_);
    if (columns_ - rough_.rank > kQpFreeColumns) return false;
    for (int c = rough_.rank; c < columns_; ++c) {
      if (!explain(c)) return false;
    }
    return true;
  }
  [[nodiscard]] CAROM_INLINE Real* share(int free) const {
    return share_ + static_cast<long>(free) * columns_;
  }
  /// Column order[c] as a sum of those before, to the last digits; false where it is none.
  CAROM_CALL bool explain(int c) {
    const auto entry = [&](int i, int k) -> const Real& {
      return table_[static_cast<long>(i) * (columns_ + 1) + order_[k]];
    };
    Real* const part = share(c - rough_.rank);
    for (int k = 0; k < rough_.rank; ++k) part[k] = Real(0.0);
    double before = kInfinity;
    for (int pass = 0; pass < kSteps; ++pass) {
      double size = 0.0;
      for (int i = 0; i < rough_.rows; ++i) {
        Real rest = entry(i, c);
        for (int k = 0; k < rough_.rank; ++k) {
          if (static_cast<double>(entry(i, k)) != 0.0) rest -= entry(i, k) * part[k];
        }
        const auto value = static_cast<double>(rest);
        rough_.row(i)[columns_] = value;
        size += value * value;
      }
      if (size <= kExplained * kExplained * size_[c]) return true;
      if (!(size < kSteep * before)) break;
      before = size;
      rough_.reflect_side();
      rough_.solve(rough_step_);
      for (int k = 0; k < rough_.rank; ++k) part[k] += rough_step_[order_[k]];
    }
    return before <= dependent_ * dependent_ * size_[c];
  }
  CAROM_CALL void step_roughly(int rows) {
    for (int i = 0; i < rows; ++i) {
      rough_.row(i)[columns_] =
          static_cast<double>(table_[static_cast<long>(i) * (columns_ + 1) + columns_]);
    }
    rough_.reflect_side();
    rough_.solve(rough_step_);
    for (int c = 0; c < columns_; ++c) step_[c] = Real(rough_step_[c]);
  }

  /// Whether what is not zero on the face is on its side.
  [[nodiscard]] CAROM_CALL bool is_inside() {
    if (kind_ != QpFaceKind::contradiction) find_slacks();
    bool good = true;
    const auto check = [&](const Real* values, int first, int size, int face) {
      const Real* const v = values + first;
      if (face == inside) good = good && v[0] >= soc::tail_norm(v, size);
      if (face == boundary) good = good && v[0] > Real(0.0);
    };
    each_with_face(check);
    return good;
  }
  /// Whether what is not on a boundary is clear of it. A slack that is within its cone by rounding
  /// only belongs to the boundary, where the equations of that face decide: two cones that meet in
  /// a boundary have points within 1e-14 of both, of any tangential part up to 1e-7.
  [[nodiscard]] CAROM_CALL bool is_clear() const {
    bool clear = true;
    const double most = larger(1.0, larger(largest(s_), largest(z)));
    const auto check = [&](const Real* values, int first, int size, int face) {
      const Real* const v = values + first;
      const Real tail = soc::tail_norm(v, size);
      const double head = magnitude(static_cast<double>(v[0])) + static_cast<double>(tail);
      const auto margin = static_cast<double>(v[0] - tail);
      if (face == inside && head > 0.0) {  // up to two rows are plain inequalities
        clear = clear && margin > (size > 2 ? kClear * head : -kMet * most);
      }
      // Where its partner vanishes no equation holds it there.
      if (face == boundary) clear = clear && margin >= -kOnCone * head;
    };
    each_with_face(check);
    return clear;
  }
  [[nodiscard]] CAROM_CALL double right_side(int rows) const {
    double most = 0.0;
    for (int i = 0; i < rows; ++i) {
      const auto rest =
          magnitude(static_cast<double>(table_[static_cast<long>(i) * (columns_ + 1) + columns_]));
      if (!(rest < kInfinity)) return kInfinity;
      most = larger(rest, most);
    }
    return most;
  }

  /// Multipliers that only rounding keeps from zero, or from their cone.
  CAROM_CALL void settle() {
    constexpr double kNothing = 1e-24;
    const double most = larger(1.0, largest(z));
    for (int e = 0; e < p_.halves; ++e) {
      if (static_cast<double>(z[e]) <= kNothing * most) z[e] = Real(0.0);
    }
    iterate_.for_cones([&](int first, int size) {
      for (int e = first; e < first + size; ++e) {
        if (magnitude(static_cast<double>(z[e])) <= kNothing * most) z[e] = Real(0.0);
      }
    });
  }

  double rest_ = kInfinity, dependent_ = 0.0, least_ = 0.0;
  int* order_;
  double* size_;
  Real *step_, *head_;
  LeastSquares<double> rough_{};
  double *rough_table_, *rough_head_, *rough_step_;
  Real* share_;  // [kQpFreeColumns, columns]
};

}  // namespace carom::kernels
