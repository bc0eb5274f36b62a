#pragma once

#include "reference/impact/step.hpp"

namespace carom::reference {

/// Solves the contact modes that an impulse shows once more, in reduced coordinates: the full LCP's
/// basic solutions can hold large opposite lambda_D, whose difference is a poor lambda_t. Returns
/// whichever impulse has the smaller residual.
Vector polished_impulse(const StepModel& model, const Vector& contact_velocity,
                        const Vector& max_impulse, const Vector& impulse);

}  // namespace carom::reference
