#include "reference/programs/bland_simplex.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace carom::reference {

namespace {

using Real = long double;
using Table = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Matrix<Real, 1, Eigen::Dynamic>;

constexpr Real kZero = 1e-13L;  // entries below are zero; rows are scaled to a largest entry of one

/// A bounded quantity in terms of variables that are >= 0:
/// quantity = origin + sign * z[first] (- z[second] where it is free), z[first] + z[rest] = width
/// where both bounds are there.
struct Part {
  Real origin = 0.0L;
  Real sign = 1.0L;
  int first = -1;
  int second = -1;
  int rest = -1;
  Real width = 0.0L;
};

/// minimise cost z over rows z = right, z >= 0.
struct StandardForm {
  std::vector<Part> columns;
  std::vector<Part> slacks;  ///< of row activities; first = -1 where lower = upper
  std::vector<int> place;    ///< tableau row of each row of A, -1 where it has no bound
  int variables = 0;
  int rows = 0;

  Part part(double lower, double upper) {
    Part p;
    if (std::isfinite(lower)) {
      p.origin = lower;
      p.first = variables++;
      if (std::isfinite(upper)) {
        p.width = static_cast<Real>(upper) - lower;
        p.rest = variables++;
      }
    } else if (std::isfinite(upper)) {
      p.origin = upper;
      p.sign = -1.0L;
      p.first = variables++;
    } else {
      p.first = variables++;
      p.second = variables++;
    }
    return p;
  }

  explicit StandardForm(const certificate::LpData& lp) {
    for (int j = 0; j < lp.columns; ++j) {
      columns.push_back(part(lp.column_lower[j], lp.column_upper[j]));
    }
    for (int i = 0; i < lp.rows; ++i) {
      const bool bounded = std::isfinite(lp.row_lower[i]) || std::isfinite(lp.row_upper[i]);
      place.push_back(bounded ? rows++ : -1);
      Part slack;
      slack.origin = lp.row_lower[i];
      if (bounded && lp.row_lower[i] != lp.row_upper[i]) {
        slack = part(lp.row_lower[i], lp.row_upper[i]);
      }
      slacks.push_back(slack);
    }
    for (const auto* parts : {&columns, &slacks}) {
      for (const Part& p : *parts) rows += p.rest >= 0 ? 1 : 0;
    }
  }
};

class Bland {
 public:
  Bland(const certificate::LpData& lp, int max_pivots)
      : lp_(lp), form_(lp), max_pivots_(max_pivots), m_(form_.rows), n_(form_.variables) {
    fill();
  }

  Table::ColXpr right() { return table_.col(n_ + m_); }

  BlandOutcome run() {
    Row artificial = Row::Zero(n_ + m_);
    artificial.tail(m_).setOnes();
    // Entries of the right-hand side say what counts as no violation.
    const Real size = std::max<Real>(m_ > 0 ? right().cwiseAbs().maxCoeff() : 0.0L, 1e-300L);
    if (minimise(artificial, n_) != Status::solved) return finish(Status::iteration_limit);
    Real violation = 0.0L;
    for (int i = 0; i < m_; ++i) violation += basic_[i] >= n_ ? right()[i] : 0.0L;
    if (violation > 1e-13L * size) {
      read_dual(artificial);
      return finish(Status::infeasible);
    }
    drive_out_artificials();
    const Row cost = standard_cost();
    const Status status = minimise(cost, n_);
    if (status == Status::iteration_limit) return finish(status);
    refine();
    (status == Status::solved ? outcome_.solution : outcome_.point) = point();
    if (status == Status::solved) read_dual(cost);
    if (status == Status::unbounded) read_ray();
    return finish(status);
  }

 private:
  /// Rows [standard form | artificial | right-hand side >= 0].
  void fill() {
    table_ = Table::Zero(m_, n_ + m_ + 1);
    factor_.assign(static_cast<std::size_t>(m_), 1.0L);
    int extra = 0;
    for (const int row : form_.place) extra += row >= 0 ? 1 : 0;
    for (int i = 0; i < lp_.rows; ++i) {
      const int row = form_.place[i];
      if (row < 0) continue;
      const Part& slack = form_.slacks[i];
      table_(row, n_ + m_) = slack.origin;
      if (slack.first >= 0) table_(row, slack.first) = -slack.sign;
      for (int j = 0; j < lp_.columns; ++j) {
        const Real entry = lp_.matrix[static_cast<long>(i) * lp_.columns + j];
        const Part& column = form_.columns[j];
        table_(row, column.first) += entry * column.sign;
        if (column.second >= 0) table_(row, column.second) -= entry;
        table_(row, n_ + m_) -= entry * column.origin;
      }
    }
    for (const auto* parts : {&form_.columns, &form_.slacks}) {
      for (const Part& p : *parts) {
        if (p.rest < 0) continue;
        table_(extra, p.first) = 1.0L;
        table_(extra, p.rest) = 1.0L;
        table_(extra++, n_ + m_) = p.width;
      }
    }
    for (int i = 0; i < m_; ++i) {
      const Real largest = table_.row(i).head(n_).cwiseAbs().maxCoeff();
      Real& factor = factor_[static_cast<std::size_t>(i)];
      if (largest > 0.0L) factor = 1.0L / largest;
      if (right()[i] < 0.0L) factor = -factor;
      table_.row(i) *= factor;
      table_(i, n_ + i) = 1.0L;
      basic_.push_back(n_ + i);
    }
    start_ = table_;
  }

  /// Solves the basic variables' rows once more: pivots carry the rounding of a large number, of a
  /// slack of 1e11 say, to variables that have nothing to do with it.
  void refine() {
    for (int pass = 0; pass < 2; ++pass) {
      Eigen::Matrix<Real, Eigen::Dynamic, 1> rest = start_.col(n_ + m_);
      for (int i = 0; i < m_; ++i) rest -= right()[i] * start_.col(basic_[i]);
      right() += table_.middleCols(n_, m_) * rest;
      right() = right().cwiseMax(0.0L);
    }
  }

  Row standard_cost() const {
    Row cost = Row::Zero(n_ + m_);
    for (int j = 0; j < lp_.columns; ++j) {
      const Part& column = form_.columns[j];
      cost[column.first] = lp_.cost[j] * column.sign;
      if (column.second >= 0) cost[column.second] = -lp_.cost[j];
    }
    return cost;
  }

  /// Bland's rule among the first `usable` variables.
  Status minimise(const Row& cost, int usable) {
    for (;;) {
      Row basic_cost(m_);
      for (int i = 0; i < m_; ++i) basic_cost[i] = cost[basic_[i]];
      const Row reduced = cost - basic_cost * table_.leftCols(n_ + m_);
      const Real size =
          std::max<Real>(cost.cwiseAbs().maxCoeff(), m_ > 0 ? basic_cost.cwiseAbs().maxCoeff() : 0);
      entering_ = 0;
      while (entering_ < usable && reduced[entering_] >= -kZero * size) ++entering_;
      if (entering_ == usable) return Status::solved;
      if (outcome_.pivots == max_pivots_) return Status::iteration_limit;
      const int row = leaving_row();
      if (row < 0) return Status::unbounded;
      pivot(row, entering_);
    }
  }

  int leaving_row() {
    const Real size = m_ > 0 ? table_.col(entering_).cwiseAbs().maxCoeff() : 0.0L;
    int best = -1;
    for (int i = 0; i < m_; ++i) {
      const Real rate = table_(i, entering_);
      if (!(rate > kZero * size)) continue;
      if (best < 0) {
        best = i;
        continue;
      }
      const Real here = right()[i] / rate;
      const Real there = right()[best] / table_(best, entering_);
      if (here < there || (here == there && basic_[i] < basic_[best])) best = i;
    }
    return best;
  }

  void pivot(int row, int column) {
    table_.row(row) /= table_(row, column);
    for (int i = 0; i < m_; ++i) {
      if (i == row) continue;
      const Real factor = table_(i, column);
      if (factor == 0.0L) continue;
      table_.row(i) -= factor * table_.row(row);
      table_(i, column) = 0.0L;
      // A value that is rounding is zero: ties are ties.
      if (right()[i] < 1e-16L * std::fabs(factor * right()[row])) right()[i] = 0.0L;
    }
    basic_[row] = column;
    ++outcome_.pivots;
  }

  /// Artificial variables that are basic at zero leave where their row has any entry; the others
  /// stand for redundant rows and never move again.
  void drive_out_artificials() {
    for (int i = 0; i < m_; ++i) {
      if (basic_[i] < n_) continue;
      right()[i] = 0.0L;
      int column = 0;
      const Real size = table_.row(i).head(n_).cwiseAbs().maxCoeff(&column);
      if (size > 1e-11L) pivot(i, column);
    }
  }

  Eigen::VectorXd from_standard(const Row& z, bool direction) const {
    Eigen::VectorXd x(lp_.columns);
    for (int j = 0; j < lp_.columns; ++j) {
      const Part& column = form_.columns[j];
      Real value = (direction ? 0.0L : column.origin) + column.sign * z[column.first];
      if (column.second >= 0) value -= z[column.second];
      x[j] = static_cast<double>(value);
    }
    return x;
  }
  Eigen::VectorXd point() {
    Row z = Row::Zero(n_ + m_);
    for (int i = 0; i < m_; ++i) z[basic_[i]] = right()[i];
    return from_standard(z, false);
  }
  void read_ray() {
    Row z = Row::Zero(n_ + m_);
    z[entering_] = 1.0L;
    for (int i = 0; i < m_; ++i) z[basic_[i]] = -table_(i, entering_);
    outcome_.ray = from_standard(z, true);
  }

  /// y = c_B B^-1 stands in the columns of the artificial variables.
  void read_dual(const Row& cost) {
    Row basic_cost(m_);
    for (int i = 0; i < m_; ++i) basic_cost[i] = cost[basic_[i]];
    const Row y = basic_cost * table_.middleCols(n_, m_);
    outcome_.dual = Eigen::VectorXd::Zero(lp_.rows);
    for (int i = 0; i < lp_.rows; ++i) {
      const int row = form_.place[i];
      if (row >= 0) {
        outcome_.dual[i] = static_cast<double>(y[row] * factor_[static_cast<std::size_t>(row)]);
      }
    }
  }

  BasisStatus status_of(const Part& part, const std::vector<bool>& basic) const {
    const auto is_basic = [&](int z) { return z >= 0 && basic[static_cast<std::size_t>(z)]; };
    if (part.second >= 0) {
      return is_basic(part.first) || is_basic(part.second) ? BasisStatus::basic
                                                           : BasisStatus::at_zero;
    }
    if (!is_basic(part.first)) {
      return part.sign > 0.0L ? BasisStatus::at_lower : BasisStatus::at_upper;
    }
    return part.rest >= 0 && !is_basic(part.rest) ? BasisStatus::at_upper : BasisStatus::basic;
  }

  BlandOutcome finish(Status status) {
    outcome_.status = status;
    std::vector<bool> basic(static_cast<std::size_t>(n_ + m_), false);
    for (const int z : basic_) basic[static_cast<std::size_t>(z)] = true;
    for (const Part& column : form_.columns) outcome_.basis.push_back(status_of(column, basic));
    for (int i = 0; i < lp_.rows; ++i) {
      if (form_.place[i] < 0) {
        outcome_.basis.push_back(BasisStatus::basic);
      } else if (form_.slacks[i].first < 0) {
        outcome_.basis.push_back(
            basic[static_cast<std::size_t>(n_) + static_cast<std::size_t>(form_.place[i])]
                ? BasisStatus::basic
                : BasisStatus::at_lower);
      } else {
        outcome_.basis.push_back(status_of(form_.slacks[i], basic));
      }
    }
    return std::move(outcome_);
  }

  const certificate::LpData& lp_;
  StandardForm form_;
  int max_pivots_;
  int m_, n_;
  Table table_, start_;
  std::vector<Real> factor_;  ///< that each row was multiplied by
  std::vector<int> basic_;
  int entering_ = 0;
  BlandOutcome outcome_;
};

}  // namespace

BlandOutcome solve_by_bland(const certificate::LpData& lp, int max_pivots) {
  return Bland(lp, max_pivots).run();
}

}  // namespace carom::reference
