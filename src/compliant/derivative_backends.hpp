#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <carom/types/derivative_compliant.hpp>
#include <carom/types/derivative_worlds.hpp>

#include "compliant/backends.hpp"

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

/// wanted: which of (q, v, p, h) to differentiate in, by number, ascending. states: at the start.
WorldsGradient differentiate_worlds(const WorldStates& states, std::int64_t steps,
                                    const WorldsCotangent& cotangent,
                                    const CompliantSettings& solver,
                                    const DerivativeSettings& settings,
                                    const std::vector<int>& wanted, std::int64_t checkpoint);
/// wanted: those of (q, v, p, h) along which the direction leads, ascending.
WorldsTangent propagate_worlds(const WorldStates& states, std::int64_t steps,
                               const WorldsDirection& direction, const CompliantSettings& solver,
                               const DerivativeSettings& settings, const std::vector<int>& wanted);

}  // namespace carom::cpu
