#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support/cone_disguises.hpp"
#include "support/cone_problem.hpp"

/// Small random quadratic programs with second-order cones whose verdict is known by construction:
/// small integers, so that planted points, rays and Farkas' vectors hold exactly.
namespace carom::test {

class ConeGenerator {
 public:
  explicit ConeGenerator(std::uint64_t seed) : engine_(seed) {}

  /// Planted, sheared by whole numbers, in random units beside an unrelated huge entry.
  ConeProblem problem(ConeVerdict verdict) {
    ConeProblem made = plain(verdict);
    ConeDisguises disguises(engine_);
    if (chance(0.5)) disguises.shear(made);
    if (chance(0.3)) disguises.add_huge(made);
    if (chance(0.5)) disguises.change_units(made);
    return made;
  }

  /// As planted.
  ConeProblem plain_problem(ConeVerdict verdict) { return plain(verdict); }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  using Vector = std::vector<double>;

  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool chance(double share) { return std::uniform_real_distribution<double>()(engine_) < share; }
  double entry() { return chance(density_) ? integer(-3, 3) : 0.0; }

  /// On the boundary of the cone, of whole numbers.
  Vector boundary(int size) {
    Vector v;
    if (size == 1) return {0.0};
    if (size == 2) v = {1, 1};
    if (size == 3) v = chance(0.7) ? Vector{5, 3, 4} : Vector{1, 1, 0};
    if (size == 4) v = chance(0.5) ? Vector{3, 1, 2, 2} : Vector{7, 2, 3, 6};
    for (std::size_t i = v.size() - 1; i > 1; --i) {
      std::swap(v[i], v[static_cast<std::size_t>(integer(1, static_cast<int>(i)))]);
    }
    for (std::size_t i = 1; i < v.size(); ++i) v[i] *= chance(0.5) ? 1.0 : -1.0;
    return v;
  }
  Vector inside(int size) {
    Vector v = boundary(size);
    v[0] += integer(1, 3);
    return v;
  }
  Vector nothing(int size) { return Vector(static_cast<std::size_t>(size), 0.0); }
  Vector in_cone(int size) {
    const int kind = integer(0, 3);
    return kind == 0 ? nothing(size) : kind == 1 ? boundary(size) : inside(size);
  }
  static void scale(Vector& v, double factor) {
    for (double& x : v) x *= factor;
  }

  ConeProblem empty() {
    ConeProblem p;
    density_ = chance(0.5) ? 1.0 : 0.5;
    p.n = integer(1, 8);
    p.intervals = integer(0, 6);
    for (int c = integer(chance(0.8) ? 1 : 0, 3); c > 0; --c) p.cones.push_back(integer(1, 4));
    int rows = p.intervals;
    for (const int size : p.cones) rows += size;
    p.hessian.assign(static_cast<std::size_t>(p.n * p.n), 0.0);
    p.vector.assign(static_cast<std::size_t>(p.n), 0.0);
    p.matrix.assign(static_cast<std::size_t>(rows * p.n), 0.0);
    p.lower.assign(static_cast<std::size_t>(rows), -kInfinity);
    p.upper.assign(static_cast<std::size_t>(rows), kInfinity);
    for (double& x : p.matrix) x = entry();
    for (int i = 0; i < p.intervals; ++i) {
      const double kind = std::uniform_real_distribution<double>()(engine_);
      for (int j = 0; j < p.n; ++j) {
        if (kind < 0.05) p.a(i, j) = 0.0;
        if (kind > 0.92 && i > 0) p.a(i, j) = p.a(i - 1, j) * (kind > 0.96 ? -1.0 : 2.0);
        if (kind > 0.7 && kind < 0.85) p.a(i, j) = j == i % p.n ? 1.0 : 0.0;
      }
    }
    return p;
  }

  /// P = B'B of random rank, blind to d.
  void bend(ConeProblem& p, const Vector& d) {
    const int rank = chance(0.3) ? 0 : integer(0, p.n);
    double square = 0.0;
    for (const double x : d) square += x * x;
    for (int r = 0; r < rank; ++r) {
      Vector b(static_cast<std::size_t>(p.n));
      double dot = 0.0;
      for (std::size_t j = 0; j < b.size(); ++j) {
        b[j] = integer(-2, 2);
        dot += b[j] * d[j];
      }
      if (square > 0.0 && dot != 0.0) {
        for (std::size_t j = 0; j < b.size(); ++j) b[j] = b[j] * square - d[j] * dot;
      }
      for (int i = 0; i < p.n; ++i) {
        for (int j = 0; j < p.n; ++j) {
          p.p(i, j) += b[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(j)];
        }
      }
    }
  }

  [[nodiscard]] static double row_times(const ConeProblem& p, int i, const Vector& x) {
    double sum = 0.0;
    for (int j = 0; j < p.n; ++j) sum += p.a(i, j) * x[static_cast<std::size_t>(j)];
    return sum;
  }
  Vector point(int n) {
    Vector x(static_cast<std::size_t>(n));
    for (double& v : x) v = integer(-3, 3);
    return x;
  }

  /// f(first row, size) for the cones.
  template <class F>
  static void for_cones(const ConeProblem& p, F&& f) {
    int first = p.intervals;
    for (const int size : p.cones) {
      f(first, size);
      first += size;
    }
  }

  ConeProblem plain(ConeVerdict verdict) {
    switch (verdict) {
      case ConeVerdict::solved:
        return solved();
      case ConeVerdict::infeasible:
        return infeasible();
      case ConeVerdict::unbounded:
        return unbounded();
      default:
        return doubly_infeasible();
    }
  }

  /// A pair of slack and multiplier, complementary, at times not strictly.
  ConeProblem solved() {
    ConeProblem p = empty();
    const Vector x = point(p.n);
    Vector y(p.upper.size(), 0.0);
    bend(p, nothing(p.n));
    for (int i = 0; i < p.intervals; ++i) {
      const auto r = static_cast<std::size_t>(i);
      const double value = row_times(p, i, x);
      const int kind = integer(0, 7);
      const double push = integer(0, 3);
      if (kind <= 1) {
        p.lower[r] = p.upper[r] = value;
        y[r] = integer(-3, 3);
      } else if (kind <= 3) {
        p.upper[r] = value;
        if (chance(0.5)) p.lower[r] = value - integer(1, 4);
        y[r] = push;
      } else if (kind <= 5) {
        p.lower[r] = value;
        if (chance(0.5)) p.upper[r] = value + integer(1, 4);
        y[r] = -push;
      } else if (kind == 6) {
        p.lower[r] = value - integer(1, 4);
        p.upper[r] = value + integer(1, 4);
      }
    }
    for_cones(p, [&](int first, int size) {
      Vector s = nothing(size);
      Vector z = nothing(size);
      const int kind = integer(0, 8);
      if (kind <= 1) {
        z = inside(size);
      } else if (kind <= 3) {
        s = inside(size);
      } else if (kind <= 5) {
        s = boundary(size);
        z = s;
        for (std::size_t t = 1; t < z.size(); ++t) z[t] = -z[t];
        scale(z, integer(1, 3));
      } else if (kind == 6) {
        s = boundary(size);
      } else if (kind == 7) {
        z = boundary(size);
      }
      for (int t = 0; t < size; ++t) {
        const auto r = static_cast<std::size_t>(first + t);
        p.upper[r] = row_times(p, first + t, x) + s[static_cast<std::size_t>(t)];
        y[r] = z[static_cast<std::size_t>(t)];
      }
    });
    double objective = 0.0;
    for (int j = 0; j < p.n; ++j) {
      double bent = 0.0;
      double pull = 0.0;
      for (int k = 0; k < p.n; ++k) bent += p.p(j, k) * x[static_cast<std::size_t>(k)];
      for (int i = 0; i < p.rows(); ++i) pull += p.a(i, j) * y[static_cast<std::size_t>(i)];
      p.vector[static_cast<std::size_t>(j)] = -bent - pull;
      objective -= x[static_cast<std::size_t>(j)] * (0.5 * bent + pull);
    }
    p.verdict = ConeVerdict::solved;
    p.objective = objective;
    return p;
  }

  /// Farkas' vector y with one entry of +-1, whose row closes A'y = 0 and the support.
  ConeProblem infeasible() {
    for (;;) {
      ConeProblem p = empty();
      bend(p, nothing(p.n));
      for (double& q : p.vector) q = integer(-3, 3);
      if (contradict(p)) {
        p.verdict = ConeVerdict::infeasible;
        return p;
      }
    }
  }
  bool contradict(ConeProblem& p) {
    Vector y(p.upper.size(), 0.0);
    for (int i = 0; i < p.intervals; ++i) {
      const auto r = static_cast<std::size_t>(i);
      const int kind = integer(0, 5);
      if (kind < 4) y[r] = integer(-2, 2);
      const double bound = integer(-4, 4);
      if (kind == 0 || (y[r] > 0.0 && kind == 1)) {
        p.lower[r] = p.upper[r] = bound;
      } else if (y[r] > 0.0 || (y[r] == 0.0 && chance(0.5))) {
        p.upper[r] = bound;
      } else {
        p.lower[r] = bound;
      }
    }
    for_cones(p, [&](int first, int size) {
      const Vector z = in_cone(size);
      for (int t = 0; t < size; ++t) {
        p.upper[static_cast<std::size_t>(first + t)] = integer(-4, 4);
        y[static_cast<std::size_t>(first + t)] = z[static_cast<std::size_t>(t)];
      }
    });
    std::vector<int> units;
    for (int i = 0; i < p.rows(); ++i) {
      if (std::fabs(y[static_cast<std::size_t>(i)]) == 1.0) units.push_back(i);
    }
    if (units.empty()) return false;
    const int row = units[static_cast<std::size_t>(integer(0, static_cast<int>(units.size()) - 1))];
    const auto r = static_cast<std::size_t>(row);
    for (int j = 0; j < p.n; ++j) {
      double sum = 0.0;
      for (int i = 0; i < p.rows(); ++i) {
        if (i != row) sum += y[static_cast<std::size_t>(i)] * p.a(i, j);
      }
      p.a(row, j) = -sum * y[r];
    }
    double support = 0.0;
    for (int i = 0; i < p.rows(); ++i) {
      const auto e = static_cast<std::size_t>(i);
      if (i != row && y[e] != 0.0) {
        support += y[e] * (i >= p.intervals || y[e] > 0.0 ? p.upper[e] : p.lower[e]);
      }
    }
    const double bound = (-integer(1, 3) - support) * y[r];
    if (row >= p.intervals) {
      p.upper[r] = bound;
    } else if (p.lower[r] == p.upper[r]) {
      p.lower[r] = p.upper[r] = bound;
    } else {
      (y[r] > 0.0 ? p.upper[r] : p.lower[r]) = bound;
    }
    return true;
  }

  /// A ray with entry 1 in column `unit`; only columns from `from` on.
  Vector ray(int n, int from, int& unit) {
    Vector d(static_cast<std::size_t>(n), 0.0);
    for (int j = from; j < n; ++j) d[static_cast<std::size_t>(j)] = entry();
    unit = integer(from, n - 1);
    d[static_cast<std::size_t>(unit)] = 1.0;
    return d;
  }
  /// Rows that d never leaves and that hold at x.
  void open(ConeProblem& p, const Vector& d, int unit, const Vector& x) {
    for (int i = 0; i < p.intervals; ++i) {
      const auto r = static_cast<std::size_t>(i);
      if (chance(0.4)) p.a(i, unit) -= row_times(p, i, d);
      const double along = row_times(p, i, d);
      const double value = row_times(p, i, x);
      const int kind = integer(0, 3);
      if (along <= 0.0 && kind != 1) p.upper[r] = value + integer(0, 3);
      if (along >= 0.0 && kind != 2) p.lower[r] = value - integer(0, 3);
      if (along == 0.0 && kind == 3) p.lower[r] = p.upper[r] = value;
    }
    for_cones(p, [&](int first, int size) {
      const Vector t = in_cone(size);
      const Vector s = in_cone(size);
      for (int k = 0; k < size; ++k) {
        const int i = first + k;
        p.a(i, unit) -= row_times(p, i, d) + t[static_cast<std::size_t>(k)];
        p.upper[static_cast<std::size_t>(i)] = row_times(p, i, x) + s[static_cast<std::size_t>(k)];
      }
    });
  }
  void descend(ConeProblem& p, const Vector& d, int unit) {
    double slope = 0.0;
    for (int j = 0; j < p.n; ++j) {
      p.vector[static_cast<std::size_t>(j)] = entry();
      slope += p.vector[static_cast<std::size_t>(j)] * d[static_cast<std::size_t>(j)];
    }
    if (slope >= 0.0) p.vector[static_cast<std::size_t>(unit)] -= slope + integer(1, 3);
  }

  ConeProblem unbounded() {
    ConeProblem p = empty();
    int unit = 0;
    const Vector d = ray(p.n, 0, unit);
    bend(p, d);
    open(p, d, unit, point(p.n));
    descend(p, d, unit);
    p.verdict = ConeVerdict::unbounded;
    return p;
  }

  /// The ray moves the last columns only, the contradiction reads the others.
  ConeProblem doubly_infeasible() {
    const ConeProblem bad = infeasible();
    const ConeProblem other = unbounded();
    ConeProblem p;
    p.verdict = ConeVerdict::doubly_infeasible;
    p.n = bad.n + other.n;
    p.intervals = bad.intervals + other.intervals;
    p.cones = bad.cones;
    p.cones.insert(p.cones.end(), other.cones.begin(), other.cones.end());
    p.hessian.assign(static_cast<std::size_t>(p.n * p.n), 0.0);
    p.vector = bad.vector;
    p.vector.insert(p.vector.end(), other.vector.begin(), other.vector.end());
    for (int i = 0; i < bad.n; ++i) {
      for (int j = 0; j < bad.n; ++j) p.p(i, j) = bad.p(i, j);
    }
    for (int i = 0; i < other.n; ++i) {
      for (int j = 0; j < other.n; ++j) p.p(bad.n + i, bad.n + j) = other.p(i, j);
    }
    const auto add = [&](const ConeProblem& from, int first, int last, int column) {
      for (int i = first; i < last; ++i) {
        for (int j = 0; j < p.n; ++j) {
          const bool own = j >= column && j < column + from.n;
          // The ray's rows may read the others' columns as well.
          p.matrix.push_back(own ? from.a(i, j - column) : column > 0 ? entry() : 0.0);
        }
        p.lower.push_back(from.lower[static_cast<std::size_t>(i)]);
        p.upper.push_back(from.upper[static_cast<std::size_t>(i)]);
      }
    };
    add(bad, 0, bad.intervals, 0);
    add(other, 0, other.intervals, bad.n);
    add(bad, bad.intervals, bad.rows(), 0);
    add(other, other.intervals, other.rows(), bad.n);
    return p;
  }

  std::mt19937_64 engine_;
  double density_ = 1.0;
};

}  // namespace carom::test
