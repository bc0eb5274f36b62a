#pragma once

#include <string>
#include <vector>

#include <carom/types/derivative_compliant.hpp>

// What the backend cpu offers for derivatives of compliant steps; no other has them. Shapes and
// numbers were validated before.
namespace carom::cpu {

CompliantGradient differentiate_compliant(const CompliantBatch& batch,
                                          const CompliantResult& answer,
                                          const CompliantCotangent& cotangent,
                                          const CompliantSettings& solver,
                                          const DerivativeSettings& settings,
                                          const std::vector<std::string>& wanted);
CompliantTangent propagate_compliant(const CompliantBatch& batch, const CompliantResult& answer,
                                     const CompliantDirection& direction,
                                     const CompliantSettings& solver,
                                     const DerivativeSettings& settings);

}  // namespace carom::cpu
