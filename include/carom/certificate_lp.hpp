#pragma once

#include <carom/certificate_lp_scales.hpp>

/// Residuals of linear programs, recomputed from the problem data.
namespace carom::certificate {

/// Judges the answers to one polytope's objectives, every row and column in its own units.
/// Sizes: as of LpScales.
template <class Lanes, int PaddedRows = 0, int PaddedColumns = 0, long First = 0>
class LpCertificate : public LpScales<Lanes, PaddedRows, PaddedColumns, First> {
  using Base = LpScales<Lanes, PaddedRows, PaddedColumns, First>;

 public:
  /// reals: lp_certificate_workspace(rows, columns).
  using Base::Base;

  /// Largest violation of a bound by x, each over its datum.
  CAROM_CALL double primal_residual(const double* x) {
    Base::load_point(x);
    Base::explain_point(true);
    double worst = violation();
    if (worst <= kClose) return worst;
    widen();
    worst = violation();
    if (worst <= kHidden) return worst;
    Base::sharpen_point();
    // A column's value is as it is given: there is no rounding in it.
    return sharply(worst, [&] {
      Base::explain_point(true);
      return violation(0.0);
    });
  }

  /// The largest of primal_residual; of the multipliers (y_i, and d = c - A'y) that press against
  /// absent bounds, over the data of the columns that feel them; of the multipliers times the
  /// distance to the bound that they press against, both relative; and of what c'x and the dual
  /// bound differ by, where their largest term shows it.
  CAROM_CALL double residual(const double* x, const double* y) {
    const double worst = residual_of_conditions(x, y);
    return worst < kernels::kInfinity ? larger(worst, objectives_apart(y)) : worst;
  }

  /// Whether the latest residual leans on units that single rows and bounds take from others: then
  /// x may hold rounding in place of a zero.
  [[nodiscard]] CAROM_INLINE bool widened() const { return widened_; }

  /// After residual: whether x misses a row by more than rounding and more than the tolerance of
  /// the row's own bound, which only terms of an x far away make little.
  CAROM_CALL bool misses_own_bounds(double tolerance) const {
    return kernels::any_packed(lanes_, total() - np(), [&](auto number, int i) {
      using V = decltype(number);
      const V value = kernels::load<V>(at().point + np() + i);
      const V l = kernels::load<V>(at().lower + np() + i);
      const V u = kernels::load<V>(at().upper + np() + i);
      const V outside = larger(l - value, value - u);
      const V own = magnitude(finite(select(l - value > V(0.0), l, u)));
      const V size = kernels::load<V>(at().point_size + np() + i);
      return (own > V(0.0)) & (outside > V(tolerance) * own) & (outside > V(row_rounding_) * size);
    });
  }

  /// Whether y proves that no x satisfies all bounds. With g = A'y, any such x has g'x = y'(A x),
  /// yet y'(A x) >= L and g'x <= U over the bounds that are there, L > U by more than 2^10
  /// roundings of the terms. No y_i may press against an absent bound, and a g_j only by what the
  /// rounding of y leaves of it: the residual is the largest share of its terms that it has then,
  /// infinity where y proves nothing. No row may weigh whose own terms are all rounding of others.
  CAROM_CALL double farkas_residual(const double* y) {
    Base::combine_columns_sharply(nullptr, y);
    const auto earned = [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(at().price + j);
      return select(is_rounding(price, j), V(0.0), price * finite(pressed(price, j)));
    };
    const double margin = kernels::sum_of_all(lanes_, total(), earned);
    const double terms = kernels::sum_of_all(
        lanes_, total(), [&](auto number, int j) { return magnitude(earned(number, j)); });
    if (!(margin > clear_of_rounding(total()) * terms)) return kernels::kInfinity;
    for (int i = 0; i < m_; ++i) {  // that hold no more than rounding of the columns' sums
      const double price = at().price[np() + i];
      const double bound = finite(pressed(price, np() + i));
      if (price == 0.0 || 2.0 * m_ * magnitude(price * bound) <= margin) continue;
      const auto counts = [&](auto number, int j) {
        using V = decltype(number);
        const V own = magnitude(V(price) * kernels::load<V>(row(i) + j));
        return own > V(column_rounding_) * kernels::load<V>(at().price_size + j);
      };
      const auto there = [&](auto number, int j) {
        using V = decltype(number);
        return kernels::load<V>(row(i) + j) != V(0.0);
      };
      if (!kernels::any_packed(lanes_, np(), counts) && kernels::any_packed(lanes_, np(), there)) {
        return kernels::kInfinity;
      }
    }
    return kernels::largest_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(at().price + j);
      const V open =
          select(magnitude(pressed(price, j)) < V(kernels::kInfinity), V(0.0), magnitude(price));
      if (j >= np()) return select(open <= V(0.0), V(0.0), V(kernels::kInfinity)) + V(0.0) * price;
      const V size = kernels::load<V>(at().price_size + j);
      const V share = open / select(size > V(kTiny), size, V(kTiny));
      return select(share <= V(column_rounding_), share, V(kernels::kInfinity)) + V(0.0) * price;
    });
  }
  /// After farkas_residual: whether what a g_j is to have of zero may be more than rounding, as it
  /// is felt by a column that is not basic. status: of columns; basic: its number for these.
  CAROM_CALL bool doubtful(const double* status, double basic) const {
    return kernels::any_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(at().price + j);
      const V size = kernels::load<V>(at().price_size + j);
      const V absent = select((kernels::load<V>(at().lower + j) > V(-kernels::kInfinity)) &
                                  (kernels::load<V>(at().upper + j) < V(kernels::kInfinity)),
                              V(0.0), V(1.0));
      const V share = select(price != V(0.0), magnitude(price), V(kernels::kInfinity));
      return (kernels::load<V>(status + j) != V(basic)) & (absent > V(0.0)) &
             (share <= V(kHidden) * size);
    });
  }

  /// Whether c'x falls along r without end, by more than 2^10 roundings of the terms of c'r: no
  /// column moves against a bound that is there, and a row only by what the rounding of r leaves,
  /// and by less where the terms of c'r nearly cancel: the residual is the largest share of its
  /// terms that it moves then, infinity where r proves nothing. A proof together with a point that
  /// primal_residual accepts.
  CAROM_CALL double ray_residual(const double* ray) {
    Base::load_point(ray);
    Base::sharpen_point();
    const auto change = [&](auto number, int j) {
      using V = decltype(number);
      return kernels::load<V>(at().cost + j) * kernels::load<V>(at().point + j);
    };
    const double fall = -kernels::sum_of_all(lanes_, np(), change);
    const double terms = kernels::sum_of_all(
        lanes_, np(), [&](auto number, int j) { return magnitude(change(number, j)); });
    if (!(fall > clear_of_rounding(np()) * terms)) return kernels::kInfinity;
    const double standing = kernels::smaller(row_rounding_, kOfMargin * fall / terms);
    return kernels::largest_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      const V step = kernels::load<V>(at().point + j);
      const V bound =
          select(step < V(0.0), kernels::load<V>(at().lower + j), kernels::load<V>(at().upper + j));
      const V size = kernels::load<V>(at().point_size + j);
      const V against = select(magnitude(bound) < V(kernels::kInfinity), magnitude(step), V(0.0));
      const V share = against / select(size > V(kTiny), size, V(kTiny));
      const V most(j < np() ? 0.0 : standing);
      return select(share <= most, share, V(kernels::kInfinity)) + V(0.0) * step;
    });
  }

 private:
  static constexpr double kClose = 1e-13;
  static constexpr double kVisible = 1e-8;   // of the largest term of a sum that is zero
  static constexpr double kLittle = 1e-6;    // of the largest cost times the largest x
  static constexpr double kOfMargin = 1e-6;  // of a proof's margin: what its zeros may be
  static constexpr double kSharp = 0x1p-90;  // rounding of sums in twice the precision

  bool widened_ = false;

  CAROM_CALL double residual_of_conditions(const double* x, const double* y) {
    Base::load_point(x);
    Base::explain_point(true);
    Base::combine_columns(at().cost, y);
    Base::explain_prices(true);
    double worst = judge();
    widened_ = !(worst <= kHidden);
    if (worst <= kClose) return worst;
    widen();
    worst = judge();
    if (worst <= kHidden) return worst;
    Base::sharpen_point();
    Base::combine_columns_sharply(at().cost, y);
    return sharply(worst, [&] {
      Base::explain_point(true);
      Base::explain_prices(true);
      return judge();
    });
  }

  /// After the conditions of x and y: by how much of their largest term c'x and the dual bound
  /// differ, 0 where the rounding that the conditions forgive is not worth a visible part of it.
  CAROM_CALL double objectives_apart(const double* y) {
    const auto worth = [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(at().price + j);
      return price * finite(pressed(price, j));
    };
    const double pays = kernels::largest_packed(
        lanes_, total(), [&](auto number, int j) { return magnitude(worth(number, j)); });
    const double costs = kernels::largest_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      return magnitude(kernels::load<V>(at().cost + j) * kernels::load<V>(at().point + j));
    });
    const double forgiven = kernels::largest_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      const V price = magnitude(kernels::load<V>(at().price + j));
      const V point = magnitude(kernels::load<V>(at().point + j));
      if (j >= np()) return V(row_rounding_) * price * kernels::load<V>(at().point_size + j);
      return V(column_rounding_) * point * kernels::load<V>(at().price_size + j);
    });
    const auto farthest = [&](const auto& values) {
      return kernels::largest_packed(lanes_, np(), [&](auto number, int j) {
        return magnitude(kernels::load<decltype(number)>(values + j));
      });
    };
    // Where the objective is zero, its terms are rounding errors of x.
    const double little = kLittle * farthest(at().cost) * farthest(at().point);
    const double most = larger(larger(pays, costs), little);
    if (!(forgiven > kVisible * most) || !(most < kernels::kInfinity)) return 0.0;
    Base::combine_columns_sharply(at().cost, y);
    double sum = 0.0, rest = 0.0;
    for (int j = 0; j < total(); ++j) {
      const double price = at().price[j];
      if (j < np()) add_product(at().cost[j], at().point[j], sum, rest);
      add_product(-price, finite(pressed(price, j)), sum, rest);
    }
    const double gap = magnitude(sum + rest);
    return gap > kVisible * most ? gap / most : 0.0;
  }

  /// 2^10 roundings, or twice what a sum of so many products may be off.
  static CAROM_INLINE double clear_of_rounding(int terms) {
    return kernels::larger(0x1p-43, 2.0 * sum_rounding(terms));
  }

  /// The lesser of `worst` and what judged() finds of sums in twice the precision: an answer that
  /// is far away stands where it meets the rows as given, with no rounding that could hide a miss.
  template <class Judged>
  CAROM_INLINE double sharply(double worst, Judged&& judged) {
    const double row_rounding = row_rounding_;
    const double column_rounding = column_rounding_;
    row_rounding_ = column_rounding_ = kSharp;
    const double sharp = judged();
    row_rounding_ = row_rounding;
    column_rounding_ = column_rounding;
    return sharp < worst ? sharp : worst;
  }

  using Base::at, Base::column_rounding_, Base::finite, Base::is_rounding, Base::lanes_, Base::m_,
      Base::n_, Base::np, Base::pressed, Base::row, Base::row_rounding_, Base::total;

  /// The largest share of a column's datum that a multiplier of row i of one has.
  CAROM_CALL double weight(int i) const {
    return kernels::largest_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      const V datum = kernels::load<V>(at().price_datum + j);
      return magnitude(kernels::load<V>(row(i) + j)) / select(datum > V(kTiny), datum, V(kTiny));
    });
  }

  /// A bound that the rounding of its row's terms, (n + 4) 2^-50 of them, may have left in place of
  /// zero is no unit.
  template <class V>
  CAROM_INLINE V above_noise(V bound, V size) const {
    return select(bound <= V(8.0 * sum_rounding(n_)) * size, V(0.0), bound);
  }

  /// Largest violation of a bound over its datum.
  CAROM_CALL double violation() const { return violation(row_rounding_); }
  CAROM_CALL double violation(double column_rounding) const {
    return kernels::largest_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      const V value = kernels::load<V>(at().point + j);
      const V l = kernels::load<V>(at().lower + j);
      const V u = kernels::load<V>(at().upper + j);
      const V below = l - value;
      const V above = value - u;
      const V bound = magnitude(finite(select(below > V(0.0), l, u)));
      // The larger of the two is NaN where the value is.
      const V outside = select(below > V(0.0), below, above);
      const auto inside = outside <= V(0.0);
      const V size = kernels::load<V>(at().point_size + j) + bound;
      const V datum = larger(kernels::load<V>(at().point_datum + j), bound);
      const V hidden = beyond_reach(size, datum, j < np() ? column_rounding : row_rounding_);
      if (all_of(inside)) return hidden;
      const V unit = unit_of_residual(datum, above_noise(bound, size));
      const double rounding = j < np() ? 0.0 : row_rounding_;
      return select(inside, V(0.0), missed(outside, size, unit, rounding)) + hidden;
    });
  }

  /// Violations, reduced costs against absent bounds, and the gap: a multiplier times the distance
  /// to the bound that it presses against.
  CAROM_CALL double judge() const {
    MaxAbs<> worst;
    worst.add(violation());
    worst.add(kernels::largest_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(at().price + j);
      const V size = kernels::load<V>(at().price_size + j);
      const V datum = kernels::load<V>(at().price_datum + j);
      V most = beyond_reach(size, datum, column_rounding_);
      const V bound = pressed(price, j);
      const auto absent = magnitude(bound) >= V(kernels::kInfinity);
      const auto matters = (price != V(0.0)) & (kernels::load<V>(at().point + j) != bound);
      if (any_of(matters)) {
        const V unit = select(
            absent, unit_of_residual(datum, magnitude(kernels::load<V>(at().cost + j))), datum);
        const V pressing = missed(price, size, unit, column_rounding_);
        const V distance = select(absent, V(1.0), slack(price, j, 0.0));
        most = most + select(matters, pressing * distance, V(0.0));
      }
      return most + V(0.0) * price;
    }));
    const double apart = kernels::largest_packed(lanes_, total() - np(), [&](auto number, int i) {
      using V = decltype(number);
      const V price = kernels::load<V>(at().price + np() + i);
      const V most = select(magnitude(pressed(price, np() + i)) < V(kernels::kInfinity),
                            slack(price, np() + i, row_rounding_), V(kernels::kInfinity));
      const V known = kernels::load<V>(at().known + np() + i);
      return select(price != V(0.0), select(known > V(0.0), most, V(kernels::kInfinity)), V(0.0)) +
             V(0.0) * price;
    });
    if (apart <= kClose) {  // an explained multiplier counts at most one
      worst.add(apart);
      return worst.value;
    }
    for (int i = 0; i < m_; ++i) {
      const double price = at().price[np() + i];
      if (price == 0.0) continue;
      const double bound = price > 0.0 ? at().lower[np() + i] : at().upper[np() + i];
      if (!(magnitude(bound) < kernels::kInfinity)) {
        worst.add(price * weight(i));
        continue;
      }
      const double distance = slack(price, np() + i, row_rounding_);
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
    const V size = kernels::load<V>(at().point_size + j) + magnitude(limit);
    const V datum =
        unit_of_residual(larger(kernels::load<V>(at().point_datum + j), magnitude(limit)),
                         above_noise(magnitude(limit), size));
    return there * missed(kernels::load<V>(at().point + j) - limit, size, datum, rounding);
  }

  /// As QpJudge::widen_single_rows: bounds of columns, and rows of one entry, take the change of
  /// their variable that larger rows would count as one datum where that is more than their own.
  CAROM_CALL void widen() {
    const auto entries = [&](int i) {
      int count = 0;
      for (int j = 0; j < n_; ++j) count += row(i)[j] != 0.0 ? 1 : 0;
      return count;
    };
    lanes_.for_each(np(), [&](int j) { at().felt[j] = 0.0; });
    for (int pass = 0; pass < 2; ++pass) {  // larger rows, then other bounds as limits
      for (int i = 0; i < m_; ++i) {
        const bool single = entries(i) <= 1;
        if (single != (pass == 1)) continue;
        const double l = finite(at().lower[np() + i]);
        const double u = finite(at().upper[np() + i]);
        const double own = larger(magnitude(l), magnitude(u));
        const double all = at().point_datum[np() + i];
        const double datum = single || (own > 0.0 && own < all) ? own : all;
        if (single && !(datum > 0.0)) continue;
        lanes_.for_each(n_, [&](int j) {
          const double share = magnitude(row(i)[j]) / larger(datum, kTiny);
          if (pass == 0 || at().felt[j] > 0.0) at().felt[j] = larger(share, at().felt[j]);
        });
      }
    }
    lanes_.for_each(n_, [&](int j) {
      const double bound =
          larger(magnitude(finite(at().lower[j])), magnitude(finite(at().upper[j])));
      if (at().felt[j] > 0.0 && bound > 0.0) at().felt[j] = larger(1.0 / bound, at().felt[j]);
      if (at().felt[j] > kTiny)
        at().point_datum[j] = larger(1.0 / at().felt[j], at().point_datum[j]);
    });
    for (int i = 0; i < m_; ++i) {
      if (entries(i) != 1) continue;
      lanes_.for_each(n_, [&](int j) {
        if (row(i)[j] == 0.0 || !(at().felt[j] > kTiny)) return;
        at().point_datum[np() + i] =
            larger(magnitude(row(i)[j]) / at().felt[j], at().point_datum[np() + i]);
      });
    }
  }
};

}  // namespace carom::certificate
