#pragma once

#include "programs/qp/kernels/qp_proofs.hpp"

/// Hessians that are convex only where the equations hold. With x = x_p + T z, T a projector onto
/// the null space of the equations E x = e, the objective is that of T'P T and T'(q + P x_p), whose
/// x is the same; the multipliers of E balance the rest of the gradient.
namespace carom::kernels {

template <class Memory>
struct QpSubspaceLayout {
  Memory table;     ///< rows of E reduced: one at a row's pivot, zero at the others' ones
  Memory combined;  ///< which sum of rows of E each is
  Memory product;   ///< P T
  Memory size;
  Memory pivot;  ///< column of row k
  Memory row;    ///< row of E that row k began as
  Memory held;   ///< [n] 1 + k where column j is the pivot of row k, else 0

  QpSubspaceLayout() = default;
  CAROM_INLINE constexpr QpSubspaceLayout(Arena<Memory>& arena, long n)
      : table(arena.take(n * n)),
        combined(arena.take(n * n)),
        product(arena.take(n * n)),
        size(arena.take(n)),
        pivot(arena.take(n)),
        row(arena.take(n)),
        held(arena.take(n)) {}
};
CAROM_INLINE constexpr long qp_subspace_workspace(long n) { return values_of<QpSubspaceLayout>(n); }

/// By which of its entries an equation is solved: the largest one in units of its column, or of the
/// curvature along its variable. Little curvature is seen by the latter only, where rows have units
/// of their own; the former's multipliers are more exact.
enum class QpPivots : unsigned char { by_columns, by_curvature };

template <class Lanes, class Data, class Memory>
class QpSubspace {
 public:
  /// Reduces the equations of the problem. memory: qp_subspace_workspace.
  CAROM_HOST_DEVICE QpSubspace(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                               const Memory& memory, QpPivots pivots = QpPivots::by_columns)
      : lanes_(lanes),
        shape_(shape),
        view_(view),
        n_(shape.variables),
        pivots_(pivots),
        at_(placed<QpSubspaceLayout>(memory, shape.variables)) {
    lanes_.for_each(n_, [&](int j) { at_.held[j] = 0.0; });
    for (int i = 0; i < shape.rows && count_ < n_; ++i) {
      if (view.lower[i] == view.upper[i]) append(i);
    }
  }

  /// Independent equations.
  [[nodiscard]] CAROM_INLINE int equations() const { return count_; }

  /// hessian: [n, n], its lower half; gradient: [n].
  CAROM_CALL void project(const Memory& hessian, const Memory& gradient) const {
    const long n = n_;
    lanes_.for_each(n_, [&](int i) {
      for (int b = 0; b < n_; ++b) {
        double sum = 0.0;
        if (is_free(b)) {
          sum = entry(i, b);
          for (int k = 0; k < count_; ++k) sum -= entry(i, pivot(k)) * at_.table[k * n + b];
        }
        at_.product[i * n + b] = sum;
      }
    });
    lanes_.for_each(n_, [&](int a) {
      for (int b = 0; b <= a; ++b) {
        double sum = 0.0;
        double size = 0.0;
        if (is_free(a) && is_free(b)) {
          sum = at_.product[a * n + b];
          size = magnitude(entry(a, b));
          for (int k = 0; k < count_; ++k) {
            const double term = at_.table[k * n + a] * at_.product[pivot(k) * n + b];
            sum -= term;
            size += magnitude(term);
            size += magnitude(entry(a, pivot(k)) * at_.table[k * n + b]);
          }
        }
        hessian[a * n + b] = magnitude(sum) <= kRounding * size ? 0.0 : sum;
      }
    });
    // q + P x_p, of which the free columns keep what the others' equations do not take
    lanes_.for_each(n_, [&](int j) {
      double sum = view_.gradient[j];
      for (int k = 0; k < count_; ++k) sum += entry(j, pivot(k)) * particular(k);
      at_.size[j] = sum;
    });
    lanes_.for_each(n_, [&](int j) {
      double sum = 0.0;
      double size = 0.0;
      if (is_free(j)) {
        sum = at_.size[j];
        size = magnitude(sum);
        for (int k = 0; k < count_; ++k) {
          const double term = at_.table[k * n + j] * at_.size[pivot(k)];
          sum -= term;
          size += magnitude(term);
        }
      }
      gradient[j] = magnitude(sum) <= kRounding * size ? 0.0 : sum;
    });
  }

  /// d = T d.
  CAROM_CALL void lift(const Memory& d) const {
    const long n = n_;
    lanes_.for_each(count_, [&](int k) {
      double sum = 0.0;
      for (int j = 0; j < n_; ++j) {
        if (is_free(j)) sum -= at_.table[k * n + j] * d[j];
      }
      at_.size[k] = sum;
    });
    lanes_.for_each(count_, [&](int k) { d[pivot(k)] = at_.size[k]; });
  }

  /// Whether E d = 0 in all equations, and d'P d < 0 by more than that may hide. work: [2 n].
  CAROM_CALL bool proves_nonconvex(const Memory& d, const Memory& work) const {
    const long n = n_;
    for (int i = 0; i < shape_.rows; ++i) {
      if (view_.lower[i] != view_.upper[i]) continue;
      ProofSum along;
      for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
        const int j = shape_.column[t];
        along.add(view_.matrix[i * n + j] * d[j], j);
      }
      if (along.value(1e-9) != 0.0) return false;
    }
    return certificate::relative_curvature(lanes_, n_, view_.hessian, d, work) < -1e-12;
  }

  /// Multipliers of the independent equations from P x + q + A'y = 0.
  CAROM_CALL void complete(const Memory& x, const Memory& y) const {
    const long n = n_;
    const Memory terms = at_.product;  // magnitudes: what is left of them by rounding is zero
    for (int pass = 0; pass < 2; ++pass) {
      lanes_.for_each(n_, [&](int j) {
        double sum = view_.gradient[j];
        double size = magnitude(sum);
        for (int k = 0; k < n_; ++k) {
          const double term = entry(j, k) * x[k];
          sum += term;
          size += magnitude(term);
        }
        at_.size[j] = sum;
        terms[j] = size;
      });
      for (int i = 0; i < shape_.rows; ++i) {
        const double force = y[i];
        if (force == 0.0) continue;
        const int first = shape_.row_first[i];
        lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) {
          const int j = shape_.column[first + t];
          const double term = view_.matrix[i * n + j] * force;
          at_.size[j] += term;
          terms[j] += magnitude(term);
        });
      }
      lanes_.for_each(count_, [&](int r) {
        double sum = y[row(r)];
        double size = magnitude(sum);
        for (int k = 0; k < count_; ++k) {
          const double share = at_.combined[k * n + r];
          sum -= share * at_.size[pivot(k)];
          size += magnitude(share) * terms[pivot(k)];
        }
        y[row(r)] = magnitude(sum) <= kRounding * size ? 0.0 : sum;
      });
    }
  }

 private:
  static constexpr double kRounding = 1e-13;   // of a sum's terms: a zero
  static constexpr double kDependent = 1e-11;  // likewise, of a row that is reduced

  CAROM_INLINE double entry(int i, int j) const {
    const long n = n_;
    return j <= i ? view_.hessian[i * n + j] : view_.hessian[j * n + i];
  }
  CAROM_INLINE int pivot(int k) const { return static_cast<int>(at_.pivot[k]); }
  CAROM_INLINE int row(int k) const { return static_cast<int>(at_.row[k]); }
  CAROM_INLINE bool is_free(int j) const { return at_.held[j] == 0.0; }
  CAROM_INLINE double particular(int k) const {
    const long n = n_;
    double sum = 0.0;
    for (int r = 0; r < count_; ++r) sum += at_.combined[k * n + r] * view_.upper[row(r)];
    return sum;
  }

  /// Reduces row i by the others, and these by it; leaves out one that depends on them.
  CAROM_CALL void append(int i) {
    const long n = n_;
    const Memory own = at_.table + count_ * n;
    const Memory sum_of = at_.combined + count_ * n;
    const int last = count_;
    lanes_.for_each(n_, [&](int j) {
      own[j] = has_column(shape_, i, j) ? view_.matrix[i * n + j] : 0.0;
      at_.size[j] = magnitude(own[j]);
      sum_of[j] = j == last ? 1.0 : 0.0;
    });
    for (int k = 0; k < count_; ++k) subtract(own, sum_of, k, true);
    int best = -1;
    double share = kDependent;
    double most = 0.0;
    for (int j = 0; j < n_; ++j) {
      if (!is_free(j) || !(magnitude(own[j]) > kDependent * at_.size[j])) continue;
      // Among entries of the row that did not cancel, the largest for its column.
      const double size = magnitude(own[j]) / unit(j);
      if (best < 0 || size > most) {
        best = j;
        most = size;
        share = magnitude(own[j]) / at_.size[j];
      }
    }
    if (best < 0 || !(share > kDependent)) return;
    const double inverse = 1.0 / own[best];
    lanes_.for_each(n_, [&](int j) {
      own[j] =
          j == best ? 1.0 : (magnitude(own[j]) > kRounding * at_.size[j] ? own[j] * inverse : 0.0);
      sum_of[j] *= inverse;
    });
    lanes_.for_each(1, [&](int) {
      at_.pivot[last] = best;
      at_.row[last] = i;
      at_.held[best] = 1.0 + last;
    });
    ++count_;
    for (int k = 0; k < last; ++k) subtract(at_.table + k * n, at_.combined + k * n, last, false);
  }
  /// target -= its entry at row k's pivot times row k.
  CAROM_CALL void subtract(const Memory& target, const Memory& sum_of, int k, bool sized) const {
    const long n = n_;
    const int column = pivot(k);
    const double factor = target[column];
    if (factor == 0.0) return;
    lanes_.for_each(n_, [&](int j) {
      const double term = factor * at_.table[k * n + j];
      target[j] = j == column ? 0.0 : target[j] - term;
      if (sized) at_.size[j] += magnitude(term);
      sum_of[j] -= factor * at_.combined[k * n + j];
    });
  }
  CAROM_CALL double unit(int j) const {
    const long n = n_;
    double most = 0.0;
    if (pivots_ == QpPivots::by_curvature) {
      for (int i = 0; i < n_; ++i) {
        const double size = magnitude(entry(i, j)), other = magnitude(entry(i, i));
        if (size > 0.0) most = larger(i == j || other == 0.0 ? size : size * size / other, most);
      }
      return most > 0.0 ? square_root(most) : 1e-100;
    }
    for (int i = 0; i < shape_.rows; ++i) {
      if (view_.lower[i] == view_.upper[i] && has_column(shape_, i, j)) {
        most = larger(magnitude(view_.matrix[i * n + j]), most);
      }
    }
    return most > 0.0 ? most : 1.0;
  }

  const Lanes& lanes_;
  const QpShape& shape_;
  QpView<Data> view_;
  int n_;
  int count_ = 0;
  QpPivots pivots_;
  QpSubspaceLayout<Memory> at_;
};

/// Whether d'P d = 0 and the objective falls along d from x. Where d'P d = 0 by the equations only,
/// P d is no more than a sum of their rows, and the objective falls from each x alike.
template <class Lanes, class Data, class Memory>
CAROM_CALL bool falls_from(const Lanes&, int n, const QpView<Data>& view, const Memory& x,
                           const Memory& d) {
  ProofSum slope;
  ProofSum bent;
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) {
      const long at = k <= j ? static_cast<long>(j) * n + k : static_cast<long>(k) * n + j;
      slope.add(d[j] * view.hessian[at] * x[k], j);
      bent.add(d[j] * view.hessian[at] * d[k], j);
    }
    slope.add(d[j] * view.gradient[j], j);
  }
  return bent.value(1e-9) == 0.0 && slope.value(2e-8) < 0.0;
}

}  // namespace carom::kernels
