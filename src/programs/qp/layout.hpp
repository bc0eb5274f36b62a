#pragma once

#include <cstdint>
#include <vector>

#include <carom/device/qp_problem.hpp>
#include <carom/types/qp.hpp>

#include "core/pointers.hpp"
#include "programs/qp/row_kind.hpp"

namespace carom {

/// One problem of a batch as the caller gave it.
using QpArrays = QpBatchArrays<ConstPointer>;
QpArrays problem_of(const QpBatch& batch, std::int64_t problem);

/// Which entries and sides any problem of a batch has.
struct QpPattern {
  static constexpr std::uint8_t kLower = 1;  ///< a finite l < u
  static constexpr std::uint8_t kUpper = 2;
  static constexpr std::uint8_t kEqual = 4;

  /// All zero, for `rows` rows of A and `cone_rows` of C.
  QpPattern(int variables, int rows, int cone_rows);
  /// Of a batch in host memory.
  explicit QpPattern(const QpBatch& batch);

  std::vector<std::uint8_t> nonzero;  ///< [rows + cone_rows, n], 1 where an entry is not zero
  std::vector<std::uint8_t> sides;    ///< [rows], flags of the rows of A
  /// [n, n], likewise of P and of its transpose; empty where no zeros are known.
  std::vector<std::uint8_t> hessian;
};

/// The shape that the bodies see: the rows of A, then those of C, half-lines and equations of the
/// cone list as intervals. Built once per batch from all of its problems.
class QpLayout {
 public:
  /// Of a batch in host memory.
  explicit QpLayout(const QpBatch& batch) : QpLayout(batch, QpPattern(batch)) {}
  QpLayout(const QpBatch& batch, const QpPattern& pattern);

  [[nodiscard]] const kernels::QpShape& shape() const { return shape_; }
  [[nodiscard]] int variables() const { return shape_.variables; }
  [[nodiscard]] int rows() const { return shape_.rows; }
  /// Rows of A; the others come from C.
  [[nodiscard]] int interval_rows() const { return interval_rows_; }
  [[nodiscard]] QpRowKind kind(int row) const { return kinds_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] const std::vector<QpRowKind>& kinds() const { return kinds_; }

  /// [rows], 1 where a row of C is an equation.
  [[nodiscard]] const std::vector<std::uint8_t>& cone_equations() const { return equations_; }

  /// The lists behind `shape`, for a copy on a device.
  [[nodiscard]] const std::vector<int>& indices() const { return indices_; }
  [[nodiscard]] const std::vector<kernels::QpConeSpan>& cones() const { return cones_; }

 private:
  int interval_rows_;
  std::vector<QpRowKind> kinds_;
  std::vector<std::uint8_t> equations_;
  std::vector<kernels::QpConeSpan> cones_;
  std::vector<int> indices_;
  kernels::QpShape shape_{};
};

}  // namespace carom
