#pragma once

#include <carom/device/qp_problem.hpp>

/// The decision of programs/qp/cone_faces.hpp for kernels, which it is too long for.
namespace carom::kernels {

/// Whether problems with cones are small enough for an interior point in twice the precision.
CAROM_INLINE constexpr bool takes_homogeneous(long n, long rows) { return n + rows <= 160; }

/// qp_end::kConverged, kInfeasible, kUnbounded, or kStalled: nothing is claimed.
struct QpHomogeneousOutcome {
  double end = qp_end::kStalled;
  int iterations = 0;
  double residual = kInfinity;  ///< of the claim, QpHomogeneousCheck
  bool faced = false;           ///< the claim needs a face (programs/qp/cone_faces.hpp)
};

/// decide_cones on the host, compiled once for all instruction sets
/// (src/programs/qp/decide_homogeneous.cpp). point, direction: [n]; dual, face: [rows].
QpHomogeneousOutcome decide_homogeneous(const QpShape& shape, const QpView<const double*>& view,
                                        double* point, double* direction, double* dual,
                                        double* face);

}  // namespace carom::kernels
