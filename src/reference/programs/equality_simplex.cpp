#include "reference/programs/equality_simplex.hpp"

#include <vector>

namespace carom::reference {

namespace {

// Extended precision keeps rounding well below what counts as zero.
using Real = long double;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

constexpr Real kTolerance = 1e-13L;  // of a reduced cost, relative to the largest cost
constexpr Real kPivot = 1e-10L;      // of a pivot, relative to its column

/// Rows [A I | b] with one artificial column a row, and the reduced costs last.
class Tableau {
 public:
  Tableau(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right)
      : rows_(static_cast<int>(matrix.rows())),
        columns_(static_cast<int>(matrix.cols())),
        sign_(RealVector::Ones(rows_)),
        table_(RealMatrix::Zero(rows_ + 1, columns_ + rows_ + 1)) {
    for (int i = 0; i < rows_; ++i) {
      if (right[i] < 0.0) sign_[i] = Real(-1.0);
      table_.row(i).head(columns_) = sign_[i] * matrix.row(i).cast<Real>();
      table_(i, columns_ + i) = 1.0;
      table_(i, last()) = sign_[i] * right[i];
      basis_.push_back(columns_ + i);
    }
  }

  /// Reduced costs of max c'x with cost of all columns, artificial ones included.
  void price(const Eigen::VectorXd& cost) {
    table_.row(rows_).setZero();
    table_.row(rows_).head(columns_ + rows_) = -cost.transpose().cast<Real>();
    for (int i = 0; i < rows_; ++i) table_.row(rows_) += Real(cost[basis_[i]]) * table_.row(i);
    scale_ = cost.cwiseAbs().maxCoeff();
  }

  /// Bland's rule over columns below `allowed`.
  Status run(int allowed) {
    const int limit = 2000 * (rows_ + columns_ + 1);
    for (int pivots = 0; pivots < limit; ++pivots) {
      entering_ = 0;
      while (entering_ < allowed && table_(rows_, entering_) >= -kTolerance * scale_) ++entering_;
      if (entering_ == allowed) return Status::solved;
      const Real smallest = kPivot * table_.col(entering_).head(rows_).cwiseAbs().maxCoeff();
      int leaving = -1;
      for (int i = 0; i < rows_; ++i) {
        if (table_(i, entering_) <= smallest) continue;
        if (leaving < 0) {
          leaving = i;
          continue;
        }
        const Real here = table_(i, last()) * table_(leaving, entering_);
        const Real there = table_(leaving, last()) * table_(i, entering_);
        if (here < there || (here == there && basis_[i] < basis_[leaving])) leaving = i;
      }
      if (leaving < 0) return Status::unbounded;
      pivot(leaving, entering_);
    }
    return Status::iteration_limit;
  }

  /// Replaces artificial columns of the basis, which are zero by now, where a row allows it.
  void expel() {
    for (int i = 0; i < rows_; ++i) {
      if (basis_[i] < columns_) continue;
      int best = 0;
      table_.row(i).head(columns_).cwiseAbs().maxCoeff(&best);
      if (std::abs(table_(i, best)) > Real(1e-12)) {
        pivot(i, best);
      } else {
        table_.row(i).setZero();  // the row is redundant
      }
    }
  }

  [[nodiscard]] double objective() const { return static_cast<double>(table_(rows_, last())); }
  [[nodiscard]] Eigen::VectorXd primal() const {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(columns_);
    for (int i = 0; i < rows_; ++i) {
      if (basis_[i] < columns_) x[basis_[i]] = static_cast<double>(table_(i, last()));
    }
    return x;
  }
  [[nodiscard]] Eigen::VectorXd ray() const {
    Eigen::VectorXd d = Eigen::VectorXd::Zero(columns_);
    d[entering_] = 1.0;
    for (int i = 0; i < rows_; ++i) {
      if (basis_[i] < columns_) d[basis_[i]] = static_cast<double>(-table_(i, entering_));
    }
    return d;
  }
  /// y of the rows as they were given; cost: of the artificial columns.
  [[nodiscard]] Eigen::VectorXd dual(double cost) const {
    const RealVector shifted =
        table_.row(rows_).segment(columns_, rows_).transpose().array() + Real(cost);
    return shifted.cwiseProduct(sign_).cast<double>();
  }

 private:
  [[nodiscard]] int last() const { return columns_ + rows_; }
  void pivot(int row, int column) {
    table_.row(row) /= table_(row, column);
    for (int i = 0; i <= rows_; ++i) {
      if (i != row) table_.row(i) -= table_(i, column) * table_.row(row);
    }
    basis_[row] = column;
  }

  int rows_;
  int columns_;
  RealVector sign_;
  RealMatrix table_;
  std::vector<int> basis_;
  Real scale_ = 1.0;
  int entering_ = 0;
};

}  // namespace

EqualityOutcome maximize_equality(const Eigen::VectorXd& cost, const Eigen::MatrixXd& matrix,
                                  const Eigen::VectorXd& right) {
  const auto columns = matrix.cols();
  const auto rows = matrix.rows();
  EqualityOutcome outcome;
  Tableau tableau(matrix, right);
  Eigen::VectorXd phase = Eigen::VectorXd::Zero(columns + rows);
  phase.tail(rows).setConstant(-1.0);
  tableau.price(phase);
  outcome.status = tableau.run(static_cast<int>(columns + rows));
  if (outcome.status != Status::solved) {
    // The sum of the artificial variables has a lower bound.
    if (outcome.status == Status::unbounded) outcome.status = Status::numerical_error;
    return outcome;
  }
  const double size = std::max(1.0, right.cwiseAbs().maxCoeff());
  if (tableau.objective() < -1e-13 * size) {
    outcome.status = Status::infeasible;
    outcome.dual = tableau.dual(-1.0);
    return outcome;
  }
  tableau.expel();
  phase.setZero();
  phase.head(columns) = cost;
  tableau.price(phase);
  outcome.status = tableau.run(static_cast<int>(columns));
  if (outcome.status == Status::unbounded) {
    outcome.primal = tableau.ray();
  } else if (outcome.status == Status::solved) {
    outcome.primal = tableau.primal();
    outcome.dual = tableau.dual(0.0);
  }
  return outcome;
}

}  // namespace carom::reference
