#pragma once

#include "cli/posture_options.hpp"

namespace carom::cli {

/// Compares two backends on the postures of `options` and reports. Returns the exit status:
/// kUnsuccessful where they disagree on a status, a planar strip or a proven spatial bound.
/// tolerance: on lengths, relative to the extent of the contacts.
int validate_postures(const EquilibriumOptions& options, Backend first, Backend second,
                      double tolerance);

}  // namespace carom::cli
