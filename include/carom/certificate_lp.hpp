#pragma once

#include <carom/certificate.hpp>
#include <carom/kernels/host_device.hpp>
#include <carom/kernels/packed.hpp>

/// Residuals of linear programs, recomputed from the problem data.
namespace carom::certificate {

// Numbers find these by name; packs of numbers bring their own.
using kernels::fused;
using kernels::larger;
using kernels::magnitude;
using kernels::select;

/// One linear program and one of its objectives, as the caller gave it.
struct LpData {
  int rows;                    ///< m
  int columns;                 ///< n
  const double* cost;          ///< [n]
  const double* matrix;        ///< [m, n]
  const double* row_lower;     ///< [m]
  const double* row_upper;     ///< [m]
  const double* column_lower;  ///< [n]
  const double* column_upper;  ///< [n]
};

CAROM_HOST_DEVICE constexpr long lp_certificate_workspace(int rows, int columns) {
  const long m = kernels::padded(rows, kernels::kPackPadding);
  const long n = kernels::padded(columns, kernels::kPackPadding);
  return rows * n + n + 6 * (n + m);
}

/// Judges the answers to one polytope's objectives. Numbers are relative: X = max|x_j|,
/// r_i = max_j|a_ij| (1 for a column, and for a row of zeros), D = max(max|c_j|, max r_i|y_i|). A
/// row's activity counts as one more variable behind the n columns, and y_i as its reduced cost.
template <class Lanes>
class LpCertificate {
 public:
  CAROM_HOST_DEVICE LpCertificate(const Lanes& lanes, int rows, int columns, double* reals)
      : lanes_(lanes),
        m_(rows),
        n_(columns),
        np_(kernels::padded(columns, kernels::kPackPadding)),
        total_(np_ + kernels::padded(rows, kernels::kPackPadding)),
        matrix_(reals),
        cost_(matrix_ + static_cast<long>(rows) * np_),
        lower_(cost_ + np_),
        upper_(lower_ + total_),
        size_(upper_ + total_),
        point_(size_ + total_),
        price_(point_ + total_),
        term_(price_ + total_) {}

  /// Takes over rows and bounds. False where a coefficient is not finite or bounds are in disorder.
  CAROM_HOST_DEVICE bool load(const LpData& lp) {
    for (int i = 0; i < m_; ++i) {
      kernels::copy_padded(lanes_, n_, lp.matrix + static_cast<long>(i) * n_, row(i));
    }
    kernels::copy_padded(lanes_, n_, lp.column_lower, lower_);
    kernels::copy_padded(lanes_, n_, lp.column_upper, upper_);
    kernels::copy_padded(lanes_, m_, lp.row_lower, lower_ + np_);
    kernels::copy_padded(lanes_, m_, lp.row_upper, upper_ + np_);
    kernels::each_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      kernels::store(size_ + j, V(1.0));
      kernels::store(point_ + j, V(0.0));
      kernels::store(price_ + j, V(0.0));
    });
    lanes_.for_each(m_, [&](int i) {
      const double* from = row(i);
      const double size = largest_of_row(from);
      size_[np_ + i] = size > 0.0 ? size : 1.0;
    });
    const bool broken = kernels::any_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V l = kernels::load<V>(lower_ + j);
      const V u = kernels::load<V>(upper_ + j);
      const V good = select((l <= u) & (l < V(kernels::kInfinity)) & (u > V(-kernels::kInfinity)) &
                                (kernels::load<V>(size_ + j) < V(kernels::kInfinity)),
                            V(1.0), V(0.0));
      return good < V(1.0);
    });
    return !broken;
  }

  /// Takes over an objective; false where it is not finite.
  CAROM_HOST_DEVICE bool load_cost(const double* cost) {
    kernels::copy_padded(lanes_, n_, cost, cost_);
    price_size_ = kernels::largest_packed(lanes_, np_, [&](auto number, int j) {
      return magnitude(kernels::load<decltype(number)>(cost_ + j));
    });
    return price_size_ < kernels::kInfinity;
  }

  // What was taken over, padded with zeros: [m, np], and [np + mp], columns before rows.
  [[nodiscard]] CAROM_HOST_DEVICE const double* matrix() const { return matrix_; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* cost() const { return cost_; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* lower() const { return lower_; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* upper() const { return upper_; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* row_size() const { return size_ + np_; }

  /// Largest violation of a bound by x, each relative to max(r_i X, |bound|).
  CAROM_HOST_DEVICE double primal_residual(const double* x) {
    kernels::copy_padded(lanes_, n_, x, point_);
    compute_activities();
    const double largest = largest_value();
    return kernels::largest_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V value = kernels::load<V>(point_ + j);
      const V l = kernels::load<V>(lower_ + j);
      const V u = kernels::load<V>(upper_ + j);
      const V below = l - value;
      const V above = value - u;
      const V bound = select(below > V(0.0), l, u);
      // The larger of the two is NaN where the value is.
      const V outside = select(below > V(0.0), below, above);
      const V scale =
          larger(larger(kernels::load<V>(size_ + j) * V(largest), finite_size(bound)), V(kTiny));
      return select(outside <= V(0.0), V(0.0), outside / scale);
    });
  }

  /// The largest of primal_residual; of the multipliers (r_i y_i, and d = c - A'y) that press
  /// against absent bounds, relative to D; and of |c'x - dual objective|, relative to
  /// max(sum|c_j x_j|, sum of the dual terms' magnitudes, D X).
  /// Multipliers below the rounding of their own sums, about m eps D, earn nothing.
  CAROM_HOST_DEVICE double residual(const double* x, const double* y) {
    const double primal = primal_residual(x);
    const double largest = largest_value();
    combine_columns(cost_, y);
    const double prices = kernels::larger(
        price_size_, kernels::largest_packed(lanes_, total_ - np_, [&](auto number, int i) {
          using V = decltype(number);
          return magnitude(kernels::load<V>(price_ + np_ + i)) * kernels::load<V>(size_ + np_ + i);
        }));
    const double rounding = 2.3e-16 * static_cast<double>(m_ + 2) * prices;
    const double dual = unsupported(rounding) / kernels::larger(prices, kTiny);
    const auto spent = [&](auto number, int j) {
      using V = decltype(number);
      return kernels::load<V>(cost_ + j) * kernels::load<V>(point_ + j);
    };
    const auto earned = [&](auto number, int j) {
      return kernels::load<decltype(number)>(term_ + j);
    };
    const double gap =
        kernels::sum_packed(lanes_, np_, spent) - kernels::sum_packed(lanes_, total_, earned);
    const double terms = kernels::larger(sum_of_sizes(np_, spent), sum_of_sizes(total_, earned));
    const double scale = kernels::larger(kernels::larger(terms, prices * largest), kTiny);
    MaxAbs<> worst;
    worst.add(primal);
    worst.add(dual);
    worst.add(gap / scale);
    return worst.value;
  }

  /// c'x of the latest x.
  CAROM_HOST_DEVICE double objective() const {
    return kernels::sum_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      return kernels::load<V>(cost_ + j) * kernels::load<V>(point_ + j);
    });
  }

  /// How little is missing for y to prove that no x satisfies all bounds. With g = A'y, any such x
  /// has g'x = y'(A x), yet y'(A x) >= L and g'x <= U over the bounds that are there; what g and
  /// r_i y_i have against absent bounds is at most `noise` each. So a feasible x would need
  /// sum|x_j| >= (L - U) / ((m + 1) noise): the residual is S (m + 1) noise / (L - U) with
  /// S = max(|row bounds| / r_i, |column bounds|), the size of the data, and infinite unless L - U
  /// exceeds its own rounding.
  CAROM_HOST_DEVICE double farkas_residual(const double* y) {
    combine_columns(nullptr, y);
    const double noise = unsupported(0.0);
    const double margin = kernels::sum_packed(lanes_, total_, [&](auto number, int j) {
      return kernels::load<decltype(number)>(term_ + j);
    });
    const double norm = kernels::largest_packed(lanes_, total_ - np_, [&](auto number, int i) {
      using V = decltype(number);
      return magnitude(kernels::load<V>(price_ + np_ + i)) * kernels::load<V>(size_ + np_ + i);
    });
    // A column's multiplier is a sum of products as large as `norm`, and rounded like them.
    const double terms = kernels::sum_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V bound = select(kernels::load<V>(price_ + j) > V(0.0), kernels::load<V>(lower_ + j),
                             kernels::load<V>(upper_ + j));
      return finite_size(bound) * (j < np_ ? V(norm) : magnitude(kernels::load<V>(price_ + j)));
    });
    if (!(margin > 1e-14 * terms)) return kernels::kInfinity;
    const double data = kernels::largest_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V size = kernels::load<V>(size_ + j);
      const V bound = larger(finite_size(kernels::load<V>(lower_ + j)),
                             finite_size(kernels::load<V>(upper_ + j)));
      return bound / size;
    });
    return noise > 0.0 ? noise * data / margin * static_cast<double>(m_ + 1) : 0.0;
  }

  /// How little is missing for r to be a direction in which c'x falls without end: the largest
  /// movement of a row (relative to r_i) or a column against a bound that is there, divided by the
  /// fall -c'r relative to max|c_j|; infinite unless c'r exceeds its own rounding.
  CAROM_HOST_DEVICE double ray_residual(const double* ray) {
    kernels::copy_padded(lanes_, n_, ray, point_);
    compute_activities();
    const auto change = [&](auto number, int j) {
      using V = decltype(number);
      return kernels::load<V>(cost_ + j) * kernels::load<V>(point_ + j);
    };
    const double fall = -kernels::sum_packed(lanes_, np_, change);
    if (!(fall > 1e-14 * sum_of_sizes(np_, change))) return kernels::kInfinity;
    const double against = kernels::largest_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V step = kernels::load<V>(point_ + j) / larger(kernels::load<V>(size_ + j), V(kTiny));
      const V bound =
          select(step < V(0.0), kernels::load<V>(lower_ + j), kernels::load<V>(upper_ + j));
      return select(magnitude(bound) < V(kernels::kInfinity), magnitude(step), V(0.0) * step);
    });
    return against * price_size_ / fall;
  }

 private:
  template <class V>
  static CAROM_INLINE V finite_size(V x) {
    const V size = magnitude(x);
    return select(size < V(kernels::kInfinity), size, V(0.0));
  }
  CAROM_INLINE double* row(int i) const { return matrix_ + static_cast<long>(i) * np_; }

  /// max|row|, infinite where one is NaN; by one lane.
  CAROM_INLINE double largest_of_row(const double* from) const {
    if constexpr (kernels::HasPack<Lanes>) {
      return kernels::largest_packed(lanes_, np_, [&](auto number, int j) {
        return magnitude(kernels::load<decltype(number)>(from + j));
      });
    } else {
      MaxAbs<> most;
      for (int j = 0; j < n_; ++j) most.add(from[j]);
      return most.value == most.value ? most.value : kernels::kInfinity;
    }
  }

  CAROM_INLINE void compute_activities() {
    lanes_.for_each(
        m_, [&](int i) { point_[np_ + i] = kernels::dot_packed(lanes_, np_, row(i), point_); });
  }
  CAROM_INLINE double largest_value() const {
    return kernels::largest_packed(lanes_, np_, [&](auto number, int j) {
      return magnitude(kernels::load<decltype(number)>(point_ + j));
    });
  }

  /// price_ = (base - A'y, y); base may be null.
  CAROM_INLINE void combine_columns(const double* base, const double* y) {
    kernels::copy_padded(lanes_, m_, y, price_ + np_);
    kernels::each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      V sum = base != nullptr ? kernels::load<V>(base + j) : V(0.0);
      for (int i = 0; i < m_; ++i) {
        sum = fused(V(-price_[np_ + i]), kernels::load<V>(row(i) + j), sum);
      }
      kernels::store(price_ + j, sum);
    });
  }

  /// The largest multiplier, times r_i, that presses against an absent bound. term_ is what each
  /// earns at the bound that it presses against; an absent one earns nothing, and neither does a
  /// multiplier that is rounding.
  CAROM_INLINE double unsupported(double rounding) {
    return kernels::largest_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(price_ + j);
      const V bound =
          select(price > V(0.0), kernels::load<V>(lower_ + j), kernels::load<V>(upper_ + j));
      const V size = magnitude(price) * kernels::load<V>(size_ + j);
      const auto there = magnitude(bound) < V(kernels::kInfinity);
      kernels::store(term_ + j, select(there & (size > V(rounding)), price * bound, V(0.0)));
      return select(there, V(0.0) * size, size);
    });
  }

  template <class F>
  CAROM_INLINE double sum_of_sizes(int count, F&& term) const {
    return kernels::sum_packed(lanes_, count,
                               [&](auto number, int j) { return magnitude(term(number, j)); });
  }

  const Lanes& lanes_;
  int m_, n_, np_, total_;
  double* matrix_;           // [m, np]
  double* cost_;             // [np]
  double* lower_;            // [np + mp]
  double* upper_;            // [np + mp]
  double* size_;             // [np + mp] 1, then r_i
  double* point_;            // [np + mp] x, then A x
  double* price_;            // [np + mp] d, then y
  double* term_;             // [np + mp]
  double price_size_ = 0.0;  // max|c_j|
};

}  // namespace carom::certificate
