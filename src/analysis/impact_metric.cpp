#include "analysis/impact_metric.hpp"

#include <algorithm>
#include <cmath>

#include "core/arrays.hpp"
#include "core/message.hpp"
#include "core/require.hpp"

namespace carom {

namespace judging {

namespace {

using ConstMap = Eigen::Map<const Matrix>;

ConstMap rows_of(const Buffer<double>& values, std::int64_t p, int rows, int columns) {
  return {values.data() + p * rows * columns, rows, columns};
}

void check_covariance(const ImpactBatch& batch, const MeasuredImpacts& measured, std::int64_t p) {
  const int nv = batch.velocities;
  const ConstMap c = rows_of(measured.measured_covariance, p, nv, nv);
  const double allowed = 1e-9 * c.cwiseAbs().maxCoeff();
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < i; ++j) {
      if (std::abs(c(i, j) - c(j, i)) <= allowed) continue;
      require::refuse({.problem = p}, "measured_covariance", {i, j}, message::number(c(i, j)),
                      "must be symmetric");
    }
  }
  if (Eigen::LLT<Matrix>(c).info() == Eigen::Success) return;
  require::refuse({.problem = p}, "measured_covariance", {}, "of these numbers",
                  "must be positive definite");
}

}  // namespace

Matrix metric(const ImpactBatch& batch, const MeasuredImpacts& measured, std::int64_t p) {
  const int nv = batch.velocities;
  if (!measured.measured_covariance.empty()) {
    // C = L L', so that d' C^-1 d = |L^-1 d|^2
    const Eigen::LLT<Matrix> factor(rows_of(measured.measured_covariance, p, nv, nv));
    return factor.matrixL().solve(Matrix::Identity(nv, nv));
  }
  const Eigen::LLT<Matrix> factor(rows_of(batch.mass_matrix, p, nv, nv));
  Matrix upper = factor.matrixU();
  upper /= (upper * rows_of(batch.velocity, p, nv, 1)).norm();
  return upper;
}

}  // namespace judging

void validate(const ImpactBatch& batch, const MeasuredImpacts& measured) {
  arrays::require_sizes(measured, batch);
  const std::int64_t nv = batch.velocities;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    const Refusal whose{.problem = p};
    require::finite("measured_velocity", measured.measured_velocity.data() + p * nv,
                    static_cast<std::size_t>(nv), 0, whose);
    if (measured.measured_covariance.empty()) {
      const double* v = batch.velocity.data() + p * nv;
      if (std::any_of(v, v + nv, [](double x) { return x != 0.0; })) continue;
      require::refuse(whose, "velocity", {}, "0", "distances are relative to it");
    }
    require::finite("measured_covariance", measured.measured_covariance.data() + p * nv * nv,
                    static_cast<std::size_t>(nv * nv), nv, whose);
    judging::check_covariance(batch, measured, p);
  }
}

double impact_distance(const ImpactBatch& batch, const MeasuredImpacts& measured, std::int64_t p,
                       std::span<const double> velocity) {
  require::size("velocity", velocity.size(), static_cast<std::size_t>(batch.velocities));
  using judging::Vector;
  const Eigen::Map<const Vector> own(velocity.data(), batch.velocities);
  const Eigen::Map<const Vector> seen(measured.measured_velocity.data() + p * batch.velocities,
                                      batch.velocities);
  return (judging::metric(batch, measured, p) * (own - seen)).norm();
}

}  // namespace carom
