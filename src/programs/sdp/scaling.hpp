#pragma once

#include <carom/types/sdp.hpp>

namespace carom::sdp {

/// Scales a program's blocks, variables, constant and objective to size 1 by powers of two, and
/// scales answers back.
class Scaled {
 public:
  explicit Scaled(const SdpProblem& problem);
  [[nodiscard]] const SdpProblem& problem() const { return scaled_; }
  /// The answer to the original one. Residuals stay those of the scaled one.
  [[nodiscard]] SdpResult original(SdpResult result) const;

 private:
  SdpProblem scaled_;
  std::vector<double> block_;     ///< what matrices were multiplied by
  std::vector<double> variable_;  ///< what y was
  double objective_ = 1.0, constant_ = 1.0;
};

}  // namespace carom::sdp
