#include "impact/enclosure/normal_rates.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Dense>

#include "impact/enclosure/double_description.hpp"

namespace carom::enclosure {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<const Matrix>;
using VectorMap = Eigen::Map<const Eigen::VectorXd>;

constexpr int kCorners = 16;         // of the polygon around a friction disk
constexpr double kSumTrust = 1e-12;  // of the magnitudes in a sum of doubles
constexpr double kLargest = 1e18;    // of a rate in integers

}  // namespace

NormalRates normal_rates(const ImpactProblem& problem) {
  const int m = problem.contacts, nv = problem.velocities, tangents = problem.dimension - 1;
  const int rows = problem.dimension * m;
  Matrix jacobian(rows, nv);
  jacobian.topRows(m) = MatrixMap(problem.normal_jacobian.data(), m, nv);
  jacobian.bottomRows(tangents * m) = MatrixMap(problem.tangent_jacobian.data(), tangents * m, nv);
  const MatrixMap mass(problem.mass_matrix.data(), nv, nv);
  const VectorMap v(problem.velocity.data(), nv);
  const Eigen::LLT<Eigen::MatrixXd> factor(mass);
  const Matrix half = factor.matrixL().solve(jacobian.transpose());
  const Matrix delassus = half.transpose() * half;
  const Eigen::VectorXd u = jacobian * v;
  const double twice_energy = v.dot(mass * v);

  NormalRates result;
  result.contacts = m;
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
  for (int i = 0; i < m; ++i) {
    const double mu = problem.friction[static_cast<std::size_t>(i)] * reach;
    for (int d = 0; d < corners; ++d) {
      const double angle = 2.0 * std::numbers::pi * d / corners;
      std::vector<std::int64_t> rate;
      for (int j = 0; j < m; ++j) {
        double value = delassus(j, i);
        for (int t = 0; t < tangents; ++t) {
          const double along = t == 0 ? std::cos(angle) : std::sin(angle);
          value += mu * along * delassus(j, m + tangents * i + t);
        }
        value = std::ldexp(value / (own(i) * own(j)), kRateBits);
        rate.push_back(std::llround(std::clamp(value, -kLargest, kLargest)));
      }
      result.rate[static_cast<std::size_t>(i)].push_back(std::move(rate));
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
        const Integer rate = worst_rate<Integer>(rates, form, i, d, of, nullptr);
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
