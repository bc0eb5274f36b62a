#include "reference/impact/step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <carom/certificate.hpp>

#include "core/parallel.hpp"
#include "impact/backends.hpp"
#include "reference/impact/polish.hpp"

namespace carom::reference {
Matrix friction_polygon(int dimension, int directions) {
  if (dimension == 2) {
    Matrix polygon(1, 2);
    polygon << 1.0, -1.0;
    return polygon;
  }
  Matrix polygon(2, directions);
  for (int j = 0; j < directions; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / directions;
    polygon(0, j) = std::cos(angle);
    polygon(1, j) = std::sin(angle);
  }
  return polygon;
}

namespace {

// Weights >= 0 of smallest sum with polygon * weights = tangent: two neighbouring directions.
Vector smallest_weights(const Matrix& polygon, const Vector& tangent) {
  const int k = static_cast<int>(polygon.cols());
  Vector weights = Vector::Zero(k);
  if (polygon.rows() == 1) {
    weights[0] = std::max(tangent[0], 0.0);
    weights[1] = std::max(-tangent[0], 0.0);
    return weights;
  }
  if (!(tangent.norm() > 0.0)) return weights;
  double best_least = -std::numeric_limits<double>::infinity();
  for (int j = 0; j < k; ++j) {
    Eigen::Matrix2d pair;
    pair.col(0) = polygon.col(j);
    pair.col(1) = polygon.col((j + 1) % k);
    const Eigen::Vector2d weight = pair.inverse() * tangent;
    if (weight.minCoeff() <= best_least) continue;
    best_least = weight.minCoeff();
    weights.setZero();
    weights[j] = std::max(weight[0], 0.0);
    weights[(j + 1) % k] = std::max(weight[1], 0.0);
  }
  return weights;
}

}  // namespace

StepModel::StepModel(int dimension, const Matrix& delassus, const Vector& friction, int directions)
    : dimension_(dimension),
      contacts_(static_cast<int>(friction.size())),
      delassus_(delassus),
      friction_(friction),
      polygon_(friction_polygon(dimension, directions)) {
  const int m = contacts_;
  const int k = static_cast<int>(polygon_.cols());
  spread_ = Matrix::Zero((k + 1) * m, rows());
  spread_.topLeftCorner(m, m).setIdentity();
  for (int i = 0; i < m; ++i) {
    spread_.block(m + i * k, m + i * tangents(), k, tangents()) = polygon_.transpose();
  }
  full_delassus_ = spread_ * delassus_ * spread_.transpose();
}

std::vector<int> StepModel::bounded(const Vector& max_impulse) const {
  std::vector<int> contacts;
  for (int i = 0; i < contacts_; ++i) {
    if (!std::isinf(max_impulse[i])) contacts.push_back(i);
  }
  return contacts;
}

StepLcp StepModel::assemble(const Vector& contact_velocity, const Vector& max_impulse) const {
  const int m = contacts_;
  const int k = directions();
  const std::vector<int> limits = bounded(max_impulse);
  const int betas = static_cast<int>(limits.size());
  const int tangent_row = betas + m;
  const int gamma_row = tangent_row + k * m;
  StepLcp lcp;
  lcp.matrix = Matrix::Zero(gamma_row + m, gamma_row + m);
  lcp.vector = Vector::Zero(gamma_row + m);
  lcp.matrix.block(betas, betas, (k + 1) * m, (k + 1) * m) = full_delassus_;
  lcp.vector.segment(betas, (k + 1) * m) = spread_ * contact_velocity;
  for (int b = 0; b < betas; ++b) {
    lcp.matrix(b, betas + limits[b]) = -1.0;
    lcp.matrix(betas + limits[b], b) = 1.0;
    lcp.vector[b] = max_impulse[limits[b]];
  }
  for (int i = 0; i < m; ++i) {
    lcp.matrix(gamma_row + i, betas + i) = friction_[i];
    lcp.matrix.block(gamma_row + i, tangent_row + i * k, 1, k).setConstant(-1.0);
    lcp.matrix.block(tangent_row + i * k, gamma_row + i, k, 1).setConstant(1.0);
  }
  return lcp;
}

Vector StepModel::lift(const Vector& contact_velocity, const Vector& max_impulse,
                       const Vector& impulse) const {
  const int m = contacts_;
  const int k = directions();
  const std::vector<int> limits = bounded(max_impulse);
  const int betas = static_cast<int>(limits.size());
  const Vector after = contact_velocity + delassus_ * impulse;
  Vector z(betas + (k + 2) * m);
  for (int b = 0; b < betas; ++b) z[b] = std::max(-after[limits[b]], 0.0);
  z.segment(betas, m) = impulse.head(m);
  for (int i = 0; i < m; ++i) {
    const int tangent = m + i * tangents();
    z.segment(betas + m + i * k, k) =
        smallest_weights(polygon_, impulse.segment(tangent, tangents()));
    const Vector slip = polygon_.transpose() * after.segment(tangent, tangents());
    z[betas + (k + 1) * m + i] = std::max(-slip.minCoeff(), 0.0);
  }
  return z;
}

double StepModel::residual(const Vector& contact_velocity, const Vector& max_impulse,
                           const Vector& impulse) const {
  const StepLcp lcp = assemble(contact_velocity, max_impulse);
  const Vector z = lift(contact_velocity, max_impulse, impulse);
  // Impulses times the mobility of their contact are speeds.
  const std::vector<int> limits = bounded(max_impulse);
  const auto betas = static_cast<Eigen::Index>(limits.size());
  const int m = contacts_, t = tangents(), k = directions();
  Vector mobility(m);
  for (int i = 0; i < m; ++i) {
    mobility[i] = std::max(delassus_(i, i), delassus_.diagonal().segment(m + t * i, t).maxCoeff());
    if (!(mobility[i] > 0.0)) mobility[i] = 1.0;
  }
  Vector of_unknown = Vector::Ones(z.size()), of_row = of_unknown;
  for (Eigen::Index b = 0; b < betas; ++b) of_row[b] = mobility[limits[b]];
  of_unknown.segment(betas, m) = mobility;
  for (int i = 0; i < m; ++i) of_unknown.segment(betas + m + k * i, k).setConstant(mobility[i]);
  of_row.tail(m) = mobility;
  const double missed = certificate::lcp_residual_in_units(
      static_cast<int>(z.size()), lcp.matrix.data(), lcp.vector.data(), z.data(),
      [&](int i) { return of_unknown[i]; }, [&](int i) { return of_row[i]; });
  return missed / std::max(contact_velocity.lpNorm<Eigen::Infinity>(), certificate::kTiny);
}

StepSolution StepModel::solve(const Vector& contact_velocity, const Vector& max_impulse,
                              double tolerance) const {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const int m = contacts_;
  const int k = directions();
  StepSolution solution;
  solution.impulse = Vector::Constant(rows(), kNaN);
  solution.contact_velocity = solution.impulse;
  const StepLcp lcp = assemble(contact_velocity, max_impulse);
  const LemkeOutcome outcome = lemke(lcp.matrix, lcp.vector, tolerance, 0, Units::common);
  solution.status = outcome.status;
  solution.pivots = outcome.pivots;
  solution.residual = kNaN;
  if (outcome.status != Status::solved && outcome.status != Status::inaccurate) return solution;
  const int betas = static_cast<int>(outcome.solution.size()) - (k + 2) * m;
  solution.impulse.head(m) = outcome.solution.segment(betas, m);
  for (int i = 0; i < m; ++i) {
    auto tangent = solution.impulse.segment(m + i * tangents(), tangents());
    tangent = polygon_ * outcome.solution.segment(betas + m + i * k, k);
    if (friction_[i] == 0.0) tangent.setZero();  // without the rounding of a degenerate basis
  }
  constexpr double kAccurate = 1e-13;
  if (!(residual(contact_velocity, max_impulse, solution.impulse) <= kAccurate)) {
    solution.impulse = polished_impulse(*this, contact_velocity, max_impulse, solution.impulse);
  }
  solution.contact_velocity = contact_velocity + delassus_ * solution.impulse;
  solution.residual = residual(contact_velocity, max_impulse, solution.impulse);
  solution.status =
      certificate::within(solution.residual, tolerance) ? Status::solved : Status::inaccurate;
  return solution;
}

StepResult solve_steps(const StepBatch& batch, const StepSettings& settings,
                       WorkspaceState* /*workspace*/) {
  const int m = batch.contacts;
  const int rows = batch.dimension * m;
  auto result = allocate<StepResult>(batch);
  const double* delassus = batch.delassus.host().data();
  const double* velocity = batch.contact_velocity.host().data();
  const double* friction = batch.friction.host().data();
  const double* max_impulse = batch.max_impulse.host().data();
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    const StepModel model(
        batch.dimension, Eigen::Map<const Matrix>(delassus + p * rows * rows, rows, rows),
        Eigen::Map<const Vector>(friction + p * m, m), settings.friction_directions);
    const StepSolution solution =
        model.solve(Eigen::Map<const Vector>(velocity + p * rows, rows),
                    Eigen::Map<const Vector>(max_impulse + p * m, m), settings.tolerance);
    std::copy_n(solution.impulse.data(), rows, result.impulse.data() + p * rows);
    std::copy_n(solution.contact_velocity.data(), rows, result.contact_velocity.data() + p * rows);
    result.status.data()[p] = solution.status;
    result.pivots.data()[p] = solution.pivots;
    result.fallback.data()[p] = 0;
    result.residual.data()[p] = solution.residual;
  });
  return result;
}

}  // namespace carom::reference
