#pragma once

#include <vector>

#include <Eigen/Dense>

#include <carom/impact_judge.hpp>

/// Distances between velocities after an impact, for comparing measured outcomes with samples.
namespace carom::judging {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// A square matrix U with distance |U (a - b)|_2, for problem p of checked arrays.
Matrix metric(const ImpactBatch& batch, const MeasuredImpacts& measured, std::int64_t p);

}  // namespace carom::judging
