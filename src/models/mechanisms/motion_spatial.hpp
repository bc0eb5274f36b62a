#pragma once

#include "models/mechanisms/spatial_bodies.hpp"

/// Spatial bodies that are simulated in time.
namespace carom::kernels {

/// Cube on the floor z = 0: its eight corners, the bottom ones first, each four counter-clockwise
/// from (-x, -y).
struct Cube : SpatialBody<8> {
  enum { kMass, kWidth, kFriction, kGravity, kParameters };
  CAROM_INLINE Cube(const double* p, double, const double* q)
      : SpatialBody(p[kMass], p[kFriction], p[kGravity], q), half_(p[kWidth] / 2.0) {
    double moments[3];
    cuboid_moments(p[kMass], p[kWidth], p[kWidth], p[kWidth], moments);
    set_principal(moments);
  }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
    const int corner = i % 4;
    const double r[3] = {corner == 1 || corner == 2 ? half_ : -half_, corner > 1 ? half_ : -half_,
                         i < 4 ? -half_ : half_};
    const double up[3] = {0.0, 0.0, 1.0};
    return on_plane(r, up, 0.0);
  }

 private:
  double half_;
};

}  // namespace carom::kernels
