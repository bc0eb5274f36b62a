#pragma once

#include <carom/types/status.hpp>

#include "stability/sos_face.hpp"

/// Solves the paper's sums-of-squares program and checks its answer (docs/explanation/stability.md,
/// "The paper's program").
namespace carom::stability {

struct SosAnswer {
  /// solved: there are such functions, and here is one; infeasible: proven that there are none;
  /// inaccurate: neither; cancelled: nothing was posed.
  Status status = Status::cancelled;
  double residual = 0.0;  ///< of the unreduced conditions, or of the proof that there are none
  int iterations = 0;
  bool found = false;  ///< (s, kappa) has slacks > 0 in the paper's class, which V2 is of
  double s = 0.0, kappa = 0.0, margin = 0.0;
};

/// The stance is held, unambiguous, has no paradox.
SosAnswer solve_sos(const kernels::stability::StanceForm& stance, SosTheorem theorem);

/// The reduced programme of a usable setting.
SosFace sos_face(const Setting& setting, SosTheorem theorem);

}  // namespace carom::stability
