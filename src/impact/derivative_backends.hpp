#pragma once

#include <carom/types/derivative_impact.hpp>

// What the backend cpu offers for derivatives of impacts; no other has them. Shapes and numbers
// were validated before, max_steps is decided.
namespace carom::cpu {

ImpactGradient differentiate_impacts(const ImpactBatch& batch, const ImpactSettings& sampled,
                                     const ImpactSamples& samples, const ImpactCotangent& cotangent,
                                     const DerivativeSettings& settings,
                                     const ImpactWanted& wanted);
ImpactTangent propagate_impacts(const ImpactBatch& batch, const ImpactSettings& sampled,
                                const ImpactSamples& samples, const ImpactDirection& direction,
                                const DerivativeSettings& settings);

}  // namespace carom::cpu
