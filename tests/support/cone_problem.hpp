#pragma once

#include <cmath>
#include <vector>

#include <carom/device/qp_problem.hpp>
#include <carom/qp.hpp>

/// One quadratic program with second-order cones and its verdict, for the bodies and for the API.
namespace carom::test {

enum class ConeVerdict { solved, infeasible, unbounded, doubly_infeasible };

/// Rows 0.. are intervals, the cones follow in the last rows.
struct ConeProblem {
  ConeVerdict verdict = ConeVerdict::solved;
  double objective = 0.0;  ///< where solved
  double unit = 1.0;       ///< of the objective, where all was planted in small whole numbers
  int n = 0;
  int intervals = 0;
  std::vector<int> cones;  ///< sizes
  std::vector<double> hessian, vector, matrix, lower, upper;

  [[nodiscard]] int rows() const { return static_cast<int>(upper.size()); }
  [[nodiscard]] double& a(int i, int j) { return matrix[static_cast<std::size_t>(i * n + j)]; }
  [[nodiscard]] double a(int i, int j) const { return matrix[static_cast<std::size_t>(i * n + j)]; }
  [[nodiscard]] double& p(int i, int j) { return hessian[static_cast<std::size_t>(i * n + j)]; }
  [[nodiscard]] double p(int i, int j) const {
    return hessian[static_cast<std::size_t>(i * n + j)];
  }

  /// As a batch of one.
  [[nodiscard]] QpBatch batch() const {
    QpBatch batch;
    batch.problems = 1;
    batch.variables = n;
    batch.rows = intervals;
    const auto part = [](const std::vector<double>& values, long first, long last) {
      return Buffer<double>::from(
          std::vector<double>(values.begin() + first, values.begin() + last));
    };
    const long count = rows();
    batch.hessian = part(hessian, 0, n * n);
    batch.vector = part(vector, 0, n);
    batch.matrix = part(matrix, 0, static_cast<long>(intervals) * n);
    batch.lower = part(lower, 0, intervals);
    batch.upper = part(upper, 0, intervals);
    batch.cone_matrix = part(matrix, static_cast<long>(intervals) * n, count * n);
    batch.cone_vector = part(upper, intervals, count);
    for (const int size : cones) batch.cones.push_back({ConeKind::second_order, size});
    return batch;
  }
};

/// The lists behind a shape; every row reads every column.
class ConeShape {
 public:
  explicit ConeShape(const ConeProblem& problem) {
    const int rows = problem.rows();
    for (int j = 0; j < problem.n; ++j) cone_column_.push_back(j);
    int first = problem.intervals;
    for (const int size : problem.cones) {
      spans_.push_back({first, size, 0, problem.n});
      first += size;
    }
    for (int i = 0; i <= rows; ++i) row_first_.push_back(i * problem.n);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < problem.n; ++j) column_.push_back(j);
    }
    for (int i = 0; i < problem.intervals; ++i) {
      const double l = problem.lower[static_cast<std::size_t>(i)];
      const double u = problem.upper[static_cast<std::size_t>(i)];
      (l == u ? equation_row_ : inequality_row_).push_back(i);
      if (l != u && std::isfinite(l)) lower_row_.push_back(i);
      if (l != u && std::isfinite(u)) upper_row_.push_back(i);
    }
    const auto count = [](const auto& list) { return static_cast<int>(list.size()); };
    shape_ = {problem.n,
              rows,
              count(lower_row_),
              count(upper_row_),
              count(equation_row_),
              count(inequality_row_),
              count(spans_),
              lower_row_.data(),
              upper_row_.data(),
              equation_row_.data(),
              inequality_row_.data(),
              spans_.data(),
              cone_column_.data(),
              row_first_.data(),
              column_.data()};
  }
  ConeShape(const ConeShape&) = delete;
  ConeShape& operator=(const ConeShape&) = delete;
  [[nodiscard]] const kernels::QpShape& shape() const { return shape_; }

 private:
  std::vector<int> lower_row_, upper_row_, equation_row_, inequality_row_, cone_column_, row_first_,
      column_;
  std::vector<kernels::QpConeSpan> spans_;
  kernels::QpShape shape_{};
};

}  // namespace carom::test
