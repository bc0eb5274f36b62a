#pragma once

#include <carom/types/status.hpp>

#include "stability/kernels/stance.hpp"

/// The paper's own programme, solved, and what its answer proves (docs/explanation/stability.md,
/// "The paper's own programme").
namespace carom::stability {

struct SosAnswer {
  Status status =
      Status::cancelled;  ///< of the interior-point method; cancelled: nothing was posed
  double residual = 0.0;
  int iterations = 0;
  bool found = false;  ///< (s, kappa) has slacks > 0 in the paper's class, which V2 rounds to
  double s = 0.0, kappa = 0.0, margin = 0.0;
};

/// The stance is held, unambiguous, has no paradox, all e are 0.
SosAnswer solve_sos(const kernels::stability::StanceForm& stance);

}  // namespace carom::stability
