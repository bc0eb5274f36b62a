#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include <carom/certificate_qp.hpp>
#include <carom/types/qp.hpp>

#include "programs/qp/cone_faces.hpp"

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

  /// The same of directions that no equation ends. Where there is none, `convex`, a copy of this,
  /// gets the objective that agrees where the equations hold and is convex everywhere.
  bool on_equations(QpProblem& convex, Eigen::VectorXd& direction) const;
  /// Multipliers of the equations, from P x + q + A'y = 0.
  void complete(const Eigen::VectorXd& x, Eigen::VectorXd& y) const;

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

  /// What the homogeneous method says, with faces (programs/qp/cone_faces.hpp).
  [[nodiscard]] qp::ConeVerdict decide() const;

  Rows hessian;  ///< both halves, from the lower one
  Eigen::VectorXd gradient;
  Rows matrix;  ///< [rows, n]
  Eigen::VectorXd lower, upper;
  std::vector<kernels::QpConeSpan> cones;  ///< second-order cones of more than one row

 private:
  /// Lengths of the variables that bring the Hessian's diagonal to one.
  [[nodiscard]] Eigen::VectorXd curvature_units() const;
  [[nodiscard]] kernels::QpShape shape() const;
  using Data = kernels::PlainMemory<const double>;
  using Memory = kernels::PlainMemory<double>;

  /// proof(shape, view, work), work: qp_judge_workspace.
  template <class Proof>
  auto with_view(Proof&& proof) const;

  int interval_rows_;  ///< of A
  std::vector<bool> in_cone_;
  std::vector<int> first_, columns_;  ///< every column of every row, as the certificate wants them
};

}  // namespace carom::reference
