#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <carom/lp.hpp>
#include <carom/qp.hpp>

#include "support/exact_program.hpp"

/// Random programs of small integers of every status, and the same in other units.
namespace carom::test {

/// What numbers are multiplied by: powers of two. x = column x' in the caller's units.
struct Units {
  std::vector<double> row, column;
  double objective = 1.0;
};

struct Attack {
  int largest_exponent = 0;  ///< of the units, random in 2^-e .. 2^e
  bool huge_entry = false;   ///< an unrelated number of 1e11 or 1e12 somewhere
};

class IntegerPrograms {
 public:
  IntegerPrograms(int variables, int rows, unsigned seed)
      : n_(variables), m_(rows), engine_(seed) {}

  /// curved: with a Hessian of any rank, else a linear program.
  IntegerProgram next(bool curved) {
    IntegerProgram p;
    p.variables = n_;
    p.rows = m_;
    const auto n = static_cast<std::size_t>(n_);
    const auto m = static_cast<std::size_t>(m_);
    p.hessian.assign(n * n, 0);
    p.vector.assign(n, 0);
    p.matrix.assign(m * n, 0);
    p.lower.resize(m);
    p.upper.resize(m);
    if (curved) {
      const int rank = pick(0, n_);
      for (int r = 0; r < rank; ++r) {
        std::vector<int> root(n);
        for (int& x : root) x = chance(0.3) ? 0 : pick(-2, 2);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) p.hessian[i * n + j] += root[i] * root[j];
        }
      }
      if (chance(0.05)) {  // often, but not always, no longer convex
        const int i = pick(0, n_ - 1);
        p.hessian[static_cast<std::size_t>(i) * n + static_cast<std::size_t>(i)] -= pick(1, 6);
      }
    }
    for (int& x : p.vector) x = chance(0.2) ? 0 : pick(-3, 3);
    // A slope within the range of P and the rows keeps many singular problems bounded.
    if (chance(0.4)) {
      std::vector<int> x(n);
      for (int& v : x) v = pick(-2, 2);
      for (std::size_t i = 0; i < n; ++i) {
        p.vector[i] = 0;
        for (std::size_t j = 0; j < n; ++j) p.vector[i] -= p.hessian[i * n + j] * x[j];
      }
    }
    std::vector<int> inside(n);
    for (int& x : inside) x = pick(-2, 2);
    const double sparse = chance(0.5) ? 0.6 : 0.2;
    const bool feasible = chance(0.7);
    for (std::size_t i = 0; i < m; ++i) {
      int value = 0;
      const bool single = chance(0.35);
      const auto only = static_cast<std::size_t>(pick(0, n_ - 1));
      const bool zero = chance(0.03);
      const bool twice = i > 0 && chance(0.08);
      const auto other = i > 0 ? static_cast<std::size_t>(pick(0, static_cast<int>(i) - 1)) : 0;
      const int factor = chance(0.5) ? 1 : pick(-2, 2);
      for (std::size_t j = 0; j < n; ++j) {
        int& a = p.matrix[i * n + j];
        if (twice) {
          a = factor * p.matrix[other * n + j];
        } else if (!zero) {
          a = single ? (j == only ? 1 : 0) : (chance(sparse) ? 0 : pick(-3, 3));
        }
        value += a * inside[j];
      }
      const int below = feasible ? value - (chance(0.5) ? 0 : pick(0, 3)) : pick(-3, 3);
      const int above = feasible ? value + (chance(0.5) ? 0 : pick(0, 3)) : below + pick(0, 3);
      const double kind = uniform();
      if (kind < 0.15) {
        p.lower[i] = p.upper[i] = feasible ? value : below;
      } else if (kind < 0.45) {
        p.lower[i] = below;
      } else if (kind < 0.75) {
        p.upper[i] = above;
      } else if (kind < 0.93) {
        p.lower[i] = below;
        p.upper[i] = above;
      }
    }
    return p;
  }

  Units units(const Attack& attack) {
    Units u;
    const auto power = [&] {
      return std::ldexp(1.0, pick(-attack.largest_exponent, attack.largest_exponent));
    };
    for (int i = 0; i < m_; ++i) u.row.push_back(power());
    for (int j = 0; j < n_; ++j) u.column.push_back(power());
    u.objective = power();
    return u;
  }

  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  double uniform() { return std::uniform_real_distribution<double>()(engine_); }
  bool chance(double probability) { return uniform() < probability; }

 private:
  int n_, m_;
  std::mt19937_64 engine_;
};

/// Programs of one shape as a batch; with a huge entry each has one more variable and row.
struct ProgramArrays {
  std::int64_t problems = 0;
  int variables = 0, rows = 0;
  std::vector<double> hessian, vector, matrix, lower, upper;
};

/// Appends p in its units. huge: 0, or which unrelated number of 1e11 stands in the added variable
/// and row: their bounds, their coefficient, their cost, or a bound of the others that never holds.
inline void append(ProgramArrays& to, const IntegerProgram& p, const Units& u, bool extended,
                   int huge) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int n = p.variables + (extended ? 1 : 0);
  const int m = p.rows + (extended ? 1 : 0);
  to.variables = n;
  to.rows = m;
  ++to.problems;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const bool own = i < p.variables && j < p.variables;
      to.hessian.push_back(own ? p.hessian[at(i * p.variables + j)] * u.column[at(i)] *
                                     u.column[at(j)] * u.objective
                               : 0.0);
    }
    to.vector.push_back(i < p.variables ? p.vector[at(i)] * u.column[at(i)] * u.objective
                        : huge == 3     ? 1e11
                                        : 0.0);
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      const bool own = i < p.rows && j < p.variables;
      double value = own ? p.matrix[at(i * p.variables + j)] * u.column[at(j)] * u.row[at(i)] : 0.0;
      if (i == p.rows) {
        if (huge == 4) {
          value = j < p.variables ? u.column[at(j)] : 0.0;  // |sum x| <= 1e11 holds anyway
        } else {
          value = j == p.variables ? (huge == 2 ? 1e11 : 1.0) : 0.0;
        }
      }
      to.matrix.push_back(value);
    }
    if (i < p.rows) {
      to.lower.push_back(p.lower[at(i)] ? *p.lower[at(i)] * u.row[at(i)] : -kInfinity);
      to.upper.push_back(p.upper[at(i)] ? *p.upper[at(i)] * u.row[at(i)] : kInfinity);
    } else {
      const double size = huge == 1 ? 1e12 : huge == 4 ? 1e11 : 1.0;
      to.lower.push_back(huge == 4 ? -kInfinity : size);
      to.upper.push_back(size);
    }
  }
}

inline QpBatch qp_batch(const ProgramArrays& from) {
  QpBatch batch;
  batch.problems = from.problems;
  batch.variables = from.variables;
  batch.rows = from.rows;
  batch.hessian = Buffer<double>::from(from.hessian);
  batch.vector = Buffer<double>::from(from.vector);
  batch.matrix = Buffer<double>::from(from.matrix);
  batch.lower = Buffer<double>::from(from.lower);
  batch.upper = Buffer<double>::from(from.upper);
  return batch;
}

/// Without the Hessian; a row of one entry becomes a pair of column bounds where `as_bounds`.
inline LpBatch lp_batch(const ProgramArrays& from, bool as_bounds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  LpBatch batch;
  batch.problems = from.problems;
  batch.rows = from.rows;
  batch.columns = from.variables;
  const auto n = static_cast<std::size_t>(from.variables);
  const auto m = static_cast<std::size_t>(from.rows);
  std::vector<double> matrix = from.matrix;
  std::vector<double> lower = from.lower;
  std::vector<double> upper = from.upper;
  const auto problems = static_cast<std::size_t>(from.problems);
  std::vector<double> column_lower(problems * n, -kInfinity);
  std::vector<double> column_upper(problems * n, kInfinity);
  for (std::size_t p = 0; as_bounds && p < problems; ++p) {
    for (std::size_t i = 0; i < m; ++i) {
      double* row = matrix.data() + (p * m + i) * n;
      std::size_t count = 0, only = 0;
      for (std::size_t j = 0; j < n; ++j) {
        if (row[j] == 0.0) continue;
        ++count;
        only = j;
      }
      if (count != 1) continue;
      double& l = column_lower[p * n + only];
      double& u = column_upper[p * n + only];
      if (l != -kInfinity || u != kInfinity) continue;  // the first such row of a column
      l = lower[p * m + i] / row[only];
      u = upper[p * m + i] / row[only];
      if (row[only] < 0.0) std::swap(l, u);
      row[only] = 0.0;
      lower[p * m + i] = -kInfinity;
      upper[p * m + i] = kInfinity;
    }
  }
  batch.cost = Buffer<double>::from(from.vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.row_lower = Buffer<double>::from(lower);
  batch.row_upper = Buffer<double>::from(upper);
  batch.column_lower = Buffer<double>::from(column_lower);
  batch.column_upper = Buffer<double>::from(column_upper);
  return batch;
}

/// How a verdict stands to the truth.
enum class Match { right, wrong, open };

/// objective: in the program's own units, without what an extension adds.
inline Match match(const ExactVerdict& truth, Status status, double objective, double terms) {
  switch (status) {
    case Status::solved:
      if (truth.status != Status::solved) return Match::wrong;
      return std::abs(objective - truth.objective) <=
                     1e-9 * std::max({1.0, std::abs(truth.objective), terms})
                 ? Match::right
                 : Match::wrong;
    case Status::infeasible:
    case Status::unbounded:
    case Status::nonconvex:
      return truth.status == status ? Match::right : Match::wrong;
    default:
      return Match::open;
  }
}

}  // namespace carom::test
