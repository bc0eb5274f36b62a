#pragma once

#include <carom/backend.hpp>

#include "cli/stability_options.hpp"

namespace carom::cli {

/// Judges the same stances on two backends, a model's chart on 12 x 12 points. A disagreement is
/// stable on one and unstable on the other, other ambiguous modes, or force margins that differ by
/// more than `tolerance` of the force; what only one of them decides is counted by itself, as
/// reference has no labelled functions. Returns the exit status. Errors: InvalidInput,
/// BackendUnavailable.
int validate_stances(const StabilityOptions& options, Backend first, Backend second,
                     double tolerance);

}  // namespace carom::cli
