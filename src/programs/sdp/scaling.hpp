#pragma once

#include <carom/types/sdp.hpp>

namespace carom::sdp {

/// What is scaled: blocks as a whole; their rows and columns by the sizes of the coefficients; or
/// by the sizes of coefficients and constant. Where a variable occurs in few entries, its unit and
/// theirs are exchangeable.
enum class SdpUnits { blocks, rows, rows_and_constants };

/// Scales a program's blocks or rows, variables, constant and objective to size 1 by powers of two,
/// and scales answers back.
class Scaled {
 public:
  explicit Scaled(const SdpProblem& problem, SdpUnits units = SdpUnits::blocks);
  [[nodiscard]] const SdpProblem& problem() const { return scaled_; }
  /// The answer to the original one. Residuals stay those of the scaled one.
  [[nodiscard]] SdpResult original(SdpResult result) const;
  /// Largest entry of y and of the ray of an original answer, in the units of problem().
  [[nodiscard]] double size(const SdpResult& result) const;

 private:
  SdpProblem scaled_;
  std::vector<double> block_;     ///< what matrices were multiplied by
  std::vector<double> rows_;      ///< what their rows and columns were
  std::vector<double> variable_;  ///< what y was
  double objective_ = 1.0, constant_ = 1.0;
};

}  // namespace carom::sdp
