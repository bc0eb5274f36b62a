#pragma once

#include "programs/kernels/doubled.hpp"
#include "programs/lp/kernels/simplex_ratio.hpp"

/// Solutions and proofs of a basis in double-double arithmetic: whether required zeros are zero.
namespace carom::kernels {

template <class Lanes, int PaddedRows, int PaddedColumns>
class SimplexProofs : protected SimplexRatio<Lanes, PaddedRows, PaddedColumns> {
  using Base = SimplexRatio<Lanes, PaddedRows, PaddedColumns>;

 protected:
  using Base::at, Base::basic_, Base::combine_inverse, Base::direction_, Base::entering_,
      Base::kBasic, Base::lanes_, Base::m_, Base::mp, Base::n_, Base::np, Base::price_noise_;
  using Base::Base;

  static constexpr double kZero = 0x1p-80;   // of the terms of a sum in twice the precision
  static constexpr double kDoubtful = 1e-9;  // of the largest: what may be zero
  static constexpr int kRefinements = 3;
  static constexpr int kImplications = 6;           // rounds
  static constexpr double kImpliedRounding = 1e-9;  // of the terms of a row: outward
  static constexpr double kImpliedShare = 0x1p-10;  // of a proof's margin

  /// Whether a price that is next to nothing presses against a bound that is absent.
  CAROM_CALL bool doubtful_prices() const {
    const double doubtful = kDoubtful * price_noise_;
    return any_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const int j = np() + i;
      const V y = kernels::load<V>(at().reduced + j);
      const V bound =
          select(y > V(0.0), kernels::load<V>(at().lower + j), kernels::load<V>(at().upper + j));
      return (y != V(0.0)) & (magnitude(y) <= V(doubtful)) & (magnitude(bound) >= V(kInfinity)) &
             (kernels::load<V>(at().status + j) != V(kBasic));
    });
  }

  /// The prices of an infeasible problem, y' B = the signs of its violations, once more: what is
  /// zero becomes so. False where a price still presses against a bound that is absent, or the
  /// inverse is too coarse to tell, unless the rows bound what is pressed.
  CAROM_CALL bool refine_prices() {
    double* const y = at().reduced + np();
    double* const low = at().rate;
    const auto price = [&](int i) { return Doubled(y[i], low[i]); };
    const double rest = refine_prices_of(at().sign);
    lanes_.for_each(m_, [&](int k) {
      if (at().status[np() + k] != kBasic) return;
      // A basic row has the sign of its violation for a price, or none.
      y[k] = magnitude(y[k]) < 0.5 ? 0.0 : y[k];
      low[k] = 0.0;
    });
    if (!(rest <= kZero)) return rows_bound_what_is_pressed();
    const ArgMin<double> against = lanes_.argmin(n_ + m_, kInfinity, [&](int e) {
      Doubled d(0.0);
      int j = e;
      if (e < n_) {
        if (at().status[e] == kBasic) return kInfinity;
        double size = 0.0;
        for (int k = 0; k < m_; ++k) {
          const Doubled term = price(k) * at().matrix[static_cast<long>(k) * np() + e];
          d = d - term;
          size = larger(size, magnitude(term.hi));
        }
        if (magnitude(d.hi) <= kZero * size) return kInfinity;
      } else {
        d = price(e - n_);
        j = np() + e - n_;
      }
      const double bound = d.hi > 0.0 ? at().lower[j] : at().upper[j];
      return d.hi != 0.0 && !(magnitude(bound) < kInfinity) ? static_cast<double>(e) : kInfinity;
    });
    return against.index < 0 || rows_bound_what_is_pressed();
  }

  /// Whether a basic value that the ray of an unbounded problem moves by next to nothing has a
  /// bound.
  CAROM_CALL bool doubtful_rates() const {
    const double steepest = larger(1.0, largest_of(at().rate));
    return lanes_
               .argmin(m_, kInfinity,
                       [&](int i) {
                         const double rate = magnitude(at().rate[i]);
                         const bool bounded =
                             at().basic_lower[i] > -kInfinity || at().basic_upper[i] < kInfinity;
                         return rate > 0.0 && rate <= kDoubtful * steepest && bounded ? 0.0
                                                                                      : kInfinity;
                       })
               .index >= 0;
  }

  /// The rates at which an unbounded problem's basic values move, B r = -(the entering column),
  /// likewise; false where one moves towards a bound.
  CAROM_CALL bool refine_rates() {
    double* const r = at().rate;
    const int q = entering_;
    const double rest = refine_basic(r, 1.0, [&](int k, Doubled& sum, double& size) {
      const double own =
          q < np() ? at().matrix[static_cast<long>(k) * np() + q] : (q - np() == k ? -1.0 : 0.0);
      sum = Doubled(-direction_ * own);
      size = magnitude(own);
    });
    if (!(rest <= kZero)) return false;
    return lanes_
               .argmin(m_, kInfinity,
                       [&](int i) {
                         const double bound =
                             r[i] > 0.0 ? at().basic_upper[i] : at().basic_lower[i];
                         return r[i] != 0.0 && magnitude(bound) < kInfinity ? 0.0 : kInfinity;
                       })
               .index < 0;
  }

  /// Values and prices of a solved problem once more: of small differences of large numbers, which
  /// the inverse leaves few digits.
  CAROM_CALL void refine_solution() {
    refine_basic(at().basic_value, 0.0, [&](int k, Doubled& sum, double& size) {
      sum = Doubled(at().value[np() + k]);
      size = magnitude(sum.hi);
      for (int j = 0; j < n_; ++j) {
        const Doubled term = Doubled(at().value[j]) * at().matrix[static_cast<long>(k) * np() + j];
        sum = sum - term;
        size = larger(size, magnitude(term.hi));
      }
    });
    refine_prices_of(at().basic_cost);
    lanes_.for_each(m_, [&](int k) {
      if (at().status[np() + k] == kBasic) at().reduced[np() + k] = 0.0;
    });
  }

 private:
  /// Refines y of y' B = target in place, its low digits in rate. What is left, relative to the
  /// terms.
  CAROM_CALL double refine_prices_of(const double* target) {
    double* const y = at().reduced + np();
    double* const low = at().rate;
    double* const missing = at().work;
    lanes_.for_each(mp(), [&](int i) {
      low[i] = 0.0;
      missing[i] = 0.0;
      at().column[i] = 0.0;
    });
    const auto price = [&](int i) { return Doubled(y[i], low[i]); };
    for (int round = 0;; ++round) {
      lanes_.for_each(m_, [&](int i) {
        const int j = basic_[i];
        Doubled sum(target[i]);
        double size = magnitude(sum.hi);
        if (j >= np()) {
          sum += price(j - np());
          size = larger(size, magnitude(y[j - np()]));
        } else {
          for (int k = 0; k < m_; ++k) {
            const Doubled term = price(k) * at().matrix[static_cast<long>(k) * np() + j];
            sum = sum - term;
            size = larger(size, magnitude(term.hi));
          }
        }
        missing[i] = sum.hi;
        at().column[i] = size > 0.0 ? magnitude(sum.hi) / size : 0.0;
      });
      const double rest = largest_of(at().column);
      if (!(rest > kZero) || round == kRefinements) return rest;
      lanes_.for_each(m_, [&](int k) {
        const double change =
            dot_packed(lanes_, mp(), missing, at().inverse + static_cast<long>(k) * mp());
        const Doubled refined = price(k) + change;
        y[k] = refined.hi;
        low[k] = refined.lo;
      });
      drop_below(kZero * largest_of(y), y, low);
    }
  }
  /// The same of B v = right(k, sum, size), the low digits in event. least: v is no smaller.
  template <class Right>
  CAROM_CALL double refine_basic(double* v, double least, Right&& right) {
    double* const low = at().event;
    double* const missing = at().work;
    lanes_.for_each(mp(), [&](int i) {
      low[i] = 0.0;
      missing[i] = 0.0;
      at().sign[i] = 0.0;
    });
    for (int round = 0;; ++round) {
      lanes_.for_each(m_, [&](int k) {
        Doubled sum(0.0);
        double size = 0.0;
        right(k, sum, size);
        for (int i = 0; i < m_; ++i) {
          const int j = basic_[i];
          const double entry = j < np() ? at().matrix[static_cast<long>(k) * np() + j]
                                        : (j - np() == k ? -1.0 : 0.0);
          const Doubled term = Doubled(v[i], low[i]) * entry;
          sum = sum - term;
          size = larger(size, magnitude(term.hi));
        }
        missing[k] = sum.hi;
        at().sign[k] = size > 0.0 ? magnitude(sum.hi) / size : 0.0;
      });
      const double rest = largest_of(at().sign);
      if (!(rest > kZero) || round == kRefinements) return rest;
      combine_inverse(missing, 1, at().column);
      lanes_.for_each(m_, [&](int i) {
        const Doubled refined = Doubled(v[i], low[i]) + at().column[i];
        v[i] = refined.hi;
        low[i] = refined.lo;
      });
      drop_below(kZero * larger(least, largest_of(v)), v, low);
    }
  }

  /// Whether what the prices are to have of zeros costs next to nothing: at most a small share of
  /// the proof's margin for all x within the bounds that rows and other columns imply. Of decimal
  /// data that do not cancel in their last digit.
  CAROM_CALL bool rows_bound_what_is_pressed() {
    imply_bounds();
    const double* const y = at().reduced + np();
    double margin = 0.0;
    double cost = 0.0;
    const auto press = [&](double price, int e, double lower, double upper) {
      if (price == 0.0) return;
      const double bound = price > 0.0 ? at().lower[e] : at().upper[e];
      const bool there = magnitude(bound) < kInfinity;
      if (there) {
        margin += price * bound;
      } else {
        cost += magnitude(price) * larger(magnitude(lower), magnitude(upper));
      }
    };
    for (int j = 0; j < n_; ++j) {
      Doubled d(0.0);
      for (int k = 0; k < m_; ++k) {
        d = d - Doubled(y[k]) * at().matrix[static_cast<long>(k) * np() + j];
      }
      const double implied = d.hi > 0.0 ? at().rises[j] : at().falls[j];
      press(d.hi, j, implied, implied);
    }
    for (int i = 0; i < m_; ++i) {
      if (y[i] != 0.0) press(y[i], np() + i, most_of(extent<false>(i)), most_of(extent<true>(i)));
    }
    each_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      Base::template place<V>(j, kernels::load<V>(at().status + j));
    });
    return cost <= kImpliedShare * margin;
  }
  /// The least or the largest value of a row within the implied bounds of its columns.
  struct Extent {
    double sum = 0.0;    ///< of what is there
    double terms = 0.0;  ///< their magnitudes
    int absent = 0;
  };
  template <bool Largest>
  CAROM_INLINE double end_of(int j, double entry) const {
    return (entry > 0.0) == Largest ? at().falls[j] : at().rises[j];
  }
  template <bool Largest>
  CAROM_CALL Extent extent(int i) const {
    const double* const row = at().matrix + static_cast<long>(i) * np();
    Extent found;
    for (int j = 0; j < n_; ++j) {
      if (row[j] == 0.0) continue;
      const double bound = end_of<Largest>(j, row[j]);
      if (magnitude(bound) < kInfinity) {
        found.sum += row[j] * bound;
        found.terms += magnitude(row[j] * bound);
      } else {
        ++found.absent;
      }
    }
    return found;
  }
  static CAROM_INLINE double most_of(const Extent& extent) {
    return extent.absent > 0 ? kInfinity : extent.terms;
  }
  /// Bounds of columns that rows and other columns imply, in place of what pricing knows of them:
  /// lower ones in rises, upper ones in falls.
  CAROM_CALL void imply_bounds() {
    lanes_.for_each(n_, [&](int j) {
      at().rises[j] = at().lower[j];
      at().falls[j] = at().upper[j];
    });
    for (int round = 0; round < kImplications; ++round) {
      for (int i = 0; i < m_; ++i) {
        imply<true>(i, at().lower[np() + i]);
        imply<false>(i, at().upper[np() + i]);
      }
    }
  }
  /// a x_j >= bound - the largest value of the row's others, or <= with the least one.
  template <bool Lower>
  CAROM_CALL void imply(int i, double bound) {
    if (!(magnitude(bound) < kInfinity)) return;
    const Extent whole = extent<Lower>(i);
    if (whole.absent > 1) return;
    const double* const row = at().matrix + static_cast<long>(i) * np();
    const double outward = kImpliedRounding * (magnitude(bound) + whole.terms);
    lanes_.for_each(n_, [&](int j) {
      const double a = row[j];
      if (a == 0.0) return;
      const double own = end_of<Lower>(j, a);
      const bool there = magnitude(own) < kInfinity;
      if (whole.absent > (there ? 0 : 1)) return;
      const double rest = bound - (there ? whole.sum - a * own : whole.sum);
      const double limit = (Lower ? rest - outward : rest + outward) / a;
      if ((a > 0.0) == Lower) {
        at().rises[j] = larger(at().rises[j], limit);
      } else {
        at().falls[j] = smaller(at().falls[j], limit);
      }
    });
  }
  /// Of zeros a refinement leaves ever smaller numbers: an equation that has no other terms holds
  /// once they are dropped, or they were none.
  CAROM_CALL void drop_below(double least, double* high, double* low) const {
    lanes_.for_each(m_, [&](int i) {
      if (magnitude(high[i]) > least) return;
      high[i] = 0.0;
      low[i] = 0.0;
    });
  }
  /// Largest magnitude of [mp] numbers.
  CAROM_CALL double largest_of(const double* from) const {
    return largest_packed(lanes_, mp(), [&](auto number, int i) {
      return magnitude(kernels::load<decltype(number)>(from + i));
    });
  }
};

}  // namespace carom::kernels
