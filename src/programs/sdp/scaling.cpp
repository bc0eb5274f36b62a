#include "programs/sdp/scaling.hpp"

#include <algorithm>
#include <cmath>

namespace carom::sdp {

namespace {

constexpr int kPasses = 3;
constexpr int kMorePasses = 5;
constexpr double kLeastConstant = 0x1p-30;  ///< of a row, relative to the largest

/// The power of two that is next above a size; 1 for nothing.
double power(double size) {
  if (!(size > 0.0)) return 1.0;
  int exponent = 0;
  std::frexp(size, &exponent);
  return std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
}
/// The power of two next to the root of a size.
double root(double size) {
  if (!(size > 0.0)) return 1.0;
  int exponent = 0;
  std::frexp(size, &exponent);
  return std::ldexp(1.0, std::clamp(exponent / 2, -500, 500));
}
double largest_of(const double* values, std::size_t count) {
  double most = 0.0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::fabs(values[i]));
  return most;
}
void multiply(double* values, std::size_t count, double factor) {
  for (std::size_t i = 0; i < count; ++i) values[i] *= factor;
}

/// D M D
void congruent(double* matrix, std::size_t n, const double* d) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] *= d[i] * d[j];
  }
}
std::vector<double> sizes_of_rows(const std::vector<double*>& matrices, std::size_t n) {
  std::vector<double> most(n, 0.0);
  for (const double* matrix : matrices) {
    for (std::size_t k = 0; k < n; ++k) {
      most[k] = std::max(most[k], largest_of(matrix + k * n, n));
    }
  }
  return most;
}

}  // namespace

Scaled::Scaled(const SdpProblem& problem, SdpUnits units)
    : scaled_(problem),
      block_(problem.blocks.size(), 1.0),
      variable_(problem.objective.size(), 1.0) {
  const std::size_t size = scaled_.constant.size();
  for (const int n : problem.blocks) rows_.resize(rows_.size() + static_cast<std::size_t>(n), 1.0);
  for (int pass = 0; pass < (units == SdpUnits::rows_and_constants ? kMorePasses : kPasses);
       ++pass) {
    std::size_t at = 0, row = 0;
    for (std::size_t b = 0; b < block_.size(); ++b) {  // by their coefficients
      const auto n = static_cast<std::size_t>(scaled_.blocks[b]);
      std::vector<double*> matrices;
      for (std::size_t i = 0; i < variable_.size(); ++i) {
        matrices.push_back(scaled_.coefficients.data() + i * size + at);
      }
      double* constant = scaled_.constant.data() + at;
      std::vector<double> most = sizes_of_rows(matrices, n);
      if (largest_of(most.data(), n) == 0.0) most = sizes_of_rows({constant}, n);
      matrices.push_back(constant);
      const double whole = power(largest_of(most.data(), n));
      block_[b] /= whole;
      for (double* matrix : matrices) multiply(matrix, n * n, 1.0 / whole);
      at += n * n;
      row += n;
      if (units == SdpUnits::blocks) continue;
      const std::vector<double> given = sizes_of_rows({constant}, n);
      const double unit = largest_of(scaled_.constant.data(), size);
      for (std::size_t k = 0; k < n; ++k) {
        most[k] /= whole;
        if (given[k] == 0.0 || (most[k] > 0.0 && units == SdpUnits::rows)) continue;
        const double there = std::max(given[k] / unit, kLeastConstant);
        most[k] = most[k] > 0.0 ? std::sqrt(most[k] * there) : there;
      }
      for (double& d : most) d = 1.0 / root(d);
      for (double* matrix : matrices) congruent(matrix, n, most.data());
      for (std::size_t k = 0; k < n; ++k) rows_[row - n + k] *= most[k];
    }
    for (std::size_t i = 0; i < variable_.size(); ++i) {
      double* a = scaled_.coefficients.data() + i * size;
      const double factor = power(largest_of(a, size));
      variable_[i] *= factor;
      multiply(a, size, 1.0 / factor);
      scaled_.objective[i] /= factor;
    }
  }
  constant_ = power(largest_of(scaled_.constant.data(), size));
  multiply(scaled_.constant.data(), size, 1.0 / constant_);
  objective_ = power(largest_of(scaled_.objective.data(), scaled_.objective.size()));
  multiply(scaled_.objective.data(), scaled_.objective.size(), 1.0 / objective_);
}

double Scaled::size(const SdpResult& result) const {
  double most = 0.0;
  for (std::size_t i = 0; i < result.y.size(); ++i) {
    most = std::max(most, std::fabs(result.y[i]) * (variable_[i] / constant_));
  }
  for (std::size_t i = 0; i < result.ray.size(); ++i) {
    most = std::max(most, std::fabs(result.ray[i]) * (variable_[i] * objective_));
  }
  return most;
}

SdpResult Scaled::original(SdpResult result) const {
  const bool infeasible = result.status == Status::infeasible;
  for (std::size_t i = 0; i < result.y.size(); ++i) result.y[i] *= constant_ / variable_[i];
  for (std::size_t i = 0; i < result.ray.size(); ++i) {
    result.ray[i] /= variable_[i] * objective_;
  }
  std::size_t at = 0, row = 0;
  for (std::size_t b = 0; b < block_.size() && !result.x.empty(); ++b) {
    const auto n = static_cast<std::size_t>(scaled_.blocks[b]);
    congruent(result.x.data() + at, n, rows_.data() + row);
    multiply(result.x.data() + at, n * n,
             infeasible ? block_[b] / constant_ : block_[b] * objective_);
    at += n * n;
    row += n;
  }
  result.objective *= constant_ * objective_;
  if (!infeasible) result.dual *= constant_ * objective_;
  return result;
}

}  // namespace carom::sdp
