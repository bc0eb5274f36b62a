#pragma once

#include <cmath>
#include <limits>
#include <random>

#include "support/cone_problem.hpp"

/// Changes of a problem that leave its verdict as it is.
namespace carom::test {

class ConeDisguises {
 public:
  explicit ConeDisguises(std::mt19937_64& engine) : engine_(engine) {}

  /// x = U x' with whole numbers: hides what was planted in single columns.
  void shear(ConeProblem& p) {
    if (p.n < 2) return;
    for (int turn = integer(1, 3); turn > 0; --turn) {
      const int from = integer(0, p.n - 1);
      const int to = (from + integer(1, p.n - 1)) % p.n;
      const double k = integer(0, 1) == 0 ? 1.0 : -1.0;
      for (int i = 0; i < p.rows(); ++i) p.a(i, to) += k * p.a(i, from);
      p.vector[static_cast<std::size_t>(to)] += k * p.vector[static_cast<std::size_t>(from)];
      for (int i = 0; i < p.n; ++i) p.p(i, to) += k * p.p(i, from);
      for (int i = 0; i < p.n; ++i) p.p(to, i) += k * p.p(from, i);
    }
  }

  /// An entry of 1e11 that changes neither verdict nor optimum: a variable of its own, a far bound.
  void add_huge(ConeProblem& p) {
    constexpr double kHuge = 1e11;
    const int kind = integer(0, 3);
    ConeProblem wide = p;
    wide.n = p.n + 1;
    wide.hessian.assign(static_cast<std::size_t>(wide.n * wide.n), 0.0);
    for (int i = 0; i < p.n; ++i) {
      for (int j = 0; j < p.n; ++j) wide.p(i, j) = p.p(i, j);
    }
    wide.vector.push_back(0.0);
    wide.intervals = p.intervals + 1;
    wide.matrix.assign((p.upper.size() + 1) * static_cast<std::size_t>(wide.n), 0.0);
    for (int i = 0; i < p.rows(); ++i) {
      for (int j = 0; j < p.n; ++j) wide.a(i < p.intervals ? i : i + 1, j) = p.a(i, j);
    }
    wide.lower.insert(wide.lower.begin() + p.intervals, -kHuge);
    wide.upper.insert(wide.upper.begin() + p.intervals, kHuge);
    const auto r = static_cast<std::size_t>(p.intervals);
    wide.a(p.intervals, p.n) = 1.0;
    if (kind == 1) {
      wide.a(p.intervals, p.n) = kHuge;
      wide.lower[r] = wide.upper[r] = 3.0;
    } else if (kind == 2) {
      wide.a(p.intervals, p.n) = kHuge;
      wide.lower[r] = -1.0;
      wide.upper[r] = kInfinity;
    } else if (kind == 3) {
      wide.lower[r] = wide.upper[r] = kHuge;
    }
    p = wide;
  }

  void change_units(ConeProblem& p) {
    const auto unit = [&] { return std::ldexp(1.0, integer(-20, 20)); };
    for (int j = 0; j < p.n; ++j) {
      const double factor = unit();
      for (int i = 0; i < p.rows(); ++i) p.a(i, j) *= factor;
      p.vector[static_cast<std::size_t>(j)] *= factor;
      for (int i = 0; i < p.n; ++i) p.p(i, j) *= factor;
      for (int i = 0; i < p.n; ++i) p.p(j, i) *= factor;
    }
    const auto scale_rows = [&](int first, int size) {
      const double factor = unit();
      for (int i = first; i < first + size; ++i) {
        for (int j = 0; j < p.n; ++j) p.a(i, j) *= factor;
        p.lower[static_cast<std::size_t>(i)] *= factor;
        p.upper[static_cast<std::size_t>(i)] *= factor;
      }
    };
    for (int i = 0; i < p.intervals; ++i) scale_rows(i, 1);
    int first = p.intervals;
    for (const int size : p.cones) {
      scale_rows(first, size);
      first += size;
    }
    const double factor = unit();
    for (double& v : p.hessian) v *= factor;
    for (double& v : p.vector) v *= factor;
    p.objective *= factor;
    p.unit *= factor;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

  std::mt19937_64& engine_;
};

}  // namespace carom::test
