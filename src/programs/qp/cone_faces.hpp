#pragma once

#include <vector>

#include "programs/qp/kernels/qp_homogeneous.hpp"

/// Cone programs for which no optimum with multipliers and no proof is found: facial reduction
/// (Borwein and Wolkowicz 1981; Pataki 2013) in doubled precision, on the host.
namespace carom::qp {

/// What a cone program is.
struct ConeVerdict {
  double end = kernels::qp_end::kStalled;  ///< qp_end, kNoInterior included
  int iterations = 0;
  double residual = kernels::kInfinity;  ///< of the claim, QpHomogeneousCheck
  std::vector<double> x;                 ///< the answer, or a point that meets the rows
  std::vector<double> y;                 ///< its multipliers, or Farkas' vector
  std::vector<double> direction;         ///< where unbounded; where level: no interior of the dual
  /// Where not empty: (y, z) with A'y + C'z = 0, z in the dual cones, support 0. All slacks are at
  /// right angles to it, and the multipliers of an answer bound only those.
  std::vector<double> face;
};

ConeVerdict decide_cones(const kernels::QpShape& shape, const kernels::QpView<const double*>& view);

}  // namespace carom::qp
