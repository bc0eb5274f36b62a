#include "programs/qp/crossover.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include <carom/certificate_qp.hpp>
#include <carom/device/lanes.hpp>

#include "programs/kernels/doubled.hpp"
#include "programs/qp/kernels/qp_task_problem.hpp"

namespace carom::qp {

namespace {

using kernels::Doubled;
using Doubles = std::vector<double>;
using DoubledVector = std::vector<Doubled>;

std::size_t at(long i) { return static_cast<std::size_t>(i); }
double size_of(const Doubled& value) { return std::abs(static_cast<double>(value)); }
/// 0 where there is none.
double finite_size(double bound) {
  return std::abs(bound) < kernels::kInfinity ? std::abs(bound) : 0.0;
}

/// The entries of a matrix that are not zero, by rows.
class Sparse {
 public:
  void append(int column, double value) {
    if (value == 0.0) return;
    column_.push_back(column);
    value_.push_back(value);
  }
  void end_row() { first_.push_back(static_cast<int>(column_.size())); }

  [[nodiscard]] int rows() const { return static_cast<int>(first_.size()) - 1; }
  [[nodiscard]] int entries(int i) const { return first_[at(i) + 1] - first_[at(i)]; }
  [[nodiscard]] const int* columns(int i) const { return column_.data() + first_[at(i)]; }
  [[nodiscard]] const double* values(int i) const { return value_.data() + first_[at(i)]; }
  template <class F>
  void for_row(int i, F&& f) const {
    for (int t = first_[at(i)]; t < first_[at(i) + 1]; ++t) f(column_[at(t)], value_[at(t)]);
  }
  /// Each entry times unit(i, j).
  template <class F>
  void scale(F&& unit) {
    for (int i = 0; i < rows(); ++i) {
      for (int t = first_[at(i)]; t < first_[at(i) + 1]; ++t) {
        value_[at(t)] *= unit(i, column_[at(t)]);
      }
    }
  }
  [[nodiscard]] Sparse transposed(int columns) const {
    Sparse to;
    to.first_.assign(at(columns) + 1, 0);
    for (const int j : column_) ++to.first_[at(j) + 1];
    for (int j = 0; j < columns; ++j) to.first_[at(j) + 1] += to.first_[at(j)];
    std::vector<int> next(to.first_.begin(), to.first_.end() - 1);
    to.column_.resize(column_.size());
    to.value_.resize(column_.size());
    for (int i = 0; i < rows(); ++i) {
      for_row(i, [&](int j, double value) {
        const int t = next[at(j)]++;
        to.column_[at(t)] = i;
        to.value_[at(t)] = value;
      });
    }
    return to;
  }
  template <class Values>
  [[nodiscard]] auto times(int i, const Values& v) const {
    typename Values::value_type sum(0.0);
    for_row(i, [&](int j, double value) { sum += v[at(j)] * value; });
    return sum;
  }
  /// The sum of its terms' magnitudes.
  [[nodiscard]] double terms(int i, const DoubledVector& v) const {
    double sum = 0.0;
    for_row(i, [&](int j, double value) { sum += std::abs(value) * size_of(v[at(j)]); });
    return sum;
  }

 private:
  std::vector<int> first_{0}, column_;
  Doubles value_;
};

/// The powers of two at a size and at its root, from below.
double power_of(double size) {
  return size > 0.0 && size < kernels::kInfinity ? std::ldexp(1.0, std::ilogb(size)) : 1.0;
}
double root_of(double size) {
  if (!(size > 0.0) || !(size < kernels::kInfinity)) return 1.0;
  return std::ldexp(1.0, static_cast<int>(std::floor(0.5 * std::ilogb(size))));
}

/// Which answer is looked for. x and y of an interior point may be long where answers are not
/// unique.
enum class Way : unsigned char {
  nearest,
  short_x,  ///< the x nearest to zero
  short_y,
  fine,  ///< the nearest, where rows of nothing but rounding hold, too
};

/// The proximal method of multipliers (Rockafellar 1976): each subproblem adds
/// rho/2 |x - x_c|^2 and lets row i miss its bounds by mu (y_i - y_c,i). It is piecewise quadratic
/// and solved by Newton's method with an exact line search (Hermans, Themelis, Patrinos: "QPALM",
/// 2022). Near an answer all subproblems have the same active rows and one factorisation. Factors
/// are doubles, all else is in twice the precision, so that the limit is an answer to all digits.
class Crossover {
 public:
  Crossover(const kernels::QpShape& shape, const ConstView& view, const Doubles& lower,
            const Doubles& upper)
      : n_(shape.variables), rows_(shape.rows), lower_(lower), upper_(upper) {
    const long n = n_;
    for (int i = 0; i < rows_; ++i) {
      for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
        matrix_.append(shape.column[t], view.matrix[i * n + shape.column[t]]);
      }
      matrix_.end_row();
    }
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) {
        hessian_.append(j, view.hessian[j <= i ? i * n + j : j * n + i]);
      }
      hessian_.end_row();
      gradient_.push_back(view.gradient[i]);
    }
    max_factors_ = std::max(kLeastFactors, static_cast<int>(kWork / (1.0 + 1.0 * n_ * n_ * n_)));
  }

  /// Begins at (x, y).
  void start(const double* x, const double* y) {
    equilibrate();
    for (int j = 0; j < n_; ++j) {
      gradient_[at(j)] *= column_unit_[at(j)];
      x_.emplace_back(x[j] / column_unit_[at(j)]);
    }
    for (int i = 0; i < rows_; ++i) {
      lower_[at(i)] *= row_unit_[at(i)];
      upper_[at(i)] *= row_unit_[at(i)];
      y_.emplace_back(y[i] / row_unit_[at(i)]);
    }
    transposed_ = matrix_.transposed(n_);
    state_.assign(at(rows_), State::free);
    missed_.resize(at(rows_));
    slopes_.resize(at(n_));
    step_.resize(at(n_));
    inverse_.resize(at(n_));
  }

  /// To an answer; false where it does not get there.
  bool run(Way way) {
    set_lengths();
    contradicts_ = false;
    centre_x_ = x_;
    centre_y_ = y_;
    mu_ = way == Way::short_y ? kLeastMu : kMu;
    rho_ = kRho;
    if (way == Way::short_x) centre_x_.assign(at(n_), Doubled(0.0));
    if (way == Way::short_y) centre_y_.assign(at(rows_), Doubled(0.0));
    measure();
    if (!factorise()) return false;
    Change last;
    const int max_steps = way == Way::fine ? kMaxFineSteps : kMaxSteps;
    for (int step = 0; step < max_steps && factors_ < max_factors_; ++step) {
      ++steps_;
      for (int j = 0; j < n_; ++j) step_[at(j)] = -static_cast<double>(slopes_[at(j)]);
      solve(step_);
      const double reach = line_search();
      for (int j = 0; j < n_; ++j) x_[at(j)] += Doubled(step_[at(j)]) * reach;
      const bool same = measure();
      if (!same && !factorise()) return false;
      if (reach != 1.0 || !same) continue;
      const Change change = last_change(way == Way::fine);
      if (change.is_small()) return true;
      const DoubledVector before_x = std::exchange(centre_x_, x_);
      const DoubledVector before_y = std::exchange(centre_y_, y_);
      const bool long_way = change.slope >= kLevel;
      bool other = true;
      if (long_way && even(change.moved, last.moved)) {
        if (!stretch(before_x)) return false;
      } else if (even(change.pushed, last.pushed) && change.missed > 1.0) {
        // Rows that depend on each other contradict each other by rounding.
        if (change.missed <= kRounded && !long_way) return true;
        contradicts_ = !push(before_y);
        if (contradicts_) return false;
      } else if (change.pushed > kSlow * last.pushed && change.missed > 1.0 && mu_ > kLeastMu) {
        mu_ *= kSharper;
      } else if (change.moved > kSlow * last.moved && long_way && rho_ > kLeastRho) {
        rho_ *= kSharper;
      } else {
        other = false;
      }
      last = other ? Change() : change;
      if ((!measure() || other) && !factorise()) return false;
    }
    return false;
  }
  [[nodiscard]] int steps() const { return steps_; }
  /// What another one, begun as a copy, did counts as this one's work.
  void add_work(const Crossover& other) {
    steps_ = other.steps_;
    factors_ = other.factors_;
  }
  /// Whether the last run ended at rows that contradict each other.
  [[nodiscard]] bool contradicts() const { return contradicts_; }

  /// In the problem's units, from now on.
  void set_bounds(const Doubles& lower, const Doubles& upper) {
    for (int i = 0; i < rows_; ++i) {
      lower_[at(i)] = lower[at(i)] * (row_unit_[at(i)] / length_);
      upper_[at(i)] = upper[at(i)] * (row_unit_[at(i)] / length_);
    }
  }
  /// x and y in the problem's units, zeros for what is below `rounding` of the largest.
  void read(double rounding, double* x, double* y) const {
    const auto rounded = [&](const Doubled& value) {
      return size_of(value) < rounding ? 0.0 : static_cast<double>(value);
    };
    for (int j = 0; j < n_; ++j) x[j] = rounded(x_[at(j)]) * (length_ * column_unit_[at(j)]);
    for (int i = 0; i < rows_; ++i) {
      y[i] = state_[at(i)] == State::free ? 0.0 : rounded(y_[at(i)]) * (slope_ * row_unit_[at(i)]);
      if (state_[at(i)] == State::free || matrix_.entries(i) != 1) continue;
      const int j = *matrix_.columns(i);
      x[j] = bound(i) / *matrix_.values(i) * (length_ * column_unit_[at(j)]);
    }
  }

 private:
  static constexpr int kEquilibrations = 8;
  static constexpr int kMaxSteps = 400;
  static constexpr int kMaxFineSteps = 100;
  static constexpr int kLeastFactors = 20;
  static constexpr double kWork = 2.5e10;  // in all, 200 factorisations of 500 unknowns
  static constexpr double kMu = 0x1p-17, kLeastMu = 0x1p-25;
  static constexpr double kRho = 0x1p-20, kLeastRho = 0x1p-24;
  static constexpr double kSharper = 0x1p-4;
  static constexpr double kSlow = 0.5;         // of the last change
  static constexpr double kEven = 1e-3;        // of changes that go on for ever
  static constexpr double kLevel = 1e-22;      // of the slopes
  static constexpr double kRounded = 64.0;     // roundings that a row may miss
  static constexpr double kSeen = 0x1p-46;     // of x: smaller terms are rounding themselves
  static constexpr double kFinest = 0x1p-104;  // of x: rounding of twice the precision

  enum class State : unsigned char { free, lower, upper };

  /// Of one subproblem's answer to the next.
  struct Change {
    double moved = kernels::kInfinity;   ///< x
    double pushed = kernels::kInfinity;  ///< y
    double slope = kernels::kInfinity;   ///< rho times moved
    double missed = kernels::kInfinity;  ///< the worst row, in roundings of its terms
    [[nodiscard]] bool is_small() const { return slope < kLevel && missed <= 1.0; }
  };
  static bool even(double now, double before) {
    return before < kernels::kInfinity && std::abs(now - before) <= kEven * before;
  }

  /// Entries of P and A of about one, by powers of two.
  void equilibrate() {
    column_unit_.assign(at(n_), 1.0);
    row_unit_.assign(at(rows_), 1.0);
    for (int round = 0; round < kEquilibrations; ++round) {
      Doubles column(at(n_), 0.0), row(at(rows_), 0.0);
      for (int i = 0; i < rows_; ++i) {
        matrix_.for_row(i, [&](int j, double a) {
          row[at(i)] = std::max(row[at(i)], std::abs(a));
          column[at(j)] = std::max(column[at(j)], std::abs(a));
        });
      }
      for (int i = 0; i < n_; ++i) {
        hessian_.for_row(
            i, [&](int j, double p) { column[at(j)] = std::max(column[at(j)], std::abs(p)); });
      }
      for (double& size : column) size = 1.0 / root_of(size);
      for (double& size : row) size = 1.0 / root_of(size);
      matrix_.scale([&](int i, int j) { return row[at(i)] * column[at(j)]; });
      hessian_.scale([&](int i, int j) { return column[at(i)] * column[at(j)]; });
      for (int i = 0; i < rows_; ++i) row_unit_[at(i)] *= row[at(i)];
      for (int j = 0; j < n_; ++j) column_unit_[at(j)] *= column[at(j)];
    }
  }
  /// x_ and the slopes of about one.
  void set_lengths() {
    double length = 0.0, slope = 0.0;
    for (int j = 0; j < n_; ++j) {
      length = std::max(length, size_of(x_[at(j)]));
      slope = std::max({slope, hessian_.terms(j, x_), std::abs(gradient_[at(j)])});
    }
    for (int i = 0; i < rows_; ++i) slope = std::max(slope, size_of(y_[at(i)]));
    length = power_of(length);
    slope = power_of(slope);
    hessian_.scale([&](int, int) { return length / slope; });
    for (double& q : gradient_) q /= slope;
    for (Doubled& x : x_) x = times_power(x, 1.0 / length);
    for (Doubled& y : y_) y = times_power(y, 1.0 / slope);
    for (double& bound : lower_) bound /= length;
    for (double& bound : upper_) bound /= length;
    length_ *= length;
    slope_ *= slope;
  }

  [[nodiscard]] bool is_equation(int i) const { return lower_[at(i)] == upper_[at(i)]; }
  [[nodiscard]] double bound(int i) const {
    return state_[at(i)] == State::lower ? lower_[at(i)] : upper_[at(i)];
  }
  /// Row i's value as the subproblem compares it with the bounds.
  [[nodiscard]] Doubled shifted(int i) const {
    return matrix_.times(i, x_) + centre_y_[at(i)] * mu_;
  }

  /// Which rows are active at x_, their multipliers, and the subproblem's slopes. Whether they are
  /// the same rows as before.
  bool measure() {
    bool same = true;
    for (int i = 0; i < rows_; ++i) {
      const Doubled value = shifted(i);
      const double l = lower_[at(i)], u = upper_[at(i)];
      State state = State::free;
      if (l == u || (u < kernels::kInfinity && value > Doubled(u))) {
        state = State::upper;
      } else if (l > -kernels::kInfinity && value < Doubled(l)) {
        state = State::lower;
      }
      same = same && state == state_[at(i)];
      state_[at(i)] = state;
      const Doubled miss = state == State::free ? Doubled(0.0) : value - bound(i);
      missed_[at(i)] = static_cast<double>(miss);
      y_[at(i)] = miss * (1.0 / mu_);
    }
    for (int j = 0; j < n_; ++j) {
      slopes_[at(j)] = hessian_.times(j, x_) + gradient_[at(j)] + transposed_.times(j, y_) +
                       (x_[at(j)] - centre_x_[at(j)]) * rho_;
    }
    return same;
  }

  [[nodiscard]] Change last_change(bool fine) const {
    Change change{0.0, 0.0, 0.0, 0.0};
    for (int j = 0; j < n_; ++j) {
      change.moved = std::max(change.moved, size_of(x_[at(j)] - centre_x_[at(j)]));
    }
    change.slope = rho_ * change.moved;
    for (int i = 0; i < rows_; ++i) {
      const double pushed = size_of(y_[at(i)] - centre_y_[at(i)]);
      change.pushed = std::max(change.pushed, pushed);
      if (state_[at(i)] == State::free || pushed == 0.0) continue;
      const double terms = std::abs(bound(i)) + matrix_.terms(i, x_);
      if (terms < (fine ? 0.0 : kSeen)) continue;
      change.missed = std::max(change.missed, mu_ * pushed / std::max(0x1p-54 * terms, kFinest));
    }
    return change;
  }

  /// Goes on from `before` through x_, as steps of the same length would, to the next row or to the
  /// end of the slope. False where there is none.
  bool stretch(const DoubledVector& before) {
    DoubledVector d(at(n_));
    double square = 0.0, bend = 0.0;
    for (int j = 0; j < n_; ++j) {
      d[at(j)] = x_[at(j)] - before[at(j)];
      square += size_of(d[at(j)]) * size_of(d[at(j)]);
    }
    for (int j = 0; j < n_; ++j) {
      bend += static_cast<double>(hessian_.times(j, d)) * static_cast<double>(d[at(j)]);
    }
    double reach = bend > 0.0 ? rho_ * square / bend : kernels::kInfinity;
    for (int i = 0; i < rows_; ++i) {
      if (state_[at(i)] != State::free) continue;
      const auto along = static_cast<double>(matrix_.times(i, d));
      const double end = along > 0.0 ? upper_[at(i)] : lower_[at(i)];
      if (along == 0.0 || !(std::abs(end) < kernels::kInfinity)) continue;
      const double to = static_cast<double>(end - matrix_.times(i, x_)) / along;
      reach = std::min(reach, std::max(to, 0.0));
    }
    if (!(reach < kernels::kInfinity)) return false;
    for (int j = 0; j < n_; ++j) x_[at(j)] += d[at(j)] * reach;
    centre_x_ = x_;
    return true;
  }
  /// The same for multipliers, of rows that depend on each other, until one of them is zero.
  bool push(const DoubledVector& before) {
    double reach = kernels::kInfinity;
    for (int i = 0; i < rows_; ++i) {
      if (state_[at(i)] == State::free || is_equation(i)) continue;
      const auto change = static_cast<double>(y_[at(i)] - before[at(i)]);
      const auto value = static_cast<double>(y_[at(i)]);
      if (change * value < 0.0) reach = std::min(reach, -value / change);
    }
    if (!(reach < kernels::kInfinity)) return false;
    for (int i = 0; i < rows_; ++i) {
      centre_y_[at(i)] = y_[at(i)] + (y_[at(i)] - before[at(i)]) * reach;
    }
    return true;
  }

  /// How much of step_ leads to the subproblem's least value along it; 1 where no row changes.
  double line_search() {
    double slope = 0.0, bend = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double d = step_[at(j)];
      slope += static_cast<double>(slopes_[at(j)]) * d;
      bend += (rho_ * d + hessian_.times(j, step_)) * d;
    }
    breaks_.clear();
    for (int i = 0; i < rows_; ++i) {
      const double along = matrix_.times(i, step_);
      const double weight = along * along / mu_;
      if (state_[at(i)] != State::free) bend += weight;
      if (is_equation(i) || along == 0.0) continue;
      if (state_[at(i)] != State::free) {  // it leaves, and may meet its other bound
        const double to = -missed_[at(i)] / along;
        if (!(to > 0.0)) continue;
        breaks_.emplace_back(to, -weight);
        const double width = (upper_[at(i)] - lower_[at(i)]) / std::abs(along);
        if (width < kernels::kInfinity) breaks_.emplace_back(to + width, weight);
      } else {
        const double end = along > 0.0 ? upper_[at(i)] : lower_[at(i)];
        if (!(std::abs(end) < kernels::kInfinity)) continue;
        const double to = static_cast<double>(end - shifted(i)) / along;
        breaks_.emplace_back(std::max(to, 0.0), weight);
      }
    }
    std::sort(breaks_.begin(), breaks_.end());
    if (breaks_.empty() || breaks_.front().first >= 1.0) return 1.0;
    double here = 0.0;
    for (const auto& [to, change] : breaks_) {
      const double next = slope + bend * (to - here);
      if (next >= 0.0) break;
      slope = next;
      bend += change;
      here = to;
    }
    const double reach = bend > 0.0 ? here - slope / bend : 1.0;
    return reach > 0.0 && reach < kernels::kInfinity ? reach : 1.0;
  }

  /// P + rho I + A_a'A_a / mu = U'D^-1 U of the active rows. False where it is not definite.
  bool factorise() {
    ++factors_;
    const std::size_t n = at(n_);
    factor_.assign(n * n, 0.0);
    for (int i = 0; i < n_; ++i) {
      double* row = factor_.data() + at(i) * n;
      hessian_.for_row(i, [&](int j, double p) {
        if (j >= i) row[j] = p;
      });
      row[i] += rho_;
    }
    for (int r = 0; r < rows_; ++r) {
      if (state_[at(r)] == State::free) continue;
      const int* column = matrix_.columns(r);
      const double* value = matrix_.values(r);
      for (int s = 0; s < matrix_.entries(r); ++s) {
        const double share = value[s] / mu_;
        double* row = factor_.data() + at(column[s]) * n;
        for (int t = s; t < matrix_.entries(r); ++t) row[column[t]] += share * value[t];
      }
    }
    for (int k = 0; k < n_; ++k) {
      const double* pivot = factor_.data() + at(k) * n;
      if (!(pivot[k] > 0.0)) return false;
      inverse_[at(k)] = 1.0 / pivot[k];
      for (int i = k + 1; i < n_; ++i) {
        const double share = pivot[i] * inverse_[at(k)];
        if (share == 0.0) continue;
        double* row = factor_.data() + at(i) * n;
        for (int j = i; j < n_; ++j) row[j] -= share * pivot[j];
      }
    }
    return true;
  }
  void solve(Doubles& v) const {
    const std::size_t n = at(n_);
    for (int k = 0; k < n_; ++k) {
      const double share = v[at(k)] * inverse_[at(k)];
      if (share == 0.0) continue;
      const double* row = factor_.data() + at(k) * n;
      for (int j = k + 1; j < n_; ++j) v[at(j)] -= row[j] * share;
    }
    for (int k = n_ - 1; k >= 0; --k) {
      const double* row = factor_.data() + at(k) * n;
      double sum = v[at(k)];
      for (int j = k + 1; j < n_; ++j) sum -= row[j] * v[at(j)];
      v[at(k)] = sum * inverse_[at(k)];
    }
  }

  int n_, rows_;
  Sparse matrix_, transposed_, hessian_;
  Doubles gradient_, lower_, upper_, column_unit_, row_unit_;
  double length_ = 1.0, slope_ = 1.0;
  double mu_ = kMu, rho_ = kRho;
  bool contradicts_ = false;
  int steps_ = 0, factors_ = 0, max_factors_;
  DoubledVector x_, y_, centre_x_, centre_y_, slopes_;
  std::vector<State> state_;
  Doubles missed_, step_, factor_, inverse_;
  std::vector<std::pair<double, double>> breaks_;
};

/// Judges answers by the certificate.
class Judgement {
 public:
  Judgement(const kernels::QpShape& shape, const ConstView& view, double tolerance)
      : shape_(shape),
        view_(view),
        tolerance_(tolerance),
        lower_(at(shape.rows)),
        upper_(lower_),
        work_(at(certificate::qp_judge_workspace(shape.variables, shape.rows))) {
    double most = 0.0;
    for (int i = 0; i < shape.rows; ++i) most = std::max(most, size_of_bounds(i) / entry_of(i));
    for (int i = 0; i < shape.rows; ++i) {
      const double least = kNoise * most * entry_of(i);
      lower_[at(i)] = std::abs(view.lower[i]) <= least ? 0.0 : view.lower[i];
      upper_[at(i)] = std::abs(view.upper[i]) <= least ? 0.0 : view.upper[i];
    }
  }
  /// Bounds without those that are rounding relative to the largest, rows in units of A.
  [[nodiscard]] const Doubles& lower() const { return lower_; }
  [[nodiscard]] const Doubles& upper() const { return upper_; }

  /// Whether (x, y), perhaps with zeros in place of rounding, is an answer.
  bool accepts(double* x, double* y, CrossoverOutcome& outcome) {
    return judge(x, y, outcome, false) || judge(x, y, outcome, true);
  }

 private:
  using Memory = kernels::PlainMemory<double>;
  using Judge =
      certificate::QpJudge<double, kernels::SingleLane, kernels::PlainMemory<const double>, Memory>;
  static constexpr double kNoise = 0x1p-46;  // of the largest bound

  [[nodiscard]] double size_of_bounds(int i) const {
    return std::max(finite_size(view_.lower[i]), finite_size(view_.upper[i]));
  }
  template <class F>
  void for_row(int i, F&& f) const {
    for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) {
      const int j = shape_.column[t];
      f(j, view_.matrix[static_cast<long>(i) * shape_.variables + j]);
    }
  }
  [[nodiscard]] double entry_of(int i) const {
    double most = 0.0;
    for_row(i, [&](int, double a) { most = std::max(most, std::abs(a)); });
    return most > 0.0 ? most : 1.0;
  }
  bool judge(double* x, double* y, CrossoverOutcome& outcome, bool cleaned) {
    const Judge judge(kernels::SingleLane{}, shape_, view_, Memory{work_.data()});
    if (cleaned) judge.clean(Memory{x}, Memory{y});
    const auto judged = judge.residual(Memory{x}, Memory{y}, kernels::qp_leaning(shape_));
    outcome.residual = judged.value();
    outcome.objective = judged.objective;
    outcome.solved = certificate::within(outcome.residual, tolerance_);
    return outcome.solved;
  }

  const kernels::QpShape& shape_;
  const ConstView& view_;
  double tolerance_;
  Doubles lower_, upper_, work_;
};

}  // namespace

CrossoverOutcome cross_over(const kernels::QpShape& shape, const ConstView& view, double tolerance,
                            double* x, double* y) {
  CrossoverOutcome outcome;
  for (int i = 0; i < shape.rows; ++i) {
    if (view.lower[i] > view.upper[i]) return outcome;  // a proof, however small
  }
  Doubles to_x(x, x + shape.variables), to_y(y, y + shape.rows);
  Judgement judgement(shape, view, tolerance);
  Crossover body(shape, view, judgement.lower(), judgement.upper());
  body.start(x, y);
  const auto values = [&](const kernels::PlainMemory<const double>& bounds) {
    return Doubles(bounds.data, bounds.data + shape.rows);
  };
  const Doubles given_lower = values(view.lower), given_upper = values(view.upper);
  const auto accepts = [&](Crossover& found, std::initializer_list<double> roundings) {
    for (const double rounding : roundings) {
      found.read(rounding, to_x.data(), to_y.data());
      if (judgement.accepts(to_x.data(), to_y.data(), outcome)) return true;
    }
    return false;
  };
  bool solved = false;
  for (const Way way : {Way::nearest, Way::short_x, Way::short_y}) {
    solved = body.run(way) && accepts(body, {0x1p-46, 0x1p-60, 0x1p-36});
    if (solved) break;
    Crossover fine = body;
    fine.set_bounds(given_lower, given_upper);
    solved = fine.run(Way::fine) && accepts(fine, {0x1p-46, 0x1p-56, 0x1p-66, 0x1p-76, 0x1p-90});
    body.add_work(fine);
    if (solved || fine.contradicts()) break;
  }
  outcome.steps = body.steps();
  if (solved) {
    std::copy(to_x.begin(), to_x.end(), x);
    std::copy(to_y.begin(), to_y.end(), y);
  }
  return outcome;
}

bool cross_over(const kernels::QpTaskArrays& task, long p) {
  using Memory = kernels::PlainMemory<double>;
  const kernels::QpShape& shape = task.shape;
  if (task.settings.method != QpMethod::automatic || task.settings.max_iterations > 0 ||
      shape.cones > 0 || shape.variables < kLeastCrossover ||
      !kernels::may_be_solved(task.end[p])) {
    return false;
  }
  const auto parts = kernels::placed<kernels::QpTaskLayout>(0L, shape.variables, shape.rows, 0L);
  Doubles memory(at(parts.end));
  const kernels::SingleLane lane;
  const kernels::QpTaskProblem<kernels::SingleLane, Memory> problem(lane, task, parts,
                                                                    Memory{memory.data()});
  if (!problem.load(p)) return false;
  problem.load_pair(p, task.solution, task.dual, task.cone_dual);
  const auto from = [&](const Memory& values) {
    return kernels::PlainMemory<const double>{values.data};
  };
  const auto given = problem.view();
  const ConstView view{from(given.hessian), from(given.gradient), from(given.matrix),
                       from(given.lower), from(given.upper)};
  const CrossoverOutcome outcome =
      cross_over(shape, view, task.settings.tolerance, problem.x().data, problem.y().data);
  if (!outcome.solved) return false;
  problem.write(p, {Status::solved, task.method[p], task.iterations[p] + outcome.steps,
                    outcome.residual, outcome.objective});
  return true;
}

}  // namespace carom::qp
