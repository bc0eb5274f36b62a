#pragma once

#include <cmath>
#include <vector>

#include <Eigen/Dense>

/// What a user would write in an afternoon: Lemke's method with lexicographic ties on the full
/// tableau [w | z | z0 | q] of 2 n + 2 columns, as textbooks print it.
/// N: the order, or Eigen::Dynamic.
namespace carom::bench {

template <int N>
class PlainLemke {
  static constexpr int kColumns = N == Eigen::Dynamic ? Eigen::Dynamic : 2 * N + 2;
  static constexpr double kZero = 1e-12;

 public:
  using MatrixN = Eigen::Matrix<double, N, N, Eigen::RowMajor>;
  using VectorN = Eigen::Matrix<double, N, 1>;

  /// True where z solves w = M z + q, complementary; z is not checked.
  bool solve(const Eigen::Ref<const MatrixN>& matrix, const Eigen::Ref<const VectorN>& vector,
             Eigen::Ref<VectorN> z) {
    n_ = static_cast<int>(vector.size());
    z.setZero();
    if (vector.minCoeff() >= 0.0) return true;
    tableau_.resize(n_, 2 * n_ + 2);
    tableau_.leftCols(n_).setIdentity();
    tableau_.middleCols(n_, n_) = -matrix;
    tableau_.col(2 * n_).setConstant(-1.0);
    tableau_.col(2 * n_ + 1) = vector;
    basis_.resize(static_cast<std::size_t>(n_));
    for (int i = 0; i < n_; ++i) basis_[static_cast<std::size_t>(i)] = i;

    // z0 enters where [q, I] is lexicographically least.
    int row = 0;
    for (int i = 1; i < n_; ++i) {
      if (tableau_(i, 2 * n_ + 1) <= tableau_(row, 2 * n_ + 1)) row = i;
    }
    int entering = 2 * n_;
    for (int pivots = 0; pivots < 50 * (n_ + 1); ++pivots) {
      const int leaving = basis_[static_cast<std::size_t>(row)];
      pivot(row, entering);
      if (leaving == 2 * n_) {
        for (int i = 0; i < n_; ++i) {
          const int variable = basis_[static_cast<std::size_t>(i)];
          if (variable >= n_) z[variable - n_] = tableau_(i, 2 * n_ + 1);
        }
        return true;
      }
      entering = leaving < n_ ? leaving + n_ : leaving - n_;
      row = leaving_row(entering);
      if (row < 0) return false;
    }
    return false;
  }

 private:
  void pivot(int row, int column) {
    tableau_.row(row) /= tableau_(row, column);
    for (int i = 0; i < n_; ++i) {
      const double factor = tableau_(i, column);
      if (i != row && factor != 0.0) tableau_.row(i) -= factor * tableau_.row(row);
    }
    basis_[static_cast<std::size_t>(row)] = column;
  }

  /// Lexicographic minimum ratio; z0 leaves as soon as it may.
  [[nodiscard]] int leaving_row(int entering) const {
    int best = -1;
    for (int i = 0; i < n_; ++i) {
      if (tableau_(i, entering) <= kZero) continue;
      if (best < 0 || before(i, best, entering)) best = i;
    }
    return best;
  }

  [[nodiscard]] bool before(int i, int j, int entering) const {
    const double a = tableau_(i, entering);
    const double b = tableau_(j, entering);
    const double q = tableau_(i, 2 * n_ + 1) / a - tableau_(j, 2 * n_ + 1) / b;
    if (std::abs(q) > kZero) return q < 0.0;
    if (basis_[static_cast<std::size_t>(i)] == 2 * n_) return true;
    if (basis_[static_cast<std::size_t>(j)] == 2 * n_) return false;
    for (int c = 0; c < n_; ++c) {
      const double difference = tableau_(i, c) / a - tableau_(j, c) / b;
      if (std::abs(difference) > kZero) return difference < 0.0;
    }
    return false;
  }

  int n_ = 0;
  Eigen::Matrix<double, N, kColumns, Eigen::RowMajor> tableau_;
  std::vector<int> basis_;
};

}  // namespace carom::bench
