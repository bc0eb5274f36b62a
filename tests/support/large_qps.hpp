#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <Eigen/Dense>

#include <carom/qp.hpp>

namespace carom::test {

/// One implicit step of a rigid cube on springs, as a quadratic program in their impulses:
/// minimise 1/2 p'(G M^-1 G' + diag(1/eta)) p + w'p, p >= 0.
struct Foundation {
  QpBatch batch;
  Eigen::MatrixXd directions;    ///< G, [springs, 3]: height, two tilts
  Eigen::Vector3d inverse_mass;  ///< diagonal of M^-1
  Eigen::VectorXd approach;      ///< w
  double softness;               ///< 1 / eta
};

/// columns x rows springs under a cube of 1 m and 1000 kg that has been tilted, so that some let
/// go. modulus: [N/m2]; step: [s].
inline Foundation foundation(int columns, int rows, double modulus, double step) {
  const int n = columns * rows;
  const double mass = 1000.0;
  const double stiffness = modulus / n;
  const double damping = 100.0;
  Foundation result;
  result.inverse_mass = {1.0 / mass, 6.0 / mass, 6.0 / mass};
  result.softness = 1.0 / (step * (step * stiffness + damping));
  result.directions.resize(n, 3);
  result.approach.resize(n);
  const Eigen::Vector3d velocity(-0.01 - 9.81 * step, 0.02, -0.03);
  for (int i = 0; i < n; ++i) {
    const double x = (i % columns + 0.5) / columns - 0.5;
    const double y = (i / columns + 0.5) / rows - 0.5;
    result.directions.row(i) << 1.0, y, -x;
    const double gap = 1e-5 * (0.3 + x - 0.5 * y);
    const double spring = step * stiffness / (step * stiffness + damping);
    result.approach[i] = result.directions.row(i).dot(velocity) + gap / step * spring;
  }
  const Eigen::MatrixXd hessian =
      result.directions * result.inverse_mass.asDiagonal() * result.directions.transpose() +
      result.softness * Eigen::MatrixXd::Identity(n, n);
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
  const auto size = static_cast<std::size_t>(n);
  const auto matrix_of = [&](const Eigen::MatrixXd& from) {
    return Buffer<double>::from(std::vector<double>(from.data(), from.data() + from.size()));
  };
  QpBatch& batch = result.batch;
  batch.problems = 1;
  batch.variables = n;
  batch.rows = n;
  batch.hessian = matrix_of(hessian);
  batch.vector = matrix_of(result.approach);
  batch.matrix = matrix_of(identity);
  batch.lower = Buffer<double>::from(std::vector<double>(size, 0.0));
  batch.upper =
      Buffer<double>::from(std::vector<double>(size, std::numeric_limits<double>::infinity()));
  return result;
}

/// The impulses by Newton's method on the three velocities that they cause: p = -eta (G v + w)
/// where that is positive, v = M^-1 G'p.
inline Eigen::VectorXd foundation_forces(const Foundation& f) {
  const double eta = 1.0 / f.softness;
  Eigen::Vector3d v = Eigen::Vector3d::Zero();
  Eigen::VectorXd p;
  for (int iteration = 0; iteration < 100; ++iteration) {
    p = (-eta * (f.directions * v + f.approach)).cwiseMax(0.0);
    const Eigen::VectorXd active = (p.array() > 0.0).cast<double>();
    const Eigen::Matrix3d push =
        f.inverse_mass.asDiagonal() *
        (f.directions.transpose() * (eta * active).asDiagonal() * f.directions);
    const Eigen::Vector3d error =
        v - f.inverse_mass.asDiagonal() * (f.directions.transpose() * p).eval();
    const Eigen::Vector3d change = (Eigen::Matrix3d::Identity() + push).partialPivLu().solve(error);
    v -= change;
    if (change.norm() <= 1e-15 * v.norm()) break;
  }
  return p;
}

/// Random problems with two bounds on each variable, then `rows` dense rows on one side, the first
/// `equations` of which are equations that can be met. rank: of the Hessian; ridge:
/// what is added to its diagonal.
inline QpBatch boxed_qps(int variables, int rows, int equations, int rank, int problems,
                         unsigned seed, double ridge = 1e-3) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  const auto n = static_cast<std::size_t>(variables);
  const std::size_t m = n + static_cast<std::size_t>(rows);
  const auto count = static_cast<std::size_t>(problems);
  std::vector<double> hessian, vector, lower, upper;
  std::vector<double> matrix(count * m * n, 0.0);
  for (std::size_t p = 0; p < count; ++p) {
    Eigen::MatrixXd root(variables, rank);
    for (double& r : root.reshaped()) r = normal(engine);
    Eigen::MatrixXd curvature = root * root.transpose() / std::max(rank, 1);
    curvature.diagonal().array() += ridge;
    hessian.insert(hessian.end(), curvature.data(), curvature.data() + curvature.size());
    for (std::size_t j = 0; j < n; ++j) {
      vector.push_back(3.0 * normal(engine));
      matrix[(p * m + j) * n + j] = 1.0;
      lower.push_back(-0.1 - std::abs(normal(engine)));
      upper.push_back(0.1 + std::abs(normal(engine)));
    }
    for (std::size_t i = n; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) matrix[(p * m + i) * n + j] = normal(engine);
      const bool equation = i - n < static_cast<std::size_t>(equations);
      const double side = 0.1 * std::sqrt(static_cast<double>(n));
      lower.push_back(equation ? 0.5 * side : -side);
      upper.push_back(equation ? 0.5 * side : std::numeric_limits<double>::infinity());
    }
  }
  QpBatch batch;
  batch.problems = problems;
  batch.variables = variables;
  batch.rows = static_cast<int>(m);
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(upper);
  return batch;
}

}  // namespace carom::test
