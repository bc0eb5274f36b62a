#pragma once

#include <cstdint>

#include <carom/certificate_lp.hpp>
#include <carom/kernels/host_device.hpp>
#include <carom/kernels/lanes.hpp>
#include <carom/kernels/numeric.hpp>
#include <carom/kernels/packed.hpp>
#include <carom/kernels/simplex_scaling.hpp>
#include <carom/lp.hpp>
#include <carom/status.hpp>

/// The primal simplex method for bounded variables with an explicit inverse of the basis
/// (Chvatal 1983, ch. 8; Maros 2003, ch. 9): docs/algorithms/lp.md.
namespace carom::kernels {

CAROM_HOST_DEVICE constexpr long simplex_real_workspace(int rows, int columns) {
  const long m = padded(rows, kPackPadding);
  const long n = padded(columns, kPackPadding);
  return rows * n + rows * m + n + 8 * (n + m) + 10 * m;
}
CAROM_HOST_DEVICE constexpr long simplex_int_workspace(int rows) {
  return padded(rows, kPackPadding);
}

struct SimplexOutcome {
  Status status;  ///< solved, infeasible, unbounded, iteration_limit or numerical_error: a claim
  int pivots;
};

/// Variables are the n columns, then the m row activities s = A x; the equations [A -I][x; s] = 0
/// have no other right-hand side, and all data stand in bounds. Index j < np is column j (np: n
/// padded), np + i is s_i. A row's price y_i is also the reduced cost of s_i, so that d = c - A'y
/// and y form one array.
/// PaddedRows: m padded, where it is known when this is compiled; 0 otherwise.
template <class Lanes, int PaddedRows = 0>
class Simplex {
 public:
  CAROM_HOST_DEVICE Simplex(const Lanes& lanes, int rows, int columns, double* reals, int* ints)
      : lanes_(lanes),
        m_(rows),
        n_(columns),
        padded_rows_(padded(rows, kPackPadding)),
        np_(padded(columns, kPackPadding)),
        total_(np_ + mp()),
        matrix_(reals),
        inverse_(matrix_ + static_cast<long>(m_) * np_),
        cost_(inverse_ + static_cast<long>(m_) * mp()),
        reduced_(cost_ + np_),
        lower_(reduced_ + np_ + mp()),
        upper_(lower_ + np_ + mp()),
        value_(upper_ + np_ + mp()),
        rises_(value_ + np_ + mp()),
        falls_(rises_ + np_ + mp()),
        scale_(falls_ + np_ + mp()),
        status_(scale_ + np_ + mp()),
        basic_value_(status_ + np_ + mp()),
        basic_lower_(basic_value_ + mp()),
        basic_upper_(basic_lower_ + mp()),
        column_(basic_upper_ + mp()),
        rate_(column_ + mp()),
        event_(rate_ + mp()),
        work_(event_ + 2 * mp()),
        sign_(work_ + mp()),
        basic_cost_(sign_ + mp()),
        basic_(ints) {}

  /// Takes over the problem's rows and bounds, scaled by powers of two.
  CAROM_HOST_DEVICE void load(const certificate::LpCertificate<Lanes>& problem) {
    // Until the bounds are placed, the array of the reduced costs holds their factors.
    SimplexScaling<Lanes>(lanes_, m_, n_, matrix_, scale_, reduced_)
        .load(problem.matrix(), problem.row_size());
    each_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      const V unit = kernels::load<V>(reduced_ + j);
      store(lower_ + j, kernels::load<V>(problem.lower() + j) * unit);
      store(upper_ + j, kernels::load<V>(problem.upper() + j) * unit);
      store(reduced_ + j, V(0.0));
    });
    data_size_ = largest_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      return larger(kernels::load<V>(lower_ + j), -kernels::load<V>(upper_ + j));
    });
  }

  /// All rows basic but those whose place a free column takes; columns at their bounds nearest to
  /// zero.
  CAROM_HOST_DEVICE void start() {
    each_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      place(j, select(kernels::load<V>(lower_ + j) >= V(0.0), V(kAtLower),
                      select(kernels::load<V>(upper_ + j) <= V(0.0), V(kAtUpper), V(kAtZero))));
    });
    // Free columns never leave a basis: where there are some, they take equations' places at once.
    const bool free = any_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      const auto is_free = kernels::load<V>(rises_ + j) >= V(kFreeWeight);
      store(status_ + j, select(is_free, V(kBasic), kernels::load<V>(status_ + j)));
      return is_free;
    });
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V lower = kernels::load<V>(lower_ + np_ + i);
      place(np_ + i, select(lower < kernels::load<V>(upper_ + np_ + i), V(kBasic),
                            V(free ? kAtLower : kBasic)));
    });
    if (free) {
      rebuild(kWellApart);
      return;
    }
    start_from_rows();
    compute_values();
  }

  /// The selection of an earlier result, [columns + rows].
  CAROM_HOST_DEVICE void start(const BasisStatus* basis) {
    lanes_.for_each(total_, [&](int j) {
      const bool row = j >= np_;
      const bool real = row ? j - np_ < m_ : j < n_;
      const double wanted =
          real ? static_cast<double>(basis[row ? n_ + j - np_ : j]) : static_cast<double>(kAtLower);
      const bool possible = wanted == kBasic || (wanted == kAtLower && lower_[j] > -kInfinity) ||
                            (wanted == kAtUpper && upper_[j] < kInfinity);
      place(j, possible ? wanted : natural(j));
    });
    rebuild();
  }

  /// Minimises the objective, in the caller's units, from the present basis. cost: [np].
  CAROM_HOST_DEVICE SimplexOutcome optimise(const double* cost, int max_pivots) {
    price_size_ = largest_packed(lanes_, np_, [&](auto number, int j) {
      using V = decltype(number);
      const V scaled = kernels::load<V>(cost + j) * kernels::load<V>(scale_ + j);
      store(cost_ + j, scaled);
      return magnitude(scaled);
    });
    lanes_.for_each(
        mp(), [&](int i) { basic_cost_[i] = i < m_ && basic_[i] < np_ ? cost_[basic_[i]] : 0.0; });
    feasible_ = kFeasible;
    return run(max_pivots);
  }

  /// The same objective again from a new inverse; later attempts call small violations none.
  CAROM_HOST_DEVICE SimplexOutcome repeat(int max_pivots, int attempt) {
    rebuild();
    feasible_ = attempt > 1 ? kLooselyFeasible : kFeasible;
    return run(max_pivots);
  }

  /// x and y of a solved problem in the caller's units. x: [n]; y: [m].
  CAROM_HOST_DEVICE void read(double* x, double* y) const {
    lanes_.for_each(n_, [&](int j) { x[j] = value_[j] * scale_[j]; });
    lanes_.for_each(m_, [&](int i) {
      const int j = basic_[i];
      if (j < n_) x[j] = smaller(larger(basic_value_[i], lower_[j]), upper_[j]) * scale_[j];
    });
    read_prices(y);
  }
  /// x alone, of a point that may be anything.
  CAROM_HOST_DEVICE void read_point(double* x) const {
    lanes_.for_each(n_, [&](int j) { x[j] = value_[j] * scale_[j]; });
    lanes_.for_each(m_, [&](int i) {
      if (basic_[i] < n_) x[basic_[i]] = basic_value_[i] * scale_[basic_[i]];
    });
  }
  /// y of a solved problem, or the multipliers of an infeasible one; dust against absent bounds is
  /// left out.
  CAROM_HOST_DEVICE void read_prices(double* y) const {
    lanes_.for_each(m_, [&](int i) {
      const double price = reduced_[np_ + i];
      const bool absent =
          price > 0.0 ? lower_[np_ + i] == -kInfinity : upper_[np_ + i] == kInfinity;
      y[i] = absent && magnitude(price) <= kDust * price_noise_ ? 0.0 : price * scale_[np_ + i];
    });
  }
  /// The direction of an unbounded problem, [n].
  CAROM_HOST_DEVICE void read_ray(double* ray) const {
    lanes_.for_each(n_, [&](int j) { ray[j] = 0.0; });
    lanes_.for_each(m_, [&](int i) {
      if (basic_[i] < n_) ray[basic_[i]] = rate_[i] * scale_[basic_[i]];
    });
    lanes_.for_each(1, [&](int) {
      if (entering_ < n_) ray[entering_] = direction_ * scale_[entering_];
    });
  }
  CAROM_HOST_DEVICE void read_basis(BasisStatus* basis) const {
    lanes_.for_each(n_ + m_, [&](int k) {
      basis[k] = static_cast<BasisStatus>(static_cast<int>(status_[k < n_ ? k : np_ + k - n_]));
    });
  }

 private:
  CAROM_INLINE int mp() const {
    if constexpr (PaddedRows > 0) {
      return PaddedRows;
    } else {
      return padded_rows_;
    }
  }

  static constexpr double kBasic = static_cast<int>(BasisStatus::basic);
  static constexpr double kAtLower = static_cast<int>(BasisStatus::at_lower);
  static constexpr double kAtUpper = static_cast<int>(BasisStatus::at_upper);
  static constexpr double kAtZero = static_cast<int>(BasisStatus::at_zero);

  static constexpr double kFeasible = 1e-11;  // relative to the size of the values
  static constexpr double kLooselyFeasible = 1e-9;
  static constexpr double kOptimal = 1e-11;    // relative to the size of the prices
  static constexpr double kTie = 1e-13;        // of values, relative to their size
  static constexpr double kPivot = 1e-9;       // relative to the column's largest entry
  static constexpr double kWeakPivot = 1e-5;   // passed over in phase 1 where there is a better one
  static constexpr double kDependent = 1e-11;  // a pivot of a new inverse that is taken for zero
  static constexpr double kWellApart = 0.03;   // a pivot at which a free column enters unasked
  static constexpr double kDust = 1e-12;       // of prices, relative to their size
  static constexpr double kFreeWeight = 1024.0;

  enum class Step : std::uint8_t { taken, unbounded, broken };

  CAROM_HOST_DEVICE SimplexOutcome run(int max_pivots) {
    stalled_ = 0;
    int pivots = 0;
    int returns = 0;
    bool exact = exact_;  // nothing has moved since values and prices were computed anew
    bool feasible = !find_violations();
    if (feasible) compute_prices(basic_cost_);
    for (;;) {
      if (!feasible) compute_prices(sign_);
      const bool bland = stalled_ > 2 * m_ + 10;
      const int q = price(feasible, bland);
      if (q < 0) {
        if (!exact) {
          compute_values();
          exact = true;
          const bool was_feasible = feasible;
          feasible = !find_violations();
          // What keeps coming back is rounding: the certificate will say whether it matters.
          if (was_feasible && !feasible && ++returns > kMaxReturns) feasible = true;
          if (feasible) compute_prices(basic_cost_);
          continue;
        }
        if (!is_finite(values_size_)) return {Status::numerical_error, pivots};
        return {feasible ? Status::solved : Status::infeasible, pivots};
      }
      if (pivots == max_pivots) return {Status::iteration_limit, pivots};
      if (updates_ >= kMaxUpdates + m_) {
        rebuild();
        exact = false;
        feasible = !find_violations();
        if (feasible) compute_prices(basic_cost_);
        continue;
      }
      const Step step = move(q, feasible, bland);
      if (step == Step::broken) return {Status::numerical_error, pivots};
      if (step == Step::unbounded) return {Status::unbounded, pivots};
      ++pivots;
      exact = false;
      exact_ = false;
      if (!feasible) {
        feasible = !find_violations();
        if (feasible) compute_prices(basic_cost_);
      }
    }
  }

  /// sign_i = -1, 0 or 1: below, between or above the bounds. True where one is violated.
  CAROM_HOST_DEVICE bool find_violations() {
    const double allowed = feasible_ * values_size_;
    return any_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V x = kernels::load<V>(basic_value_ + i);
      const V below = select(x < kernels::load<V>(basic_lower_ + i) - V(allowed), V(-1.0), V(0.0));
      const V sign = select(x > kernels::load<V>(basic_upper_ + i) + V(allowed), V(1.0), below);
      store(sign_ + i, sign);
      return sign != V(0.0);
    });
  }

  /// y' = weight' B^-1. weight: [mp], zeros behind m.
  CAROM_HOST_DEVICE void compute_prices(const double* weight) {
    lanes_.for_each(m_, [&](int k) {
      reduced_[np_ + k] = dot_packed(lanes_, mp(), weight, inverse_ + static_cast<long>(k) * mp());
    });
  }

  /// Values of the basic variables from those of the others: B x_B = -N x_N.
  CAROM_HOST_DEVICE void compute_values() {
    lanes_.for_each(m_, [&](int k) {
      work_[k] =
          value_[np_ + k] - dot_packed(lanes_, np_, value_, matrix_ + static_cast<long>(k) * np_);
    });
    combine_inverse(work_, 1, basic_value_);
    exact_ = true;
    values_size_ = larger(data_size_, largest_packed(lanes_, mp(), [&](auto number, int i) {
                            return magnitude(kernels::load<decltype(number)>(basic_value_ + i));
                          }));
  }

  /// out = B^-1 v with v_k = from[k * stride].
  CAROM_HOST_DEVICE void combine_inverse(const double* from, long stride, double* out) {
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      V sum(0.0);
      for (int k = 0; k < m_; ++k) {
        sum = fused(V(from[k * stride]),
                    kernels::load<V>(inverse_ + static_cast<long>(k) * mp() + i), sum);
      }
      store(out + i, sum);
    });
  }

  /// Computes the reduced costs and finds the variable to enter; -1: none. Dantzig's rule, free
  /// variables first; Bland's where the values have stalled.
  CAROM_HOST_DEVICE int price(bool feasible, bool bland) {
    const double* y = reduced_ + np_;
    const double most = largest_packed(lanes_, mp(), [&](auto number, int i) {
      return magnitude(kernels::load<decltype(number)>(y + i));
    });
    price_noise_ = feasible ? larger(price_size_, most) : most;
    const double bound = -kOptimal * price_noise_;
    const ArgMin<double> best = argmin_packed(lanes_, total_, [&](auto number, int j) {
      using V = decltype(number);
      V d(0.0);
      if (j < np_) {
        if (feasible) d = kernels::load<V>(cost_ + j);
        for (int i = 0; i < m_; ++i) {
          d = fused(V(-y[i]), kernels::load<V>(matrix_ + static_cast<long>(i) * np_ + j), d);
        }
        store(reduced_ + j, d);
      } else {
        d = kernels::load<V>(reduced_ + j);
      }
      const V key = smaller(d * kernels::load<V>(rises_ + j), -d * kernels::load<V>(falls_ + j));
      const V eligible = bland ? V(-1.0) : key;
      return select(key < V(bound), eligible, V(kInfinity));
    });
    return best.index;
  }

  /// Moves variable q as far as it goes.
  CAROM_HOST_DEVICE Step move(int q, bool feasible, bool bland) {
    const double d = reduced_[q];
    entering_ = q;
    direction_ = d < 0.0 ? 1.0 : -1.0;
    compute_column(q);
    const double steepest = largest_packed(lanes_, mp(), [&](auto number, int i) {
      return magnitude(kernels::load<decltype(number)>(column_ + i));
    });
    if (!is_finite(steepest)) return Step::broken;
    const double range = direction_ > 0.0 ? upper_[q] - value_[q] : value_[q] - lower_[q];
    const Blocking block = feasible ? block_feasible(steepest, range, bland)
                                    : block_infeasible(steepest, range, magnitude(d), bland);
    if (!(block.length < kInfinity)) return feasible ? Step::unbounded : Step::broken;
    stalled_ = block.length * steepest > kTie * values_size_ ? 0 : stalled_ + 1;
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      store(basic_value_ + i, fused(kernels::load<V>(rate_ + i), V(block.length),
                                    kernels::load<V>(basic_value_ + i)));
    });
    values_size_ = larger(values_size_, block.length * steepest);
    if (block.row < 0) {
      lanes_.for_each(1, [&](int) { place(q, direction_ > 0.0 ? kAtUpper : kAtLower); });
      return Step::taken;
    }
    const double reached = fused(direction_, block.length, value_[q]);
    exchange(block.row, q, block.to_upper ? kAtUpper : kAtLower, reached);
    if (feasible) {
      // y + d (row of the new B^-1); work_ holds that row.
      lanes_.for_each(m_,
                      [&](int k) { reduced_[np_ + k] = fused(d, work_[k], reduced_[np_ + k]); });
    }
    return Step::taken;
  }

  struct Blocking {
    double length;  ///< of the step
    int row;        ///< whose basic variable leaves; -1: q goes to its other bound
    bool to_upper;  ///< bound at which it leaves
  };

  /// Every value stays between its bounds. Among the rows that block at (nearly) the same length
  /// the largest entry pivots; with Bland's rule the variable of lowest index leaves.
  CAROM_HOST_DEVICE Blocking block_feasible(double steepest, double range, bool bland) {
    const double smallest = kPivot * steepest;
    const ArgMin<double> first = argmin_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V rate = V(-direction_) * kernels::load<V>(column_ + i);
      const V size = magnitude(rate);
      const V x = kernels::load<V>(basic_value_ + i);
      const V room = select(rate > V(0.0), kernels::load<V>(basic_upper_ + i) - x,
                            x - kernels::load<V>(basic_lower_ + i));
      store(rate_ + i, rate);
      store(work_ + i, larger(room, V(0.0)));
      const V length = select(size > V(smallest), larger(room, V(0.0)) / size, V(kInfinity));
      store(event_ + i, length);
      return length;
    });
    if (first.index < 0 || range <= first.key) return {range, -1, false};
    const double tie = kTie * values_size_;
    const ArgMin<double> best = argmin_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V size = magnitude(kernels::load<V>(rate_ + i));
      const V rest = kernels::load<V>(work_ + i) - V(first.key) * size;
      const V key = -size;
      return select((size > V(smallest)) & (rest <= V(tie)), key, V(kInfinity));
    });
    const int row = bland ? lowest_within(first.key) : best.index;
    if (row < 0) return {first.key, first.index, rate_[first.index] > 0.0};
    if (range <= event_[row]) return {range, -1, false};
    return {event_[row], row, rate_[row] > 0.0};
  }

  /// Row of the lowest variable among events at `length`.
  CAROM_HOST_DEVICE int lowest_within(double length) {
    return lanes_
        .argmin(
            m_, kInfinity,
            [&](int i) { return event_[i] <= length ? static_cast<double>(basic_[i]) : kInfinity; })
        .index;
  }

  /// Phase 1: the sum of violations falls at the rate `slope` and less so after each bound that is
  /// met; the step ends where it would rise again.
  CAROM_HOST_DEVICE Blocking block_infeasible(double steepest, double range, double slope,
                                              bool bland) {
    const double smallest = kPivot * steepest;
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V rate = V(-direction_) * kernels::load<V>(column_ + i);
      const V size = magnitude(rate);
      const V x = kernels::load<V>(basic_value_ + i);
      const V sign = kernels::load<V>(sign_ + i);
      const auto rising = rate > V(0.0);
      // The distances to the bound that is met first and to the one behind it.
      const V to_lower = select(rising, kernels::load<V>(basic_lower_ + i) - x,
                                x - kernels::load<V>(basic_lower_ + i));
      const V to_upper = select(rising, kernels::load<V>(basic_upper_ + i) - x,
                                x - kernels::load<V>(basic_upper_ + i));
      const V ahead = select(rising, to_upper, to_lower);
      const V behind = select(rising, to_lower, to_upper);
      const auto moves = size > V(smallest);
      // A variable within its bounds meets one; one outside meets both or, moving away, none.
      const auto outside = sign != V(0.0);
      const auto returning = select(rising, -sign, sign) > V(0.0);
      const V near = select(outside, behind, larger(ahead, V(0.0)));
      const V inverse = V(1.0) / size;
      store(rate_ + i, rate);
      const auto none = select(outside, select(returning, V(0.0), V(1.0)), V(0.0)) > V(0.0);
      const V first = select(moves, near * inverse, V(kInfinity));
      // Both bounds of an equation are one event that counts twice.
      const auto two =
          outside & (kernels::load<V>(basic_lower_ + i) < kernels::load<V>(basic_upper_ + i));
      const V second = select(moves & two, ahead * inverse, V(kInfinity));
      store(event_ + i, select(none, V(kInfinity), first));
      store(event_ + mp() + i, select(none, V(kInfinity), second));
    });
    int chosen = -1;
    double length = kInfinity;
    ArgMin<double> last{-1.0, -1};
    for (int round = 0; round < 2 * m_; ++round) {
      // The event behind the last one, in the order of lengths and rows.
      const ArgMin<double> next = argmin_packed(lanes_, 2 * mp(), [&](auto number, int e) {
        using V = decltype(number);
        const V key = kernels::load<V>(event_ + e);
        const auto later = indices<V>(e) > V(static_cast<double>(last.index));
        return select((key > V(last.key)) | ((key >= V(last.key)) & later), key, V(kInfinity));
      });
      if (next.index < 0 || next.key >= range) break;
      last = next;
      const int row = next.index % mp();
      const double size = magnitude(rate_[row]);
      if (chosen < 0 || size >= kWeakPivot * steepest) {
        chosen = next.index;
        length = next.key;
      }
      const bool equation = basic_lower_[row] == basic_upper_[row] && sign_[row] != 0.0;
      slope -= equation ? 2.0 * size : size;
      if (bland || slope <= 0.0) {
        if (bland && length <= 0.0) chosen = lowest_within(0.0);
        return {length, chosen % mp(), leaves_at_upper(chosen)};
      }
    }
    if (range < kInfinity && slope > 0.0) return {range, -1, false};
    if (chosen < 0) return {kInfinity, -1, false};
    return {length, chosen % mp(), leaves_at_upper(chosen)};
  }

  /// The bound that event e stands for.
  CAROM_HOST_DEVICE bool leaves_at_upper(int e) const {
    const int row = e % mp();
    const bool rising = rate_[row] > 0.0;
    const bool near_of_outside = e < mp() && sign_[row] != 0.0;
    return near_of_outside ? !rising : rising;
  }

  /// column_ = B^-1 a_q.
  CAROM_HOST_DEVICE void compute_column(int q) {
    if (q < np_) {
      combine_inverse(matrix_ + q, np_, column_);
    } else {
      const double* from = inverse_ + static_cast<long>(q - np_) * mp();
      each_packed(lanes_, mp(), [&](auto number, int i) {
        store(column_ + i, -kernels::load<decltype(number)>(from + i));
      });
    }
  }

  /// Variable q, whose column is column_, takes row r; the row of the new inverse stays in work_.
  CAROM_HOST_DEVICE void exchange(int r, int q, double leaving_status, double reached) {
    const double pivot = 1.0 / column_[r];
    lanes_.for_each(m_,
                    [&](int k) { work_[k] = inverse_[static_cast<long>(k) * mp() + r] * pivot; });
    // Row r restarts from zero and takes the new row once: its elements are as the others'.
    each_packed_2d(lanes_, m_, mp(), [&](auto number, int k, int i) {
      using V = decltype(number);
      double* to = inverse_ + static_cast<long>(k) * mp() + i;
      const V row(static_cast<double>(r));
      const auto others = indices<V>(i) != row;
      const V factor = select(others, -kernels::load<V>(column_ + i), V(1.0));
      const V from = select(others, kernels::load<V>(to), V(0.0));
      store(to, fused(V(work_[k]), factor, from));
    });
    lanes_.for_each(1, [&](int) {
      place(basic_[r], leaving_status);
      basic_[r] = q;
      basic_value_[r] = reached;
      basic_lower_[r] = lower_[q];
      basic_upper_[r] = upper_[q];
      basic_cost_[r] = q < np_ ? cost_[q] : 0.0;
      place(q, kBasic);
    });
    ++updates_;
  }

  CAROM_INLINE double natural(int j) const {
    if (lower_[j] >= 0.0) return kAtLower;
    if (upper_[j] <= 0.0) return kAtUpper;
    return kAtZero;
  }

  /// Status of variable j, or of a register of them, with what pricing needs to know.
  template <class V>
  CAROM_INLINE void place(int j, V status) const {
    const V lower = kernels::load<V>(lower_ + j);
    const V upper = kernels::load<V>(upper_ + j);
    const auto at_lower = (status >= V(kAtLower)) & (status <= V(kAtLower));
    const auto at_upper = (status >= V(kAtUpper)) & (status <= V(kAtUpper));
    const V weight =
        select((lower <= V(-kInfinity)) & (upper >= V(kInfinity)), V(kFreeWeight), V(1.0));
    const V moves = select((status > V(kBasic)) & (lower < upper), weight, V(0.0));
    store(status_ + j, status);
    store(value_ + j, select(at_lower, lower, select(at_upper, upper, V(0.0))));
    store(rises_ + j, select(at_upper, V(0.0), moves));
    store(falls_ + j, select(at_lower, V(0.0), moves));
  }

  /// All rows basic: B = -I. Their statuses are the caller's.
  CAROM_HOST_DEVICE void start_from_rows() {
    each_packed_2d(lanes_, m_, mp(), [&](auto number, int k, int i) {
      using V = decltype(number);
      store(inverse_ + static_cast<long>(k) * mp() + i,
            select(indices<V>(i) != V(static_cast<double>(k)), V(0.0), V(-1.0)));
    });
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      store(value_ + np_ + i, V(0.0));
      store(rises_ + np_ + i, V(0.0));
      store(falls_ + np_ + i, V(0.0));
      store(basic_lower_ + i, kernels::load<V>(lower_ + np_ + i));
      store(basic_upper_ + i, kernels::load<V>(upper_ + np_ + i));
      store(basic_cost_ + i, V(0.0));
    });
    lanes_.for_each(mp(), [&](int i) { basic_[i] = np_ + i; });
    updates_ = 0;
  }

  /// A new inverse for the variables that are marked as basic: Gauss-Jordan with row pivoting, one
  /// exchange for each column. A column that depends on others leaves the basis, and rows fill up.
  CAROM_HOST_DEVICE void rebuild(double dependent = kDependent) {
    lanes_.for_each(m_, [&](int i) { sign_[i] = status_[np_ + i] == kBasic ? 1.0 : 0.0; });
    lanes_.for_each(m_, [&](int i) { event_[i] = status_[np_ + i]; });
    start_from_rows();
    for (int j = 0; j < n_; ++j) {
      if (status_[j] != kBasic) continue;
      compute_column(j);
      // Rows that are to stay basic or have been taken are marked by sign_ = 1.
      const ArgMin<double> best = lanes_.argmin(m_, kInfinity, [&](int i) {
        return sign_[i] == 0.0 ? -magnitude(column_[i]) : kInfinity;
      });
      if (best.index < 0 || !(-best.key > dependent)) {
        lanes_.for_each(1, [&](int) { place(j, natural(j)); });
        continue;
      }
      exchange(best.index, j, event_[best.index], 0.0);
      lanes_.for_each(1, [&](int) { sign_[best.index] = 1.0; });
    }
    lanes_.for_each(m_, [&](int i) {
      if (basic_[i] >= np_) place(basic_[i], kBasic);
    });
    updates_ = 0;
    compute_values();
  }

  static constexpr int kMaxReturns = 10;
  static constexpr int kMaxUpdates = 64;

  const Lanes& lanes_;
  int m_, n_, padded_rows_, np_, total_;
  double* matrix_;       // [m, np] scaled A
  double* inverse_;      // [m, mp] transpose of B^-1
  double* cost_;         // [np]
  double* reduced_;      // [np + mp] reduced costs; those of the rows are their prices y
  double* lower_;        // [np + mp]
  double* upper_;        // [np + mp]
  double* value_;        // [np + mp] of nonbasic variables, 0 for basic ones
  double* rises_;        // [np + mp] weight of a reduced cost where the variable may rise, or 0
  double* falls_;        // [np + mp] the same for falling
  double* scale_;        // [np + mp] x = scale x_scaled; row i was multiplied by scale_[np + i]
  double* status_;       // [np + mp] BasisStatus as a number
  double* basic_value_;  // [mp]
  double* basic_lower_;  // [mp]
  double* basic_upper_;  // [mp]
  double* column_;       // [mp] B^-1 a_q
  double* rate_;         // [mp] of the basic values as q moves
  double* event_;        // [2 mp] step lengths at which bounds are met
  double* work_;         // [mp]
  double* sign_;         // [mp]
  double* basic_cost_;   // [mp]
  int* basic_;           // [mp] variable of each row
  double feasible_ = kFeasible;
  double data_size_ = 0.0;
  double values_size_ = 0.0;
  double price_size_ = 0.0;
  double price_noise_ = 0.0;
  double direction_ = 1.0;
  int entering_ = 0;
  int stalled_ = 0;
  int updates_ = 0;
  bool exact_ = false;  // basic_value_ was computed anew since the last step
};

}  // namespace carom::kernels
