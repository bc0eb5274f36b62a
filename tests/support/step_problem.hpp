#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <Eigen/Dense>

#include <carom/impact.hpp>

#include "support/random_problems.hpp"

/// One step (75), and its residual by code of the tests' own.
namespace carom::test {

/// A mechanism at a velocity, with the bounds of one step.
struct StepProblem {
  int dimension = 2;
  int contacts = 0;
  int directions = 4;  ///< k of spatial contacts
  Matrix mass;         ///< M
  Matrix jacobian;     ///< J = [Jn; Jt], [d m, nv]
  Vector friction;     ///< mu
  Vector velocity;     ///< v
  Vector limit;        ///< lambda_max

  [[nodiscard]] int rows() const { return dimension * contacts; }
  [[nodiscard]] Matrix response() const { return mass.llt().solve(jacobian.transpose()); }
  /// A = J M^-1 J'.
  [[nodiscard]] Matrix delassus() const {
    const Matrix product = jacobian * response();
    return 0.5 * (product + product.transpose());
  }
  [[nodiscard]] Vector contact_velocity() const { return jacobian * velocity; }
};

inline StepProblem step_problem(const ImpactProblem& problem, const Vector& limit, int directions) {
  const int nv = problem.velocities;
  const int m = problem.contacts;
  const int t = (problem.dimension - 1) * m;
  StepProblem step;
  step.dimension = problem.dimension;
  step.contacts = m;
  step.directions = directions;
  step.mass = Eigen::Map<const Matrix>(problem.mass_matrix.data(), nv, nv);
  step.jacobian.resize(m + t, nv);
  step.jacobian << Eigen::Map<const Matrix>(problem.normal_jacobian.data(), m, nv),
      Eigen::Map<const Matrix>(problem.tangent_jacobian.data(), t, nv);
  step.friction = Eigen::Map<const Vector>(problem.friction.data(), m);
  step.velocity = Eigen::Map<const Vector>(problem.velocity.data(), nv);
  step.limit = limit;
  return step;
}

/// Steps of one shape as a batch.
inline StepBatch step_batch(const std::vector<StepProblem>& steps) {
  StepBatch batch;
  batch.problems = static_cast<std::int64_t>(steps.size());
  batch.dimension = steps.front().dimension;
  batch.contacts = steps.front().contacts;
  std::vector<double> delassus, velocity, friction, limit;
  const auto append = [](std::vector<double>& to, const auto& values) {
    to.insert(to.end(), values.data(), values.data() + values.size());
  };
  for (const StepProblem& step : steps) {
    append(delassus, step.delassus());
    append(velocity, step.contact_velocity());
    append(friction, step.friction);
    append(limit, step.limit);
  }
  batch.delassus = Buffer<double>::from(delassus);
  batch.contact_velocity = Buffer<double>::from(velocity);
  batch.friction = Buffer<double>::from(friction);
  batch.max_impulse = Buffer<double>::from(limit);
  return batch;
}

/// (75) in its original unknowns z = [beta; lambda_n; lambda_D; gamma], block by block as printed
/// in the paper, for finite lambda_max; contacts with an infinite one have beta = 0 and no first
/// row.
struct FullLcp {
  Matrix matrix;
  Vector vector;
};

/// Unit friction directions of one contact as columns, [d - 1, k].
inline Matrix directions_of(const StepProblem& step) {
  if (step.dimension == 2) return (Matrix(1, 2) << 1.0, -1.0).finished();
  Matrix polygon(2, step.directions);
  for (int j = 0; j < step.directions; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / step.directions;
    polygon(0, j) = std::cos(angle);
    polygon(1, j) = std::sin(angle);
  }
  return polygon;
}

inline FullLcp full_lcp(const StepProblem& step) {
  const int m = step.contacts;
  const int t = step.dimension - 1;
  const Matrix polygon = directions_of(step);
  const int k = static_cast<int>(polygon.cols());
  // J_D stacks d_j' Jt_i, Jbar = [Jn; J_D].
  Matrix stacked(m + k * m, step.jacobian.cols());
  stacked.topRows(m) = step.jacobian.topRows(m);
  for (int i = 0; i < m; ++i) {
    stacked.middleRows(m + k * i, k) = polygon.transpose() * step.jacobian.middleRows(m + t * i, t);
  }
  const int force = static_cast<int>(stacked.rows());
  const int n = 2 * m + force;
  Matrix ones = Matrix::Zero(k * m, m);
  for (int i = 0; i < m; ++i) ones.block(k * i, i, k, 1).setOnes();
  FullLcp lcp;
  lcp.matrix = Matrix::Zero(n, n);
  lcp.vector = Vector::Zero(n);
  lcp.matrix.block(m, m, force, force) =
      stacked * step.mass.llt().solve(stacked.transpose()).eval();
  lcp.vector.segment(m, force) = stacked * step.velocity;
  for (int i = 0; i < m; ++i) {
    if (!std::isfinite(step.limit[i])) continue;
    lcp.matrix(i, m + i) = -1.0;  // lambda_max - lambda_n
    lcp.matrix(m + i, i) = 1.0;   // beta
    lcp.vector[i] = step.limit[i];
  }
  lcp.matrix.block(2 * m, m + force, k * m, m) = ones;
  lcp.matrix.block(m + force, 2 * m, m, k * m) = -ones.transpose();
  lcp.matrix.block(m + force, m, m, m) = step.friction.asDiagonal();
  return lcp;
}

/// z of a reduced impulse [lambda_n; lambda_t]: beta and gamma as small as v' allows, lambda_t on
/// the two directions that enclose it.
inline Vector lift(const StepProblem& step, const Vector& impulse) {
  const int m = step.contacts;
  const int t = step.dimension - 1;
  const Matrix polygon = directions_of(step);
  const int k = static_cast<int>(polygon.cols());
  const Vector next = step.contact_velocity() + step.jacobian * (step.response() * impulse).eval();
  Vector z = Vector::Zero(m * (k + 3));
  for (int i = 0; i < m; ++i) {
    const Vector force = impulse.segment(m + t * i, t);
    const Vector slip = next.segment(m + t * i, t);
    if (std::isfinite(step.limit[i])) z[i] = std::max(0.0, -next[i]);
    z[m + i] = impulse[i];
    z[2 * m + k * m + i] = std::max(0.0, (-polygon.transpose() * slip).maxCoeff());
    if (t == 1) {
      z[2 * m + 2 * i] = std::max(0.0, force[0]);
      z[2 * m + 2 * i + 1] = std::max(0.0, -force[0]);
      continue;
    }
    if (force.squaredNorm() == 0.0) continue;
    double turns = std::atan2(force[1], force[0]) / (2.0 * std::numbers::pi) * k;
    if (turns < 0.0) turns += k;
    if (!std::isfinite(turns)) {
      z[2 * m + k * i] = turns;
      continue;
    }
    const int first = std::min(k - 1, static_cast<int>(turns));
    const int second = (first + 1) % k;
    Eigen::Matrix2d basis;
    basis << polygon.col(first), polygon.col(second);
    const Eigen::Vector2d share = basis.inverse() * force;
    z[2 * m + k * i + first] = share[0];
    z[2 * m + k * i + second] = share[1];
  }
  return z;
}

/// max|min(z, W z + w)| / max|w| of a reduced impulse.
inline double full_residual(const StepProblem& step, const Vector& impulse) {
  const FullLcp lcp = full_lcp(step);
  const Vector z = lift(step, impulse);
  const Vector w = lcp.matrix * z + lcp.vector;
  double worst = 0.0;
  for (int i = 0; i < z.size(); ++i) {
    if (i < step.contacts && !std::isfinite(step.limit[i])) continue;
    const double gap = std::min(z[i], w[i]);
    if (!(std::abs(gap) <= worst)) worst = std::abs(gap);
    if (std::isnan(z[i]) || std::isnan(w[i])) return std::numeric_limits<double>::quiet_NaN();
  }
  return worst / std::max(lcp.vector.cwiseAbs().maxCoeff(), 1e-300);
}

}  // namespace carom::test
