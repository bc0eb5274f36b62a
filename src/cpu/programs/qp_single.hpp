#pragma once

#include <cstdint>
#include <vector>

#include <carom/certificate_qp.hpp>
#include <carom/device/qp_problem.hpp>
#include <carom/qp.hpp>

#include "programs/qp/layout.hpp"

namespace carom::cpu {

/// One problem at a time among the bodies' rows, with its certificates and proofs. Memory is taken
/// once, for the batch's shape; `load` and everything after it allocates nothing.
class QpSingle {
 public:
  explicit QpSingle(const QpLayout& layout);

  void load(const QpArrays& problem);

  struct Answer {
    Status status = Status::numerical_error;
    QpMethod method = QpMethod::automatic;
    int iterations = 0;
    double residual = 0.0;
    double objective = 0.0;
  };

  /// No NaN, nothing infinite but absent bounds.
  [[nodiscard]] bool is_valid() const;
  /// Judges the multipliers and solution in x(), y().
  void judge(Answer& answer, double tolerance);
  /// Whether y(), normalised, proves the status, or x() with a feasible point(); on success they
  /// hold the proof.
  bool proves_infeasible(double tolerance);
  bool proves_unbounded(double tolerance);
  /// Whether the Hessian has a direction of negative curvature; on success x() holds it.
  bool proves_nonconvex();

  /// l_i > u_i somewhere: y() becomes the unit vector of that row.
  bool crossed_bounds();

  [[nodiscard]] double* x() { return x_.data(); }
  [[nodiscard]] double* y() { return y_.data(); }
  [[nodiscard]] double* point() { return point_.data(); }
  [[nodiscard]] const kernels::QpView<kernels::PlainMemory<const double>>& view() const {
    return view_;
  }

 private:
  using Memory = kernels::PlainMemory<double>;

  const QpLayout& layout_;
  std::vector<double> hessian_, gradient_, matrix_, lower_, upper_;
  std::vector<double> x_, y_, point_, work_;
  kernels::QpView<kernels::PlainMemory<const double>> view_{};
};

}  // namespace carom::cpu
