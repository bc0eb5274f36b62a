#pragma once

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <carom/sdp.hpp>

namespace carom::test {

/// A random programme, blocks as matrices.
class Programme {
 public:
  Programme(std::uint64_t seed, std::vector<int> blocks, int variables) : random_(seed) {
    problem.blocks = std::move(blocks);
    problem.objective.assign(static_cast<std::size_t>(variables), 0.0);
    for (int i = 0; i < variables; ++i) {
      for (const int n : problem.blocks) put(problem.coefficients, symmetric(n));
    }
  }

  double number() { return std::uniform_real_distribution<double>(-1.0, 1.0)(random_); }
  Eigen::MatrixXd symmetric(int n) {
    Eigen::MatrixXd m(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) m(i, j) = m(j, i) = number();
    }
    return m;
  }
  Eigen::MatrixXd definite(int n) {
    const Eigen::MatrixXd m = symmetric(n);
    return m * m.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
  }
  static void put(std::vector<double>& to, const Eigen::MatrixXd& m) {
    for (int i = 0; i < m.rows(); ++i) {
      for (int j = 0; j < m.cols(); ++j) to.push_back(m(i, j));
    }
  }
  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const int n : problem.blocks) sum += static_cast<std::size_t>(n * n);
    return sum;
  }
  /// Block b of coefficient matrix i.
  [[nodiscard]] Eigen::MatrixXd coefficient(std::size_t i, std::size_t b) const {
    return block(problem.coefficients, i * size(), b);
  }
  [[nodiscard]] Eigen::MatrixXd block(const std::vector<double>& from, std::size_t at,
                                      std::size_t b) const {
    for (std::size_t k = 0; k < b; ++k) {
      at += static_cast<std::size_t>(problem.blocks[k] * problem.blocks[k]);
    }
    const int n = problem.blocks[b];
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<const Rows>(from.data() + at, n, n);
  }
  /// C - sum y A, or - sum y A.
  [[nodiscard]] double least_slack(const std::vector<double>& y, bool with_constant) const {
    double least = 1e300;
    for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
      Eigen::MatrixXd m = block(problem.constant, 0, b);
      if (!with_constant) m.setZero();
      for (std::size_t i = 0; i < y.size(); ++i) m -= y[i] * coefficient(i, b);
      least = std::min(least, Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m).eigenvalues()(0));
    }
    return least;
  }
  [[nodiscard]] double trace(const std::vector<double>& a, std::size_t at,
                             const std::vector<double>& x) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < size(); ++k) sum += a[at + k] * x[k];
    return sum;
  }
  [[nodiscard]] double least_of_x(const std::vector<double>& x) const {
    double least = 1e300;
    for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
      least = std::min(
          least, Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(block(x, 0, b)).eigenvalues()(0));
    }
    return least;
  }

  SdpProblem problem;

 private:
  std::mt19937_64 random_;
};

/// A programme whose truth is known by its making: a slack S0 >= 0 and a dual X0 >= 0, of less than
/// full rank where it has no interior.
class Planted : public Programme {
 public:
  Planted(std::uint64_t seed, std::vector<int> blocks, int variables)
      : Programme(seed, std::move(blocks), variables), m_(static_cast<std::size_t>(variables)) {
    for (const int n : problem.blocks) put(problem.constant, Eigen::MatrixXd::Zero(n, n));
  }

  std::vector<double> matrices(int lost) {
    std::vector<double> result;
    for (const int n : problem.blocks) {
      const int rank = n > 1 ? n - lost : 1;
      Eigen::MatrixXd factor(n, n);
      for (int i = 0; i < n * n; ++i) factor(i / n, i % n) = number();
      put(result, factor.leftCols(rank) * factor.leftCols(rank).transpose());
    }
    return result;
  }
  std::vector<double> numbers() {
    std::vector<double> y(m_);
    for (double& v : y) v = number();
    return y;
  }
  void add(const std::vector<double>& y, std::vector<double>& to) const {
    for (std::size_t i = 0; i < m_; ++i) {
      for (std::size_t k = 0; k < size(); ++k) to[k] += y[i] * problem.coefficients[i * size() + k];
    }
  }
  /// y is feasible with slack s.
  void feasible(const std::vector<double>& y, const std::vector<double>& s) {
    problem.constant = s;
    add(y, problem.constant);
  }
  void bounded(const std::vector<double>& x) {
    for (std::size_t i = 0; i < m_; ++i) {
      problem.objective[i] = trace(problem.coefficients, i * size(), x);
    }
  }
  /// Variable `to` is a combination of the others.
  void repeat(std::size_t to) {
    const std::vector<double> share = numbers();
    for (std::size_t k = 0; k < size(); ++k) {
      double sum = 0.0;
      for (std::size_t i = 0; i < m_; ++i) {
        if (i != to) sum += share[i] * problem.coefficients[i * size() + k];
      }
      problem.coefficients[to * size() + k] = sum;
    }
  }
  /// Blocks b and b + 1 of size 1 say f(y) >= 0 and -f(y) >= 0.
  void oppose(std::size_t first) {
    std::size_t at = 0;
    for (std::size_t b = 0; b < first; ++b) {
      at += static_cast<std::size_t>(problem.blocks[b] * problem.blocks[b]);
    }
    for (std::size_t i = 0; i < m_; ++i) {
      double* a = problem.coefficients.data() + i * size() + at;
      a[1] = -a[0];
    }
  }
  /// X0 >= 0 with <A_i, X0> = 0 and <C, X0> = -fall.
  void refute(const std::vector<double>& x, double fall) {
    const double xx = trace(x, 0, x);
    for (std::size_t i = 0; i < m_; ++i) {
      const double off = trace(problem.coefficients, i * size(), x) / xx;
      for (std::size_t k = 0; k < size(); ++k) problem.coefficients[i * size() + k] -= off * x[k];
    }
    const double off = (trace(problem.constant, 0, x) + fall) / xx;
    for (std::size_t k = 0; k < size(); ++k) problem.constant[k] -= off * x[k];
  }
  /// -sum d A = s and b'd = gain.
  void ascend(const std::vector<double>& s, double gain) {
    std::vector<double> d = numbers();
    d[0] = d[0] < 0.0 ? -1.0 : 1.0;
    std::vector<double> sum = s;
    const double first = d[0];
    d[0] = 0.0;
    add(d, sum);
    double rest = 0.0;
    for (std::size_t i = 1; i < m_; ++i) rest += d[i] * problem.objective[i];
    for (std::size_t k = 0; k < size(); ++k) problem.coefficients[k] = -sum[k] / first;
    problem.objective[0] = (gain - rest) / first;
  }
  /// Blocks, variables, constant and objective in units of their own, by powers of two.
  void rescale(double decades) {
    const auto factor = [&] { return std::exp2(std::round(decades * 3.3 * number())); };
    std::size_t at = 0;
    const double c = factor(), b = factor();
    std::vector<double> variable(m_);
    for (double& v : variable) v = factor();
    for (const int n : problem.blocks) {
      const double block = factor();
      for (std::size_t k = at; k < at + static_cast<std::size_t>(n * n); ++k) {
        problem.constant[k] *= block * c;
        for (std::size_t i = 0; i < m_; ++i) {
          problem.coefficients[i * size() + k] *= block * variable[i];
        }
      }
      at += static_cast<std::size_t>(n * n);
    }
    for (std::size_t i = 0; i < m_; ++i) problem.objective[i] *= b * variable[i];
  }

 private:
  std::size_t m_;
};

}  // namespace carom::test
