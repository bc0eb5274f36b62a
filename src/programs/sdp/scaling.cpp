#include "programs/sdp/scaling.hpp"

#include <algorithm>
#include <cmath>

namespace carom::sdp {

namespace {

constexpr int kPasses = 3;

/// The power of two that is next above a size; 1 for nothing.
double power(double size) {
  if (!(size > 0.0)) return 1.0;
  int exponent = 0;
  std::frexp(size, &exponent);
  return std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
}
double largest_of(const double* values, std::size_t count) {
  double most = 0.0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::fabs(values[i]));
  return most;
}
void multiply(double* values, std::size_t count, double factor) {
  for (std::size_t i = 0; i < count; ++i) values[i] *= factor;
}

}  // namespace

Scaled::Scaled(const SdpProblem& problem)
    : scaled_(problem),
      block_(problem.blocks.size(), 1.0),
      variable_(problem.objective.size(), 1.0) {
  const std::size_t size = scaled_.constant.size();
  for (int pass = 0; pass < kPasses; ++pass) {
    std::size_t at = 0;
    for (std::size_t b = 0; b < block_.size(); ++b) {  // by their coefficients
      const auto n = static_cast<std::size_t>(scaled_.blocks[b]);
      double most = 0.0;
      for (std::size_t i = 0; i < variable_.size(); ++i) {
        most = std::max(most, largest_of(scaled_.coefficients.data() + i * size + at, n * n));
      }
      if (most == 0.0) most = largest_of(scaled_.constant.data() + at, n * n);
      const double factor = 1.0 / power(most);
      block_[b] *= factor;
      multiply(scaled_.constant.data() + at, n * n, factor);
      for (std::size_t i = 0; i < variable_.size(); ++i) {
        multiply(scaled_.coefficients.data() + i * size + at, n * n, factor);
      }
      at += n * n;
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

SdpResult Scaled::original(SdpResult result) const {
  const bool infeasible = result.status == Status::infeasible;
  for (std::size_t i = 0; i < result.y.size(); ++i) result.y[i] *= constant_ / variable_[i];
  for (std::size_t i = 0; i < result.ray.size(); ++i) {
    result.ray[i] /= variable_[i] * objective_;
  }
  std::size_t at = 0;
  for (std::size_t b = 0; b < block_.size() && !result.x.empty(); ++b) {
    const auto n = static_cast<std::size_t>(scaled_.blocks[b]);
    multiply(result.x.data() + at, n * n,
             infeasible ? block_[b] / constant_ : block_[b] * objective_);
    at += n * n;
  }
  result.objective *= constant_ * objective_;
  if (!infeasible) result.dual *= constant_ * objective_;
  return result;
}

}  // namespace carom::sdp
