#pragma once

#include <bit>
#include <cstdint>

#include <carom/device/qp_problem.hpp>

#include "programs/kernels/median_scaling.hpp"

/// What the homogeneous method works on: its memory, the units of a problem, elimination.
namespace carom::kernels {

/// Lays arrays of several types one after another into a caller's doubles: an integer takes the
/// place of a double, a number of doubled precision that of two.
class QpArena {
 public:
  CAROM_HOST_DEVICE explicit QpArena(double* memory) : memory_(memory) {}
  template <class T>
  CAROM_CALL T* take(long count) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): whole doubles
    constexpr long kSize = sizeof(T) > sizeof(double) ? sizeof(T) / sizeof(double) : 1;
    T* const place = reinterpret_cast<T*>(memory_ + used_);
    used_ += count * kSize;
    return place;
  }
  [[nodiscard]] CAROM_CALL long used() const { return used_; }

 private:
  double* memory_;
  long used_ = 0;
};

/// What is left of a sum below this share of its terms is rounding of the data.
inline constexpr double kQpRounding = 0x1p-46;

/// Units of variables, rows and of the homogenising variable, powers of two:
///   x = column x' / unit, y = row y' / unit, q' = column unit q, h' = row unit h.
struct QpHomogeneousUnits {
  double* column;  ///< [n]
  double* row;     ///< [rows], one for all rows of a cone
  double unit;
};

/// f(j, a_ij) for the entries of row i.
template <class Data, class F>
CAROM_INLINE void for_row(const QpShape& shape, const QpView<Data>& view, int i, F&& f) {
  for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
    const int j = shape.column[t];
    const double entry = view.matrix[static_cast<long>(i) * shape.variables + j];
    if (entry != 0.0) f(j, entry);
  }
}
/// interval(i) for the rows of intervals, in_cone(cone) for the cones, in the order of the rows.
template <class Interval, class InCone>
CAROM_INLINE void for_parts(const QpShape& shape, Interval&& interval, InCone&& in_cone) {
  int cone = 0;
  for (int i = 0; i < shape.rows;) {
    if (cone < shape.cones && shape.cone[cone].first == i) {
      in_cone(shape.cone[cone]);
      i += shape.cone[cone++].size;
    } else {
      interval(i++);
    }
  }
}
/// P_ij, whose lower half is read.
template <class Data>
CAROM_INLINE double hessian_entry(const QpView<Data>& view, int n, int i, int j) {
  return i > j ? view.hessian[static_cast<long>(i) * n + j]
               : view.hessian[static_cast<long>(j) * n + i];
}
CAROM_INLINE bool is_there(double bound) { return magnitude(bound) < kInfinity; }

/// Whether no side of an interval row is there. Of rows in cones the upper one always is.
template <class Data>
CAROM_INLINE bool is_off(const QpView<Data>& view, int i) {
  return !is_there(view.upper[i]) && !is_there(view.lower[i]);
}

/// Least squares for the logarithms of all entries (Curtis and Reid 1972), by coordinates: unlike
/// largest entries, the mean hardly moves for one huge entry. scratch: [(n + rows) n + 2 n].
template <class Data>
CAROM_CALL void find_units(const QpShape& shape, const QpView<Data>& view,
                           QpHomogeneousUnits& units, double* scratch) {
  constexpr int kSweeps = 16;
  const int n = shape.variables;
  const auto for_bounds = [&](int i, bool cone, auto&& f) {
    const double u = view.upper[i];
    if (is_there(u) && u != 0.0) f(u);
    if (cone || view.lower[i] == u) return;
    const double l = view.lower[i];
    if (is_there(l) && l != 0.0) f(l);
  };
  const auto log_of = [](double x) { return static_cast<double>(exponent_of(x)); };
  double* const sum = scratch;
  double* const weight = sum + n;
  double* const bend = weight + n;                        // log |P_jk|; infinite: no entry
  double* const slope = bend + static_cast<long>(n) * n;  // of the rows' entries
  const auto log_or_none = [&](double x) { return x != 0.0 ? log_of(x) : kInfinity; };
  for (int j = 0; j < n; ++j) {
    weight[j] = 0.0;
    for (int k = 0; k < n; ++k) {
      bend[static_cast<long>(j) * n + k] = log_or_none(hessian_entry(view, n, j, k));
    }
  }
  for (int i = 0; i < shape.rows; ++i) {
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      slope[t] = log_or_none(view.matrix[static_cast<long>(i) * n + j]);
      if (slope[t] < kInfinity && !is_off(view, i)) weight[j] += 1.0;
    }
  }
  // f(j, log |a_ij|)
  const auto for_logs = [&](int i, auto&& f) {
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      if (slope[t] < kInfinity) f(shape.column[t], slope[t]);
    }
  };
  // Logarithms until the end.
  for (int j = 0; j < n; ++j) units.column[j] = 0.0;
  for (int i = 0; i < shape.rows; ++i) units.row[i] = 0.0;
  double unit = 0.0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    int cone = 0;
    for (int i = 0; i < shape.rows;) {
      const bool in_cone = cone < shape.cones && shape.cone[cone].first == i;
      const int end = in_cone ? i + shape.cone[cone++].size : i + 1;
      double total = 0.0;
      double count = 0.0;
      for (int r = i; r < end && !is_off(view, i); ++r) {
        for_logs(r, [&](int j, double log) {
          total += log + units.column[j];
          count += 1.0;
        });
        for_bounds(r, in_cone, [&](double bound) {
          total += log_of(bound) + unit;
          count += 1.0;
        });
      }
      for (; i < end; ++i) units.row[i] = count > 0.0 ? -total / count : 0.0;
    }
    for (int j = 0; j < n; ++j) sum[j] = 0.0;
    for (int i = 0; i < shape.rows; ++i) {
      if (is_off(view, i)) continue;
      for_logs(i, [&](int j, double log) { sum[j] += log + units.row[i]; });
    }
    double total = 0.0;
    double count = 0.0;
    for (int j = 0; j < n; ++j) {
      double bent = sum[j];
      double terms = weight[j];
      for (int k = 0; k < n; ++k) {
        const double log = bend[static_cast<long>(j) * n + k];
        if (!(log < kInfinity)) continue;
        bent += (j == k ? 2.0 : 1.0) * log + (j == k ? 0.0 : units.column[k]);
        terms += j == k ? 4.0 : 1.0;
      }
      const double q = view.gradient[j];
      if (q != 0.0) {
        bent += log_of(q) + unit;
        terms += 1.0;
      }
      units.column[j] = terms > 0.0 ? -bent / terms : 0.0;
      if (q != 0.0) {
        total += log_of(q) + units.column[j];
        count += 1.0;
      }
    }
    cone = 0;
    for (int i = 0; i < shape.rows; ++i) {
      while (cone < shape.cones && shape.cone[cone].first + shape.cone[cone].size <= i) ++cone;
      const bool in_cone = cone < shape.cones && shape.cone[cone].first <= i;
      for_bounds(i, in_cone, [&](double bound) {
        total += log_of(bound) + units.row[i];
        count += 1.0;
      });
    }
    unit = count > 0.0 ? -total / count : 0.0;
  }
  const auto rounded = [](double log) {
    return power_of_two(static_cast<int>(log < 0.0 ? log - 0.5 : log + 0.5));
  };
  for (int j = 0; j < n; ++j) units.column[j] = rounded(units.column[j]);
  for (int i = 0; i < shape.rows; ++i) units.row[i] = rounded(units.row[i]);
  units.unit = rounded(unit);
}

/// A sum that knows the size of its terms.
template <class Real>
struct SizedSum {
  Real value{0.0};
  double size = 0.0;
  /// b: double or Real.
  template <class Factor>
  CAROM_INLINE void add(const Real& a, const Factor& b) {
    const Real term = a * b;
    value += term;
    size += magnitude(static_cast<double>(term));
  }
  /// The value, zero where only rounding is left.
  [[nodiscard]] CAROM_INLINE Real settled() const {
    return magnitude(static_cast<double>(value)) <= kQpRounding * size ? Real(0.0) : value;
  }
};

/// Gauss-Jordan elimination of table [rows, stride] with complete pivoting in its first `columns`
/// columns; all of its first `sized` columns know the size of the terms that went into them, and
/// what cancels down to rounding becomes zero. Afterwards row k has a one in column order[k] for
/// k < rank, and the rows from rank on are zero in those columns. Returns the rank.
/// order: [columns]; size: [rows, sized].
template <class Real>
CAROM_CALL int eliminate(int rows, int columns, int sized, int stride, Real* table, double* size,
                         int* order) {
  for (int j = 0; j < columns; ++j) order[j] = j;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < sized; ++j) {
      size[static_cast<long>(i) * sized + j] =
          magnitude(static_cast<double>(table[static_cast<long>(i) * stride + j]));
    }
  }
  int rank = 0;
  for (; rank < rows && rank < columns; ++rank) {
    double best = 0.0;
    int row = -1;
    int place = -1;
    for (int i = rank; i < rows; ++i) {
      for (int c = rank; c < columns; ++c) {
        const double entry =
            magnitude(static_cast<double>(table[static_cast<long>(i) * stride + order[c]]));
        if (entry > best) {
          best = entry;
          row = i;
          place = c;
        }
      }
    }
    if (row < 0) break;
    const auto swap = [](auto& a, auto& b) {
      const auto kept = a;
      a = b;
      b = kept;
    };
    swap(order[rank], order[place]);
    Real* const pivot = table + static_cast<long>(rank) * stride;
    double* const pivot_size = size + static_cast<long>(rank) * sized;
    if (row != rank) {
      for (int j = 0; j < stride; ++j) swap(pivot[j], table[static_cast<long>(row) * stride + j]);
      for (int j = 0; j < sized; ++j) swap(pivot_size[j], size[static_cast<long>(row) * sized + j]);
    }
    const int column = order[rank];
    const Real inverse = Real(1.0) / pivot[column];
    for (int j = 0; j < stride; ++j) pivot[j] = pivot[j] * inverse;
    for (int j = 0; j < sized; ++j) {
      pivot_size[j] *= magnitude(static_cast<double>(inverse));
    }
    pivot[column] = Real(1.0);
    for (int i = 0; i < rows; ++i) {
      Real* const to = table + static_cast<long>(i) * stride;
      double* const to_size = size + static_cast<long>(i) * sized;
      const Real factor = to[column];
      const double share = magnitude(static_cast<double>(factor));
      if (i == rank || share == 0.0) continue;
      for (int j = 0; j < stride; ++j) {
        if (static_cast<double>(pivot[j]) == 0.0) continue;
        to[j] -= factor * pivot[j];
        if (j >= sized) continue;
        to_size[j] = larger(to_size[j], share * pivot_size[j]);
        if (magnitude(static_cast<double>(to[j])) <= kQpRounding * to_size[j]) to[j] = Real(0.0);
      }
      to[column] = Real(0.0);
    }
  }
  return rank;
}

}  // namespace carom::kernels
