#pragma once

#include <vector>

#include "programs/qp/kernels/qp_homogeneous.hpp"

/// A quadratic program with cones that is put together row by row, every row with all columns.
namespace carom::qp {

class DenseCones {
 public:
  using Numbers = std::vector<double>;

  explicit DenseCones(int variables)
      : n(variables),
        hessian(static_cast<std::size_t>(variables) * static_cast<std::size_t>(variables), 0.0),
        gradient(static_cast<std::size_t>(variables), 0.0) {}

  /// All intervals before the first cone.
  void add_row(const Numbers& row, double low, double high) {
    matrix.insert(matrix.end(), row.begin(), row.end());
    lower.push_back(low);
    upper.push_back(high);
  }
  void add_cone_row(const Numbers& row, double bound, bool first) {
    if (first) cones_.push_back({rows(), 0, 0, n});
    ++cones_.back().size;
    add_row(row, -kernels::kInfinity, bound);
  }
  [[nodiscard]] int rows() const { return static_cast<int>(upper.size()); }

  struct Answer {
    kernels::QpHomogeneousOutcome outcome;
    Numbers x, y, direction;
  };
  /// whole: a direction counts with a point only.
  [[nodiscard]] Answer solve(bool whole) {
    first_.clear();
    column_.clear();
    for (int i = 0; i <= rows(); ++i) first_.push_back(i * n);
    for (int e = 0; e < rows() * n; ++e) column_.push_back(e % n);
    kernels::QpShape shape{};
    shape.variables = n;
    shape.rows = rows();
    shape.cones = static_cast<int>(cones_.size());
    shape.cone = cones_.data();
    shape.row_first = first_.data();
    shape.column = column_.data();
    const kernels::QpView<const double*> view{hessian.data(), gradient.data(), matrix.data(),
                                              lower.data(), upper.data()};
    memory_.resize(static_cast<std::size_t>(kernels::qp_homogeneous_workspace(n, rows())));
    kernels::QpHomogeneous<> body(shape, memory_.data());
    Answer answer;
    answer.outcome = whole ? body.decide(view, {}) : body.solve(view, true, {});
    for (int j = 0; j < n; ++j) {
      answer.x.push_back(body.solution(j));
      answer.direction.push_back(body.direction(j));
    }
    for (int i = 0; i < rows(); ++i) answer.y.push_back(body.dual(i));
    return answer;
  }

  int n;
  Numbers hessian, gradient, matrix, lower, upper;

 private:
  std::vector<kernels::QpConeSpan> cones_;
  std::vector<int> first_, column_;
  Numbers memory_;
};

}  // namespace carom::qp
