#pragma once

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/rigid_body.hpp"

namespace carom::kernels {

/// R b for matrices of three rows.
CAROM_INLINE void times(const double* a, const double* b, double* out) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    }
  }
}

/// Spatial tree of links whose shape is among its parameters, its points against half-spaces.
/// q = (place and quaternion of the first link, if it is free, as FreeBody's; then each other
/// link's joint: the angle about its axis, the way along it, or a ball's quaternion from link to
/// parent), v = (velocity of the first link's origin in the world, its angular velocity in the
/// link; rates of the joints, of a ball the angular velocity against the parent, in the link). A
/// link's frame has its origin at the joint and its parent's axes where the joint is at zero.
/// Parameters: a header, then the links and the contacts, a record each
/// (`src/api/motion_spatial_tree.cpp` writes them).
class SpatialTreeMechanism {
 public:
  static constexpr int kRows = 3;
  static constexpr int kMostLinks = 7;
  static constexpr int kMostContacts = 8;
  static constexpr int kMostVelocities = 6 + kMostLinks - 1;
  static constexpr MechanismSizes kSizes{kMostVelocities + kMostQuaternions, kMostVelocities,
                                         kMostContacts};

  enum Header { kLinks, kContacts, kFree, kField, kHeader = kField + 3 };
  enum LinkRecord {
    kParent,  ///< -1: the world; free links have none
    kJoint,   ///< 0: hinge, 1: slide, 2: ball
    kPlace,   ///< of the joint, in the parent
    kAxis = kPlace + 3,
    kMass = kAxis + 3,
    kInertia,  ///< xx, yy, zz, xy, xz, yz about the centre of mass, in the link
    kCentre = kInertia + 6,
    kStiffness = kCentre + 3,
    kRest,
    kDamping,
    kEffort,
    kLinkRecord
  };
  enum ContactRecord {
    kLink,
    kPoint,
    kNormal = kPoint + 3,
    kOffset = kNormal + 3,
    kFriction,
    kContactRecord
  };

  struct Constraint {
    double gap = 0.0;
    double place[3];  ///< of the touching point, in the world
    double normal[3];
    double point[3];  ///< in the link
    double friction = 0.0;
    int link = 0;
    int begin = 0, end = 0;
  };

  static CAROM_INLINE MechanismSizes sizes(const double* p) {
    int first[kMostQuaternions];
    const int turning = quaternions(p, first);
    const int free = p[kFree] > 0.0 ? 1 : 0;
    const int velocities = whole(p[kLinks]) + 2 * turning + 3 * free;
    return {velocities + turning, velocities, whole(p[kContacts])};
  }
  static CAROM_INLINE int quaternions(const double* p, int* first) {
    int count = 0;
    int at = 0;
    for (int i = 0; i < whole(p[kLinks]); ++i) {
      if (i == 0 && p[kFree] > 0.0) {
        first[count++] = 3;
        at = 7;
      } else if (p[kHeader + i * kLinkRecord + kJoint] > 1.5) {
        first[count++] = at;
        at += 4;
      } else {
        ++at;
      }
    }
    return count;
  }
  static CAROM_INLINE int parameter_count(const double* p) {
    return kHeader + whole(p[kLinks]) * kLinkRecord + whole(p[kContacts]) * kContactRecord;
  }

  CAROM_INLINE SpatialTreeMechanism(const double* p, double, const double* q)
      : p_(p), q_(q), links_(whole(p[kLinks])), free_(p[kFree] > 0.0) {
    int at_position = 0;
    for (int i = 0; i < links_; ++i) {
      position_[i] = at_position;
      column_[i] = velocities_;
      at_position += is_free(i) ? 7 : is_ball(i) ? 4 : 1;
      velocities_ += is_free(i) ? 6 : is_ball(i) ? 3 : 1;
      if (is_free(i)) {
        rotation_of(q + 3, rotation_[i]);
        for (int d = 0; d < 3; ++d) origin_[i][d] = q[d];
        continue;
      }
      const double* l = link(i);
      const int parent = parent_of(i);
      double at[3];
      double turned[9];
      joint_turn(i, turned);
      for (int d = 0; d < 3; ++d) at[d] = l[kPlace + d] + (slides(i) ? joint(i) * l[kAxis + d] : 0);
      if (parent < 0) {
        for (int d = 0; d < 9; ++d) rotation_[i][d] = turned[d];
        for (int d = 0; d < 3; ++d) origin_[i][d] = at[d];
        for (int d = 0; d < 3; ++d) axis_[i][d] = l[kAxis + d];
      } else {
        times(rotation_[parent], turned, rotation_[i]);
        place(parent, at, origin_[i]);
        to_world(rotation_[parent], l + kAxis, axis_[i]);
      }
    }
  }

  CAROM_INLINE void rates(const double* v, double* q_dot) const {
    for (int j = 0; j < 3 && free_; ++j) q_dot[j] = v[j];
    for (int i = 0; i < links_; ++i) {
      const int shift = is_free(i) ? 3 : 0;
      if (turns(i)) {
        quaternion_rate(q_ + position_[i] + shift, v + column_[i] + shift,
                        q_dot + position_[i] + shift);
      } else {
        q_dot[position_[i]] = v[column_[i]];
      }
    }
  }

  CAROM_INLINE void mass_matrix(double* matrix) const {
    const int n = velocities();
    for (int i = 0; i < n * n; ++i) matrix[i] = 0.0;
    for (int i = 0; i < links_; ++i) {
      double rows[3][kMostVelocities] = {};
      double spin[3][kMostVelocities] = {};
      double turning[3][kMostVelocities];  // inertia times spin
      centre_rows(i, rows);
      spin_rows(i, spin);
      double inertia[9];
      world_inertia(i, inertia);
      for (int a = 0; a < n; ++a) {
        for (int d = 0; d < 3; ++d) {
          turning[d][a] = inertia[3 * d] * spin[0][a] + inertia[3 * d + 1] * spin[1][a] +
                          inertia[3 * d + 2] * spin[2][a];
        }
      }
      for (int a = 0; a < n; ++a) {
        for (int b = 0; b <= a; ++b) {
          double moved = 0.0;
          double turned = 0.0;
          for (int d = 0; d < 3; ++d) {
            moved += rows[d][a] * rows[d][b];
            turned += spin[d][a] * turning[d][b];
          }
          matrix[a * n + b] += link(i)[kMass] * moved + turned;
        }
      }
    }
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < a; ++b) matrix[b * n + a] = matrix[a * n + b];
    }
  }

  CAROM_INLINE void force(const double* v, double* f) const {
    const Motion motion(*this, v);
    for (int j = 0; j < velocities(); ++j) f[j] = 0.0;
    for (int i = 0; i < links_; ++i) {
      const double* l = link(i);
      double rows[3][kMostVelocities] = {};
      double spin[3][kMostVelocities] = {};
      double drawn[3];
      double inertia[9];
      double momentum[3];
      double torque[3];
      double turning[3];
      centre_rows(i, rows);
      spin_rows(i, spin);
      motion.acceleration(*this, i, l + kCentre, drawn);
      world_inertia(i, inertia);
      to_world(inertia, motion.spin[i], momentum);
      outer(momentum, motion.spin[i], torque);
      to_world(inertia, motion.bias[i], turning);
      for (int d = 0; d < 3; ++d) {
        drawn[d] = l[kMass] * (p_[kField + d] - drawn[d]);
        torque[d] -= turning[d];
      }
      for (int j = 0; j < velocities(); ++j) {
        for (int d = 0; d < 3; ++d) f[j] += rows[d][j] * drawn[d] + spin[d][j] * torque[d];
      }
      if (is_free(i)) continue;
      for (int c = 0; c < 3 && is_ball(i); ++c)
        f[column_[i] + c] -= l[kDamping] * v[column_[i] + c];
      if (is_ball(i)) continue;
      const int j = column_[i];
      f[j] += l[kEffort] - l[kStiffness] * (joint(i) - l[kRest]) - l[kDamping] * v[j];
    }
  }
  /// Power that the dampers take, not negative.
  [[nodiscard]] CAROM_INLINE double loss(const double* v) const {
    double sum = 0.0;
    for (int i = free_ ? 1 : 0; i < links_; ++i) {
      for (int c = 0; c < (is_ball(i) ? 3 : 1); ++c) {
        const double rate = v[column_[i] + c];
        sum = fused(link(i)[kDamping] * rate, rate, sum);
      }
    }
    return sum;
  }
  [[nodiscard]] CAROM_INLINE double potential() const {
    double sum = 0.0;
    for (int i = 0; i < links_; ++i) {
      const double* l = link(i);
      double at[3];
      place(i, l + kCentre, at);
      sum -= l[kMass] * inner(p_ + kField, at);
      if (turns(i)) continue;
      const double stretch = joint(i) - l[kRest];
      sum += 0.5 * l[kStiffness] * stretch * stretch - l[kEffort] * joint(i);
    }
    return sum;
  }

  [[nodiscard]] CAROM_INLINE double friction(const Constraint& c) const { return c.friction; }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
    const double* r = p_ + kHeader + links_ * kLinkRecord + i * kContactRecord;
    Constraint c;
    c.link = whole(r[kLink]);
    c.end = velocities();
    c.friction = r[kFriction];
    for (int d = 0; d < 3; ++d) {
      c.point[d] = r[kPoint + d];
      c.normal[d] = r[kNormal + d];
    }
    place(c.link, c.point, c.place);
    c.gap = inner(c.normal, c.place) - r[kOffset];
    return c;
  }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    double world[3][kMostVelocities] = {};
    double frame[3][3];
    point_rows(c.link, c.place, world);
    frame_of(c, frame);
    for (int k = 0; k < kRows; ++k) {
      for (int j = 0; j < velocities(); ++j) {
        rows[k * stride + j] =
            frame[k][0] * world[0][j] + frame[k][1] * world[1][j] + frame[k][2] * world[2][j];
      }
    }
  }
  CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* x) const {
    double drawn[3];
    double frame[3][3];
    Motion(*this, v).acceleration(*this, c.link, c.point, drawn);
    frame_of(c, frame);
    for (int k = 0; k < kRows; ++k) x[k] = inner(frame[k], drawn);
  }

  /// Place in the world of a link's point.
  CAROM_INLINE void place(int i, const double* point, double* out) const {
    to_world(rotation_[i], point, out);
    for (int d = 0; d < 3; ++d) out[d] += origin_[i][d];
  }

 private:
  /// How links move where v does not change, all in the world.
  struct Motion {
    double spin[kMostLinks][3];   ///< angular velocity
    double bias[kMostLinks][3];   ///< its rate
    double drawn[kMostLinks][3];  ///< acceleration of the origin

    CAROM_INLINE Motion(const SpatialTreeMechanism& tree, const double* v) {
      for (int i = 0; i < tree.links_; ++i) {
        const int parent = tree.parent_of(i);
        for (int d = 0; d < 3; ++d) spin[i][d] = bias[i][d] = drawn[i][d] = 0.0;
        if (tree.is_free(i)) {
          to_world(tree.rotation_[i], v + 3, spin[i]);
          continue;
        }
        if (parent >= 0) {
          for (int d = 0; d < 3; ++d) {
            spin[i][d] = spin[parent][d];
            bias[i][d] = bias[parent][d];
          }
          double arm[3];
          for (int d = 0; d < 3; ++d) arm[d] = tree.origin_[i][d] - tree.origin_[parent][d];
          carried(parent, arm, drawn[i]);
        }
        double across[3] = {0.0, 0.0, 0.0};  // what turns the axis
        if (tree.is_ball(i)) {
          double turned[3];
          to_world(tree.rotation_[i], v + tree.column_[i], turned);
          if (parent >= 0) outer(spin[parent], turned, across);
          for (int d = 0; d < 3; ++d) {
            bias[i][d] += across[d];
            spin[i][d] += turned[d];
          }
          continue;
        }
        const double rate = v[tree.column_[i]];
        if (parent >= 0) outer(spin[parent], tree.axis_[i], across);
        for (int d = 0; d < 3; ++d) {
          if (tree.slides(i)) {  // Coriolis': twice
            drawn[i][d] += 2.0 * rate * across[d];
          } else {
            bias[i][d] += rate * across[d];
            spin[i][d] += rate * tree.axis_[i][d];
          }
        }
      }
    }
    /// Of the link's point.
    CAROM_INLINE void acceleration(const SpatialTreeMechanism& tree, int i, const double* point,
                                   double* out) const {
      double arm[3];
      to_world(tree.rotation_[i], point, arm);
      carried(i, arm, out);
    }

   private:
    CAROM_INLINE void carried(int i, const double* arm, double* out) const {
      double turned[3];
      double swept[3];
      double inward[3];
      outer(bias[i], arm, turned);
      outer(spin[i], arm, swept);
      outer(spin[i], swept, inward);
      for (int d = 0; d < 3; ++d) out[d] = drawn[i][d] + turned[d] + inward[d];
    }
  };

  [[nodiscard]] CAROM_INLINE const double* link(int i) const {
    return p_ + kHeader + i * kLinkRecord;
  }
  [[nodiscard]] CAROM_INLINE int parent_of(int i) const {
    return link(i)[kParent] < 0.0 ? -1 : whole(link(i)[kParent]);
  }
  [[nodiscard]] CAROM_INLINE bool is_free(int i) const { return free_ && i == 0; }
  [[nodiscard]] CAROM_INLINE bool slides(int i) const { return whole(link(i)[kJoint]) == 1; }
  [[nodiscard]] CAROM_INLINE bool is_ball(int i) const { return whole(link(i)[kJoint]) == 2; }
  /// It has a quaternion.
  [[nodiscard]] CAROM_INLINE bool turns(int i) const { return is_free(i) || is_ball(i); }
  [[nodiscard]] CAROM_INLINE int velocities() const { return velocities_; }
  [[nodiscard]] CAROM_INLINE double joint(int i) const { return q_[position_[i]]; }

  /// Rotation of a link against its parent, of a hinge by Rodrigues' formula.
  CAROM_INLINE void joint_turn(int i, double* r) const {
    if (is_ball(i)) return rotation_of(q_ + position_[i], r);
    const double* a = link(i) + kAxis;
    const double angle = slides(i) ? 0.0 : joint(i);
    const double sine = kernels::sine(angle);
    const double cosine = kernels::cosine(angle);
    const double left = 1.0 - cosine;
    const double cross[9] = {0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0};
    for (int k = 0; k < 9; ++k) {
      r[k] = (k % 4 == 0 ? cosine : 0.0) + left * a[k / 3] * a[k % 3] + sine * cross[k];
    }
  }
  CAROM_INLINE void world_inertia(int i, double* out) const {
    const double* in = link(i) + kInertia;
    const double own[9] = {in[0], in[3], in[4], in[3], in[1], in[5], in[4], in[5], in[2]};
    double turned[9];
    times(rotation_[i], own, turned);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) out[3 * a + b] = inner(turned + 3 * a, rotation_[i] + 3 * b);
    }
  }
  CAROM_INLINE void frame_of(const Constraint& c, double (*frame)[3]) const {
    for (int d = 0; d < 3; ++d) frame[0][d] = c.normal[d];
    tangents_of(c.normal, tangent_axis(c.normal), frame[1], frame[2]);
  }

  /// Rows of the velocity of the link's point at a place, zeros there before.
  CAROM_INLINE void point_rows(int i, const double* at, double (*rows)[kMostVelocities]) const {
    for (int k = i; k >= 0; k = parent_of(k)) {
      double arm[3];
      for (int d = 0; d < 3; ++d) arm[d] = at[d] - origin_[k][d];
      if (turns(k)) {
        const int turning = column_[k] + (is_free(k) ? 3 : 0);
        for (int c = 0; c < 3; ++c) {
          const double axis[3] = {rotation_[k][c], rotation_[k][3 + c], rotation_[k][6 + c]};
          double swept[3];
          outer(axis, arm, swept);
          if (is_free(k)) rows[c][c] = 1.0;
          for (int d = 0; d < 3; ++d) rows[d][turning + c] = swept[d];
        }
        continue;
      }
      double moved[3];
      outer(axis_[k], arm, moved);
      for (int d = 0; d < 3; ++d) rows[d][column_[k]] = slides(k) ? axis_[k][d] : moved[d];
    }
  }
  CAROM_INLINE void centre_rows(int i, double (*rows)[kMostVelocities]) const {
    double at[3];
    place(i, link(i) + kCentre, at);
    point_rows(i, at, rows);
  }
  /// Rows of the link's angular velocity in the world, likewise.
  CAROM_INLINE void spin_rows(int i, double (*rows)[kMostVelocities]) const {
    for (int k = i; k >= 0; k = parent_of(k)) {
      const int turning = column_[k] + (is_free(k) ? 3 : 0);
      for (int d = 0; d < 3; ++d) {
        for (int c = 0; c < 3 && turns(k); ++c) rows[d][turning + c] = rotation_[k][3 * d + c];
        if (!turns(k) && !slides(k)) rows[d][column_[k]] = axis_[k][d];
      }
    }
  }

  const double* p_;
  const double* q_;
  int links_;
  bool free_;
  int velocities_ = 0;
  int position_[kMostLinks];  ///< where in q and in v a link begins
  int column_[kMostLinks];
  double rotation_[kMostLinks][9];
  double origin_[kMostLinks][3];
  double axis_[kMostLinks][3];  ///< of the joint, in the world
};

}  // namespace carom::kernels
