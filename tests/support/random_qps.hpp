#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <carom/qp.hpp>

/// Random quadratic programs of one shape with known properties.
namespace carom::test {

struct QpFlavour {
  int variables = 6;
  int rows = 8;
  std::vector<Cone> cones;
  int rank = 6;             ///< of the Hessian
  int equations = 0;        ///< the first rows
  bool infeasible = false;  ///< the last row contradicts the first one
  bool unbounded = false;   ///< the last variable appears in no row and has only a slope
  bool nonconvex = false;
  double spread = 0.0;  ///< decades by which variables differ in unit
};

/// Feasible unless asked otherwise: every row and cone holds at a random point, which is bounded
/// because each variable has two bounds among the rows where there are enough of them.
inline QpBatch random_qps(const QpFlavour& flavour, int problems, unsigned seed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const int n = flavour.variables;
  const int m = flavour.rows;
  std::vector<double> hessian, vector, matrix, lower, upper, cone_matrix, cone_vector;
  for (int p = 0; p < problems; ++p) {
    std::vector<double> unit(static_cast<std::size_t>(n), 1.0);
    for (double& u : unit) u = std::pow(10.0, flavour.spread * (uniform(engine) - 0.5));
    const auto unit_of = [&](int j) { return unit[static_cast<std::size_t>(j)]; };
    std::vector<double> root(static_cast<std::size_t>(flavour.rank * n));
    for (double& r : root) r = normal(engine);
    if (flavour.unbounded) {
      for (int r = 0; r < flavour.rank; ++r) root[static_cast<std::size_t>(r * n + n - 1)] = 0.0;
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0.0;
        for (int r = 0; r < flavour.rank; ++r) {
          sum +=
              root[static_cast<std::size_t>(r * n + i)] * root[static_cast<std::size_t>(r * n + j)];
        }
        if (flavour.nonconvex && i == j && i == n / 2) sum = -1.0;
        hessian.push_back(sum * unit_of(i) * unit_of(j));
      }
    }
    std::vector<double> point(static_cast<std::size_t>(n));
    for (int j = 0; j < n; ++j) {
      vector.push_back(3.0 * normal(engine) * unit_of(j));
      point[static_cast<std::size_t>(j)] = normal(engine) / unit_of(j);
    }
    const auto add_row = [&](std::vector<double>& to) {
      double value = 0.0;
      for (int j = 0; j < n; ++j) {
        const bool free = flavour.unbounded && j == n - 1;
        const double entry = free || uniform(engine) < 0.3 ? 0.0 : normal(engine) * unit_of(j);
        to.push_back(entry);
        value += entry * point[static_cast<std::size_t>(j)];
      }
      return value;
    };
    const std::size_t first_row = matrix.size();
    for (int i = 0; i < m; ++i) {
      if (flavour.infeasible && i == m - 1) {
        for (int j = 0; j < n; ++j) {
          matrix.push_back(2.0 * matrix[first_row + static_cast<std::size_t>(j)]);
        }
        const double bound = upper[upper.size() - static_cast<std::size_t>(m - 1)];
        lower.push_back(2.0 * bound + 1.0);
        upper.push_back(kInfinity);
        continue;
      }
      const double value = add_row(matrix);
      const double kind = uniform(engine);
      const bool first = flavour.infeasible && i == 0;
      if (i < flavour.equations) {
        lower.push_back(value);
        upper.push_back(value);
      } else {
        lower.push_back(kind < 0.7 ? value - 0.5 * uniform(engine) : -kInfinity);
        upper.push_back(kind > 0.3 || first ? value + 0.5 * uniform(engine) : kInfinity);
      }
    }
    for (const Cone& cone : flavour.cones) {
      double tail = 0.0;
      std::vector<double> values;
      for (int i = 0; i < cone.size; ++i) values.push_back(add_row(cone_matrix));
      for (int i = 1; i < cone.size; ++i) {
        const double s = normal(engine);
        tail += s * s;
        cone_vector.push_back(0.0);
        values[static_cast<std::size_t>(i)] += cone.kind == ConeKind::zero          ? 0.0
                                               : cone.kind == ConeKind::nonnegative ? std::abs(s)
                                                                                    : s;
      }
      cone_vector.push_back(0.0);
      values[0] += cone.kind == ConeKind::zero ? 0.0 : std::sqrt(tail) + 0.3 * uniform(engine);
      std::copy(values.begin(), values.end(), cone_vector.end() - cone.size);
    }
  }
  QpBatch batch;
  batch.problems = problems;
  batch.variables = n;
  batch.rows = m;
  batch.cones = flavour.cones;
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(upper);
  batch.cone_matrix = Buffer<double>::from(cone_matrix);
  batch.cone_vector = Buffer<double>::from(cone_vector);
  return batch;
}

}  // namespace carom::test
