#pragma once

#include <cstdint>

#include <carom/certificate_lp.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>
#include <carom/types/lp.hpp>
#include <carom/types/status.hpp>

#include "programs/lp/kernels/simplex_proofs.hpp"
#include "programs/lp/kernels/simplex_scaling.hpp"

/// The primal simplex method for bounded variables with an explicit inverse of the basis
/// (Chvatal 1983, ch. 8; Maros 2003, ch. 9): docs/explanation/lp.md.
namespace carom::kernels {

struct SimplexOutcome {
  Status status;  ///< solved, infeasible, unbounded, iteration_limit or numerical_error: a claim
  int pivots;
};

/// PaddedRows: as of SimplexBasis, whose variables and arrays these are.
template <class Lanes, int PaddedRows = 0, int PaddedColumns = 0>
class Simplex : SimplexProofs<Lanes, PaddedRows, PaddedColumns> {
  using Base = SimplexProofs<Lanes, PaddedRows, PaddedColumns>;

 public:
  using Base::doubtful_prices, Base::doubtful_rates, Base::kBasic, Base::refine_prices,
      Base::refine_rates, Base::refine_solution;

  /// Of the same problem; where places are known it has those behind this method's.
  using Certificate =
      certificate::LpCertificate<Lanes, Base::kKnown ? PaddedRows : 0, PaddedColumns,
                                 Base::kKnown ? simplex_real_workspace(PaddedRows, PaddedColumns)
                                              : 0>;

  static constexpr double kDust = 1e-12;  // of prices and values, relative to their size

  CAROM_HOST_DEVICE Simplex(const Lanes& lanes, int rows, int columns, WorkspaceReals<Lanes> reals,
                            int* ints)
      : Base(lanes, rows, columns, reals, ints) {}

  /// Takes over the problem's rows and bounds, scaled by powers of two.
  CAROM_CALL void load(const Certificate& problem) {
    // Until the bounds are placed, the array of the reduced costs holds their factors.
    SimplexScaling<Lanes>(lanes_, m_, np(), at().matrix, at().scale, at().reduced)
        .load(problem.matrix(), problem.row_size());
    list_entries();
    each_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      const V unit = kernels::load<V>(at().reduced + j);
      store(at().lower + j, kernels::load<V>(problem.lower() + j) * unit);
      store(at().upper + j, kernels::load<V>(problem.upper() + j) * unit);
      store(at().reduced + j, V(0.0));
    });
    data_size_ = largest_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      return larger(kernels::load<V>(at().lower + j), -kernels::load<V>(at().upper + j));
    });
    smallest_bound_ =
        argmin_packed(lanes_, total(), [&](auto number, int j) {
          using V = decltype(number);
          const V l = magnitude(kernels::load<V>(at().lower + j));
          const V u = magnitude(kernels::load<V>(at().upper + j));
          return smaller(select(l > V(0.0), l, V(kInfinity)), select(u > V(0.0), u, V(kInfinity)));
        }).key;
  }
  /// Whether some bound is so small relative to the values that rounding of these could hide it.
  [[nodiscard]] CAROM_INLINE bool mixed() const { return smallest_bound_ < kMixed * values_size_; }

  /// All rows basic but those whose place a free column takes; columns at their bounds nearest to
  /// zero.
  CAROM_CALL void start() {
    each_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      place(j, select(kernels::load<V>(at().lower + j) >= V(0.0), V(kAtLower),
                      select(kernels::load<V>(at().upper + j) <= V(0.0), V(kAtUpper), V(kAtZero))));
    });
    // Free columns never leave a basis: where there are some, they take equations' places at once.
    const bool free = any_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      const auto is_free = kernels::load<V>(at().rises + j) >= V(kFreeWeight);
      store(at().status + j, select(is_free, V(kBasic), kernels::load<V>(at().status + j)));
      return is_free;
    });
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      const V lower = kernels::load<V>(at().lower + np() + i);
      place(np() + i, select(lower < kernels::load<V>(at().upper + np() + i), V(kBasic),
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
  CAROM_CALL void start(const BasisStatus* basis) {
    lanes_.for_each(total(), [&](int j) {
      const bool row = j >= np();
      const bool real = row ? j - np() < m_ : j < n_;
      const double wanted = real ? static_cast<double>(basis[row ? n_ + j - np() : j])
                                 : static_cast<double>(kAtLower);
      const bool possible = wanted == kBasic ||
                            (wanted == kAtLower && at().lower[j] > -kInfinity) ||
                            (wanted == kAtUpper && at().upper[j] < kInfinity);
      place(j, possible ? wanted : natural(j));
    });
    rebuild();
  }

  /// Minimises the objective, in the caller's units, from the present basis. cost: [np].
  CAROM_CALL SimplexOutcome optimise(const double* cost, int max_pivots) {
    take(cost);
    return run(max_pivots);
  }
  /// The first part of it, where a pack of problems pivots (src/cpu/simd/programs/pack_lps.hpp).
  CAROM_CALL void take(const double* cost) {
    price_size_ = largest_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      const V scaled = kernels::load<V>(cost + j) * kernels::load<V>(at().scale + j);
      store(at().cost + j, scaled);
      return magnitude(scaled);
    });
    lanes_.for_each(mp(), [&](int i) {
      at().basic_cost[i] = i < m_ && basic_[i] < np() ? at().cost[basic_[i]] : 0.0;
    });
    feasible_ = kFeasible;
    optimal_ = kOptimal;
    pivot_ = kPivot;
  }

  /// What a pack takes over: a Simplex that was started and took an objective.
  struct State {
    SimplexLayout<double*> at;
    int* basic;
    int columns;  ///< padded: what stands before the rows
    double data_size, values_size, price_size;
  };
  [[nodiscard]] CAROM_INLINE State state() const {
    return {at(), basic_, np(), data_size_, values_size_, price_size_};
  }
  /// Sizes that belong to the basic values and prices that a pack wrote back.
  CAROM_INLINE void accept(double values_size, double price_noise) {
    values_size_ = values_size;
    price_noise_ = price_noise;
  }
  /// The rules of pivots, for packs.
  struct Rule {
    using Placed = typename Base::template Placed<double>;
    static CAROM_INLINE Placed placed(const State& s, int j, double status) {
      return Base::placed_between(s.at.lower[j], s.at.upper[j], status);
    }
    static constexpr double kBasic = Base::kBasic, kAtLower = Base::kAtLower,
                            kAtUpper = Base::kAtUpper;
    static constexpr double kFeasible = Base::kFeasible, kOptimal = 1e-11, kTie = Base::kTie,
                            kPivot = Base::kPivot, kWeakPivot = Base::kWeakPivot;
    static constexpr int kMaxUpdates = 64;
  };

  /// The same objective again from a new inverse; later attempts call small violations none.
  /// refuted: the claim whose certificate failed, or numerical_error; what is small then counts for
  /// more: prices of a solution, and pivots too of a proof.
  CAROM_CALL SimplexOutcome repeat(int max_pivots, int attempt, Status refuted) {
    const bool proof = refuted == Status::infeasible || refuted == Status::unbounded;
    rebuild();
    feasible_ = attempt > 1 && !proof ? kLooselyFeasible : kFeasible;
    optimal_ = proof || refuted == Status::solved ? kFine : kOptimal;
    pivot_ = proof ? kFine : kPivot;
    return run(max_pivots);
  }

  /// The solution as the inverse has it, in place of a refined one.
  CAROM_CALL void undo_refinement() {
    compute_values();
    compute_prices(at().basic_cost);
  }

  /// x and y of a solved problem in the caller's units. x: [n]; y: [m].
  CAROM_CALL void read(double* x, double* y) const {
    read_point(x);
    read_prices(y);
  }
  /// x without y, of an unbounded problem.
  CAROM_CALL void read_point(double* x) const {
    lanes_.for_each(n_, [&](int j) { x[j] = at().value[j] * at().scale[j]; });
    lanes_.for_each(m_, [&](int i) {
      const int j = basic_[i];
      if (j < n_)
        x[j] = smaller(larger(at().basic_value[i], at().lower[j]), at().upper[j]) * at().scale[j];
    });
  }
  /// y of a solved problem, or the multipliers of an infeasible one; dust against absent bounds is
  /// left out.
  CAROM_CALL void read_prices(double* y) const {
    lanes_.for_each(m_, [&](int i) {
      const double price = at().reduced[np() + i];
      const bool absent =
          price > 0.0 ? at().lower[np() + i] == -kInfinity : at().upper[np() + i] == kInfinity;
      y[i] =
          absent && magnitude(price) <= kDust * price_noise_ ? 0.0 : price * at().scale[np() + i];
    });
  }
  /// Prices that were read, without any dust: few rows of an infeasible problem contradict each
  /// other, and what rounding leaves of the others is felt by every column. share: of their size.
  CAROM_CALL void drop_dust(double* y, double share = kDust) const {
    lanes_.for_each(m_, [&](int i) {
      if (magnitude(at().reduced[np() + i]) <= share * price_noise_) y[i] = 0.0;
    });
  }
  /// Values that were read, those at zero or at a bound up to rounding put there: a degenerate row
  /// of only such values has no other unit.
  CAROM_CALL void drop_value_dust(double* x, double share = kDust) const {
    const double dust = share * values_size_;
    lanes_.for_each(m_, [&](int i) {
      const int j = basic_[i];
      if (j >= n_) return;
      const double value = at().basic_value[i];
      const double to = magnitude(value) <= dust
                            ? 0.0
                            : (value - at().lower[j] <= dust
                                   ? at().lower[j]
                                   : (at().upper[j] - value <= dust ? at().upper[j] : value));
      x[j] = smaller(larger(to, at().lower[j]), at().upper[j]) * at().scale[j];
    });
  }
  /// BasisStatus of columns as numbers, [np].
  [[nodiscard]] CAROM_INLINE const double* statuses() const { return at().status; }
  /// The direction of an unbounded problem, [n]; dust, `share` of the largest, is left out.
  CAROM_CALL void read_ray(double* ray, double share = kDust) const {
    lanes_.for_each(n_, [&](int j) { ray[j] = 0.0; });
    double steepest = 1.0;
    for (int i = 0; i < m_; ++i) steepest = larger(magnitude(at().rate[i]), steepest);
    lanes_.for_each(m_, [&](int i) {
      const bool moves = magnitude(at().rate[i]) > share * steepest;
      if (basic_[i] < n_ && moves) ray[basic_[i]] = at().rate[i] * at().scale[basic_[i]];
    });
    lanes_.for_each(1, [&](int) {
      if (entering_ < n_) ray[entering_] = direction_ * at().scale[entering_];
    });
  }
  CAROM_CALL void read_basis(BasisStatus* basis) const {
    lanes_.for_each(n_ + m_, [&](int k) {
      basis[k] =
          static_cast<BasisStatus>(static_cast<int>(at().status[k < n_ ? k : np() + k - n_]));
    });
  }

 private:
  using Base::at, Base::basic_, Base::block_feasible, Base::block_infeasible, Base::compute_column,
      Base::compute_prices, Base::compute_values, Base::priced_rows, Base::data_size_,
      Base::direction_, Base::entering_, Base::exact_, Base::exchange, Base::feasible_,
      Base::find_violations, Base::kAtLower, Base::kAtUpper, Base::kAtZero, Base::kFeasible,
      Base::kFreeWeight, Base::kPivot, Base::kTie, Base::lanes_, Base::list_entries, Base::listed,
      Base::lists_, Base::m_, Base::mp, Base::n_, Base::natural, Base::np, Base::pivot_,
      Base::place, Base::price_noise_, Base::price_size_, Base::rebuild, Base::stalled_,
      Base::start_from_rows, Base::total, Base::updates_, Base::values_size_;
  using typename Base::Blocking;

  static constexpr double kLooselyFeasible = 1e-9;
  static constexpr double kOptimal = Rule::kOptimal;  // relative to the size of the prices
  static constexpr double kMixed = 1e-9;
  static constexpr double kFine = 1e-14;
  static constexpr double kWellApart = 0.03;  // a pivot at which a free column enters unasked
  static constexpr int kMaxReturns = 10;
  static constexpr int kMaxUpdates = Rule::kMaxUpdates;

  double optimal_ = kOptimal;
  double smallest_bound_ = kInfinity;

  enum class Step : std::uint8_t { taken, unbounded, broken };

  CAROM_CALL SimplexOutcome run(int max_pivots) {
    stalled_ = 0;
    int pivots = 0;
    int returns = 0;
    bool exact = exact_;  // nothing has moved since values and prices were computed anew
    bool feasible = !find_violations();
    if (feasible) compute_prices(at().basic_cost);
    for (;;) {
      if (!feasible) compute_prices(at().sign);
      const int patience = 2 * m_ + 10;
      const bool bland = stalled_ > 8 * patience;
      const int q = price(feasible, bland, stalled_ > patience && !bland);
      if (q < 0) {
        if (!exact) {
          compute_values();
          exact = true;
          const bool was_feasible = feasible;
          feasible = !find_violations();
          // What keeps coming back is rounding: the certificate will say whether it matters.
          if (was_feasible && !feasible && ++returns > kMaxReturns) feasible = true;
          if (feasible) compute_prices(at().basic_cost);
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
        if (feasible) compute_prices(at().basic_cost);
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
        if (feasible) compute_prices(at().basic_cost);
      }
    }
  }

  /// Computes the reduced costs and finds the variable to enter; -1: none. Dantzig's rule, free
  /// variables first; where the values have stalled any variable that lowers the objective, and
  /// then Bland's.
  CAROM_HOST_DEVICE int price(bool feasible, bool bland, bool any) {
    // Where the search begins: numbers of a golden section scatter evenly.
    const double turn = 0.6180339887498949 * stalled_;
    const double begin =
        any ? (turn - static_cast<double>(static_cast<long>(turn))) * total() : 0.0;
    const double* y = at().reduced + np();
    const double most = largest_packed(lanes_, mp(), [&](auto number, int i) {
      return magnitude(kernels::load<decltype(number)>(y + i));
    });
    price_noise_ = feasible ? larger(price_size_, most) : most;
    const double bound = -optimal_ * price_noise_;
    if (listed()) price_entries(feasible);
    const ArgMin<double> best = argmin_packed(lanes_, total(), [&](auto number, int j) {
      using V = decltype(number);
      V d(0.0);
      if (j < np() && !listed()) {
        if (feasible) d = kernels::load<V>(at().cost + j);
        for (int i = 0; i < priced_rows(); ++i) {
          d = fused(V(-y[i]), kernels::load<V>(at().matrix + static_cast<long>(i) * np() + j), d);
        }
        store(at().reduced + j, d);
      } else {
        d = kernels::load<V>(at().reduced + j);
      }
      const V key =
          smaller(d * kernels::load<V>(at().rises + j), -d * kernels::load<V>(at().falls + j));
      V eligible = key;
      if (bland || any) eligible = select(indices<V>(j) >= V(begin), V(-1.0), V(-0.5));
      return select(key < V(bound), eligible, V(kInfinity));
    });
    return best.index;
  }

  /// The columns' reduced costs by the entries of the rows that have a price.
  CAROM_CALL void price_entries(bool feasible) {
    double* d = at().reduced;
    each_packed(lanes_, np(), [&](auto number, int j) {
      using V = decltype(number);
      store(d + j, feasible ? kernels::load<V>(at().cost + j) : V(0.0));
    });
    for (int i = 0; i < m_; ++i) {
      const double y = d[np() + i];
      if (y == 0.0) continue;
      const double* row = at().matrix + static_cast<long>(i) * np();
      for (int e = lists_.row_start[i]; e < lists_.row_start[i + 1]; ++e) {
        const int j = lists_.row[e];
        d[j] = fused(-y, row[j], d[j]);
      }
    }
  }

  /// Moves variable q as far as it goes.
  CAROM_HOST_DEVICE Step move(int q, bool feasible, bool bland) {
    const double d = at().reduced[q];
    entering_ = q;
    direction_ = d < 0.0 ? 1.0 : -1.0;
    compute_column(q);
    const double steepest = largest_packed(lanes_, mp(), [&](auto number, int i) {
      return magnitude(kernels::load<decltype(number)>(at().column + i));
    });
    if (!is_finite(steepest)) return Step::broken;
    const double range =
        direction_ > 0.0 ? at().upper[q] - at().value[q] : at().value[q] - at().lower[q];
    const Blocking block = feasible ? block_feasible(steepest, range, bland)
                                    : block_infeasible(steepest, range, magnitude(d), bland);
    if (!(block.length < kInfinity)) return feasible ? Step::unbounded : Step::broken;
    stalled_ = block.length * steepest > kTie * values_size_ ? 0 : stalled_ + 1;
    each_packed(lanes_, mp(), [&](auto number, int i) {
      using V = decltype(number);
      store(at().basic_value + i, fused(kernels::load<V>(at().rate + i), V(block.length),
                                        kernels::load<V>(at().basic_value + i)));
    });
    values_size_ = larger(values_size_, block.length * steepest);
    if (block.row < 0) {
      lanes_.for_each(1, [&](int) { place(q, direction_ > 0.0 ? kAtUpper : kAtLower); });
      return Step::taken;
    }
    const double reached = fused(direction_, block.length, at().value[q]);
    exchange(block.row, q, block.to_upper ? kAtUpper : kAtLower, reached);
    if (feasible) {
      // y + d (row of the new B^-1); work holds that row.
      lanes_.for_each(m_, [&](int k) {
        at().reduced[np() + k] = fused(d, at().work[k], at().reduced[np() + k]);
      });
    }
    return Step::taken;
  }
};

}  // namespace carom::kernels
