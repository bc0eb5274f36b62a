#pragma once

#include <carom/types/status.hpp>

#include "equilibrium/kernels/support.hpp"

namespace carom::kernels {

/// What the two cone rules of a call found in one direction; the same numbers twice where they are
/// one rule.
struct SupportFound {
  Status inner;  ///< of the posture's set-up
  Status outer;
  double inner_state;
  double outer_state;
  double residual;
  double slack;
  double lower;
  double upper;
};

/// Never `solved` without both proofs; `two`: the bounds belong to different cones.
CAROM_INLINE Status support_status(const SupportFound& found, bool two, double length,
                                   double tolerance) {
  if (found.outer != Status::solved) return found.outer;
  if (found.inner != Status::solved) {
    return found.inner == Status::infeasible ? Status::inaccurate : found.inner;
  }
  for (const double state : {found.inner_state, found.outer_state}) {
    if (state <= kRunning) return Status::iteration_limit;
    if (!(state < kBroken)) return Status::numerical_error;
  }
  const bool primal = found.residual <= tolerance;
  if (found.inner_state >= kUnbounded) {
    // A ray that moves the centre of mass along d.
    return primal && found.lower > 0.0 ? Status::unbounded : Status::numerical_error;
  }
  const bool proven = primal && found.slack >= -tolerance && found.outer_state < kUnbounded;
  const bool close = two || found.upper - found.lower <= tolerance * length;
  if (proven && close) return Status::solved;
  return is_finite(found.residual) ? Status::inaccurate : Status::numerical_error;
}

/// The field of prepared.farkas in the world; true where it proves that no centre of mass is held.
CAROM_INLINE bool prove_infeasible(const PostureView& view, const SupportPosture& prepared,
                                   const SupportContact* contact, const ConeRule& rule,
                                   double tolerance, SupportAnswer<double>& answer) {
  const SupportProbe<double> probe(view, prepared, contact, rule, tolerance, 0, nullptr);
  return prove_infeasible(probe, prepared, answer);
}

}  // namespace carom::kernels
