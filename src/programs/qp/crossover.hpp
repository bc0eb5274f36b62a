#pragma once

#include <carom/device/memory.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_task_arrays.hpp"

/// From an interior point to an answer whose active rows hold to the last digit, on the host.
namespace carom::qp {

using ConstView = kernels::QpView<kernels::PlainMemory<const double>>;

struct CrossoverOutcome {
  bool solved = false;  ///< the certificate's residual is within the tolerance
  int steps = 0;        ///< of Newton's method
  double residual = kernels::kInfinity;
  double objective = 0.0;
};

/// x: [n], y: [rows], close to an answer of a convex problem without second-order cones; the
/// answer where one is found, else what they were.
CrossoverOutcome cross_over(const kernels::QpShape& shape, const ConstView& view, double tolerance,
                            double* x, double* y);

/// Fewer unknowns are for the active sets.
inline constexpr int kLeastCrossover = 61;

/// The same for problem p of a batch, from what an interior point without a certificate left in the
/// results, where the method is an automatic choice. Whether the answer stands there.
bool cross_over(const kernels::QpTaskArrays& task, long p);

}  // namespace carom::qp
