#include "enclosure/interior_point.hpp"

#include <algorithm>
#include <cmath>

namespace carom::enclosure {

namespace {

using Eigen::VectorXd;

constexpr int kSteps = 60;
constexpr double kShare = 0.995;  // of the way to the boundary

/// Slacks of rows and of both sides of the box, and their multipliers.
struct Pairs {
  VectorXd row, high, low;

  [[nodiscard]] double dot(const Pairs& other) const {
    return row.dot(other.row) + high.dot(other.high) + low.dot(other.low);
  }
  [[nodiscard]] Eigen::Index count() const { return row.size() + high.size() + low.size(); }
  void add(double share, const Pairs& step) {
    row += share * step.row;
    high += share * step.high;
    low += share * step.low;
  }
  template <class Visit>
  static void each(Visit&& visit) {
    visit(&Pairs::row);
    visit(&Pairs::high);
    visit(&Pairs::low);
  }
};

/// The largest step up to 1 that leaves all of them positive.
double longest(const Pairs& at, const Pairs& step) {
  double most = 1.0;
  Pairs::each([&](auto part) {
    const VectorXd& value = at.*part;
    const VectorXd& change = step.*part;
    for (Eigen::Index i = 0; i < value.size(); ++i) {
      if (change(i) < 0.0) most = std::min(most, -kShare * value(i) / change(i));
    }
  });
  return most;
}

class Solver {
 public:
  explicit Solver(const InnerProgram& program) : p_(program) {
    const Eigen::Index n = p_.cost.size();
    x_ = 0.5 * (p_.low + p_.high);
    slack_ = {(p_.bounds - p_.rows * x_).cwiseMax(1.0), p_.high - x_, x_ - p_.low};
    multiplier_ = {VectorXd::Ones(p_.bounds.size()), VectorXd::Ones(n), VectorXd::Ones(n)};
  }

  InnerSolution run(double tolerance) {
    InnerSolution result;
    const double scale = 1.0 + p_.cost.cwiseAbs().maxCoeff();
    for (int step = 0; step < kSteps; ++step) {
      const VectorXd infeasible = p_.bounds - p_.rows * x_ - slack_.row;
      const VectorXd dual =
          -p_.cost - p_.rows.transpose() * multiplier_.row - multiplier_.high + multiplier_.low;
      const double gap = slack_.dot(multiplier_);
      const double mean = gap / static_cast<double>(slack_.count());
      const double off = infeasible.size() > 0 ? infeasible.cwiseAbs().maxCoeff() : 0.0;
      if (gap <= tolerance * scale && off <= tolerance &&
          dual.cwiseAbs().maxCoeff() <= tolerance * scale) {
        result.solved = true;
        break;
      }
      if (!factor()) break;
      Pairs target, slack_step, multiplier_step;
      Pairs::each(
          [&](auto part) { target.*part = -(slack_.*part).cwiseProduct(multiplier_.*part); });
      VectorXd x_step;
      direction(infeasible, dual, target, x_step, slack_step, multiplier_step);
      const double primal = longest(slack_, slack_step);
      const double other = longest(multiplier_, multiplier_step);
      Pairs slack_then = slack_, multiplier_then = multiplier_;
      slack_then.add(primal, slack_step);
      multiplier_then.add(other, multiplier_step);
      const double ratio = slack_then.dot(multiplier_then) / gap;
      const double centre = mean * ratio * ratio * ratio;
      Pairs::each([&](auto part) {
        (target.*part).array() +=
            centre - (slack_step.*part).array() * (multiplier_step.*part).array();
      });
      direction(infeasible, dual, target, x_step, slack_step, multiplier_step);
      const double along = longest(slack_, slack_step);
      const double up = longest(multiplier_, multiplier_step);
      if (!x_step.allFinite()) break;
      x_ += along * x_step;
      slack_.add(along, slack_step);
      multiplier_.add(up, multiplier_step);
    }
    result.x = x_;
    result.multipliers = multiplier_.row;
    return result;
  }

 private:
  bool factor() {
    const Eigen::Index n = x_.size();
    Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(n, n);
    // By pointers: Eigen's iterators over a row live in memory, which takes a third longer.
    const int* const start = p_.rows.outerIndexPtr();
    const int* const column = p_.rows.innerIndexPtr();
    const double* const entry = p_.rows.valuePtr();
    for (Eigen::Index r = 0; r < p_.rows.rows(); ++r) {
      const double weight = multiplier_.row(r) / slack_.row(r);
      for (int i = start[r]; i < start[r + 1]; ++i) {
        const double value = weight * entry[i];
        double* const to = normal.data() + column[i] * n;
        for (int j = i; j < start[r + 1]; ++j) to[column[j]] += value * entry[j];
      }
    }
    normal.diagonal() +=
        multiplier_.high.cwiseQuotient(slack_.high) + multiplier_.low.cwiseQuotient(slack_.low);
    // Near the optimum rounding makes what is left of small pivots negative.
    const double largest = normal.diagonal().maxCoeff();
    for (double more = 0.0; more < 1e-6; more = std::max(10.0 * more, 1e-15)) {
      normal.diagonal().array() += more * largest;
      factor_.compute(normal);
      if (factor_.info() == Eigen::Success) return true;
    }
    return false;
  }

  /// The step to slack * multiplier = product + target; the box's rows stay feasible.
  void direction(const VectorXd& infeasible, const VectorXd& dual, const Pairs& target,
                 VectorXd& x_step, Pairs& slack_step, Pairs& multiplier_step) const {
    const VectorXd of_row =
        (target.row - multiplier_.row.cwiseProduct(infeasible)).cwiseQuotient(slack_.row);
    const VectorXd of_high = target.high.cwiseQuotient(slack_.high);
    const VectorXd of_low = target.low.cwiseQuotient(slack_.low);
    x_step = factor_.solve(dual - p_.rows.transpose() * of_row - of_high + of_low);
    slack_step = {infeasible - p_.rows * x_step, -x_step, x_step};
    Pairs::each([&](auto part) {
      multiplier_step.*part = (target.*part - (multiplier_.*part).cwiseProduct(slack_step.*part))
                                  .cwiseQuotient(slack_.*part);
    });
  }

  const InnerProgram& p_;
  VectorXd x_;
  Pairs slack_, multiplier_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

}  // namespace

InnerSolution solve_inner(const InnerProgram& program, double tolerance) {
  return Solver(program).run(tolerance);
}

}  // namespace carom::enclosure
