#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/cone_problem.hpp"

/// Judgement of an answer to a cone problem in long double, apart from the library: every row,
/// column and cone against the sizes of its own terms. Each returns the worst share.
namespace carom::test {

class ConeJudge {
 public:
  using Real = long double;
  using Vector = std::vector<double>;

  explicit ConeJudge(const ConeProblem& problem) : p_(problem) {}

  [[nodiscard]] Real feasible(const Vector& x) { return rows(x, false); }

  [[nodiscard]] Real optimal(const Vector& x, const Vector& y) {
    Real worst = std::max(rows(x, false), multipliers(y));
    Sum objective;
    for (int j = 0; j < p_.n; ++j) {
      Sum sum = bent(x, j);
      objective.add(Real(0.5) * sum.value * at(x, j));
      sum.add(at(p_.vector, j));
      objective.add(at(p_.vector, j) * at(x, j));
      for (int i = 0; i < p_.rows(); ++i) sum.add(Real(p_.a(i, j)) * at(y, i));
      sum.grow(worst, std::fabs(sum.value));
    }
    // Complementarity by the objective that was planted.
    objective.add(-p_.objective);
    objective.grow(worst, std::fabs(objective.value) - kNothing);
    return worst;
  }

  [[nodiscard]] Real contradiction(const Vector& y) {
    Real worst = multipliers(y);
    for (int j = 0; j < p_.n; ++j) {
      Sum sum;
      for (int i = 0; i < p_.rows(); ++i) sum.add(Real(p_.a(i, j)) * at(y, i));
      sum.grow(worst, std::fabs(sum.value));
    }
    Sum support;
    for (int i = 0; i < p_.rows(); ++i) {
      if (at(y, i) == 0) continue;
      support.add(at(y, i) * at(i >= p_.intervals || at(y, i) > 0 ? p_.upper : p_.lower, i));
    }
    return support.value < -kLeastSlope * support.size ? worst : kInfinity;
  }

  [[nodiscard]] Real endless(const Vector& d) {
    Real worst = rows(d, true);
    Sum slope;
    for (int j = 0; j < p_.n; ++j) {
      const Sum sum = bent(d, j);
      sum.grow(worst, std::fabs(sum.value));
      slope.add(at(p_.vector, j) * at(d, j));
    }
    return slope.value < -kLeastSlope * slope.size ? worst : kInfinity;
  }

 private:
  static constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  static constexpr Real kLeastSlope = 1e-12L;
  static constexpr Real kNothing = 1e-30L;

  struct Sum {
    Real value = 0;
    Real size = 0;
    void add(Real term) {
      value += term;
      size += std::fabs(term);
    }
    void grow(Real& worst, Real excess) const {
      if (excess > 0) worst = std::max(worst, excess / size);
      if (std::isnan(excess)) worst = kInfinity;
    }
  };

  static Real at(const Vector& v, int i) { return v[static_cast<std::size_t>(i)]; }

  Sum row(int i, const Vector& x) {
    Sum sum;
    for (int j = 0; j < p_.n; ++j) sum.add(Real(p_.a(i, j)) * at(x, j));
    return sum;
  }
  Sum bent(const Vector& x, int j) {
    Sum sum;
    for (int k = 0; k < p_.n; ++k) sum.add(Real(p_.p(j, k)) * at(x, k));
    return sum;
  }
  /// How far (t, v) is outside of the cone.
  static Real outside(const std::vector<Real>& v) {
    Real tail = 0;
    for (std::size_t i = 1; i < v.size(); ++i) tail += v[i] * v[i];
    return std::sqrt(tail) - v[0];
  }

  /// Sides and cones at x, or, for a direction, their recession.
  Real rows(const Vector& x, bool direction) {
    Real worst = 0;
    for (int i = 0; i < p_.intervals; ++i) {
      for (const Real sign : {Real(1), Real(-1)}) {
        const Real side = sign > 0 ? at(p_.upper, i) : at(p_.lower, i);
        if (!std::isfinite(side)) continue;
        Sum sum = row(i, x);
        if (!direction) sum.add(-side);
        sum.grow(worst, sign * sum.value);
      }
    }
    int i = p_.intervals;
    for (const int size : p_.cones) {
      std::vector<Real> slack;
      Sum most;
      for (int t = 0; t < size; ++t, ++i) {
        Sum sum = row(i, x);
        if (!direction) sum.add(-at(p_.upper, i));
        slack.push_back(-sum.value);
        most.size = std::max(most.size, sum.size);
      }
      most.grow(worst, outside(slack));
    }
    return worst;
  }

  /// Signs that the bounds allow, and cones.
  Real multipliers(const Vector& y) {
    Real worst = 0;
    for (int i = 0; i < p_.intervals; ++i) {
      if (at(y, i) != 0 && !std::isfinite(at(at(y, i) > 0 ? p_.upper : p_.lower, i))) {
        return kInfinity;
      }
    }
    int i = p_.intervals;
    for (const int size : p_.cones) {
      std::vector<Real> dual;
      Sum most;
      for (int t = 0; t < size; ++t, ++i) {
        dual.push_back(at(y, i));
        most.size = std::max(most.size, std::fabs(dual.back()));
      }
      most.grow(worst, outside(dual));
    }
    return worst;
  }

  const ConeProblem& p_;
};

}  // namespace carom::test
