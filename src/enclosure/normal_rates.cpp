#include "enclosure/normal_rates.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Dense>

#include "enclosure/exact_impact.hpp"

namespace carom::enclosure {

namespace {

constexpr int kCorners = 16;            // of the polygon around a friction disk
constexpr double kSumTrust = 1e-12;     // of the magnitudes in a sum of doubles
constexpr double kLargest = 1e18;       // of a rate in integers
constexpr double kRateTrust = 0x1p-48;  // of the terms of a rate in doubles

}  // namespace

NormalRates normal_rates(const ImpactProblem& problem) {
  const int m = problem.contacts, tangents = problem.dimension - 1;
  const int rows = problem.dimension * m;
  const ExactImpact exact(problem, SlipRows::tangents);
  if (!exact.definite()) return {};
  Eigen::MatrixXd delassus(rows, rows);
  Eigen::VectorXd u(rows);
  for (int k = 0; k < rows; ++k) {
    u(k) = exact.velocity(k).rounded();
    for (int l = 0; l < rows; ++l) delassus(k, l) = exact.near_response(k, l);
  }
  const double twice_energy = exact.twice_energy();

  NormalRates result;
  result.contacts = m;
  result.known = true;
  const auto own = [&](int k) { return delassus(k, k) > 0.0 ? std::sqrt(delassus(k, k)) : 1.0; };
  for (int k = 0; k < rows; ++k) {
    result.largest.push_back(std::sqrt(twice_energy * delassus(k, k)));
    result.velocity.push_back(u(k));
  }
  for (int i = 0; i < m; ++i) {
    const double most = result.largest[static_cast<std::size_t>(i)];
    const double share = most > 0.0 ? u(i) / most : 0.0;
    result.parts.push_back(std::max(share, 0.0));
    result.parts.push_back(std::max(-share, 0.0));
  }
  const int corners = tangents == 1 ? 2 : kCorners;
  const double reach = tangents == 1 ? 1.0 : 1.0 / std::cos(std::numbers::pi / kCorners);
  result.rate.resize(static_cast<std::size_t>(m));
  result.doubt.resize(static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) {
    const auto& friction = problem.friction_high.empty() ? problem.friction : problem.friction_high;
    const double mu = friction[static_cast<std::size_t>(i)] * reach;  // less lies between both ends
    for (int d = 0; d < corners; ++d) {
      const double angle = 2.0 * std::numbers::pi * d / corners;
      std::vector<std::int64_t> rate, doubt;
      for (int j = 0; j < m; ++j) {
        double value = delassus(j, i), size = std::abs(value);
        for (int t = 0; t < tangents; ++t) {
          const double along = t == 0 ? std::cos(angle) : std::sin(angle);
          value += mu * along * delassus(j, m + tangents * i + t);
          size += std::abs(mu * delassus(j, m + tangents * i + t));
        }
        value = std::ldexp(value / (own(i) * own(j)), kRateBits);
        size = std::ldexp(kRateTrust * size / (own(i) * own(j)), kRateBits);
        rate.push_back(std::llround(std::clamp(value, -kLargest, kLargest)));
        doubt.push_back(std::llround(std::clamp(size, 0.0, kLargest)) + 1);
      }
      result.rate[static_cast<std::size_t>(i)].push_back(std::move(rate));
      result.doubt[static_cast<std::size_t>(i)].push_back(std::move(doubt));
    }
  }
  return result;
}

bool never_grows(const NormalRates& rates, const QuadraticForm& form) {
  if (form.gamma < 0) return false;
  if (form.entries.empty()) return true;
  const auto m = static_cast<std::size_t>(rates.contacts);
  const Integer energy = Integer(form.gamma) << static_cast<unsigned>(kRateBits);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t d = 0; d < rates.rate[i].size(); ++d) {
      for (const std::int64_t rate : rates.rate[i][d]) {
        if (std::abs(static_cast<double>(rate)) >= kLargest) return false;  // was cut off
      }
      for (std::size_t of = 0; of < 2 * m; ++of) {
        if (of == 2 * i) continue;  // it pushes where it does not separate
        Integer rate = worst_rate<Integer>(rates, form, i, d, of, nullptr);
        for (std::size_t j = 0; j < m; ++j) {
          const std::int64_t up = form(2 * j, of), down = form(2 * j + 1, of);
          rate += Integer(rates.doubt[i][d][j]) * Integer(std::max(std::abs(up), std::abs(down)));
        }
        if (of == 2 * i + 1 ? rate > energy : rate > 0) return false;
      }
    }
  }
  return true;
}

double value_before(const NormalRates& rates, const QuadraticForm& form) {
  double sum = static_cast<double>(form.gamma), size = sum;
  for (std::size_t a = 0; a < rates.parts.size(); ++a) {
    for (std::size_t b = 0; b < rates.parts.size(); ++b) {
      const double term = static_cast<double>(form(a, b)) * rates.parts[a] * rates.parts[b];
      sum += term;
      size += std::abs(term);
    }
  }
  return std::ldexp(std::max(sum + kSumTrust * size, 0.0), -kFormBits);
}

}  // namespace carom::enclosure
