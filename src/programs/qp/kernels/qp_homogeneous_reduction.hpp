#pragma once

#include "programs/qp/kernels/qp_homogeneous_problem.hpp"

/// A problem without its equations and without the directions that neither the objective's
/// curvature nor any row sees:
///   minimise 1/2 u'P u + q'u  subject to  s = h - G u,  s >= 0 or in a second-order cone,
/// x = x0 + Z u. What the method then factorises is never singular.
namespace carom::kernels {

/// Of one slack: sign times (bound - a'x) of its row. Those of cones follow the half-lines.
struct QpElement {
  int row;
  int sign;
};

CAROM_INLINE constexpr long qp_reduction_scratch(long n, long rows) {
  return 3 * (n + rows) * n + 3 * n;
}
/// Doubles, for Real of at most two doubles.
CAROM_INLINE constexpr long qp_reduction_workspace(long n, long rows) {
  const long equations = 2 * rows * (n + 1 + rows) + rows * (n + 1) + rows + n;
  return equations + 2 * (2 * n * n + 4 * n + rows * n + 2 * rows) + 2 * n + 4 * rows;
}

template <class Real>
class QpReduction {
 public:
  enum class End { regular, infeasible };

  CAROM_HOST_DEVICE QpReduction(const QpShape& shape, QpArena& arena) : shape_(shape) {
    const long n = shape.variables;
    const long rows = shape.rows;
    units.column = arena.take<double>(n);
    units.row = arena.take<double>(rows);
    element = arena.take<QpElement>(2 * rows);
    equation_ = arena.take<int>(rows);
    order_ = arena.take<int>(n);
    table_ = arena.take<Real>(rows * (n + 1 + rows));
    table_size_ = arena.take<double>(rows * (n + 1));
    basis_ = arena.take<Real>(n * n);
    origin_ = arena.take<Real>(n);
    hessian = arena.take<Real>(n * n);
    gradient = arena.take<Real>(n);
    matrix = arena.take<Real>(rows * n);
    bound = arena.take<Real>(2 * rows);
    direction = arena.take<Real>(n);
    push_ = arena.take<Real>(n);
  }

  // The reduced problem, in units of its own.
  QpHomogeneousUnits units;
  int unknowns = 0;
  int halves = 0;    ///< slacks that are half-lines
  int elements = 0;  ///< all slacks
  QpElement* element;
  Real* hessian;          ///< [unknowns, unknowns], stride unknowns
  Real* gradient;         ///< [unknowns]
  Real* matrix;           ///< [rows, unknowns], stride unknowns
  Real* bound;            ///< [elements]
  Real* direction;        ///< [n], in x, where has_line
  bool has_line = false;  ///< an unseen direction descends

  /// objective: false for P = 0, q = 0. multiplier: [2 rows], Farkas' where infeasible (elements).
  /// scratch: qp_reduction_scratch. known: the problem's units, or null.
  template <class Data>
  CAROM_CALL End load(const QpView<Data>& view, bool objective, Real* multiplier, double* scratch,
                      const QpHomogeneousUnits* known = nullptr) {
    const int n = shape_.variables;
    if (known == nullptr) {
      find_units(shape_, view, units, scratch);
    } else {
      for (int j = 0; j < n; ++j) units.column[j] = known->column[j];
      for (int i = 0; i < shape_.rows; ++i) units.row[i] = known->row[i];
      units.unit = known->unit;
    }
    if (!eliminate_equations(view)) return End::infeasible;
    QpArena arena(scratch);
    Real* const product = arena.template take<Real>(static_cast<long>(n) * n);
    project(view, objective, product, arena.template take<SizedSum<Real>>(n));
    remove_lines(scratch);
    return list_elements(view, multiplier) ? End::regular : End::infeasible;
  }

  /// x = x0 t + Z u in the units of the method.
  CAROM_CALL void point(const Real& t, const Real* u, Real* x) const {
    const int n = shape_.variables;
    for (int j = 0; j < n; ++j) {
      Real sum = origin_[j] * t;
      for (int c = 0; c < unknowns; ++c) sum += basis_[at(j, c, n)] * u[c];
      x[j] = sum;
    }
  }

  /// Row multipliers from those of the elements; those of the equations such that
  /// t (P x + q) + A'y = 0 holds where they can see to it, t = 0 or 1. x: in the method's units.
  template <class Data>
  CAROM_CALL void multipliers(const QpView<Data>& view, bool objective, const Real& t,
                              const Real* x, const Real* z, Real* y) const {
    const int n = shape_.variables;
    for (int i = 0; i < shape_.rows; ++i) y[i] = Real(0.0);
    for (int e = 0; e < elements; ++e) {
      y[element[e].row] += z[e] * static_cast<double>(element[e].sign);
    }
    if (rank_ == 0) return;
    for (int j = 0; j < n; ++j) {
      push_[j] = Real(0.0);
      if (!objective) continue;
      Real sum(q_of(view, j));
      for (int k = 0; k < n; ++k) sum += x[k] * p_of(view, j, k);
      push_[j] = sum * t;
    }
    for (int e = 0; e < elements; ++e) {
      const int i = element[e].row;
      const Real value = z[e] * static_cast<double>(element[e].sign);
      for_row(shape_, view, i, [&](int j, double entry) {
        push_[j] += value * (entry * units.row[i] * units.column[j]);
      });
    }
    for (int e = 0; e < equations_; ++e) {
      Real sum(0.0);
      for (int k = 0; k < rank_; ++k) sum -= transform(k, e) * push_[order_[k]];
      y[equation_[e]] = sum;
    }
  }

  /// Farkas' vector of equations that contradict one another.
  CAROM_CALL void contradiction(Real* y) const {
    for (int i = 0; i < shape_.rows; ++i) y[i] = Real(0.0);
    const double sign = static_cast<double>(side(contradiction_)) > 0.0 ? -1.0 : 1.0;
    for (int e = 0; e < equations_; ++e) y[equation_[e]] = transform(contradiction_, e) * sign;
  }
  [[nodiscard]] CAROM_INLINE bool equations_contradict() const { return contradiction_ >= 0; }

  template <class Data>
  CAROM_INLINE double p_of(const QpView<Data>& view, int i, int j) const {
    return hessian_entry(view, shape_.variables, i, j) * units.column[i] * units.column[j];
  }
  template <class Data>
  CAROM_INLINE double q_of(const QpView<Data>& view, int j) const {
    return view.gradient[j] * units.column[j] * units.unit;
  }

 private:
  static CAROM_INLINE long at(int i, int j, int stride) {
    return static_cast<long>(i) * stride + j;
  }
  [[nodiscard]] CAROM_INLINE int stride() const { return shape_.variables + 1 + equations_; }
  [[nodiscard]] CAROM_INLINE const Real& side(int k) const {
    return table_[at(k, shape_.variables, stride())];
  }
  [[nodiscard]] CAROM_INLINE const Real& transform(int k, int e) const {
    return table_[at(k, shape_.variables + 1 + e, stride())];
  }

  /// x_B = side - N x_F by elimination; the rows' own part is given separately. False where a row
  /// without entries keeps a side.
  template <class Data>
  CAROM_CALL bool eliminate_equations(const QpView<Data>& view) {
    const int n = shape_.variables;
    equations_ = 0;
    for_intervals([&](int i) {
      if (is_there(view.upper[i]) && view.lower[i] == view.upper[i]) equation_[equations_++] = i;
    });
    for (int e = 0; e < equations_; ++e) {
      const int i = equation_[e];
      for (int j = 0; j < stride(); ++j) table_[at(e, j, stride())] = Real(0.0);
      for_row(shape_, view, i, [&](int j, double entry) {
        table_[at(e, j, stride())] = Real(entry * units.row[i] * units.column[j]);
      });
      table_[at(e, n, stride())] = Real(view.upper[i] * units.row[i] * units.unit);
      table_[at(e, n + 1 + e, stride())] = Real(1.0);
    }
    rank_ = eliminate(equations_, n, n + 1, stride(), table_, table_size_, order_);
    if (equations_ == 0) {
      for (int j = 0; j < n; ++j) order_[j] = j;
    }
    contradiction_ = -1;
    for (int k = rank_; k < equations_; ++k) {
      if (static_cast<double>(side(k)) != 0.0) contradiction_ = k;
    }
    unknowns = n - rank_;
    for (int j = 0; j < n; ++j) {
      origin_[j] = Real(0.0);
      for (int c = 0; c < unknowns; ++c) basis_[at(j, c, n)] = Real(0.0);
    }
    for (int c = 0; c < unknowns; ++c) basis_[at(order_[rank_ + c], c, n)] = Real(1.0);
    for (int k = 0; k < rank_; ++k) {
      origin_[order_[k]] = side(k);
      for (int c = 0; c < unknowns; ++c) {
        basis_[at(order_[k], c, n)] = -table_[at(k, order_[rank_ + c], stride())];
      }
    }
    return contradiction_ < 0;
  }

  /// f(i) for the rows that no cone holds.
  template <class F>
  CAROM_INLINE void for_intervals(F&& f) const {
    int first = 0;
    for (int c = 0; c <= shape_.cones; ++c) {
      const int last = c < shape_.cones ? shape_.cone[c].first : shape_.rows;
      for (int i = first; i < last; ++i) f(i);
      first = c < shape_.cones ? last + shape_.cone[c].size : last;
    }
  }

  /// Z'P Z, Z'(q + P x0), A Z; what is left of their sums by rounding becomes zero. Most of Z is
  /// zero.
  template <class Data>
  CAROM_CALL void project(const QpView<Data>& view, bool objective, Real* product,
                          SizedSum<Real>* sum) {
    const int n = shape_.variables;
    const int k = unknowns;
    const auto clear = [&] {
      for (int c = 0; c < k; ++c) sum[c] = {};
    };
    const auto add_basis = [&](int j, double factor) {
      if (factor == 0.0) return;
      for (int c = 0; c < k; ++c) {
        const Real& share = basis_[at(j, c, n)];
        if (static_cast<double>(share) != 0.0) sum[c].add(share, factor);
      }
    };
    for (int j = 0; j < n; ++j) {
      clear();
      for (int i = 0; i < n && objective; ++i) add_basis(i, p_of(view, j, i));
      for (int c = 0; c < k; ++c) product[at(j, c, k)] = sum[c].settled();
    }
    for (int c = 0; c < k; ++c) {
      clear();
      for (int j = 0; j < n && objective; ++j) {
        const Real& share = basis_[at(j, c, n)];
        if (static_cast<double>(share) == 0.0) continue;
        for (int d = 0; d <= c; ++d) sum[d].add(share, product[at(j, d, k)]);
      }
      for (int d = 0; d <= c; ++d) hessian[at(c, d, k)] = hessian[at(d, c, k)] = sum[d].settled();
    }
    for (int c = 0; c < k; ++c) {
      SizedSum<Real> slope;
      for (int j = 0; j < n && objective; ++j) {
        slope.add(basis_[at(j, c, n)], q_of(view, j));
        slope.add(origin_[j], product[at(j, c, k)]);
      }
      gradient[c] = slope.settled();
    }
    for (int i = 0; i < shape_.rows; ++i) {
      clear();
      if (!is_off(view, i)) {
        for_row(shape_, view, i,
                [&](int j, double entry) { add_basis(j, entry * units.row[i] * units.column[j]); });
      }
      for (int c = 0; c < k; ++c) matrix[at(i, c, k)] = sum[c].settled();
    }
  }

  /// Whether doubles show that no direction is unseen: P + G'G has pivots clear of rounding.
  [[nodiscard]] CAROM_CALL bool sees_all(double* square) const {
    constexpr double kClear = 1e-8;  // of a diagonal
    const int k = unknowns;
    for (int c = 0; c < k; ++c) {
      for (int d = 0; d <= c; ++d) square[at(c, d, k)] = static_cast<double>(hessian[at(c, d, k)]);
    }
    for (int i = 0; i < shape_.rows; ++i) {
      const Real* const row = matrix + at(i, 0, k);
      for (int c = 0; c < k; ++c) {
        const auto value = static_cast<double>(row[c]);
        if (value == 0.0) continue;
        for (int d = 0; d <= c; ++d) square[at(c, d, k)] += value * static_cast<double>(row[d]);
      }
    }
    for (int c = 0; c < k; ++c) {
      double* const own = square + at(c, 0, k);
      double pivot = own[c];
      for (int d = 0; d < c; ++d) {
        // D L' of the row so far
        const double* const other = square + at(d, 0, k);
        double entry = own[d];
        for (int e = 0; e < d; ++e) entry -= own[e] * other[e];
        own[d] = entry;
      }
      for (int d = 0; d < c; ++d) {
        const double share = own[d] / square[at(d, d, k)];
        pivot -= share * own[d];
        own[d] = share;
      }
      if (!(pivot > kClear * own[c])) return false;
      own[c] = pivot;
    }
    return true;
  }

  /// Directions that P and all rows send to zero: a descent along one is kept, the unknowns that
  /// only they move are left out.
  CAROM_CALL void remove_lines(double* scratch) {
    const int n = shape_.variables;
    const int k = unknowns;
    has_line = false;
    if (sees_all(scratch)) return;
    QpArena arena(scratch);
    const int tall = k + shape_.rows;
    Real* const table = arena.template take<Real>(static_cast<long>(tall) * k);
    double* const size = arena.template take<double>(static_cast<long>(tall) * k);
    int* const order = arena.template take<int>(k);
    for (long e = 0; e < static_cast<long>(k) * k; ++e) table[e] = hessian[e];
    for (long e = 0; e < static_cast<long>(shape_.rows) * k; ++e) {
      table[static_cast<long>(k) * k + e] = matrix[e];
    }
    const int rank = eliminate(tall, k, k, k, table, size, order);
    if (rank == k) return;
    for (int f = rank; f < k && !has_line; ++f) {
      SizedSum<Real> slope;
      slope.add(gradient[order[f]], 1.0);
      for (int p = 0; p < rank; ++p) slope.add(gradient[order[p]], -table[at(p, order[f], k)]);
      const double sign = static_cast<double>(slope.settled());
      if (sign == 0.0) continue;
      has_line = true;
      for (int j = 0; j < n; ++j) {
        Real sum = basis_[at(j, order[f], n)];
        for (int p = 0; p < rank; ++p) {
          sum -= basis_[at(j, order[p], n)] * table[at(p, order[f], k)];
        }
        direction[j] = sign > 0.0 ? -sum : sum;
      }
    }
    int* const kept = arena.template take<int>(k);
    for (int c = 0; c < k; ++c) kept[c] = 0;
    for (int p = 0; p < rank; ++p) kept[order[p]] = 1;
    const auto compact = [&](Real* values, int rows, int from, int to) {
      for (int i = 0; i < rows; ++i) {
        int next = 0;
        for (int c = 0; c < k; ++c) {
          if (kept[c] != 0) values[at(i, next++, to)] = values[at(i, c, from)];
        }
      }
    };
    int next = 0;
    for (int c = 0; c < k; ++c) {
      if (kept[c] == 0) continue;
      for (int d = 0; d < k; ++d) hessian[at(next, d, k)] = hessian[at(c, d, k)];
      ++next;
    }
    compact(hessian, rank, k, rank);
    compact(matrix, shape_.rows, k, rank);
    compact(gradient, 1, k, rank);
    compact(basis_, n, n, n);
    unknowns = rank;
  }

  /// Slacks of all sides that are there; rows that the equations leave without entries only where
  /// they contradict: then false and their multiplier.
  template <class Data>
  CAROM_CALL bool list_elements(const QpView<Data>& view, Real* multiplier) {
    halves = 0;
    int contradiction = -1;
    const auto add = [&](int i, int sign, double side) {
      SizedSum<Real> sum;
      sum.add(Real(side * units.row[i] * units.unit), static_cast<double>(sign));
      for_row(shape_, view, i, [&](int j, double entry) {
        sum.add(origin_[j], entry * units.row[i] * units.column[j] * static_cast<double>(-sign));
      });
      element[elements] = {i, sign};
      bound[elements] = sum.settled();
      ++elements;
    };
    elements = 0;
    for_intervals([&](int i) {
      if (view.lower[i] == view.upper[i]) return;
      bool empty = true;
      for (int c = 0; c < unknowns; ++c) {
        empty = empty && static_cast<double>(matrix[at(i, c, unknowns)]) == 0.0;
      }
      for (int sign = -1; sign <= 1; sign += 2) {
        const double side = sign > 0 ? view.upper[i] : view.lower[i];
        if (!is_there(side)) continue;
        add(i, sign, side);
        if (!empty) continue;
        if (static_cast<double>(bound[elements - 1]) < 0.0) {
          contradiction = elements - 1;
        } else {
          --elements;
        }
      }
    });
    halves = elements;
    for (int c = 0; c < shape_.cones; ++c) {
      for (int t = 0; t < shape_.cone[c].size; ++t) {
        const int i = shape_.cone[c].first + t;
        add(i, 1, view.upper[i]);
      }
    }
    if (contradiction < 0) return true;
    for (int e = 0; e < elements; ++e) multiplier[e] = Real(e == contradiction ? 1.0 : 0.0);
    return false;
  }

  QpShape shape_;
  int equations_ = 0, rank_ = 0, contradiction_ = -1;
  int* equation_;  // their rows
  int* order_;     // basic variables first
  Real* table_;    // [equations, n + 1 + equations], eliminated
  double* table_size_;
  Real* basis_;   // Z, [n, unknowns], stride n
  Real* origin_;  // x0
  Real* push_;
};

}  // namespace carom::kernels
