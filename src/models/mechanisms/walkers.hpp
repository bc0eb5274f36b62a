#pragma once

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/planar_tree.hpp"

/// Walkers on two feet, level floor y = 0.
namespace carom::kernels {

/// A foot: a disc at a point of a link, or the point itself where its radius is zero.
struct WalkerFoot {
  int link = 0;
  double point[2] = {0.0, 0.0};  ///< the disc's centre in the link's frame
  double radius = 0.0;
};

/// kRows = 2: normal +y, tangent +x; constraint 0 the leading foot, 1 the trailing one.
template <int kLinks>
class Walker : public PlainMechanism<2 + kLinks, 2, 2> {
  static constexpr int kVelocities = 2 + kLinks;

 public:
  enum { kLeading, kTrailing };
  struct Constraint {
    double gap = 0.0;
    double place[2];   ///< of the touching point, from the floating point
    double centre[2];  ///< of the disc, likewise
    int link = 0;
    int begin = 0, end = kVelocities;
  };

  CAROM_INLINE void mass_matrix(double* matrix) const { tree_.mass_matrix(matrix); }
  CAROM_INLINE void force(const double* v, double* f) const { tree_.force(v, gravity_, f); }
  [[nodiscard]] CAROM_INLINE double potential() const { return tree_.potential(q_[1], gravity_); }
  [[nodiscard]] CAROM_INLINE double friction(const Constraint&) const { return friction_; }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int which) const {
    const WalkerFoot& foot = feet_[which];
    Constraint c;
    c.link = foot.link;
    tree_.place(foot.link, foot.point, c.centre);
    if (foot.radius > 0.0) {
      // The lowest point of the disc, as a material point of the link.
      const double angle = -tree_.angle(foot.link, q_);
      const double point[2] = {foot.point[0] + kernels::sine(angle) * foot.radius,
                               foot.point[1] - kernels::cosine(angle) * foot.radius};
      tree_.place(foot.link, point, c.place);
    } else {
      tree_.place(foot.link, foot.point, c.place);
    }
    c.gap = q_[1] + c.place[1] - (which == kLeading ? level_ : 0.0);
    return c;
  }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    tree_.jacobian(c.link, c.place, rows + stride, rows);
  }
  /// The touching point stays below the disc's centre: its arm does not turn.
  CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* x) const {
    double drawn[2];
    tree_.acceleration(c.link, c.centre, v, drawn);
    x[0] = drawn[1];
    x[1] = drawn[0];
  }

 protected:
  /// level: of the floor under the leading foot.
  CAROM_INLINE Walker(const PlanarLink* links, const WalkerFoot* feet, double friction,
                      double gravity, const double* q, double level = 0.0)
      : tree_(links, q),
        feet_{feet[0], feet[1]},
        friction_(friction),
        gravity_(gravity),
        level_(level),
        q_(q) {}

  [[nodiscard]] CAROM_INLINE const PlanarTree<kLinks>& tree() const { return tree_; }
  [[nodiscard]] CAROM_INLINE const double* position() const { return q_; }

  /// From the angles and their rates: the floating point's place and velocity with the trailing
  /// foot at rest on the floor. q and v are zero in x and y.
  template <class T>
  static CAROM_INLINE void rest_on_trailing_foot(const double* p, double* q, double* v) {
    const T unplaced(p, 0.0, q);
    const Constraint foot = unplaced.constraint(kTrailing);
    double rows[2 * kVelocities] = {};
    unplaced.jacobian(foot, rows, kVelocities);
    // J = [1, Jq]: the floating point's velocity cancels what the angles' rates give the foot.
    double x = 0.0;
    double y = 0.0;
    for (int j = 2; j < kVelocities; ++j) {
      x += rows[kVelocities + j] * v[j];
      y += rows[j] * v[j];
    }
    v[0] = -x;
    v[1] = -y;
    q[1] = -foot.place[1];
  }

 private:
  PlanarTree<kLinks> tree_;
  WalkerFoot feet_[2];
  double friction_, gravity_, level_;
  const double* q_;
};

/// Links of a walker before it exists, for its constructor.
template <int kLinks>
struct WalkerParts {
  PlanarLink links[kLinks];
  WalkerFoot feet[2];
};

/// Table 5 of Halm and Posa: a foot is at hip + l (sin phi, -cos phi). q = (hip x, hip y, leading
/// angle, trailing angle). Two point masses give M full rank only while the legs are not parallel.
struct CompassGait : Walker<2> {
  enum {
    kMass,
    kLeg,
    kMassToFoot,
    kLeadingAngle,
    kTrailingAngle,
    kLeadingRate,
    kTrailingRate,
    kFriction,
    kGravity,
    kParameters
  };
  CAROM_INLINE CompassGait(const double* p, double, const double* q)
      : CompassGait(parts(p), p, q) {}
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = q[1] = v[0] = v[1] = 0.0;
    q[2] = radians(p[kLeadingAngle]);
    q[3] = radians(p[kTrailingAngle]);
    v[2] = p[kLeadingRate];
    v[3] = p[kTrailingRate];
    rest_on_trailing_foot<CompassGait>(p, q, v);
  }

 private:
  CAROM_INLINE CompassGait(const WalkerParts<2>& parts, const double* p, const double* q)
      : Walker(parts.links, parts.feet, p[kFriction], p[kGravity], q) {}
  static CAROM_INLINE WalkerParts<2> parts(const double* p) {
    const PlanarLink rod{-1, {0.0, 0.0}, p[kMass], 0.0, {0.0, -(p[kLeg] - p[kMassToFoot])}};
    return {{rod, rod}, {{0, {0.0, -p[kLeg]}, 0.0}, {1, {0.0, -p[kLeg]}, 0.0}}};
  }
};

/// Table 7 of Halm and Posa. Links: 0 trunk, 1 and 2 leading upper and lower leg, 3 and 4 trailing
/// upper and lower leg; q = (pelvis x, y, pitch, leading hip, knee, trailing hip, knee). The
/// table's angles are rounded: its feet are not quite on one level.
struct Ramone : Walker<5> {
  enum {
    kTrunkMass,
    kTrunkInertia,
    kPelvisToHip,
    kUpperMass,
    kUpperInertia,
    kUpperLength,
    kHipToMass,
    kLowerMass,
    kLowerInertia,
    kLowerLength,
    kKneeToMass,
    kFootRadius,
    kFirstAngle,                   ///< trunk, leading hip, knee, trailing hip, knee
    kFirstRate = kFirstAngle + 5,  ///< likewise
    kFriction = kFirstRate + 5,
    kGravity,
    kLevel,  ///< of the floor under the leading foot [m]
    kParameters
  };
  CAROM_INLINE Ramone(const double* p, double, const double* q) : Ramone(parts(p), p, q) {}
  static CAROM_INLINE void start(const double* p, double* q, double* v) {
    q[0] = q[1] = v[0] = v[1] = 0.0;
    for (int j = 0; j < 5; ++j) {
      q[2 + j] = radians(p[kFirstAngle + j]);
      v[2 + j] = p[kFirstRate + j];
    }
    rest_on_trailing_foot<Ramone>(p, q, v);
  }

 private:
  CAROM_INLINE Ramone(const WalkerParts<5>& parts, const double* p, const double* q)
      : Walker(parts.links, parts.feet, p[kFriction], p[kGravity], q, p[kLevel]) {}
  static CAROM_INLINE WalkerParts<5> parts(const double* p) {
    const PlanarLink trunk{-1, {0.0, 0.0}, p[kTrunkMass], p[kTrunkInertia], {0.0, 0.0}};
    const PlanarLink thigh{
        0, {0.0, -p[kPelvisToHip]}, p[kUpperMass], p[kUpperInertia], {0.0, -p[kHipToMass]}};
    const PlanarLink leading{
        1, {0.0, -p[kUpperLength]}, p[kLowerMass], p[kLowerInertia], {0.0, -p[kKneeToMass]}};
    PlanarLink trailing = leading;
    trailing.parent = 3;
    const double ankle = -p[kLowerLength];
    return {{trunk, thigh, leading, thigh, trailing},
            {{2, {0.0, ankle}, p[kFootRadius]}, {4, {0.0, ankle}, p[kFootRadius]}}};
  }
};

}  // namespace carom::kernels
