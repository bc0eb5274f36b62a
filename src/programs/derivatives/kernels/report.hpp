#pragma once

#include <limits>

#include <carom/device/numeric.hpp>
#include <carom/types/derivative.hpp>

namespace carom::derivatives {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// Largest change of an answer by polishing, in the rows' units.
inline constexpr double kLargestShift = 1e-6;
/// Likewise of QPs with cones or rows in doubt, which an interior point finds to the root of its
/// tolerance.
inline constexpr double kLargestShiftOfQp = 1e-5;
/// What an answer misses of the optimality conditions where rounding is all of it.
inline constexpr double kMissesNothing = 1e-14;
/// By how much the normals of cones' edges turn in a step of Newton's method that is the last.
inline constexpr double kSettledEdge = 1e-10;
/// Residual of the adjoint and tangent equations.
inline constexpr double kLargestResidual = 1e-12;
/// Condition from which on answers and solutions are corrected by residuals in twice the precision,
/// and how often.
inline constexpr double kSteep = 1e5;
inline constexpr int kSteepCorrections = 2;
/// Share of its terms below which what the loss sees of a doubtful row is zero.
inline constexpr double kUnseen = 1e-12;

/// What one derivative says of itself, or those of a pack, whose numbers are V and whose status
/// is that of the good lanes.
template <class V>
struct ReportOf {
  Smoothness status = Smoothness::not_solved;
  V residual{kNone};
  V margin{kNone};
  V condition{kNone};
  V shift{kNone};
  V reach{kNone};
  int doubtful = 0;
};
using Report = ReportOf<double>;

struct DerivativeRules {
  AtKink at_kink;
  double margin_tolerance;
  double error_tolerance;
  bool reach = true;  ///< whether it is asked for
};

/// Whether the equations' residual and what it makes of the error, or what a correction by
/// residuals in twice the precision moved, are small enough, lane by lane; else the derivative is
/// undefined.
template <class V>
auto certified(ReportOf<V>& report, const DerivativeRules& rules,
               V corrected = V(kernels::kInfinity)) {
  using kernels::any_of;
  const V most(rules.error_tolerance);
  const auto fine = (report.residual <= V(kLargestResidual)) &
                    ((report.condition * report.residual <= most) | (corrected <= most));
  if (!any_of(fine)) report.status = Smoothness::undefined;
  return fine;
}

}  // namespace carom::derivatives
