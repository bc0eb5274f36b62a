#pragma once

#include <span>
#include <vector>

#include <carom/types/impact_models.hpp>

#include "impact/step_solutions.hpp"

/// Outcomes of single steps, one problem at a time, in dense matrices on the host.
namespace carom::dense {

/// Numbers of an outcome that is v+ = v + M^-1 J' impulse; all NaN unless `status` allows them.
void fill(ImpactOutcome& outcome, const Mechanism& mechanism, Status status, const Vector& velocity,
          const Vector& impulse, double residual, const ImpactModelSettings& settings);

/// The simultaneous model (31) of all contacts.
StepModel step_model(const Mechanism& mechanism, const ImpactModelSettings& settings);

}  // namespace carom::dense
