#pragma once

#include <Eigen/Dense>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <carom/boxed_lcp.hpp>

#include "support/random_problems.hpp"

/// Boxed LCPs of every kind that bodies are compared on.
namespace carom::test {

struct BoxProblem {
  Matrix matrix;
  Vector vector, lower, upper;
  std::vector<int> findex{};  // empty: none
  std::vector<double> friction{};

  [[nodiscard]] int order() const { return static_cast<int>(vector.size()); }
};

/// All of one order; those without friction rows have findex -1 where another has some.
inline BoxedLcpBatch boxed_batch(const std::vector<BoxProblem>& problems) {
  bool friction = false;
  for (const BoxProblem& own : problems) friction = friction || !own.findex.empty();
  const auto n = static_cast<std::size_t>(problems.front().order());
  auto batch =
      allocate<BoxedLcpBatch>({static_cast<std::int64_t>(problems.size()), static_cast<int>(n)},
                              MemorySpace::host, friction);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const BoxProblem& own = problems[p];
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      for (std::size_t j = 0; j < n; ++j) {
        batch.matrix.data()[(p * n + i) * n + j] = own.matrix(k, static_cast<Eigen::Index>(j));
      }
      batch.vector.data()[p * n + i] = own.vector[k];
      batch.lower.data()[p * n + i] = own.lower[k];
      batch.upper.data()[p * n + i] = own.upper[k];
      if (!friction) continue;
      batch.findex.data()[p * n + i] = own.findex.empty() ? -1 : own.findex[i];
      batch.friction.data()[p * n + i] = own.findex.empty() ? 0.0 : own.friction[i];
    }
  }
  return batch;
}

/// The test of ODE's own dSolveLCP (ode/src/lcp.cpp, test_lcp): A = A2 A2' of random numbers in
/// (-1, 1), b = A x, the first nub rows free, the others between -rand and rand.
inline BoxProblem ode_test(Generator& random, int n, int nub) {
  BoxProblem problem;
  const auto draw = [&](double low, double high) { return random.between(low, high); };
  Matrix factor(n, n);
  for (double& x : factor.reshaped()) x = draw(-1.0, 1.0);
  problem.matrix = factor * factor.transpose();
  Vector x(n);
  for (double& own : x) own = draw(-1.0, 1.0);
  problem.vector = -(problem.matrix * x);  // ODE has A z = b + w
  problem.lower = Vector::Constant(n, -HUGE_VAL);
  problem.upper = Vector::Constant(n, HUGE_VAL);
  for (int i = nub; i < n; ++i) {
    problem.lower[i] = -draw(0.0, 1.0);
    problem.upper[i] = draw(0.0, 1.0);
  }
  return problem;
}

/// An island of contacts in the form of ODE, DART and Nimble: for each contact a normal row and two
/// of friction that name it by findex, M = J W J' + cfm. Bodies with six velocities each lie on
/// others or on the ground.
inline BoxProblem contact_island(Generator& random, int bodies, int contacts, double cfm) {
  const int n = 3 * contacts, v = 6 * bodies;
  Matrix jacobian = Matrix::Zero(n, v);
  Vector velocity(v);
  for (double& own : velocity) own = random.between(-1.0, 1.0);
  Vector inverse_mass(v);
  for (int b = 0; b < bodies; ++b) {
    const double mass = std::pow(10.0, random.between(-1.0, 1.0));
    for (int d = 0; d < 6; ++d) inverse_mass[6 * b + d] = (d < 3 ? 1.0 : 6.0) / mass;
    velocity[6 * b + 2] -= 1.0;
  }
  BoxProblem problem;
  problem.lower = Vector::Zero(n);
  problem.upper = Vector::Constant(n, HUGE_VAL);
  for (int c = 0; c < contacts; ++c) {
    const int upper = random.integer(0, bodies - 1);
    const int lower = random.integer(-1, bodies - 1);  // -1: the ground
    const double corner[3] = {random.integer(0, 1) - 0.5, random.integer(0, 1) - 0.5, -0.5};
    const double mu = random.between(0.2, 1.0);
    for (int d = 0; d < 3; ++d) {
      const int axis = (d + 2) % 3;
      const auto of_body = [&](int body, double sign, double height) {
        const double arm[3] = {corner[0], corner[1], height};
        jacobian(3 * c + d, 6 * body + axis) += sign;
        const int next = (axis + 1) % 3, last = (axis + 2) % 3;
        jacobian(3 * c + d, 6 * body + 3 + next) += sign * arm[last];
        jacobian(3 * c + d, 6 * body + 3 + last) -= sign * arm[next];
      };
      of_body(upper, 1.0, -0.5);
      if (lower >= 0 && lower != upper) of_body(lower, -1.0, 0.5);
      problem.findex.push_back(d == 0 ? -1 : 3 * c);
      problem.friction.push_back(d == 0 ? 0.0 : mu);
      if (d > 0) problem.lower[3 * c + d] = -HUGE_VAL;
    }
  }
  problem.matrix = jacobian * inverse_mass.asDiagonal() * jacobian.transpose();
  problem.matrix.diagonal().array() += cfm;
  problem.vector = jacobian * velocity;
  return problem;
}

/// Everything else that a body may meet: ties, fixed and free z, dependent equations, bounds of all
/// kinds, numbers of all sizes, crossed bounds, NaN.
inline BoxProblem odd_box(Generator& random, int n) {
  const Matrix b = random.normal_matrix(n, n);
  BoxProblem problem{
      .matrix = b * b.transpose() / n, .vector = random.normal_vector(n), .lower = {}, .upper = {}};
  problem.lower.resize(n);
  problem.upper.resize(n);
  const bool whole = random.unit() < 0.4;
  if (whole) {
    for (double& x : problem.matrix.reshaped()) x = random.integer(-1, 1);
    problem.matrix = (problem.matrix * problem.matrix.transpose()).eval();
    for (double& x : problem.vector) x = random.integer(-2, 2);
  }
  for (int i = 0; i < n; ++i) {
    problem.lower[i] = random.integer(-2, 1) * (whole ? 1.0 : random.between(0.1, 1.0));
    problem.upper[i] =
        problem.lower[i] + random.integer(0, 3) * (whole ? 1.0 : random.between(0.1, 1.0));
    const int kind = random.integer(0, 9);
    if (kind == 0 || kind == 1 || kind == 2) problem.upper[i] = HUGE_VAL;
    if (kind == 1 || kind == 3) problem.lower[i] = -HUGE_VAL;
  }
  switch (random.integer(0, 11)) {
    case 0:
      problem.matrix = b;
      break;
    case 1:
      problem.matrix += 3.0 * (b - b.transpose());
      break;
    case 2:  // equations that depend on each other
      for (int i = 0; i < n; ++i) {
        problem.lower[i] = -HUGE_VAL;
        problem.upper[i] = HUGE_VAL;
      }
      problem.matrix.row(n - 1) = problem.matrix.row(0);
      problem.matrix.col(n - 1) = problem.matrix.col(0);
      problem.vector[n - 1] = problem.vector[0];
      break;
    case 3:
      for (int i = 0; i < n; ++i) {
        const double unit = std::pow(10.0, random.between(-8.0, 8.0));
        problem.matrix.row(i) *= unit;
        problem.vector[i] *= unit;
      }
      break;
    case 4:
      problem.lower[n / 2] = 2.0;
      problem.upper[n / 2] = 1.0;
      break;
    case 5:
      problem.matrix(n - 1, 0) = std::nan("");
      break;
    case 6:
      problem.matrix.row(n / 2).setZero();
      problem.matrix.col(n / 2).setZero();
      break;
    case 7:
      problem.vector.setZero();
      break;
    default:
      break;
  }
  return problem;
}

}  // namespace carom::test
