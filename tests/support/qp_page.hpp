#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <carom/qp.hpp>

/// The checks of docs/howto/check_a_proof.md for quadratic programs with interval rows, line by
/// line in C++, for numbers of answers that no interpreter takes in a test's time.
namespace carom::test {

class QpPage {
 public:
  /// Of problem p of a batch without cones, which outlives this.
  QpPage(const QpBatch& batch, const QpResult& result, std::int64_t p)
      : n_(static_cast<std::size_t>(batch.variables)),
        m_(static_cast<std::size_t>(batch.rows)),
        hessian_(batch.hessian.data() + p * batch.variables * batch.variables),
        gradient_(batch.vector.data() + p * batch.variables),
        matrix_(batch.matrix.data() + p * batch.rows * batch.variables),
        lower_(batch.lower.data() + p * batch.rows),
        upper_(batch.upper.data() + p * batch.rows),
        x_(result.solution.data() + p * batch.variables),
        y_(result.dual.data() + p * batch.rows),
        point_(result.point.data() + p * batch.variables),
        proof_(result.certificate.data() + p * std::max(batch.variables, batch.rows)),
        status_(result.status.data()[p]) {}

  /// Which line of the page rejects the answer; empty where none does, or there is nothing to
  /// check.
  [[nodiscard]] std::string objection() const {
    switch (status_) {
      case Status::solved:
        return solved();
      case Status::infeasible:
        return infeasible();
      case Status::unbounded:
        return unbounded();
      case Status::nonconvex:
        return nonconvex();
      default:
        return {};
    }
  }

 private:
  using Terms = std::vector<double>;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  static long double sum(const Terms& terms) {
    long double result = 0.0L;
    for (const double term : terms) result += term;
    return result;
  }
  static double most(const Terms& terms) {
    double result = 0.0;
    for (const double term : terms) result = std::max(result, std::abs(term));
    return result;
  }
  static long double total(const Terms& terms, long double room = 1e-8L) {
    const long double value = sum(terms);
    return std::abs(value) <= room * most(terms) ? 0.0L : value;
  }
  static bool within(Terms terms, double low, double high, double room) {
    terms.push_back(-low);
    if (low != -kInfinity && !(total(terms) >= -room)) return false;
    terms.back() = -high;
    return high == kInfinity || total(terms) <= room;
  }
  static std::string at(const char* what, std::size_t index) {
    return std::string(what) + " " + std::to_string(index);
  }

  [[nodiscard]] Terms row(std::size_t i, const double* x) const {
    Terms terms;
    for (std::size_t j = 0; j < n_; ++j) terms.push_back(matrix_[i * n_ + j] * x[j]);
    return terms;
  }
  [[nodiscard]] Terms column(std::size_t j, const double* y) const {
    Terms terms;
    for (std::size_t i = 0; i < m_; ++i) terms.push_back(matrix_[i * n_ + j] * y[i]);
    return terms;
  }
  [[nodiscard]] Terms bent(std::size_t j, const double* x) const {
    Terms terms;
    for (std::size_t k = 0; k < n_; ++k) terms.push_back(hessian_[j * n_ + k] * x[k]);
    return terms;
  }
  /// Of m'v for v within the rows' bounds, m = -y.
  [[nodiscard]] Terms least(const double* y) const {
    Terms terms;
    for (std::size_t i = 0; i < m_; ++i) {
      if (y[i] != 0.0) terms.push_back(-y[i] * (y[i] < 0.0 ? lower_[i] : upper_[i]));
    }
    return terms;
  }
  [[nodiscard]] std::string outside(const double* x) const {
    double size = 0.0;
    for (std::size_t j = 0; j < n_; ++j) size = std::max(size, std::abs(x[j]));
    for (std::size_t i = 0; i < m_; ++i) {
      double entry = 0.0;
      for (std::size_t j = 0; j < n_; ++j) entry = std::max(entry, std::abs(matrix_[i * n_ + j]));
      if (!within(row(i, x), lower_[i], upper_[i], 1e-8 * size * entry)) return at("row", i);
    }
    return {};
  }

  [[nodiscard]] std::string solved() const {
    Terms gap;
    Terms given;
    double energy = 0.0;
    double asked = 0.0;
    double left = 0.0;
    for (std::size_t j = 0; j < n_; ++j) {
      Terms terms = bent(j, x_);
      asked = std::max(asked, longest(j) * most(terms));
      for (const double term : terms) {
        gap.push_back(x_[j] * term);
        energy = std::max(energy, std::abs(gap.back()));
      }
      given.push_back(x_[j] * gradient_[j]);
      terms.push_back(gradient_[j]);
      for (const double term : column(j, y_)) terms.push_back(term);
      if (total(terms) != 0.0L) return at("gradient", j);
      left = std::max(left, std::abs(x_[j] * static_cast<double>(sum(terms))));
    }
    if (std::string row = outside(x_); !row.empty()) return row;
    for (const double term : least(y_)) given.push_back(-term);
    gap.insert(gap.end(), given.begin(), given.end());
    if (total(gap) != 0.0L) return "gap";
    const double largest = most(given);
    if (std::count(gradient_, gradient_ + n_, 0.0) != static_cast<std::ptrdiff_t>(n_)) asked = 0.0;
    return 1e-8 * energy > 1e-3 * std::max(largest, asked) && left > 1e-3 * largest ? "hides" : "";
  }

  [[nodiscard]] std::string infeasible() const {
    for (std::size_t i = 0; i < m_; ++i) {
      if (lower_[i] > upper_[i]) return {};
    }
    const Terms gain = least(proof_);
    const auto margin = static_cast<double>(sum(gain)) / most(gain);
    if (!(margin > 0.0)) return "margin";
    long double left = 0.0L;
    for (std::size_t j = 0; j < n_; ++j) {
      const Terms pull = column(j, proof_);
      if (!(std::abs(sum(pull)) <= std::min(1e-8, 1e-6 * margin) * most(pull))) {
        return at("column", j);
      }
      const auto rest = static_cast<double>(std::abs(sum(pull)));
      double size = 0.0;
      for (const double term : pull) size += std::abs(term);
      const bool rounding = rest <= 1e-15 * static_cast<double>(m_ + 1) * size;
      if (rest > 0.0) left += rest * (rounding ? longest(j) : own_bound(j));
    }
    for (const std::size_t i : strays()) {
      left += std::abs(proof_[i] * (proof_[i] < 0.0 ? lower_[i] : upper_[i]));
    }
    return left < sum(gain) ? "" : "outweighed";
  }

  /// Rows that may be rounding of others.
  [[nodiscard]] std::vector<std::size_t> strays() const {
    const auto felt = [&](std::size_t i, std::size_t j) {
      const Terms pull = column(j, proof_);
      double size = 0.0;
      for (const double term : pull) size += std::abs(term);
      return std::abs(pull[i]) > 1e-15 * static_cast<double>(m_ + 1) * size;
    };
    std::vector<std::size_t> group(m_), joined(n_, m_), result;
    for (std::size_t i = 0; i < m_; ++i) group[i] = i;
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t i = 0; i < m_; ++i) {
        if (!felt(i, j)) continue;
        if (joined[j] == m_) joined[j] = i;
        const std::size_t from = group[i], to = group[joined[j]];
        std::replace(group.begin(), group.end(), from, to);
      }
    }
    for (std::size_t i = 0; i < m_; ++i) {
      bool stray = false;
      for (std::size_t k = 0; k < m_; ++k) {
        for (std::size_t j = 0; group[k] == group[i] && j < n_; ++j) {
          stray = stray || (matrix_[k * n_ + j] * proof_[k] != 0.0 && group[joined[j]] != group[i]);
        }
      }
      if (proof_[i] != 0.0 && stray) result.push_back(i);
    }
    return result;
  }

  [[nodiscard]] double longest(std::size_t j) const {
    double most = 0.0;
    for (std::size_t i = 0; i < m_; ++i) {
      const double entry = matrix_[i * n_ + j];
      for (const double bound : {lower_[i], upper_[i]}) {
        if (entry != 0.0 && std::abs(bound) < kInfinity) {
          most = std::max(most, std::abs(bound / entry));
        }
      }
    }
    return most;
  }
  [[nodiscard]] double own_bound(std::size_t j) const {
    double low = -kInfinity;
    double high = kInfinity;
    for (std::size_t i = 0; i < m_; ++i) {
      const double* row = matrix_ + i * n_;
      if (row[j] == 0.0 || std::count(row, row + n_, 0.0) + 1 < static_cast<std::ptrdiff_t>(n_)) {
        continue;
      }
      const auto [least, most] = std::minmax({lower_[i] / row[j], upper_[i] / row[j]});
      low = std::max(low, least);
      high = std::min(high, most);
    }
    return std::max(std::abs(low), std::abs(high));
  }

  [[nodiscard]] std::string unbounded() const {
    if (std::string row = outside(point_); !row.empty()) return "point: " + row;
    Terms slope;
    Terms curvature;
    Terms rise;
    bool bends = false;
    for (std::size_t j = 0; j < n_; ++j) {
      bends = bends || total(bent(j, proof_)) != 0.0L;
      slope.push_back(gradient_[j] * proof_[j]);
      for (const double term : bent(j, proof_)) curvature.push_back(proof_[j] * term);
      for (const double term : bent(j, point_)) rise.push_back(proof_[j] * term);
    }
    if (bends) slope.insert(slope.end(), rise.begin(), rise.end());
    long double terms = 0.0L;
    for (const double term : slope) terms += std::abs(term);
    if (!(sum(slope) < -1e-13L * terms)) return "slope";
    const long double room = std::min(1e-8L, -1e-6L * sum(slope) / most(slope));
    for (std::size_t i = 0; i < m_; ++i) {
      const long double step = total(row(i, proof_), room);
      if ((lower_[i] != -kInfinity && step < 0.0L) || (upper_[i] != kInfinity && step > 0.0L)) {
        return at("way over row", i);
      }
    }
    if (bends) {
      bool equations = false;
      for (std::size_t i = 0; i < m_; ++i) equations = equations || lower_[i] == upper_[i];
      return equations && total(curvature, room) == 0.0L ? "" : "curvature";
    }
    for (std::size_t j = 0; j < n_; ++j) {
      if (total(bent(j, proof_), room) != 0.0L) return at("P ray", j);
    }
    return {};
  }

  [[nodiscard]] std::string nonconvex() const {
    Terms terms;
    for (std::size_t i = 0; i < n_; ++i) {
      for (const double term : bent(i, proof_)) terms.push_back(proof_[i] * term);
    }
    if (!(sum(terms) < 0.0L)) return "curvature";
    for (std::size_t i = 0; i < m_; ++i) {
      if (lower_[i] == upper_[i] && total(row(i, proof_)) != 0.0L) return at("equation", i);
    }
    return {};
  }

  std::size_t n_, m_;
  const double *hessian_, *gradient_, *matrix_, *lower_, *upper_, *x_, *y_, *point_, *proof_;
  Status status_;
};

}  // namespace carom::test
