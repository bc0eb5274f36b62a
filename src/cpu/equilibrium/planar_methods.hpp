#pragma once

#include <carom/types/equilibrium_planar.hpp>

#include "equilibrium/kernels/planar_posture.hpp"

namespace carom::cpu {

/// A strip by one of the geometric methods, in the terms of PlanarStripBody. `usable` is false
/// where the method does not cover the posture.
struct GeometricStrip {
  bool usable = true;
  kernels::Strip<double> strip{};
};

/// frame: of the wrench's force. Points of patches are contacts of their own. method: not lp.
GeometricStrip geometric_strip(PlanarMethod method, const certificate::PlanarContacts& contacts,
                               bool patches, const kernels::ForceFrame& frame);

}  // namespace carom::cpu
