#pragma once

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/impact.hpp>
#include <carom/settings.hpp>
#include <carom/types/derivative.hpp>
#include <carom/types/derivative_impact.hpp>

namespace carom {

/// Product from the left, at fixed random numbers and step size h: the gradient, in the problems'
/// numbers, of a loss whose gradient in the kept samples is `cotangent`. Each sample is followed
/// again from (seed, problem, sample) and must end as it did; under its contacts' modes each step
/// (75) is linear, and the adjoint runs backwards over the steps. `samples` are those of
/// sample_impacts(batch, sampled) with Selection::lemke and keep_samples, by ImpactMethod::lcp,
/// without restitution or intervals of friction. A sample that did not end says not_solved, and
/// one with a step that has several solutions, or too many modes to exclude that, set_valued: its
/// gradient is that of the solution taken. The report's reach is NaN. backend: automatic or cpu.
/// Errors: InvalidInput for what is not differentiated, shapes, numbers and settings;
/// BackendUnavailable.
ImpactGradient differentiate_impacts(const ImpactBatch& batch, const ImpactSettings& sampled,
                                     const ImpactSamples& samples, const ImpactCotangent& cotangent,
                                     const DerivativeSettings& settings = {},
                                     const ImpactWanted& wanted = {},
                                     Backend backend = Backend::automatic);

/// Product from the right: how each kept sample changes along `direction`, which is that of its
/// problem. NaN at kinks that the direction sees. Otherwise as differentiate_impacts.
ImpactTangent propagate_impacts(const ImpactBatch& batch, const ImpactSettings& sampled,
                                const ImpactSamples& samples, const ImpactDirection& direction,
                                const DerivativeSettings& settings = {},
                                Backend backend = Backend::automatic);

}  // namespace carom
