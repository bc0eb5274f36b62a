#pragma once

#include <initializer_list>
#include <type_traits>

#include <carom/certificate.hpp>
#include <carom/certificate_scales.hpp>
#include <carom/device/arena.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/known_size.hpp>
#include <carom/device/packed.hpp>

/// Scales for the relative residuals of linear programs: docs/explanation/certificates.md.
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

/// What the equations of an LP are judged by; m, n: padded.
template <class Memory>
struct LpScalesLayout {
  Memory matrix;       ///< [m, np]
  Memory cost;         ///< [np]
  Memory price_size;   ///< [np] the terms of a reduced cost, added up
  Memory price_datum;  ///< [np]
  Memory felt;         ///< [np] the share of a row's datum that a change of x_j by one makes
  Memory lower;        ///< [np + mp], columns before rows
  Memory upper;        ///< [np + mp]
  Memory row_size;     ///< [mp] max|a_ij|, or 1
  Memory point;        ///< [np + mp] x, then A x
  Memory point_size;   ///< [np + mp] the terms, added up
  Memory point_datum;  ///< [np + mp]
  Memory price;        ///< [np + mp] d, then y
  Memory known;        ///< [np + mp] 1 where x_j, y_i are explained

  LpScalesLayout() = default;
  CAROM_INLINE constexpr LpScalesLayout(kernels::Arena<Memory>& arena, long rows, long m, long n)
      : matrix(arena.take(rows * n)),
        cost(arena.take(n)),
        price_size(arena.take(n)),
        price_datum(arena.take(n)),
        felt(arena.take(n)),
        lower(arena.take(n + m)),
        upper(arena.take(n + m)),
        row_size(arena.take(m)),
        point(arena.take(n + m)),
        point_size(arena.take(n + m)),
        point_datum(arena.take(n + m)),
        price(arena.take(n + m)),
        known(arena.take(n + m)) {}
};
CAROM_HOST_DEVICE constexpr long lp_certificate_workspace(int rows, int columns) {
  return kernels::values_of<LpScalesLayout>(rows, kernels::padded(rows, kernels::kPackPadding),
                                            kernels::padded(columns, kernels::kPackPadding));
}

/// The optimality conditions of one polytope and one objective, with their data: as
/// certificate_qp_scales.hpp has them for P = 0, whose equations in x are the rows and the columns'
/// bounds, and in y the reduced costs. A row's activity counts as one more variable after the n
/// columns, and y_i as its reduced cost.
/// PaddedRows, PaddedColumns: sizes that are known when this is compiled, multiples of
/// kPackPadding, m and n or more; the workspace then begins at WorkspaceReals<Lanes>{} + First. 0:
/// not known.
template <class Lanes, int PaddedRows = 0, int PaddedColumns = 0, long First = 0>
class LpScales {
 public:
  CAROM_HOST_DEVICE LpScales(const Lanes& lanes, int rows, int columns,
                             kernels::WorkspaceReals<Lanes> reals)
      : lanes_(lanes),
        m_(rows),
        n_(columns),
        padded_columns_(kernels::padded(columns, kernels::kPackPadding)),
        padded_rows_(kernels::padded(rows, kernels::kPackPadding)),
        row_rounding_(sum_rounding(columns)),
        column_rounding_(sum_rounding(rows + 1L)),
        at_(kernels::placed<LpScalesLayout>(reals, kKnown ? PaddedRows : rows, total() - np(),
                                            np())) {}

  /// Takes over rows and bounds. False where a coefficient is not finite or bounds are in disorder:
  /// crossed() tells what of it proves that there is no x.
  CAROM_CALL bool load(const LpData& lp) {
    for (int i = 0; i < m_; ++i) {
      kernels::copy_padded(lanes_, n_, lp.matrix + static_cast<long>(i) * n_, row(i), np());
    }
    kernels::copy_padded(lanes_, n_, lp.column_lower, at().lower, np());
    kernels::copy_padded(lanes_, n_, lp.column_upper, at().upper, np());
    kernels::copy_padded(lanes_, m_, lp.row_lower, at().lower + np());
    kernels::copy_padded(lanes_, m_, lp.row_upper, at().upper + np());
    // Rows of the padding have sizes and values too; all else is written before it is read.
    kernels::each_packed(lanes_, total() - np(), [&](auto number, int i) {
      using V = decltype(number);
      kernels::store(at().row_size + i, V(1.0));
      kernels::store(at().point + np() + i, V(0.0));
      kernels::store(at().point_size + np() + i, V(0.0));
    });
    each_row_size([&](int i, double size) { at().row_size[i] = size > 0.0 ? size : 1.0; });
    const bool broken = kernels::any_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      const V l = kernels::load<V>(at().lower + j);
      const V u = kernels::load<V>(at().upper + j);
      const V good = select((l <= u) & (l < V(kernels::kInfinity)) & (u > V(-kernels::kInfinity)),
                            V(1.0), V(0.0));
      return good < V(1.0);
    });
    return !broken && finite_entries();
  }

  /// Whether data that load refused are numbers and infinite on the proper side, so that some lower
  /// bound lies above its upper bound.
  CAROM_CALL bool crossed() const {
    const bool unordered = kernels::any_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      const V l = kernels::load<V>(at().lower + j);
      const V u = kernels::load<V>(at().upper + j);
      const V good =
          select((l < V(kernels::kInfinity)) & (u > V(-kernels::kInfinity)), V(1.0), V(0.0));
      return good < V(1.0);
    });
    return !unordered && finite_entries() &&
           kernels::any_packed(lanes_, total(), [&](auto number, int j) {
             using V = decltype(number);
             return kernels::load<V>(at().upper + j) < kernels::load<V>(at().lower + j);
           });
  }
  /// The first row with row_lower > row_upper; -1: none.
  CAROM_CALL int crossed_row() const {
    for (int i = 0; i < m_; ++i) {
      if (at().lower[np() + i] > at().upper[np() + i]) return i;
    }
    return -1;
  }

  /// Takes over an objective; false where it is not finite.
  CAROM_CALL bool load_cost(const double* cost) {
    kernels::copy_padded(lanes_, n_, cost, at().cost, np());
    const double most = kernels::largest_packed(lanes_, np(), [&](auto number, int j) {
      return magnitude(kernels::load<decltype(number)>(at().cost + j));
    });
    return most < kernels::kInfinity;
  }

  // What was taken over, padded with zeros: [m, np], and [np + mp], columns before rows.
  [[nodiscard]] CAROM_HOST_DEVICE const double* matrix() const { return at().matrix; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* cost() const { return at().cost; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* lower() const { return at().lower; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* upper() const { return at().upper; }
  [[nodiscard]] CAROM_HOST_DEVICE const double* row_size() const { return at().row_size; }

  /// c'x of the latest x.
  CAROM_CALL double objective() const {
    return kernels::sum_of_all(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      return kernels::load<V>(at().cost + j) * kernels::load<V>(at().point + j);
    });
  }

 protected:
  static constexpr bool kKnown = PaddedColumns > 0;
  static constexpr int kKnownRows = kKnown ? PaddedRows : 0;  // NOLINT(bugprone-branch-clone)
  using Reals = kernels::WorkspaceReals<Lanes>;
  using Places = std::conditional_t<kKnown, LpScalesLayout<Reals>, const LpScalesLayout<Reals>&>;

  CAROM_INLINE int np() const { return kernels::known_or<PaddedColumns>(padded_columns_); }
  /// Columns and rows.
  CAROM_INLINE int total() const { return np() + kernels::known_or<kKnownRows>(padded_rows_); }
  CAROM_INLINE Places at() const {
    if constexpr (kKnown) {
      return kernels::placed<LpScalesLayout>(Reals{} + First, PaddedRows, PaddedRows,
                                             PaddedColumns);
    } else {
      return at_;
    }
  }
  /// f(i) for every row, in order.
  template <class F>
  CAROM_INLINE void each_row(F&& f) const {
    kernels::each_up_to<kKnownRows>(m_, f);
  }

  template <class V>
  static CAROM_INLINE V finite(V x) {
    return select(magnitude(x) < V(kernels::kInfinity), x, V(0.0));
  }
  CAROM_INLINE double* row(int i) const { return at().matrix + static_cast<long>(i) * np(); }
  /// The bound that a multiplier presses against.
  template <class V>
  CAROM_INLINE V pressed(V price, int j) const {
    return select(price > V(0.0), kernels::load<V>(at().lower + j),
                  kernels::load<V>(at().upper + j));
  }
  /// Whether a column's multiplier is no more than the rounding of its sum.
  template <class V>
  CAROM_INLINE auto is_rounding(V price, int j) const {
    const V size = j < np() ? kernels::load<V>(at().price_size + j) : V(0.0);
    return magnitude(price) <= V(column_rounding_) * size;
  }

  /// Whether all coefficients are finite.
  CAROM_INLINE bool finite_entries() const {
    return kernels::largest_packed(lanes_, total() - np(), [&](auto number, int i) {
             return kernels::load<decltype(number)>(at().row_size + i);
           }) < kernels::kInfinity;
  }

  /// done(i, max|a_ij|) for every row, infinite where one is NaN.
  template <class Done>
  CAROM_INLINE void each_row_size(Done&& done) const {
    if constexpr (kernels::HasVotes<Lanes>) {
      lanes_.each_row(
          m_, np(), 0.0,
          [&](double most, int i, int j) {
            const double x = magnitude(row(i)[j]);
            return x <= most ? most : (x != x ? kernels::kInfinity : x);
          },
          [](double a, double b) { return larger(a, b); }, done);
    } else {
      lanes_.for_each(m_, [&](int i) {
        done(i, largest_of([&](auto number, int j) {
               return magnitude(kernels::load<decltype(number)>(row(i) + j));
             }));
      });
    }
  }
  /// Largest value(V(), j) of [0, np), infinite where one is NaN; by one lane.
  template <class F>
  CAROM_INLINE double largest_of(F&& value) const {
    if constexpr (kernels::HasPack<Lanes>) {
      return kernels::largest_packed(lanes_, np(), value);
    } else {
      MaxAbs<> most;
      for (int j = 0; j < n_; ++j) most.add(value(0.0, j));
      return most.value == most.value ? most.value : kernels::kInfinity;
    }
  }

  /// x, A x, and the sizes of their terms.
  CAROM_CALL void load_point(const double* x) {
    kernels::copy_padded(lanes_, n_, x, at().point, np());
    kernels::each_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      kernels::store(at().point_size + j, magnitude(kernels::load<V>(at().point + j)));
    });
    kernels::each_row_dot(
        lanes_, m_, np(), [&](int i) { return row(i); }, at().point,
        [&](int i, const kernels::DotAndSize& sums) {
          at().point[np() + i] = sums.dot;
          at().point_size[np() + i] = sums.size;
        });
  }

  /// The bounds that a value of this size reaches at all.
  template <class V>
  CAROM_INLINE V seed(int j) const {
    const V most = V(2.0) * kernels::load<V>(at().point_size + j);
    const V l = magnitude(kernels::load<V>(at().lower + j));
    const V u = magnitude(kernels::load<V>(at().upper + j));
    return larger(select(l <= most, l, V(0.0)), select(u <= most, u, V(0.0)));
  }

  /// point_datum. bounds: explain by them; otherwise by the columns that are known.
  CAROM_CALL void explain_point(bool bounds) {
    kernels::each_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      kernels::store(at().point_datum + j, bounds ? seed<V>(j) : V(0.0));
    });
    if (bounds) {
      kernels::each_packed(lanes_, np(), [&](auto number, int j) {
        using V = decltype(number);
        const V size = kernels::load<V>(at().point_size + j);
        kernels::store(at().known + j, larger(reached(size, kernels::load<V>(at().point_datum + j)),
                                              select(size != V(0.0), V(0.0), V(1.0))));
      });
    }
    const auto unknown = [&](auto number, int j) {
      return kernels::load<decltype(number)>(at().known + j) < decltype(number)(1.0);
    };
    bool open = kernels::any_packed(lanes_, np(), unknown);
    for (int round = 0; open && round <= n_; ++round) {
      if (round > 0 || !bounds) gather_point(bounds);
      bool grown = false;
      for (int i = 0; i < m_ && open; ++i) {
        const double datum = at().point_datum[np() + i];
        if (!(datum > 0.0)) continue;
        const bool more = kernels::any_packed(lanes_, np(), [&](auto number, int j) {
          using V = decltype(number);
          const V known = kernels::load<V>(at().known + j);
          const V term = magnitude(kernels::load<V>(row(i) + j) * kernels::load<V>(at().point + j));
          const V now = larger(reached(term, V(datum)), known);
          kernels::store(at().known + j, now);
          return known < now;
        });
        if (more) open = kernels::any_packed(lanes_, np(), unknown);
        grown |= more;
      }
      if (!grown && (round > 0 || !bounds)) return;
    }
    gather_point(bounds);
  }
  CAROM_CALL void gather_point(bool bounds) {
    const auto own = [&](auto number, int j) {
      using V = decltype(number);
      return bounds ? seed<V>(j) : V(0.0);
    };
    const bool all = !kernels::any_packed(lanes_, np(), [&](auto number, int j) {
      return kernels::load<decltype(number)>(at().known + j) < decltype(number)(1.0);
    });
    kernels::each_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      const V known = kernels::load<V>(at().known + j) * kernels::load<V>(at().point_size + j);
      kernels::store(at().point_datum + j, larger(known, own(number, j)));
    });
    if (all) {
      kernels::each_packed(lanes_, total() - np(), [&](auto number, int i) {
        using V = decltype(number);
        const V size = kernels::load<V>(at().point_size + np() + i);
        kernels::store(at().point_datum + np() + i, own(number, np() + i) + size);
      });
      return;
    }
    kernels::each_row_sum(
        lanes_, m_, np(),
        [&](auto number, int i, int j) {
          using V = decltype(number);
          return kernels::load<V>(at().known + j) *
                 magnitude(kernels::load<V>(row(i) + j) * kernels::load<V>(at().point + j));
        },
        [&](int i, double known) { at().point_datum[np() + i] = own(0.0, np() + i) + known; });
  }

  /// price = (base - A'y, y) and the sizes of the terms; base may be null.
  CAROM_INLINE void combine_columns(const double* base, const double* y) {
    kernels::copy_padded(lanes_, m_, y, at().price + np());
    kernels::each_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      V sum = base != nullptr ? kernels::load<V>(base + j) : V(0.0);
      V size = magnitude(sum);
      each_row([&](int i) {
        const V entry = kernels::load<V>(row(i) + j);
        const V multiplier(-at().price[np() + i]);
        sum = fused(multiplier, entry, sum);
        size = size + magnitude(multiplier * entry);
      });
      kernels::store(at().price + j, sum);
      kernels::store(at().price_size + j, size);
    });
  }

  /// The same, as if in twice the precision: what is left of sums that cancel is that of the data.
  CAROM_CALL void combine_columns_sharply(const double* base, const double* y) {
    kernels::copy_padded(lanes_, m_, y, at().price + np());
    kernels::each_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      V sum = base != nullptr ? kernels::load<V>(base + j) : V(0.0);
      V rest(0.0);
      V size = magnitude(sum);
      each_row([&](int i) {
        const V entry = kernels::load<V>(row(i) + j);
        const V multiplier(-at().price[np() + i]);
        size = size + magnitude(multiplier * entry);
        add_product(multiplier, entry, sum, rest);
      });
      kernels::store(at().price + j, sum + rest);
      kernels::store(at().price_size + j, size);
    });
  }
  /// A x of the point that was loaded, likewise.
  CAROM_CALL void sharpen_point() {
    lanes_.for_each(m_, [&](int i) {
      double sum = 0.0;
      double rest = 0.0;
      for (int j = 0; j < n_; ++j) add_product(row(i)[j], at().point[j], sum, rest);
      at().point[np() + i] = sum + rest;
    });
  }

  /// price_datum. costs: explain by them; otherwise by the multipliers that are known.
  CAROM_CALL void explain_prices(bool costs) {
    if (costs) {
      kernels::each_packed(lanes_, total() - np(), [&](auto number, int i) {
        using V = decltype(number);
        kernels::store(at().known + np() + i,
                       select(kernels::load<V>(at().price + np() + i) != V(0.0), V(0.0), V(1.0)));
      });
    }
    gather_prices(costs);
    for (int round = 0; round <= m_; ++round) {
      bool grown = false;
      bool open = false;
      for (int i = 0; i < m_; ++i) {
        if (at().known[np() + i] > 0.0) continue;
        const double multiplier = magnitude(at().price[np() + i]);
        const bool found = kernels::any_packed(lanes_, np(), [&](auto number, int j) {
          using V = decltype(number);
          return reached(magnitude(kernels::load<V>(row(i) + j)) * V(multiplier),
                         kernels::load<V>(at().price_datum + j)) > V(0.0);
        });
        if (found) lanes_.for_each(1, [&](int) { at().known[np() + i] = 1.0; });
        grown |= found;
        open |= !found;
      }
      if (!grown) return;
      if (!open) break;
      gather_prices(costs);
    }
    gather_prices(costs);
  }
  CAROM_CALL void gather_prices(bool costs) {
    const bool all = !kernels::any_packed(lanes_, total() - np(), [&](auto number, int i) {
      return kernels::load<decltype(number)>(at().known + np() + i) < decltype(number)(1.0);
    });
    kernels::each_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      const V own = costs ? magnitude(kernels::load<V>(at().cost + j)) : V(0.0);
      kernels::store(at().price_datum + j, all ? own + kernels::load<V>(at().price_size + j) : own);
    });
    for (int i = 0; !all && i < m_; ++i) {
      const double multiplier = at().known[np() + i] * magnitude(at().price[np() + i]);
      if (multiplier == 0.0) continue;
      kernels::each_packed(lanes_, np(), [&](auto number, int j) {
        using V = decltype(number);
        const V term = magnitude(kernels::load<V>(row(i) + j)) * V(multiplier);
        kernels::store(at().price_datum + j, kernels::load<V>(at().price_datum + j) + term);
      });
    }
  }

  const Lanes& lanes_;
  int m_, n_, padded_columns_, padded_rows_;
  double row_rounding_, column_rounding_;
  LpScalesLayout<kernels::WorkspaceReals<Lanes>> at_;
};

}  // namespace carom::certificate
