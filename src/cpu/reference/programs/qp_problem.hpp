#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include <carom/certificate_qp.hpp>
#include <carom/qp.hpp>

namespace carom::reference {

/// One problem of a batch, the rows of A above those of its cones. Half-lines and equations among
/// the cones are intervals; of the other cones' rows `upper` is h.
class QpProblem {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

 public:
  QpProblem(const QpBatch& batch, std::int64_t index);

  [[nodiscard]] int variables() const { return static_cast<int>(gradient.size()); }
  [[nodiscard]] int rows() const { return static_cast<int>(upper.size()); }
  [[nodiscard]] bool in_cone(int row) const { return in_cone_[static_cast<std::size_t>(row)]; }

  /// No NaN, nothing infinite but absent bounds.
  [[nodiscard]] bool is_valid() const;
  /// First row with l > u, or -1.
  [[nodiscard]] int crossed_row() const;
  /// An eigenvector of negative curvature, of the Hessian with its diagonal scaled to one; false
  /// where it has none.
  bool negative_curvature(Eigen::VectorXd& direction) const;

  // The verdicts are the library's certificates.
  [[nodiscard]] certificate::QpResidual<double> residual(const Eigen::VectorXd& x,
                                                         const Eigen::VectorXd& y) const;
  /// Residual of Farkas' proof from multipliers: signs and cones are put right, and what rounding
  /// left in place of zeros goes; y holds the proof. Nothing where it proves nothing.
  std::optional<double> infeasibility_residual(Eigen::VectorXd& y) const;
  /// The larger residual of d, put right likewise, along which the objective falls without end, and
  /// of a point that meets rows and cones.
  std::optional<double> unboundedness_residual(Eigen::VectorXd& d,
                                               const Eigen::VectorXd& point) const;

  Rows hessian;  ///< both halves, from the lower one
  Eigen::VectorXd gradient;
  Rows matrix;  ///< [rows, n]
  Eigen::VectorXd lower, upper;
  std::vector<kernels::QpConeSpan> cones;  ///< second-order cones of more than one row

 private:
  template <class Judged>
  auto judged(Judged&& judgement) const;

  int interval_rows_;  ///< of A
  std::vector<bool> in_cone_;
  std::vector<int> first_, columns_;  ///< every column of every row, as the certificate wants them
};

}  // namespace carom::reference
