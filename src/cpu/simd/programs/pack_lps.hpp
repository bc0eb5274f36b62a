#pragma once

#include <cstdint>

#include "cpu/simd/gather.hpp"
#include "cpu/simd/padding.hpp"
#include "cpu/simd/programs/pack_lp_ratio.hpp"
#include "cpu/simd/spread.hpp"

namespace carom::cpu::simd {

/// Scratch of a pack of problems, of the widest instruction set.
constexpr long lp_pack_reals(int rows, int columns) {
  const long m = rows;
  const long n = columns;
  return (m * n + m * m + 6 * (n + m) + 12 * m) * kLargestPadding;
}

/// The pivots of kernels::Simplex with one problem a lane of a register, from the basis where each
/// was started: the same operations on the same numbers, so that a lane that ends has pivoted and
/// holds what its Simplex would, bit for bit. No reduction joins the elements of a register here.
/// What is rare (Bland's rule, an inverse computed anew, rays, broken numbers) makes a lane give
/// up; its problem is then solved by its Simplex by itself, from the start. M: rows where they are
/// known when this is compiled, 0 otherwise; at most kMostPackedRows.
template <class Isa, int M>
class SimplexPack : SimplexPackRatio<Isa, M> {
  using Base = SimplexPackRatio<Isa, M>;
  using Base::kWidth;
  using typename Base::Blocking;
  using typename Base::Mask;
  using typename Base::Pack;
  static constexpr unsigned kAll = (1U << kWidth) - 1U;

 public:
  using typename Base::Rule;
  using typename Base::Simplex;

  struct Outcome {
    unsigned solved = 0;      ///< lanes, a bit each; their Simplex holds the answer
    unsigned infeasible = 0;  ///< the same with a proof
    int pivots[kWidth] = {};
  };

  SimplexPack(int rows, int columns, double* memory)
      : Base(rows), n_(columns), total_(columns + rows) {
    const auto take = [&](long count) {
      double* const start = memory;
      memory += count * kWidth;
      return start;
    };
    matrix_ = take(static_cast<long>(rows) * columns);
    inverse_ = take(static_cast<long>(rows) * rows);
    lower_ = take(total_);  // the next three follow it at the same distance
    upper_ = take(total_);
    value_ = take(total_);
    cost_ = take(total_);
    rises_ = take(total_);
    falls_ = take(total_);
    for (double** array : {&price_, &basic_value_, &basic_lower_, &basic_upper_, &basic_cost_,
                           &sign_, &column_, &rate_, &work_, &drop_}) {
      *array = take(rows);
    }
    event_ = take(2L * rows);
  }

  /// simplex: of each lane, started with an objective. meanwhile(): called before each step.
  template <class Meanwhile>
  Outcome run(Simplex* const* simplex, int max_pivots, Meanwhile&& meanwhile) {
    load(simplex);
    Outcome outcome;
    unsigned active = kAll;
    unsigned exact = kAll;  // basic values were computed anew since the last step
    unsigned feasible = kAll & ~violated(kAll);
    compute_prices(kAll, feasible);
    while (active != 0U) {
      meanwhile();
      unsigned moving = price(feasible) & active;
      unsigned changed = 0;  // lanes whose prices are to be computed anew
      const unsigned idle = active & ~moving;
      if (const unsigned ended = idle & exact; ended != 0U) {
        finish(simplex, ended, feasible, outcome);
        active &= ~ended;
      }
      // Once for all: lanes that seem to be done wait for those that move.
      if (const unsigned stale = idle & ~exact; stale != 0U && moving == 0U) {
        compute_values(stale);
        exact |= stale;
        const unsigned bad = violated(stale);
        active &= ~(stale & feasible & bad);  // feasible no more: rounding that comes back
        feasible = (feasible & ~stale) | (stale & ~bad);
        changed = stale;
      }
      if (moving != 0U) {
        for (int lane = 0; lane < kWidth; ++lane) {
          const unsigned bit = 1U << lane;
          if ((moving & bit) == 0U) continue;
          if (outcome.pivots[lane] == max_pivots || outcome.pivots[lane] == Rule::kMaxUpdates) {
            moving &= ~bit;
            active &= ~bit;
          }
        }
        const unsigned taken = move(moving, feasible);
        active &= ~(moving & ~taken);
        moving = taken;
        for (int lane = 0; lane < kWidth; ++lane) outcome.pivots[lane] += moving >> lane & 1U;
        exact &= ~moving;
        if (const unsigned open = moving & ~feasible; open != 0U) {
          feasible |= open & ~violated(open);
          changed |= open;
        }
      }
      changed &= active;
      if (changed != 0U) compute_prices(changed, feasible);
    }
    return outcome;
  }

 private:
  using Base::at, Base::either, Base::basic_lower_, Base::basic_upper_, Base::basic_value_,
      Base::drop_, Base::event_, Base::joined, Base::largest, Base::m, Base::mask, Base::put,
      Base::put_where, Base::rate_, Base::sign_, Base::values_size_, Base::work_;

  void load(Simplex* const* simplex) {
    const double* from[kWidth];
    const auto take = [&](auto&& place, int count, double* to) {
      for (int lane = 0; lane < kWidth; ++lane) from[lane] = place(state_[lane]);
      spread<kWidth>(from, count, to);
    };
    for (int lane = 0; lane < kWidth; ++lane) {
      state_[lane] = simplex[lane]->state();
      const auto& s = state_[lane];
      data_size_[lane] = s.data_size;
      values_size_[lane] = s.values_size;
      price_size_[lane] = s.price_size;
      stalled_[lane] = 0.0;
      for (int i = 0; i < m(); ++i) basic_[i][lane] = index_of(s, s.basic[i]);
    }
    const int np = state_[0].columns;
    const long mp = kMostPackedRows;
    for (int i = 0; i < m(); ++i) {
      take([&](const auto& s) { return s.at.matrix + static_cast<long>(i) * np; }, n_,
           matrix_ + static_cast<long>(i) * n_ * kWidth);
      take([&](const auto& s) { return s.at.inverse + i * mp; }, m(),
           inverse_ + static_cast<long>(i) * m() * kWidth);
    }
    const auto take_both = [&](double* kernels::SimplexLayout<double*>::*array, double* to) {
      take([&](const auto& s) { return s.at.*array; }, n_, to);
      take([&](const auto& s) { return s.at.*array + np; }, m(),
           to + static_cast<long>(n_) * kWidth);
    };
    using Layout = kernels::SimplexLayout<double*>;
    take_both(&Layout::lower, lower_);
    take_both(&Layout::upper, upper_);
    take_both(&Layout::value, value_);
    take_both(&Layout::rises, rises_);
    take_both(&Layout::falls, falls_);
    take([&](const auto& s) { return s.at.cost; }, n_, cost_);
    for (int i = 0; i < m(); ++i) put(cost_, n_ + i, Pack(0.0));
    take([&](const auto& s) { return s.at.basic_value; }, m(), basic_value_);
    take([&](const auto& s) { return s.at.basic_lower; }, m(), basic_lower_);
    take([&](const auto& s) { return s.at.basic_upper; }, m(), basic_upper_);
    take([&](const auto& s) { return s.at.basic_cost; }, m(), basic_cost_);
  }
  /// Rows stand directly after the n columns here, after the padded ones there.
  [[nodiscard]] CAROM_INLINE int index_of(const typename Simplex::State& s, int j) const {
    return j < n_ ? j : j - s.columns + n_;
  }
  [[nodiscard]] CAROM_INLINE int index_in(const typename Simplex::State& s, int j) const {
    return j < n_ ? j : j - n_ + s.columns;
  }

  /// What an answer is read from.
  void finish(Simplex* const* simplex, unsigned ended, unsigned feasible, Outcome& outcome) {
    for (int lane = 0; lane < kWidth; ++lane) {
      const unsigned bit = 1U << lane;
      if ((ended & bit) == 0U || !kernels::is_finite(values_size_[lane])) continue;
      const typename Simplex::State& s = state_[lane];
      for (int i = 0; i < m(); ++i) {
        s.at.basic_value[i] = basic_value_[i * kWidth + lane];
        s.at.reduced[s.columns + i] = price_[i * kWidth + lane];
        s.basic[i] = index_in(s, basic_[i][lane]);
      }
      simplex[lane]->accept(values_size_[lane], price_noise_[lane]);
      ((feasible & bit) != 0U ? outcome.solved : outcome.infeasible) |= bit;
    }
  }

  /// The lanes of `which` that have a basic value beyond a bound.
  unsigned violated(unsigned which) {
    const Mask on = mask(which);
    const Pack allowed = Pack(Rule::kFeasible) * Pack::load(values_size_);
    unsigned found = 0;
    for (int i = 0; i < m(); ++i) {
      const Pack x = at(basic_value_, i);
      const Pack below = select(x < at(basic_lower_, i) - allowed, Pack(-1.0), Pack(0.0));
      const Pack sign = select(x > at(basic_upper_, i) + allowed, Pack(1.0), below);
      put_where(on, sign_, i, sign);
      found |= (sign != Pack(0.0)).bits();
    }
    return found & which;
  }

  /// y' = weight' B^-1, of the costs where feasible and of the violations' signs elsewhere.
  void compute_prices(unsigned which, unsigned feasible) {
    const Mask on = mask(which);
    const Mask good = mask(feasible);
    Pack weight[kMostPackedRows];
    for (int i = 0; i < m(); ++i) weight[i] = select(good, at(basic_cost_, i), at(sign_, i));
    for (int k = 0; k < m(); ++k) {
      Pack term[kMostPackedRows];
      for (int i = 0; i < kMostPackedRows; ++i) {
        term[i] = i < m() ? fused(weight[i], at(inverse_, k * m() + i), Pack(0.0)) : Pack(0.0);
      }
      put_where(on, price_, k, joined(term));
    }
  }

  /// x_B = -B^-1 N x_N.
  void compute_values(unsigned which) {
    const Mask on = mask(which);
    for (int k = 0; k < m(); ++k) {
      Pack sum[kernels::kPackPadding];
      for (Pack& part : sum) part = Pack(0.0);
      const double* row = matrix_ + static_cast<long>(k) * n_ * kWidth;
      for (int j = 0; j < n_; j += kernels::kPackPadding) {
        for (int s = 0; s < kernels::kPackPadding; ++s) {
          if (j + s < n_) sum[s] = fused(at(value_, j + s), at(row, j + s), sum[s]);
        }
      }
      put(work_, k, at(value_, n_ + k) - joined(sum));
    }
    Pack most(0.0);
    for (int i = 0; i < m(); ++i) {
      Pack sum(0.0);
      for (int k = 0; k < m(); ++k) sum = fused(at(work_, k), at(inverse_, k * m() + i), sum);
      put_where(on, basic_value_, i, sum);
      most = largest(magnitude(sum), most);
    }
    const Pack size = larger(Pack::load(data_size_), most);
    select(on, size, Pack::load(values_size_)).store(values_size_);
  }

  /// Chooses what enters; the lanes that have something.
  unsigned price(unsigned feasible) {
    const Mask good = mask(feasible);
    Pack minus[kMostPackedRows];
    Pack most(0.0);
    for (int i = 0; i < m(); ++i) {
      const Pack y = at(price_, i);
      minus[i] = -y;
      most = largest(magnitude(y), most);
    }
    const Pack noise = select(good, larger(Pack::load(price_size_), most), most);
    noise.store(price_noise_);
    // The least key below the bound, the first of equal ones; one operation from key to key.
    const Pack bound = Pack(-Rule::kOptimal) * noise;
    Pack best = bound;
    Pack place(0.0);
    Pack reduced(0.0);
    Pack here(0.0);
    const auto offer = [&](int j, Pack d) {
      const Pack key = smaller(d * at(rises_, j), -d * at(falls_, j));
      const Mask better = key < best;
      best = smaller(key, best);
      place = select(better, here, place);
      reduced = select(better, d, reduced);
      here = here + Pack(1.0);
    };
    for (int j = 0; j < n_; ++j) {
      Pack d = select(good, at(cost_, j), Pack(0.0));
      for (int i = 0; i < m(); ++i) {
        d = fused(minus[i], at(matrix_, static_cast<long>(i) * n_ + j), d);
      }
      offer(j, d);
    }
    for (int i = 0; i < m(); ++i) offer(n_ + i, at(price_, i));
    place.store(entering_);
    reduced.store(reduced_);
    return (best < bound).bits();
  }

  /// Moves the entering variables; the lanes that could.
  unsigned move(unsigned moving, unsigned feasible) {
    std::int64_t place[kWidth];
    unsigned rows = 0;
    for (int lane = 0; lane < kWidth; ++lane) {
      const int q = static_cast<int>(entering_[lane]);
      entering_index_[lane] = q;
      place[lane] = static_cast<std::int64_t>(q) * kWidth + lane;
      rows |= (q < n_ ? 0U : 1U) << lane;
    }
    double of_entering[4 * kWidth];  // lower, upper, value, cost
    gather_rows<kWidth>(lower_, place, static_cast<long>(total_) * kWidth, 4, of_entering);
    compute_column(place, rows);
    const Pack d = Pack::load(reduced_);
    const Mask rising = d < Pack(0.0);
    const Pack direction = select(rising, Pack(1.0), Pack(-1.0));
    Pack steepest(0.0);
    for (int i = 0; i < m(); ++i) {
      const Pack entry = at(column_, i);
      steepest = largest(magnitude(entry), steepest);
      put(rate_, i, -direction * entry);
    }
    const Pack value = at(of_entering, 2);
    const Pack range = select(rising, at(of_entering, 1) - value, value - at(of_entering, 0));
    Blocking block{Pack(0.0), Pack(-1.0), mask(0)};
    if ((moving & feasible) != 0U) block = Base::block_feasible(steepest, range);
    if (const unsigned open = moving & ~feasible; open != 0U) {
      const Blocking other = Base::block_infeasible(open, steepest, range, magnitude(d));
      const Mask good = mask(feasible);
      block = {select(good, block.length, other.length), select(good, block.row, other.row),
               either(good, block.to_upper, other.to_upper)};
    }
    const Mask fits =
        (steepest < Pack(kernels::kInfinity)) & (block.length < Pack(kernels::kInfinity));
    Mask on = mask(moving) & fits;
    // Steps that lead nowhere would ask for Bland's rule.
    const Pack change = block.length * steepest;
    const Pack size = Pack::load(values_size_);
    const Pack stalled =
        select(change > Pack(Rule::kTie) * size, Pack(0.0), Pack::load(stalled_) + Pack(1.0));
    on = on & (stalled <= Pack(2.0 * m() + 10.0));
    const unsigned taken = on.bits();
    if (taken == 0U) return 0U;
    select(on, stalled, Pack::load(stalled_)).store(stalled_);
    for (int i = 0; i < m(); ++i) {
      put_where(on, basic_value_, i, fused(at(rate_, i), block.length, at(basic_value_, i)));
    }
    select(on, larger(size, change), size).store(values_size_);
    exchange(on, feasible, block, direction, of_entering);
    return taken;
  }

  /// B^-1 a_q; rows: lanes where a row's activity enters.
  void compute_column(const std::int64_t* place, unsigned rows) {
    std::int64_t column[kWidth];
    std::int64_t row[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      const bool is_row = (rows >> lane & 1U) != 0U;
      column[lane] = is_row ? lane : place[lane];
      row[lane] = is_row
                      ? static_cast<std::int64_t>(entering_index_[lane] - n_) * m() * kWidth + lane
                      : lane;
    }
    double entry[kMostPackedRows * kWidth];
    gather_rows<kWidth>(matrix_, column, static_cast<long>(n_) * kWidth, m(), entry);
    for (int i = 0; i < m(); ++i) {
      Pack sum(0.0);
      for (int k = 0; k < m(); ++k) sum = fused(at(entry, k), at(inverse_, k * m() + i), sum);
      put(column_, i, sum);
    }
    if (rows == 0U) return;
    gather_rows<kWidth>(inverse_, row, kWidth, m(), entry);
    for (int i = 0; i < m(); ++i) put_where(mask(rows), column_, i, -at(entry, i));
  }

  /// SimplexBasis::exchange, or the entering variable goes to its other bound.
  void exchange(Mask on, unsigned feasible, const Blocking& block, Pack direction,
                const double* of_entering) {
    double row[kWidth];
    block.row.store(row);
    const unsigned taken = on.bits();
    const Mask pivots = on & (block.row >= Pack(0.0));
    const unsigned pivoting = pivots.bits();
    const unsigned to_upper = block.to_upper.bits();
    if (pivoting != 0U) {
      std::int64_t place[kWidth];
      for (int lane = 0; lane < kWidth; ++lane) {
        const int r = (pivoting >> lane & 1U) != 0U ? static_cast<int>(row[lane]) : 0;
        place[lane] = static_cast<std::int64_t>(r) * kWidth + lane;
      }
      double element[kWidth];
      gather_rows<kWidth>(column_, place, kWidth, 1, element);
      gather_rows<kWidth>(inverse_, place, static_cast<long>(m()) * kWidth, m(), work_);
      const Pack pivot = Pack(1.0) / Pack::load(element);
      const Mask cheap = pivots & mask(feasible);
      const Pack d = Pack::load(reduced_);
      for (int k = 0; k < m(); ++k) {
        const Pack entry = at(work_, k) * pivot;
        put(work_, k, entry);
        put_where(cheap, price_, k, fused(d, entry, at(price_, k)));
      }
      const Pack reached = fused(direction, block.length, at(of_entering, 2));
      for (int i = 0; i < m(); ++i) {
        const Pack here(static_cast<double>(i));
        const Mask others = block.row != here;
        const Pack factor = select(others, -at(column_, i), Pack(1.0));
        for (int k = 0; k < m(); ++k) {
          const Pack old = at(inverse_, k * m() + i);
          const Pack from = select(others, old, Pack(0.0));
          put(inverse_, k * m() + i, select(pivots, fused(at(work_, k), factor, from), old));
        }
        const Mask leaves = pivots & (!others);
        put_where(leaves, basic_value_, i, reached);
        put_where(leaves, basic_lower_, i, at(of_entering, 0));
        put_where(leaves, basic_upper_, i, at(of_entering, 1));
        put_where(leaves, basic_cost_, i, at(of_entering, 3));
      }
    }
    for (int lane = 0; lane < kWidth; ++lane) {
      if ((taken >> lane & 1U) == 0U) continue;
      const int q = entering_index_[lane];
      if ((pivoting >> lane & 1U) == 0U) {
        set(lane, q, reduced_[lane] < 0.0 ? Rule::kAtUpper : Rule::kAtLower);
        continue;
      }
      const int r = static_cast<int>(row[lane]);
      set(lane, basic_[r][lane], (to_upper >> lane & 1U) != 0U ? Rule::kAtUpper : Rule::kAtLower);
      basic_[r][lane] = q;
      set(lane, q, Rule::kBasic);
    }
  }
  /// SimplexBasis::place, here and in the lane's own arrays.
  CAROM_INLINE void set(int lane, int j, double status) {
    const typename Simplex::State& s = state_[lane];
    const int there = index_in(s, j);
    const typename Rule::Placed placed = Rule::placed(s, there, status);
    s.at.status[there] = status;
    s.at.value[there] = placed.value;
    const long here = static_cast<long>(j) * kWidth + lane;
    value_[here] = placed.value;
    rises_[here] = placed.rises;
    falls_[here] = placed.falls;
  }

  int n_, total_;
  double *matrix_, *inverse_, *lower_, *upper_, *value_, *cost_, *rises_, *falls_;
  double *price_, *basic_cost_, *column_;
  int basic_[kMostPackedRows][kWidth];
  int entering_index_[kWidth];
  double data_size_[kWidth], price_size_[kWidth], price_noise_[kWidth];
  double stalled_[kWidth], entering_[kWidth], reduced_[kWidth];
  typename Simplex::State state_[kWidth];
};

}  // namespace carom::cpu::simd
