#pragma once

#include <vector>

#include <carom/certificate_boxed_lcp.hpp>
#include <carom/certificate_lp.hpp>

/// The linear programs of a node of a proof tree for a boxed LCP
/// (carom/types/lcp_decision.hpp).
namespace carom::boxed {

/// What a node says of the pair z_k, w_k.
namespace side {
inline constexpr signed char kOpen = -1;
inline constexpr signed char kLower = 0;  ///< z_k at its lower bound, w_k >= 0
inline constexpr signed char kZero = 1;   ///< w_k = 0
inline constexpr signed char kUpper = 2;  ///< z_k at its upper bound, w_k <= 0
}  // namespace side

/// {lo <= z <= hi, the signs of w that the bounds ask for, what is fixed}: rows w_i, then of the
/// k-th friction row z_i - mu_i z_j <= 0 in row n + 2 k and z_i + mu_i z_j >= 0 in row n + 2 k + 1.
class TreeProgram {
 public:
  /// problem: its arrays outlive this.
  explicit TreeProgram(const certificate::BoxedLcpData& problem);

  [[nodiscard]] int columns() const { return problem_.order; }
  [[nodiscard]] int rows() const { return static_cast<int>(row_lower.size()); }
  [[nodiscard]] bool is_friction(int k) const { return problem_.index(k) >= 0; }
  /// Row n + 2 k of friction row i.
  [[nodiscard]] int limit_row(int i) const { return limit_row_[static_cast<std::size_t>(i)]; }

  /// Bits 1 << side of what can be: without kLower where no lower bound is, kUpper likewise; 0
  /// where the bounds are one.
  [[nodiscard]] int sides(int k) const;

  /// fixed: side of each pair, [n]; bound: of |z_j| where it has no bound of its own.
  void set(const std::vector<signed char>& fixed, double bound);
  [[nodiscard]] certificate::LpData data() const;

  std::vector<double> cost, matrix;  ///< zero; [rows, n]
  std::vector<double> row_lower, row_upper, column_lower, column_upper;

 private:
  certificate::BoxedLcpData problem_;
  std::vector<int> limit_row_;
};

}  // namespace carom::boxed
