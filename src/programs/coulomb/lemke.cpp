#include "programs/coulomb/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace carom::cpu {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Lemke's method on w = M z + q, z >= 0, w >= 0, z'w = 0, on the full tableau
/// I w - M z - e z0 = q. The columns of w hold the basis inverse, which the lexicographic ratio
/// test compares. Variables: w_i is i, z_i is n + i, the artificial one is 2 n.
class Lemke {
 public:
  Lemke(const MatrixXd& matrix, const VectorXd& vector)
      : order_(vector.size()), tableau_(order_, 2 * order_ + 2), basis_(order_) {
    tableau_.leftCols(order_).setIdentity();
    tableau_.middleCols(order_, order_) = -matrix;
    tableau_.col(2 * order_).setConstant(-1.0);
    tableau_.col(2 * order_ + 1) = vector;
    std::iota(basis_.begin(), basis_.end(), Index{0});
  }

  bool solve(int max_pivots, int& pivots, VectorXd& z) {
    Index row = 0;
    if (tableau_.col(right()).minCoeff(&row) < 0) {
      Index entering = 2 * order_;
      for (int k = 0;; ++k) {
        if (k == max_pivots || row < 0) return false;
        const Index leaving = basis_[row];
        pivot(row, entering);
        ++pivots;
        if (leaving == 2 * order_) break;
        entering = leaving < order_ ? leaving + order_ : leaving - order_;
        row = leaving_row(entering);
      }
    }
    z.setZero(order_);
    for (Index i = 0; i < order_; ++i) {
      if (basis_[i] >= order_) z[basis_[i] - order_] = tableau_(i, right());
    }
    return z.allFinite();
  }

 private:
  [[nodiscard]] Index right() const { return 2 * order_ + 1; }

  void pivot(Index row, Index column) {
    tableau_.row(row) /= tableau_(row, column);
    for (Index i = 0; i < order_; ++i) {
      if (i != row && tableau_(i, column) != 0) {
        tableau_.row(i) -= tableau_(i, column) * tableau_.row(row).eval();
      }
    }
    basis_[row] = column;
  }

  /// Row of the lexicographically smallest ratio, the artificial variable first; -1 on a ray.
  [[nodiscard]] Index leaving_row(Index column) const {
    constexpr double kTiny = 1e-11;
    const double floor = kTiny * (1 + tableau_.col(column).cwiseAbs().maxCoeff());
    Index best = -1;
    for (Index i = 0; i < order_; ++i) {
      if (!(tableau_(i, column) > floor)) continue;
      if (best < 0 || precedes(i, best, column)) best = i;
    }
    return best;
  }

  [[nodiscard]] bool precedes(Index i, Index other, Index column) const {
    constexpr double kTie = 1e-12;
    const double scale_i = 1 / tableau_(i, column);
    const double scale_other = 1 / tableau_(other, column);
    for (Index k = -1; k < order_; ++k) {
      const Index c = k < 0 ? right() : k;
      const double mine = tableau_(i, c) * scale_i;
      const double theirs = tableau_(other, c) * scale_other;
      if (std::abs(mine - theirs) > kTie * (1 + std::abs(mine))) return mine < theirs;
      if (k < 0 && basis_[i] == 2 * order_) return true;
      if (k < 0 && basis_[other] == 2 * order_) return false;
    }
    return false;
  }

  Index order_;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> tableau_;
  std::vector<Index> basis_;
};

}  // namespace

bool solve_polyhedral(const CoulombSystem& system, int directions, double balance, int max_pivots,
                      VectorXd& reaction, int& pivots) {
  const int d = system.dimension;
  const int m = system.contacts;
  const int k = d == 2 ? 2 : directions;
  const Index n = static_cast<Index>(m) * (k + 2);
  // r = E (r_n, beta); rows of the LCP: u_n, E_t' u_t + gamma, mu r_n - sum beta.
  MatrixXd expand = MatrixXd::Zero(system.size(), static_cast<Index>(m) * (k + 1));
  MatrixXd matrix = MatrixXd::Zero(n, n);
  VectorXd vector = VectorXd::Zero(n);
  for (int i = 0; i < m; ++i) {
    // gamma and its row are scaled alike, so that a large mu does not swamp the pivot tolerance.
    const double scale = std::pow(std::max(1.0, system.friction[i]), balance);
    expand(d * i, i) = 1;
    for (int j = 0; j < k; ++j) {
      const Index column = m + static_cast<Index>(k) * i + j;
      const double angle = (2 * j + 0.3) * std::numbers::pi / k;  // off the axes of the data
      if (d == 2) {
        expand(d * i + 1, column) = j == 0 ? 1 : -1;
      } else {
        expand(d * i + 1, column) = std::cos(angle);
        expand(d * i + 2, column) = std::sin(angle);
      }
      matrix(column, n - m + i) = 1 / scale;
      matrix(n - m + i, column) = -1 / scale;
    }
    matrix(n - m + i, i) = system.friction[i] / scale;
  }
  const Index forces = n - m;
  matrix.topLeftCorner(forces, forces) = expand.transpose() * system.matrix * expand;
  vector.head(forces) = expand.transpose() * system.vector;
  VectorXd z;
  if (!Lemke(matrix, vector).solve(max_pivots, pivots, z)) return false;
  reaction = expand * z.head(forces);
  return true;
}

}  // namespace carom::cpu
