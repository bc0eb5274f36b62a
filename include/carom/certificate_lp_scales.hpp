#pragma once

#include <carom/certificate.hpp>
#include <carom/certificate_scales.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/packed.hpp>

/// What the residuals of linear programs are relative to: docs/algorithms/certificates.md.
namespace carom::certificate {

// Numbers find these by name; packs of numbers bring their own.
using kernels::all_of;
using kernels::any_of;
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
  return rows * n + 4 * n + 8 * (n + m);
}

/// The optimality conditions of one polytope and one objective, with their data: as
/// certificate_qp_scales.hpp has them for P = 0, whose equations in x are the rows and the columns'
/// bounds, and in y the reduced costs. A row's activity counts as one more variable behind the n
/// columns, and y_i as its reduced cost.
template <class Lanes>
class LpScales {
 public:
  CAROM_HOST_DEVICE LpScales(const Lanes& lanes, int rows, int columns, double* reals)
      : lanes_(lanes),
        m_(rows),
        n_(columns),
        np_(kernels::padded(columns, kernels::kPackPadding)),
        total_(np_ + kernels::padded(rows, kernels::kPackPadding)),
        row_rounding_(sum_rounding(columns)),
        column_rounding_(sum_rounding(rows + 1L)),
        matrix_(reals),
        cost_(matrix_ + static_cast<long>(rows) * np_),
        price_size_(cost_ + np_),
        price_datum_(price_size_ + np_),
        felt_(price_datum_ + np_),
        lower_(felt_ + np_),
        upper_(lower_ + total_),
        size_(upper_ + total_),
        point_(size_ + total_),
        point_size_(point_ + total_),
        point_datum_(point_size_ + total_),
        price_(point_datum_ + total_),
        known_(price_ + total_) {}

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
      for (double* zeros : {point_, point_size_, point_datum_, price_}) {
        kernels::store(zeros + j, V(0.0));
      }
      kernels::store(known_ + j, V(1.0));
    });
    lanes_.for_each(m_, [&](int i) {
      const double size = largest_of([&](auto number, int j) {
        return magnitude(kernels::load<decltype(number)>(row(i) + j));
      });
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
    const double most = kernels::largest_packed(lanes_, np_, [&](auto number, int j) {
      return magnitude(kernels::load<decltype(number)>(cost_ + j));
    });
    return most < kernels::kInfinity;
  }

  // What was taken over, padded with zeros: [m, np], and [np + mp], columns before rows.
  [[nodiscard]] CAROM_HOST_DEVICE const double* matrix() const { return matrix_; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* cost() const { return cost_; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* lower() const { return lower_; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* upper() const { return upper_; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* row_size() const { return size_ + np_; }

  /// c'x of the latest x.
  CAROM_HOST_DEVICE double objective() const {
    return kernels::sum_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      return kernels::load<V>(cost_ + j) * kernels::load<V>(point_ + j);
    });
  }

 protected:
  template <class V>
  static CAROM_INLINE V finite(V x) {
    return select(magnitude(x) < V(kernels::kInfinity), x, V(0.0));
  }
  CAROM_INLINE double* row(int i) const { return matrix_ + static_cast<long>(i) * np_; }
  /// The bound that a multiplier presses against.
  template <class V>
  CAROM_INLINE V pressed(V price, int j) const {
    return select(price > V(0.0), kernels::load<V>(lower_ + j), kernels::load<V>(upper_ + j));
  }
  /// Whether a column's multiplier is no more than the rounding of its sum.
  template <class V>
  CAROM_INLINE auto is_rounding(V price, int j) const {
    const V size = j < np_ ? kernels::load<V>(price_size_ + j) : V(0.0);
    return magnitude(price) <= V(column_rounding_) * size;
  }

  /// Largest value(V(), j) of [0, np), infinite where one is NaN; by one lane.
  template <class F>
  CAROM_INLINE double largest_of(F&& value) const {
    if constexpr (kernels::HasPack<Lanes>) {
      return kernels::largest_packed(lanes_, np_, value);
    } else {
      MaxAbs<> most;
      for (int j = 0; j < n_; ++j) most.add(value(0.0, j));
      return most.value == most.value ? most.value : kernels::kInfinity;
    }
  }

  /// x, A x, and the sizes of their terms.
  CAROM_HOST_DEVICE void load_point(const double* x) {
    kernels::copy_padded(lanes_, n_, x, point_);
    kernels::each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      kernels::store(point_size_ + j, magnitude(kernels::load<V>(point_ + j)));
    });
    lanes_.for_each(m_, [&](int i) {
      const auto [dot, size] = kernels::dot_and_size(lanes_, np_, row(i), point_);
      point_[np_ + i] = dot;
      point_size_[np_ + i] = size;
    });
  }

  /// The bounds that a value of this size reaches at all.
  template <class V>
  CAROM_INLINE V seed(int j) const {
    const V most = V(2.0) * kernels::load<V>(point_size_ + j);
    const V l = magnitude(kernels::load<V>(lower_ + j));
    const V u = magnitude(kernels::load<V>(upper_ + j));
    return larger(select(l <= most, l, V(0.0)), select(u <= most, u, V(0.0)));
  }

  /// point_datum_. bounds: explain by them; otherwise by the columns that are known.
  CAROM_HOST_DEVICE void explain_point(bool bounds) {
    kernels::each_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      kernels::store(point_datum_ + j, bounds ? seed<V>(j) : V(0.0));
    });
    if (bounds) {
      kernels::each_packed(lanes_, np_, [&](auto number, int j) {
        using V = decltype(number);
        const V size = kernels::load<V>(point_size_ + j);
        kernels::store(known_ + j, larger(reached(size, kernels::load<V>(point_datum_ + j)),
                                          select(size != V(0.0), V(0.0), V(1.0))));
      });
    }
    const auto unknown = [&](auto number, int j) {
      return kernels::load<decltype(number)>(known_ + j) < decltype(number)(1.0);
    };
    bool open = kernels::any_packed(lanes_, np_, unknown);
    for (int round = 0; open && round <= n_; ++round) {
      if (round > 0 || !bounds) gather_point(bounds);
      bool grown = false;
      for (int i = 0; i < m_ && open; ++i) {
        const double datum = point_datum_[np_ + i];
        if (!(datum > 0.0)) continue;
        const bool more = kernels::any_packed(lanes_, np_, [&](auto number, int j) {
          using V = decltype(number);
          const V known = kernels::load<V>(known_ + j);
          const V term = magnitude(kernels::load<V>(row(i) + j) * kernels::load<V>(point_ + j));
          const V now = larger(reached(term, V(datum)), known);
          kernels::store(known_ + j, now);
          return known < now;
        });
        if (more) open = kernels::any_packed(lanes_, np_, unknown);
        grown |= more;
      }
      if (!grown && (round > 0 || !bounds)) return;
    }
    gather_point(bounds);
  }
  CAROM_HOST_DEVICE void gather_point(bool bounds) {
    const auto own = [&](auto number, int j) {
      using V = decltype(number);
      return bounds ? seed<V>(j) : V(0.0);
    };
    const bool all = !kernels::any_packed(lanes_, np_, [&](auto number, int j) {
      return kernels::load<decltype(number)>(known_ + j) < decltype(number)(1.0);
    });
    kernels::each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      const V known = kernels::load<V>(known_ + j) * kernels::load<V>(point_size_ + j);
      kernels::store(point_datum_ + j, larger(known, own(number, j)));
    });
    if (all) {
      kernels::each_packed(lanes_, total_ - np_, [&](auto number, int i) {
        using V = decltype(number);
        const V size = kernels::load<V>(point_size_ + np_ + i);
        kernels::store(point_datum_ + np_ + i, own(number, np_ + i) + size);
      });
      return;
    }
    lanes_.for_each(m_, [&](int i) {
      const double known = kernels::sum_packed(lanes_, np_, [&](auto number, int j) {
        using V = decltype(number);
        return kernels::load<V>(known_ + j) *
               magnitude(kernels::load<V>(row(i) + j) * kernels::load<V>(point_ + j));
      });
      point_datum_[np_ + i] = own(0.0, np_ + i) + known;
    });
  }

  /// price_ = (base - A'y, y) and the sizes of the terms; base may be null.
  CAROM_INLINE void combine_columns(const double* base, const double* y) {
    kernels::copy_padded(lanes_, m_, y, price_ + np_);
    kernels::each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      V sum = base != nullptr ? kernels::load<V>(base + j) : V(0.0);
      V size = magnitude(sum);
      for (int i = 0; i < m_; ++i) {
        const V entry = kernels::load<V>(row(i) + j);
        const V multiplier(-price_[np_ + i]);
        sum = fused(multiplier, entry, sum);
        size = size + magnitude(multiplier * entry);
      }
      kernels::store(price_ + j, sum);
      kernels::store(price_size_ + j, size);
    });
  }

  /// price_datum_. costs: explain by them; otherwise by the multipliers that are known.
  CAROM_HOST_DEVICE void explain_prices(bool costs) {
    if (costs) {
      kernels::each_packed(lanes_, total_ - np_, [&](auto number, int i) {
        using V = decltype(number);
        kernels::store(known_ + np_ + i,
                       select(kernels::load<V>(price_ + np_ + i) != V(0.0), V(0.0), V(1.0)));
      });
    }
    gather_prices(costs);
    for (int round = 0; round <= m_; ++round) {
      bool grown = false;
      bool open = false;
      for (int i = 0; i < m_; ++i) {
        if (known_[np_ + i] > 0.0) continue;
        const double multiplier = magnitude(price_[np_ + i]);
        const bool found = kernels::any_packed(lanes_, np_, [&](auto number, int j) {
          using V = decltype(number);
          return reached(magnitude(kernels::load<V>(row(i) + j)) * V(multiplier),
                         kernels::load<V>(price_datum_ + j)) > V(0.0);
        });
        if (found) lanes_.for_each(1, [&](int) { known_[np_ + i] = 1.0; });
        grown |= found;
        open |= !found;
      }
      if (!grown) return;
      if (!open) break;
      gather_prices(costs);
    }
    gather_prices(costs);
  }
  CAROM_HOST_DEVICE void gather_prices(bool costs) {
    const bool all = !kernels::any_packed(lanes_, total_ - np_, [&](auto number, int i) {
      return kernels::load<decltype(number)>(known_ + np_ + i) < decltype(number)(1.0);
    });
    kernels::each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      const V own = costs ? magnitude(kernels::load<V>(cost_ + j)) : V(0.0);
      kernels::store(price_datum_ + j, all ? own + kernels::load<V>(price_size_ + j) : own);
    });
    for (int i = 0; !all && i < m_; ++i) {
      const double multiplier = known_[np_ + i] * magnitude(price_[np_ + i]);
      if (multiplier == 0.0) continue;
      kernels::each_packed(lanes_, np_, [&](auto number, int j) {
        using V = decltype(number);
        const V term = magnitude(kernels::load<V>(row(i) + j)) * V(multiplier);
        kernels::store(price_datum_ + j, kernels::load<V>(price_datum_ + j) + term);
      });
    }
  }

  const Lanes& lanes_;
  int m_, n_, np_, total_;
  double row_rounding_, column_rounding_;
  double* matrix_;       // [m, np]
  double* cost_;         // [np]
  double* price_size_;   // [np] the terms of a reduced cost, added up
  double* price_datum_;  // [np]
  double* felt_;         // [np] the share of a row's datum that a change of x_j by one makes
  double* lower_;        // [np + mp]
  double* upper_;        // [np + mp]
  double* size_;         // [np + mp] 1, then max|a_ij|
  double* point_;        // [np + mp] x, then A x
  double* point_size_;   // [np + mp] the terms, added up
  double* point_datum_;  // [np + mp]
  double* price_;        // [np + mp] d, then y
  double* known_;        // [np + mp] 1 where x_j, y_i are explained
};

}  // namespace carom::certificate
