#pragma once

#include <cstdint>

#include <carom/certificate.hpp>

#include "cpu/simd/programs/pack_qp_cones.hpp"
#include "programs/derivatives/kernels/long_sum.hpp"

namespace carom::cpu::simd {

/// derivatives::QpDerivative::modes with one problem per lane, for answers whose modes stay the
/// same while they are polished: P definite, no cone at a kink, every doubtful row a
/// combination of held rows.
template <class Isa>
class PackQpModes : protected PackQpCones<Isa> {
  using Cones = PackQpCones<Isa>;

 protected:
  using Cones::all_;
  using Cones::at_;
  using Cones::closed;
  using Cones::cones_;
  using Cones::each_product;
  using Cones::each_transposed;
  using Cones::edged_;
  using Cones::every;
  using Cones::factors_;
  using Cones::fetch;
  using Cones::fetch_rows;
  using Cones::first_;
  using Cones::get;
  using Cones::in_cone;
  using Cones::is_bounded;
  using Cones::is_edge;
  using Cones::is_equation;
  using Cones::is_held;
  using Cones::kWidth;
  using Cones::lanes_;
  using Cones::m_;
  using Cones::n_;
  using Cones::none;
  using Cones::owner_;
  using Cones::p_;
  using Cones::put;
  using Cones::r_;
  using Cones::share_in_edge;
  using Cones::side;
  using Cones::unclear_;
  using typename Cones::Mask;
  using typename Cones::Pack;
  /// A row that depends on others does so to this share of its length.
  static constexpr double kDepends = 1e-11;
  /// How many steps of Newton's method edges are given.
  static constexpr int kMostRounds = 6;

  explicit PackQpModes(const QpDerivativeRange& range) : Cones(range) {}

  /// Lanes that have modes; at_.mode, at_.x, at_.y, at_.slack, the factors and what a report says.
  Mask modes() {
    Mask good = load();
    if (!any_of(good)) return good;
    const Pack most(cones_ > 0 ? derivatives::kLargestShiftOfQp : derivatives::kLargestShift);
    measure();
    good = good & fits(Pack(derivatives::kLargestShift));
    split(Pack(r_.rules.margin_tolerance));
    good = assembled(good & !unclear_);
    shift_ = moved_ = turn_ = Pack(0.0);
    turned_ = none();
    const Pack least(r_.rules.margin_tolerance);
    Mask going = good;  // others are left as they are: what a lane has is its own
    for (int round = 0; round < kMostRounds && any_of(going); ++round) {
      if (round > 0) good = assembled(good);
      polish(going);
      const Pack tolerance = larger(least, Pack(10.0) * moved_);
      good = good & !turned_ & (shift_ <= most);
      // Doubts are settled by rows that depend on each other, not by what the polish moved.
      good = good & ((!doubtful_) | (moved_ <= Pack(0.1) * least));
      const Mask changed = split(tolerance);
      good = good & !changed & !unclear_ & fits(Pack(10.0) * tolerance);
      // Equations of edges change with the answer; that converges quadratically.
      going = good & edged_ & !(turn_ <= Pack(derivatives::kSettledEdge));
    }
    good = good & !going;
    if (any_of(good & edged_)) good = assembled(good);
    if (!any_of(good)) return good;
    factors_.measure();
    for (int i = 0; i < all_; ++i) {
      put(at_.mode, i, select(get(at_.mode, i) != Pack(0.0), get(at_.mode, i), Pack(1.0)));
    }
    condition_ = factors_.condition();
    good = good & !(edged_ & !(condition_ <= Pack(Cones::kMostBent)));
    return good;
  }

  /// Lanes of `good` whose modes' equations are factored.
  Mask assembled(Mask good) {
    if (cones_ > 0) this->bend();
    list(good.bits(), 0);
    good = good & factors_.factor(n_, most_, definite(), at_.held);
    good = good & settle(good);
    return good & !(dependent_ & edged_);
  }
  [[nodiscard]] const double* definite() const { return cones_ > 0 ? at_.definite : at_.hessian; }

  /// The problem and its answer; lanes that are solved and finite.
  Mask load() {
    const Pack zero(0.0), infinity(kernels::kInfinity);
    unsigned solved = 0;
    for (int lane = 0; lane < lanes_; ++lane) {
      solved |= static_cast<unsigned>(r_.status[p_ + lane] == Status::solved) << lane;
    }
    Mask good = Mask::from_bits(solved);
    if (!any_of(good)) return good;
    fetch(r_.hessian, static_cast<long>(n_) * n_, at_.hessian);
    for (int i = 1; i < n_; ++i) {
      for (int j = 0; j < i; ++j) {
        put(at_.hessian, static_cast<long>(j) * n_ + i,
            get(at_.hessian, static_cast<long>(i) * n_ + j));
      }
    }
    fetch(r_.vector, n_, at_.vector);
    fetch(r_.solution, n_, at_.x);
    for (int j = 0; j < n_; ++j) put(at_.x_rest, j, zero);
    fetch(r_.matrix, static_cast<long>(m_) * n_, at_.rows);
    fetch(r_.cone_matrix, static_cast<long>(all_ - m_) * n_,
          at_.rows + static_cast<long>(m_) * n_ * kWidth);
    fetch_rows(r_.lower, r_.cone_vector, at_.low);
    fetch_rows(r_.upper, r_.cone_vector, at_.up);
    fetch_rows(r_.dual, r_.cone_dual, at_.y);
    for (int i = m_, c = 0; c < r_.cones; ++c) {
      for (const int behind = i + r_.cone[c].size; i < behind; ++i) {
        if (r_.cone[c].kind != ConeKind::zero) put(at_.low, i, -infinity);
      }
    }
    for (int j = 0; j < n_; ++j) good = good & (magnitude(get(at_.x, j)) < infinity);
    for (int i = 0; i < all_; ++i) {
      good = good & (magnitude(get(at_.y, i)) < infinity);
      const Mask equation = !(get(at_.low, i) != get(at_.up, i));
      put(at_.sign, i, select(equation, zero, Pack(1.0)));
    }
    return good;
  }

  /// QpDerivative::measure.
  void measure() {
    const Pack zero(0.0), one(1.0);
    each_product(at_.hessian, n_, at_.vector, at_.x, [&](int j, Pack sum, Pack size) {
      put(at_.slope, j, sum);
      put(at_.column_unit, j, size);
    });
    for (int j = 0; j < n_; ++j) {
      Pack largest = zero;
      const double* row = at_.hessian + static_cast<long>(j) * n_ * kWidth;
      for (int k = 0; k < n_; ++k) largest = larger(largest, magnitude(get(row, k)));
      const Pack diagonal = get(row, j);
      const Mask counts = diagonal > Pack(1e-8) * largest;
      put(at_.root, j, select(counts, one / square_root(select(counts, diagonal, one)), zero));
    }
    Pack energy = zero;
    each_transposed(at_.slope, at_.y, [&](int j, Pack sum, Pack size) {
      put(at_.pull, j, sum);
      const Pack unit = get(at_.column_unit, j) + (size - magnitude(get(at_.slope, j)));
      put(at_.column_unit, j, unit);
      energy = larger(energy, unit * get(at_.root, j));
    });
    Pack work = zero;
    for (int j = 0; j < n_; ++j) {
      const Pack root = get(at_.root, j);
      const Mask counts = root > zero;
      Pack unit = get(at_.column_unit, j);
      unit = select(counts, larger(unit, energy / select(counts, root, one)), unit);
      put(at_.column_unit, j, unit);
      const Mask there = unit > zero;
      put(at_.share, j, select(there, one / select(there, unit, one), zero));
      work = work + unit * magnitude(get(at_.x, j));
    }
    const long stride = static_cast<long>(n_) * kWidth;
    for (int i = 0; i < all_; i += 2) {
      const int second = i + 1 < all_ ? 1 : 0;
      const double* row = at_.rows + i * stride;
      Pack value[2], size[2], feel[2], spread[2];
      for (int k = 0; k < 2; ++k) value[k] = size[k] = feel[k] = spread[k] = zero;
      for (int j = 0; j < n_; ++j) {
        const Pack x = get(at_.x, j), share = get(at_.share, j), root = get(at_.root, j);
        for (int k = 0; k < 2; ++k) {
          const Pack entry = get(row + k * second * stride, j);
          const Pack term = entry * x, part = entry * root;
          value[k] = value[k] + term;
          size[k] = size[k] + magnitude(term);
          feel[k] = larger(feel[k], magnitude(entry) * share);
          spread[k] = fused(part, part, spread[k]);
        }
      }
      for (int k = 0; k <= second; ++k) {
        put(at_.feel, i + k, feel[k]);
        choose_bound(i + k, value[k]);
        const Pack limit = put_slack(i + k, value[k]);
        Pack unit = larger(size[k] + magnitude(limit), square_root(spread[k]) * energy);
        // A row whose terms are what rounding left is not measured by them.
        const Pack felt = feel[k] * work;
        unit = select(unit <= Pack(0x1.0p-50) * felt, felt, unit);
        put(at_.unit, i + k, select(unit > zero, unit, one));
      }
    }
    this->share_units();
    put_long_slacks();
  }
  /// QpDerivative::long_slack.
  [[nodiscard]] Pack long_slack(int i, Pack& rest) const {
    const Pack bound = select(get(at_.sign, i) < Pack(0.0), get(at_.low, i), get(at_.up, i));
    derivatives::LongSum<Pack> sum(bound);
    const double* row = at_.rows + static_cast<long>(i) * n_ * kWidth;
    for (int j = 0; j < n_; ++j) {
      const Pack entry = get(row, j);
      sum.add_product(-entry, get(at_.x, j));
      sum.add_rest(-(entry * get(at_.x_rest, j)));
    }
    rest = sum.rest();
    return sum.value();
  }
  void put_long_slacks() {
    Pack rest(0.0);
    this->each_cone([&](int, int first, int behind) {
      for (int i = first; i < behind; ++i) {
        put(at_.slack, i, long_slack(i, rest));
        put(at_.slack_rest, i, rest);
      }
    });
  }
  /// QpDerivative::slope, negative.
  void put_long_slopes(double* to) const {
    for (int j = 0; j < n_; ++j) {
      derivatives::LongSum<Pack> sum(get(at_.vector, j));
      const double* row = at_.hessian + static_cast<long>(j) * n_ * kWidth;
      for (int k = 0; k < n_; ++k) {
        sum.add_product(get(row, k), get(at_.x, k));
        sum.add_rest(get(row, k) * get(at_.x_rest, k));
      }
      for (int i = 0; i < all_; ++i) {
        const Pack entry = get(at_.rows, static_cast<long>(i) * n_ + j);
        sum.add_product(entry, get(at_.y, i));
        sum.add_rest(entry * get(at_.gain, i));
      }
      put(to, j, -sum.value());
    }
  }
  /// Of two bounds the one whose multiplier is there, else the nearer one; whether it is another.
  CAROM_INLINE Mask choose_bound(int i, Pack value) {
    const Pack one(1.0), tolerance(r_.rules.margin_tolerance);
    const Pack low = get(at_.low, i), up = get(at_.up, i), felt = get(at_.feel, i) * get(at_.y, i);
    const Mask has_low = low > Pack(-kernels::kInfinity), has_up = up < Pack(kernels::kInfinity);
    const Pack nearer = select(up - value <= value - low, one, -one);
    const Pack both = select(felt > tolerance, one, select(felt < -tolerance, -one, nearer));
    const Pack chosen = select(has_up, select(has_low, both, one), select(has_low, -one, one));
    const Pack before = get(at_.sign, i);
    const Pack sign = select(is_equation(i), before, chosen);
    put(at_.sign, i, sign);
    return sign != before;
  }
  /// The limit that counts, zero where there is none.
  CAROM_INLINE Pack put_slack(int i, Pack value) {
    const Pack infinity(kernels::kInfinity);
    const Pack bound = select(get(at_.sign, i) < Pack(0.0), get(at_.low, i), get(at_.up, i));
    const Mask there = magnitude(bound) < infinity;
    const Pack limit = select(there, bound, Pack(0.0));
    put(at_.slack, i, select(there, side(i) * (limit - value), infinity));
    return limit;
  }

  /// QpDerivative::wrong at most `most`.
  Mask fits(Pack most) {
    const Pack zero(0.0), one(1.0);
    Mask good = every();
    for (int j = 0; j < n_; ++j) {
      const Pack unit = get(at_.column_unit, j);
      good = good & (magnitude(get(at_.pull, j)) <= most * select(unit > zero, unit, one));
    }
    for (int i = 0; i < all_; ++i) {
      if (in_cone(i)) continue;
      const Pack open = get(at_.slack, i) / get(at_.unit, i), shut = closed(i);
      const Mask there =
          (-open <= most) & (-shut <= most) & (smaller(magnitude(open), magnitude(shut)) <= most);
      const Mask equal = is_equation(i);
      good = good & ((!is_bounded(i)) | (equal & (magnitude(open) <= most)) | ((!equal) & there));
    }
    return good;
  }

  /// Modes from slacks and multipliers: 1 held, -1 free, 0 doubtful. Lanes where one is another
  /// than before. The margin leaves out doubts that rounding is all of.
  Mask split(Pack tolerance) {
    const Pack zero(0.0), one(1.0), infinity(kernels::kInfinity);
    Mask changed = none();
    doubtful_ = none();
    margin_ = infinity;
    for (int i = 0; i < all_; ++i) {
      if (in_cone(i)) continue;
      const Pack open = get(at_.slack, i) / get(at_.unit, i), shut = closed(i);
      const Pack gap = larger(open, shut);
      const Mask equal = is_equation(i);
      const Mask doubtful = (!equal) & !(gap > tolerance);
      doubtful_ = doubtful_ | doubtful;
      const Mask counts = (!equal) & !(doubtful & (gap <= Pack(1e-9)));
      margin_ = select(counts, smaller(margin_, select(gap > zero, gap, zero)), margin_);
      const Pack mode = select(equal, one, select(doubtful, zero, select(shut >= open, one, -one)));
      changed = changed | (get(at_.mode, i) != mode);
      put(at_.mode, i, mode);
    }
    return changed | this->split_cones(tolerance, margin_);
  }

  /// The held rows of each lane, doubtful ones behind them, and their gradients. sorted: lanes
  /// whose held rows stand in the order in which a subset of them is kept.
  void list(unsigned lanes, unsigned sorted) {
    int count[kWidth] = {};
    const auto add = [&](auto&& belongs) {
      for (int i = 0; i < all_; ++i) {
        unsigned here = belongs(i) & lanes;
        for (; here != 0; here &= here - 1) {
          const int lane = kernels::lowest_bit(here);
          row_[count[lane]++][lane] = i;
        }
      }
    };
    add([&](int i) {
      const bool follows = in_cone(i) && owner_[i] != i;
      return (follows ? is_held(i) & !is_edge(i) : is_held(i)).bits();
    });
    double held[kWidth], listed[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      held[lane] = count[lane];
      if ((sorted >> lane & 1U) != 0) sort(lane, count[lane]);
    }
    if (any_of(doubtful_)) add([&](int i) { return (!(get(at_.mode, i) != Pack(0.0))).bits(); });
    most_ = 0;
    for (int lane = 0; lane < kWidth; ++lane) {
      listed[lane] = count[lane];
      most_ = count[lane] > most_ ? count[lane] : most_;
    }
    held_count_ = Pack::load(held);
    count_ = Pack::load(listed);
    for (int i = 0; i < all_; ++i) {
      for (int lane = 0; lane < kWidth; ++lane) rank_[i][lane] = n_ + most_;
    }
    for (int lane = 0; lane < kWidth; ++lane) {
      const std::int64_t p = p_ + (lane < lanes_ ? lane : 0);
      double* to = at_.held + lane;
      for (int c = 0; c < most_; ++c) {
        if (c >= count[lane]) {
          row_[c][lane] = all_;
          for (int j = 0; j < n_; ++j, to += kWidth) *to = 0.0;
          continue;
        }
        const int i = row_[c][lane];
        rank_[i][lane] = n_ + c;
        if (at_.edge[static_cast<long>(i) * kWidth + lane] != 0.0) {
          const double* from = at_.normal + lane + static_cast<long>(cone_of(i)) * n_ * kWidth;
          for (int j = 0; j < n_; ++j, to += kWidth) *to = from[static_cast<long>(j) * kWidth];
          continue;
        }
        const double* from = i < m_ ? r_.matrix + (p * m_ + i) * n_
                                    : r_.cone_matrix + (p * (all_ - m_) + i - m_) * n_;
        for (int j = 0; j < n_; ++j, to += kWidth) *to = from[j];
      }
    }
  }
  [[nodiscard]] int cone_of(int first) const {
    int c = 0;
    while (first_[c] != first) ++c;
    return c;
  }
  /// As QpDerivative::independent: equations first, then by their multipliers.
  void sort(int lane, int count) {
    const auto priority = [&](int i) {
      const long at = static_cast<long>(i) * kWidth + lane;
      const double felt = at_.feel[at] * certificate::absolute(at_.y[at]);
      return at_.sign[at] == 0.0 ? kernels::kInfinity : felt;
    };
    for (int c = 1; c < count; ++c) {
      const int kept = row_[c][lane];
      int place = c;
      for (; place > 0 && priority(row_[place - 1][lane]) < priority(kept); --place) {
        row_[place][lane] = row_[place - 1][lane];
      }
      row_[place][lane] = kept;
    }
  }

  /// What the factors left out: held rows that depend on others, of which those with the largest
  /// multipliers stay, and doubtful rows that held ones imply. Lanes where that is so.
  Mask settle(Mask good) {
    const auto at = [](int c) { return Pack(static_cast<double>(c)); };
    const auto left_out = [&](int c, Pack count) {
      return (at(c) < count) & !factors_.is_kept(n_ + c);
    };
    dependent_ = none();
    Mask unsorted = none();
    for (int c = 0; c < most_; ++c) {
      dependent_ = dependent_ | left_out(c, count_);
      unsorted = unsorted | left_out(c, held_count_);
    }
    unsorted = unsorted & good;
    if (any_of(unsorted)) {
      list(good.bits(), unsorted.bits());
      good = good & factors_.factor(n_, most_, definite(), at_.held);
    }
    dependent_ = dependent_ & good;
    if (!any_of(dependent_ | doubtful_)) return good;
    for (int c = 0; c < most_; ++c) {
      const Mask out = left_out(c, count_);
      const Mask kept_in_doubt = (held_count_ <= at(c)) & (at(c) < count_) & !out;
      good = good & !kept_in_doubt;
      if (!any_of(out & good)) continue;
      const Mask equation = out & !(gather_lanes<Isa>(at_.sign, row_[c]) != Pack(0.0));
      good = good & !equation & ((!out) | factors_.depends(c, at_.share, kDepends, at_.work));
    }
    for (int c = 0; c < most_; ++c) {
      const Mask out = left_out(c, count_);
      if (!any_of(out)) continue;
      double* row = at_.held + static_cast<long>(c) * n_ * kWidth;
      for (int j = 0; j < n_; ++j) put(row, j, select(out, Pack(0.0), get(row, j)));
    }
    return good;
  }

  /// at_.right behind [0, n) from the rows' own values.
  CAROM_INLINE void take_rows(const double* of_each_row) {
    const double* of_rows = this->of_equations(of_each_row);
    for (int c = 0; c < most_; ++c) put(at_.right, n_ + c, gather_lanes<Isa>(of_rows, row_[c]));
    for (long i = n_ + most_; i < symmetric_order(n_ + most_); ++i) put(at_.right, i, Pack(0.0));
  }
  void solve(bool refined = true) {
    put(at_.right, n_ + most_, Pack(0.0));  // of rows that are not held
    const long stride = static_cast<long>(n_) * kWidth;
    this->each_cone([&](int c, int first, int) {
      const Mask edge = is_edge(first);
      if (!any_of(edge)) return;
      const Pack value = select(edge, of_row(first), Pack(0.0));
      const double* k = at_.bend + c * stride;
      for (int j = 0; j < n_; ++j) put(at_.right, j, fused(get(k, j), value, get(at_.right, j)));
    });
    if (refined) {
      factors_.solve(at_.right);
    } else {
      factors_.solve_once(at_.right);
    }
    put(at_.right, n_ + most_, Pack(0.0));
    this->each_cone([&](int c, int first, int) {
      const Mask edge = is_edge(first);
      if (!any_of(edge)) return;
      const double* k = at_.bend + c * stride;
      Pack sum(0.0);
      for (int j = 0; j < n_; ++j) sum = fused(get(k, j), get(at_.right, j), sum);
      double change[kWidth];
      select(edge, sum, Pack(0.0)).store(change);
      for (int lane = 0; lane < kWidth; ++lane) {
        at_.right[static_cast<long>(rank_[first][lane]) * kWidth + lane] += change[lane];
      }
    });
    put(at_.right, n_ + most_, Pack(0.0));
  }
  /// Of the last solution, zero of rows that are not among the kept ones.
  [[nodiscard]] CAROM_INLINE Pack of_row(int i) const {
    return gather_lanes<Isa>(at_.right, rank_[i]);
  }

  /// Multipliers' rates of all rows from the last solution, whose equations had `values`; at_.rate:
  /// the slacks' rates of rows of cones.
  void spread_rows(const double* values, double* to) {
    const long stride = static_cast<long>(n_) * kWidth;
    for (int i = 0; i < all_; ++i) {
      if (!in_cone(i)) {
        put(to, i, of_row(i));
        continue;
      }
      Pack sum = get(values, i);
      const double* row = at_.rows + i * stride;
      for (int j = 0; j < n_; ++j) sum = sum - get(row, j) * get(at_.right, j);
      put(at_.rate, i, sum);
      const Pack bent = get(at_.tau, i) * this->reflected(i, sum);
      const Pack at_edge = share_in_edge(i) * of_row(owner_[i]) + bent;
      put(to, i, select(is_edge(i), at_edge, of_row(i)));
    }
  }

  /// The right-hand side of a Newton step in twice the precision.
  void ask_in_long_sums() {
    const Pack zero(0.0), half(0.5);
    for (int i = 0; i < all_; ++i) {  // what z = tau R s leaves
      Pack rest = zero;
      if (in_cone(i)) {
        const Pack tau = get(at_.tau, i);
        rest = fused(tau, share_in_edge(i), -get(at_.y, i)) +
               tau * this->reflected(i, get(at_.slack_rest, i));
        rest = select(is_edge(i), rest, zero);
      }
      put(at_.gain, i, rest);
    }
    put_long_slopes(at_.right);
    for (int i = 0; i < all_; ++i) {
      Pack rest = zero;
      const Mask held = is_held(i);
      put(at_.gain, i, any_of(held) ? select(held, long_slack(i, rest), zero) : zero);
    }
    take_rows(at_.gain);
    this->each_cone([&](int, int first, int behind) {  // g'dx = s'R s / 2
      const Mask edge = is_edge(first);
      if (!any_of(edge)) return;
      derivatives::LongSum<Pack> square;
      for (int i = first; i < behind; ++i) {
        const Pack share = share_in_edge(i);
        square.add_product(half * share, get(at_.slack, i));
        square.add_rest(share * get(at_.slack_rest, i));
      }
      double value[kWidth];
      square.value().store(value);
      for (unsigned lanes = edge.bits(); lanes != 0; lanes &= lanes - 1) {
        const int lane = kernels::lowest_bit(lanes);
        at_.right[static_cast<long>(rank_[first][lane]) * kWidth + lane] = value[lane];
      }
    });
  }

  /// One Newton step of the modes' equations in some lanes; moved_: how far, in the rows' units.
  void polish(Mask going) {
    const Pack zero(0.0);
    for (int i = 0; i < all_; ++i) {
      const Pack y = get(at_.y, i);
      put(at_.y_before, i, y);
      put(at_.slack_before, i, get(at_.slack, i));
      Pack own = select(is_held(i), y, zero);
      if (in_cone(i)) own = select(is_edge(i), get(at_.tau, i) * share_in_edge(i), own);
      put(at_.y, i, select(going, own, y));
    }
    if (cones_ > 0) {
      ask_in_long_sums();
    } else {
      for (int i = 0; i < all_; ++i) {
        put(at_.gain, i, select(is_held(i), side(i) * get(at_.slack, i), zero));
      }
      each_transposed(at_.slope, at_.y, [&](int j, Pack sum, Pack) { put(at_.right, j, -sum); });
      take_rows(at_.gain);
    }
    solve(false);  // a step from an answer is its refinement
    for (int j = 0; j < n_; ++j) {
      const Pack step = select(going, get(at_.right, j), zero);
      put(at_.slope_before, j, get(at_.slope, j));
      if (cones_ == 0) {
        put(at_.x, j, get(at_.x, j) + step);
        continue;
      }
      derivatives::LongSum<Pack> sum(get(at_.x, j));
      sum.add(step);
      sum.add_rest(get(at_.x_rest, j));
      put(at_.x, j, sum.value());
      put(at_.x_rest, j, sum.rest());
    }
    for (int i = 0; i < all_; ++i) {
      put(at_.y, i, get(at_.y, i) + select(going, of_row(i), zero));
    }
    this->each_cone([&](int, int first, int behind) {
      const Pack tau = get(at_.tau, first) + select(going, of_row(first), zero);
      for (int i = first; i < behind; ++i) put(at_.tau, i, tau);
    });
    each_product(at_.hessian, n_, at_.vector, at_.x,
                 [&](int j, Pack sum, Pack) { put(at_.slope, j, sum); });
    each_product(at_.rows, all_, nullptr, at_.x, [&](int i, Pack value, Pack) {
      turned_ = turned_ | choose_bound(i, value);
      put_slack(i, value);
    });
    put_long_slacks();
    turn_ = select(going, zero, turn_);
    this->each_cone([&](int, int first, int behind) {
      Pack size = zero, change = zero;
      for (int i = first; i < behind; ++i) {
        size = larger(size, magnitude(get(at_.slack, i)));
        change = larger(change, magnitude(get(at_.slack, i) - get(at_.slack_before, i)));
      }
      const Pack bent = magnitude(of_row(first)), tau = magnitude(get(at_.tau, first));
      const Mask there = (size > zero) & (tau > zero);
      const Pack turn = select(
          there, change / select(there, size, Pack(1.0)) + bent / select(there, tau, Pack(1.0)),
          Pack(kernels::kInfinity));
      turn_ = select(going & is_edge(first), larger(turn_, turn), turn_);
    });
    for (int i = m_; i < all_; ++i) {
      if (!in_cone(i)) continue;
      const Pack at_edge = get(at_.tau, i) * share_in_edge(i);
      put(at_.y, i, select(going & is_edge(i), at_edge, get(at_.y, i)));
    }
    each_transposed(at_.slope, at_.y, [&](int j, Pack sum, Pack) { put(at_.pull, j, sum); });
    Pack moved = zero;
    for (int j = 0; j < n_; ++j) {
      moved = larger(moved,
                     magnitude(get(at_.slope, j) - get(at_.slope_before, j)) * get(at_.share, j));
    }
    for (int i = 0; i < all_; ++i) {
      const Pack felt = get(at_.feel, i) * magnitude(get(at_.y, i) - get(at_.y_before, i));
      moved = select(dependent_, moved, larger(moved, felt));
      const Pack change =
          magnitude(get(at_.slack, i) - get(at_.slack_before, i)) / get(at_.unit, i);
      moved = select(is_bounded(i), larger(moved, change), moved);
    }
    moved_ = select(going, moved, moved_);
    shift_ = larger(shift_, moved_);
  }

  int most_ = 0;                        // rows of the lane that lists most
  int row_[kMostOfQpInPacks][kWidth];   // the c-th row of a lane's list; all_: none
  int rank_[kMostOfQpInPacks][kWidth];  // of a row's unknown; n + most_: none
  Mask doubtful_, dependent_, turned_;
  Pack held_count_{0.0}, count_{0.0}, moved_{0.0}, turn_{0.0}, shift_{0.0}, margin_{0.0},
      condition_{0.0};
};

}  // namespace carom::cpu::simd
