#pragma once

#include "io/sheet.hpp"
#include "run/step_run.hpp"

namespace carom::io {

/// The panel of Figure 12 of the impact paper: outcomes of compliant_block_impact in the plane of
/// the corners' normal velocities, coloured by the first varied parameter, over the post-impact set
/// of the rigid block.
void add_outcomes(const run::StepRun& run, Sheet& sheet);

}  // namespace carom::io
