#pragma once

#include <carom/backend.hpp>

#include "cli/stability_options.hpp"

namespace carom::cli {

/// Analyses the same stances on two backends, a model's chart on 12 x 12 points. A disagreement is
/// stable on one and unstable on the other, different ambiguous modes, or force margins that differ
/// by more than `tolerance` of the force. Stances that only one decides are counted separately,
/// because reference has no labelled functions. Returns the exit status. Errors: InvalidInput,
/// BackendUnavailable.
int validate_stances(const StabilityOptions& options, Backend first, Backend second,
                     double tolerance);

}  // namespace carom::cli
