#pragma once

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/walkers.hpp"

namespace carom::kernels {

/// Compass gait that walks down a slope: two legs with a point mass each and one at the hip, in
/// axes along the slope (x downhill) and normal to it. Legs of equal length cannot pass each other
/// over a plane; as is usual, a foot that swings forward is lifted and lands only ahead of the
/// other one.
class CompassWalker : public Walker<2> {
 public:
  enum { kLegMass, kHipMass, kLeg, kMassToFoot, kSlope, kFriction, kGravity, kParameters };
  CAROM_INLINE CompassWalker(const double* p, double, const double* q)
      : CompassWalker(parts(p), p, q) {}

  CAROM_INLINE void force(const double* v, double* f) const {
    Walker::force(v, f);
    double drawn[kSizes.velocities] = {};
    tree().push(drawn);
    for (int j = 0; j < kSizes.velocities; ++j) f[j] += downhill_ * drawn[j];
  }
  [[nodiscard]] CAROM_INLINE double potential() const {
    return Walker::potential() - downhill_ * tree().moment(position()[0]);
  }
  [[nodiscard]] CAROM_INLINE bool clears(int i) const {
    return constraint(i).place[0] > constraint(1 - i).place[0];
  }

 private:
  CAROM_INLINE CompassWalker(const WalkerParts<2>& parts, const double* p, const double* q)
      : Walker(parts.links, parts.feet, p[kFriction],
               p[kGravity] * kernels::cosine(radians(p[kSlope])), q),
        downhill_(p[kGravity] * kernels::sine(radians(p[kSlope]))) {}
  /// Half of the hip's mass goes with each leg.
  static CAROM_INLINE WalkerParts<2> parts(const double* p) {
    const double along = p[kLeg] - p[kMassToFoot];
    const double half = 0.5 * p[kHipMass];
    const double mass = p[kLegMass] + half;
    const double centre = p[kLegMass] * along / mass;
    const double inertia =
        p[kLegMass] * (along - centre) * (along - centre) + half * centre * centre;
    const PlanarLink leg{-1, {0.0, 0.0}, mass, inertia, {0.0, -centre}};
    return {{leg, leg}, {{0, {0.0, -p[kLeg]}, 0.0}, {1, {0.0, -p[kLeg]}, 0.0}}};
  }

  double downhill_;
};

}  // namespace carom::kernels
