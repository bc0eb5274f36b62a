#pragma once

#include <carom/certificate.hpp>
#include <carom/certificate_scales.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/packed.hpp>

/// Residuals of linear programs, recomputed from the problem data.
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

/// Judges the answers to one polytope's objectives, every row and column in its own units: the
/// optimality conditions as certificate_qp_scales.hpp has them for P = 0, whose equations in x are
/// the rows and the columns' bounds, and in y the reduced costs. A row's activity counts as one
/// more variable behind the n columns, and y_i as its reduced cost.
template <class Lanes>
class LpCertificate {
 public:
  CAROM_HOST_DEVICE LpCertificate(const Lanes& lanes, int rows, int columns, double* reals)
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

  /// Largest violation of a bound by x, each over its datum.
  CAROM_HOST_DEVICE double primal_residual(const double* x) {
    load_point(x);
    explain_point(true);
    double worst = violation();
    if (worst <= kClose) return worst;
    widen();
    return violation();
  }

  /// The largest of primal_residual; of the multipliers (y_i, and d = c - A'y) that press against
  /// absent bounds, over the data of the columns that feel them; and of the multipliers times the
  /// distance to the bound that they press against, both relative.
  CAROM_HOST_DEVICE double residual(const double* x, const double* y) {
    load_point(x);
    explain_point(true);
    combine_columns(cost_, y);
    explain_prices(true);
    const double strict = judge();
    if (strict <= kClose) return strict;
    widen();
    return judge();
  }

  /// c'x of the latest x.
  CAROM_HOST_DEVICE double objective() const {
    return kernels::sum_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      return kernels::load<V>(cost_ + j) * kernels::load<V>(point_ + j);
    });
  }

  /// Whether y proves that no x satisfies all bounds. With g = A'y, any such x has g'x = y'(A x),
  /// yet y'(A x) >= L and g'x <= U over the bounds that are there, L > U. The residual is the
  /// largest multiplier against an absent bound over the datum of what it is a sum of; the margin L
  /// - U is the datum that explains y.
  CAROM_HOST_DEVICE double farkas_residual(const double* y) {
    combine_columns(nullptr, y);
    const auto earned = [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(price_ + j);
      const V bound = finite(pressed(price, j));
      return select(is_rounding(price, j), V(0.0), price * bound);
    };
    const double margin = kernels::sum_packed(lanes_, total_, earned);
    if (!(margin > 0.0)) return kernels::kInfinity;
    // A column's multiplier is rounded like the sum that it is.
    const double terms = kernels::largest_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(price_ + j);
      const V size = j < np_ ? kernels::load<V>(price_size_ + j) : magnitude(price);
      return select(is_rounding(price, j), V(0.0), size * magnitude(finite(pressed(price, j))));
    });
    kernels::each_packed(lanes_, total_ - np_, [&](auto number, int i) {
      using V = decltype(number);
      const V value = kernels::load<V>(price_ + np_ + i);
      const V term = magnitude(value * finite(pressed(value, np_ + i)));
      kernels::store(known_ + np_ + i,
                     larger(reached(term, V(margin)), select(value != V(0.0), V(0.0), V(1.0))));
    });
    explain_prices(false);
    MaxAbs<> worst;
    worst.add(kernels::largest_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(price_ + j);
      const V size = kernels::load<V>(price_size_ + j);
      const V datum = kernels::load<V>(price_datum_ + j);
      // What presses against a bound that is there needs not vanish.
      const V matters = select(magnitude(pressed(price, j)) < V(kernels::kInfinity),
                               select(is_rounding(price, j), V(1.0), V(0.0)), V(1.0));
      return select(matters > V(0.0),
                    larger(missed(price, size, datum, column_rounding_),
                           beyond_reach(size, datum, column_rounding_)),
                    V(0.0) * price);
    }));
    for (int i = 0; i < m_; ++i) {
      const double value = price_[np_ + i];
      const double bound = value > 0.0 ? lower_[np_ + i] : upper_[np_ + i];
      if (value != 0.0 && !(magnitude(bound) < kernels::kInfinity)) worst.add(value * weight(i));
    }
    worst.add(beyond_reach(terms, margin, sum_rounding(m_ + static_cast<long>(n_))));
    return worst.value;
  }

  /// Whether c'x falls along r without end: the largest movement of a row or column against a bound
  /// that is there, over its datum; the fall -c'r is the datum that explains r. A proof together
  /// with a point that primal_residual accepts.
  CAROM_HOST_DEVICE double ray_residual(const double* ray) {
    load_point(ray);
    const auto change = [&](auto number, int j) {
      using V = decltype(number);
      return kernels::load<V>(cost_ + j) * kernels::load<V>(point_ + j);
    };
    const double fall = -kernels::sum_packed(lanes_, np_, change);
    if (!(fall > 0.0)) return kernels::kInfinity;
    const double terms = kernels::largest_packed(
        lanes_, np_, [&](auto number, int j) { return magnitude(change(number, j)); });
    kernels::each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      const V value = kernels::load<V>(point_ + j);
      kernels::store(known_ + j, larger(reached(magnitude(change(number, j)), V(fall)),
                                        select(value != V(0.0), V(0.0), V(1.0))));
    });
    explain_point(false);
    const double against = kernels::largest_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V step = kernels::load<V>(point_ + j);
      const V bound =
          select(step < V(0.0), kernels::load<V>(lower_ + j), kernels::load<V>(upper_ + j));
      const V size = kernels::load<V>(point_size_ + j);
      const V datum = kernels::load<V>(point_datum_ + j);
      const double rounding = j < np_ ? 0.0 : row_rounding_;
      const V moved = select(magnitude(bound) < V(kernels::kInfinity),
                             missed(step, size, datum, rounding), V(0.0) * step);
      return larger(moved, beyond_reach(size, datum, row_rounding_));
    });
    return kernels::larger(against, beyond_reach(terms, fall, sum_rounding(n_)));
  }

 private:
  static constexpr double kClose = 1e-13;

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

  /// The largest share of a column's datum that a multiplier of row i of one has.
  CAROM_HOST_DEVICE double weight(int i) const {
    return kernels::largest_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      const V datum = kernels::load<V>(price_datum_ + j);
      return magnitude(kernels::load<V>(row(i) + j)) / select(datum > V(kTiny), datum, V(kTiny));
    });
  }

  /// Largest violation of a bound over its datum.
  CAROM_HOST_DEVICE double violation() const {
    return kernels::largest_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V value = kernels::load<V>(point_ + j);
      const V l = kernels::load<V>(lower_ + j);
      const V u = kernels::load<V>(upper_ + j);
      const V below = l - value;
      const V above = value - u;
      const V bound = magnitude(finite(select(below > V(0.0), l, u)));
      // The larger of the two is NaN where the value is.
      const V outside = select(below > V(0.0), below, above);
      const auto inside = outside <= V(0.0);
      const V size = kernels::load<V>(point_size_ + j) + bound;
      const V datum = larger(kernels::load<V>(point_datum_ + j), bound);
      const V hidden = beyond_reach(size, datum, row_rounding_);
      if (all_of(inside)) return hidden;
      const V unit = unit_of_residual(datum, bound);
      const double rounding = j < np_ ? 0.0 : row_rounding_;
      return select(inside, V(0.0), missed(outside, size, unit, rounding)) + hidden;
    });
  }

  /// Violations, reduced costs against absent bounds, and the gap: a multiplier times the distance
  /// to the bound that it presses against.
  CAROM_HOST_DEVICE double judge() const {
    MaxAbs<> worst;
    worst.add(violation());
    worst.add(kernels::largest_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(price_ + j);
      const V size = kernels::load<V>(price_size_ + j);
      const V datum = kernels::load<V>(price_datum_ + j);
      V most = beyond_reach(size, datum, column_rounding_);
      const V bound = pressed(price, j);
      const auto absent = magnitude(bound) >= V(kernels::kInfinity);
      const auto matters = (price != V(0.0)) & (kernels::load<V>(point_ + j) != bound);
      if (any_of(matters)) {
        const V unit =
            select(absent, unit_of_residual(datum, magnitude(kernels::load<V>(cost_ + j))), datum);
        const V pressing = missed(price, size, unit, column_rounding_);
        const V distance = select(absent, V(1.0), slack(price, j, 0.0));
        most = most + select(matters, pressing * distance, V(0.0));
      }
      return most + V(0.0) * price;
    }));
    const double apart = kernels::largest_packed(lanes_, total_ - np_, [&](auto number, int i) {
      using V = decltype(number);
      const V price = kernels::load<V>(price_ + np_ + i);
      const V most = select(magnitude(pressed(price, np_ + i)) < V(kernels::kInfinity),
                            slack(price, np_ + i, row_rounding_), V(kernels::kInfinity));
      const V known = kernels::load<V>(known_ + np_ + i);
      return select(price != V(0.0), select(known > V(0.0), most, V(kernels::kInfinity)), V(0.0)) +
             V(0.0) * price;
    });
    if (apart <= kClose) {  // an explained multiplier counts at most one
      worst.add(apart);
      return worst.value;
    }
    for (int i = 0; i < m_; ++i) {
      const double price = price_[np_ + i];
      if (price == 0.0) continue;
      const double bound = price > 0.0 ? lower_[np_ + i] : upper_[np_ + i];
      if (!(magnitude(bound) < kernels::kInfinity)) {
        worst.add(price * weight(i));
        continue;
      }
      const double distance = slack(price, np_ + i, row_rounding_);
      if (!(distance <= 0.0)) worst.add(distance * magnitude(price) * weight(i));
    }
    return worst.value;
  }
  /// Distance of value j to the bound that its multiplier presses against, over its datum.
  template <class V>
  CAROM_INLINE V slack(V price, int j, double rounding) const {
    const V bound = pressed(price, j);
    const V there = select(magnitude(bound) < V(kernels::kInfinity), V(1.0), V(0.0));
    const V limit = finite(bound);
    const V size = kernels::load<V>(point_size_ + j) + magnitude(limit);
    const V datum = unit_of_residual(larger(kernels::load<V>(point_datum_ + j), magnitude(limit)),
                                     magnitude(limit));
    return there * missed(kernels::load<V>(point_ + j) - limit, size, datum, rounding);
  }

  /// As QpJudge::widen_single_rows: bounds of columns, and rows of one entry, take the change of
  /// their variable that larger rows would count as one datum where that is more than their own.
  CAROM_HOST_DEVICE void widen() {
    const auto entries = [&](int i) {
      int count = 0;
      for (int j = 0; j < n_; ++j) count += row(i)[j] != 0.0 ? 1 : 0;
      return count;
    };
    lanes_.for_each(np_, [&](int j) { felt_[j] = 0.0; });
    for (int pass = 0; pass < 2; ++pass) {  // larger rows, then other bounds as limits
      for (int i = 0; i < m_; ++i) {
        const bool single = entries(i) <= 1;
        if (single != (pass == 1)) continue;
        const double l = finite(lower_[np_ + i]);
        const double u = finite(upper_[np_ + i]);
        const double own = larger(magnitude(l), magnitude(u));
        const double all = point_datum_[np_ + i];
        const double datum = single || (own > 0.0 && own < all) ? own : all;
        if (single && !(datum > 0.0)) continue;
        lanes_.for_each(n_, [&](int j) {
          const double share = magnitude(row(i)[j]) / larger(datum, kTiny);
          if (pass == 0 || felt_[j] > 0.0) felt_[j] = larger(share, felt_[j]);
        });
      }
    }
    lanes_.for_each(n_, [&](int j) {
      const double bound = larger(magnitude(finite(lower_[j])), magnitude(finite(upper_[j])));
      if (felt_[j] > 0.0 && bound > 0.0) felt_[j] = larger(1.0 / bound, felt_[j]);
      if (felt_[j] > kTiny) point_datum_[j] = larger(1.0 / felt_[j], point_datum_[j]);
    });
    for (int i = 0; i < m_; ++i) {
      if (entries(i) != 1) continue;
      lanes_.for_each(n_, [&](int j) {
        if (row(i)[j] == 0.0 || !(felt_[j] > kTiny)) return;
        point_datum_[np_ + i] = larger(magnitude(row(i)[j]) / felt_[j], point_datum_[np_ + i]);
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
