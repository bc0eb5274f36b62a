#pragma once

#include <limits>

#include <carom/types/derivative.hpp>

namespace carom::derivatives {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// What polishing may move, in the rows' units.
inline constexpr double kLargestShift = 1e-6;
/// Residual of the adjoint and tangent equations.
inline constexpr double kLargestResidual = 1e-12;
/// Share of its terms below which what the loss sees of a doubtful row is zero.
inline constexpr double kUnseen = 1e-12;

/// What one derivative says of itself.
struct Report {
  Smoothness status = Smoothness::not_solved;
  double residual = kNone;
  double margin = kNone;
  double condition = kNone;
  double shift = kNone;
  double reach = kNone;
  int doubtful = 0;
};

struct DerivativeRules {
  AtKink at_kink;
  double margin_tolerance;
  double error_tolerance;
};

/// Whether the equations' residual and what it makes of the error are small enough; else the
/// derivative is undefined.
inline bool certified(Report& report, const DerivativeRules& rules) {
  if (report.residual <= kLargestResidual &&
      report.condition * report.residual <= rules.error_tolerance) {
    return true;
  }
  report.status = Smoothness::undefined;
  return false;
}

}  // namespace carom::derivatives
