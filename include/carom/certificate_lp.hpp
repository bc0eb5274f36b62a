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
    return violation();
  }

  /// The largest of primal_residual; of the multipliers (y_i, and d = c - A'y) that press against
  /// absent bounds, over the data of the columns that feel them; and of the multipliers times the
  /// distance to the bound that they press against, both relative.
  CAROM_CALL double residual(const double* x, const double* y) {
    Base::load_point(x);
    Base::explain_point(true);
    Base::combine_columns(at().cost, y);
    Base::explain_prices(true);
    const double strict = judge();
    if (strict <= kClose) return strict;
    widen();
    return judge();
  }

  /// Whether y proves that no x satisfies all bounds. With g = A'y, any such x has g'x = y'(A x),
  /// yet y'(A x) >= L and g'x <= U over the bounds that are there, L > U. The residual is the
  /// largest multiplier against an absent bound over the datum of what it is a sum of; the margin L
  /// - U is the datum that explains y.
  CAROM_CALL double farkas_residual(const double* y) {
    Base::combine_columns(nullptr, y);
    const auto earned = [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(at().price + j);
      const V bound = finite(pressed(price, j));
      return select(is_rounding(price, j), V(0.0), price * bound);
    };
    const double margin = kernels::sum_of_all(lanes_, total(), earned);
    if (!(margin > 0.0)) return kernels::kInfinity;
    // A column's multiplier is rounded like the sum that it is.
    const double terms = kernels::largest_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(at().price + j);
      const V size = j < np() ? kernels::load<V>(at().price_size + j) : magnitude(price);
      return select(is_rounding(price, j), V(0.0), size * magnitude(finite(pressed(price, j))));
    });
    kernels::each_packed(lanes_, total() - np(), [&](auto number, int i) {
      using V = decltype(number);
      const V value = kernels::load<V>(at().price + np() + i);
      const V term = magnitude(value * finite(pressed(value, np() + i)));
      kernels::store(at().known + np() + i,
                     larger(reached(term, V(margin)), select(value != V(0.0), V(0.0), V(1.0))));
    });
    Base::explain_prices(false);
    MaxAbs<> worst;
    worst.add(kernels::largest_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      const V price = kernels::load<V>(at().price + j);
      const V size = kernels::load<V>(at().price_size + j);
      const V datum = kernels::load<V>(at().price_datum + j);
      // What presses against a bound that is there needs not vanish.
      const V matters = select(magnitude(pressed(price, j)) < V(kernels::kInfinity),
                               select(is_rounding(price, j), V(1.0), V(0.0)), V(1.0));
      return select(matters > V(0.0),
                    larger(missed(price, size, datum, column_rounding_),
                           beyond_reach(size, datum, column_rounding_)),
                    V(0.0) * price);
    }));
    for (int i = 0; i < m_; ++i) {
      const double value = at().price[np() + i];
      const double bound = value > 0.0 ? at().lower[np() + i] : at().upper[np() + i];
      if (value != 0.0 && !(magnitude(bound) < kernels::kInfinity)) worst.add(value * weight(i));
    }
    worst.add(beyond_reach(terms, margin, sum_rounding(m_ + static_cast<long>(n_))));
    return worst.value;
  }

  /// Whether c'x falls along r without end: the largest movement of a row or column against a bound
  /// that is there, over its datum; the fall -c'r is the datum that explains r. A proof together
  /// with a point that primal_residual accepts.
  CAROM_CALL double ray_residual(const double* ray) {
    Base::load_point(ray);
    const auto change = [&](auto number, int j) {
      using V = decltype(number);
      return kernels::load<V>(at().cost + j) * kernels::load<V>(at().point + j);
    };
    const double fall = -kernels::sum_of_all(lanes_, np(), change);
    if (!(fall > 0.0)) return kernels::kInfinity;
    const double terms = kernels::largest_packed(
        lanes_, np(), [&](auto number, int j) { return magnitude(change(number, j)); });
    kernels::each_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      const V value = kernels::load<V>(at().point + j);
      kernels::store(at().known + j, larger(reached(magnitude(change(number, j)), V(fall)),
                                            select(value != V(0.0), V(0.0), V(1.0))));
    });
    Base::explain_point(false);
    const double against = kernels::largest_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      const V step = kernels::load<V>(at().point + j);
      const V bound =
          select(step < V(0.0), kernels::load<V>(at().lower + j), kernels::load<V>(at().upper + j));
      const V size = kernels::load<V>(at().point_size + j);
      const V datum = kernels::load<V>(at().point_datum + j);
      const double rounding = j < np() ? 0.0 : row_rounding_;
      const V moved = select(magnitude(bound) < V(kernels::kInfinity),
                             missed(step, size, datum, rounding), V(0.0) * step);
      return larger(moved, beyond_reach(size, datum, row_rounding_));
    });
    return kernels::larger(against, beyond_reach(terms, fall, sum_rounding(n_)));
  }

 private:
  static constexpr double kClose = 1e-13;

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

  /// Largest violation of a bound over its datum.
  CAROM_CALL double violation() const {
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
      const V hidden = beyond_reach(size, datum, row_rounding_);
      if (all_of(inside)) return hidden;
      const V unit = unit_of_residual(datum, bound);
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
    const V datum = unit_of_residual(
        larger(kernels::load<V>(at().point_datum + j), magnitude(limit)), magnitude(limit));
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
