#pragma once

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/planar_bodies.hpp"

namespace carom::kernels {

/// Planar tree of links whose shape is among its parameters, against half-spaces, with springs.
/// q = (x, y of the floating point, if there is one; then each link's joint: the angle to its
/// parent, counter-clockwise, or the way along its axis). Parameters: a header, then the links, the
/// contacts and the springs, a record each (`src/models/motion_tree.cpp` writes them).
class TreeMechanism {
 public:
  static constexpr int kRows = 2;
  static constexpr int kMostLinks = 8;
  static constexpr int kMostContacts = 12;
  static constexpr int kMostVelocities = 2 + kMostLinks;
  static constexpr MechanismSizes kSizes{kMostVelocities, kMostVelocities, kMostContacts};

  enum Header { kLinks, kContacts, kSprings, kFloating, kFieldX, kFieldY, kHeader };
  enum LinkRecord {
    kParent,  ///< -1: the floating point, or the world's origin
    kSlides,  ///< 0: hinge, 1: slide
    kHingeX,  ///< of the joint, in the parent
    kHingeY,
    kAxis,  ///< of a slide, angle in the parent [rad]
    kMass,
    kInertia,
    kCentreX,  ///< of mass, in the link
    kCentreY,
    kStiffness,
    kRest,
    kDamping,
    kEffort,  ///< constant torque or force of the joint
    kLinkRecord
  };
  enum ContactRecord {
    kLink,
    kPointX,
    kPointY,
    kNormalX,
    kNormalY,
    kOffset,
    kFriction,
    kContactRecord
  };
  enum SpringRecord {
    kFrom,  ///< link; -1: the world
    kFromX,
    kFromY,
    kTo,
    kToX,
    kToY,
    kSpringStiffness,
    kLength,
    kSpringDamping,
    kSpringRecord
  };

  struct Constraint {
    double gap = 0.0;
    double place[2] = {0.0, 0.0};  ///< of the touching point, in the world
    double normal[2] = {0.0, 1.0};
    double friction = 0.0;
    double point[2] = {0.0, 0.0};  ///< in the link
    int link = 0;
    int begin = 0, end = 0;
  };

  static CAROM_INLINE MechanismSizes sizes(const double* p) {
    const int velocities = whole(p[kLinks]) + (p[kFloating] > 0.0 ? 2 : 0);
    return {velocities, velocities, whole(p[kContacts])};
  }
  static CAROM_INLINE int parameter_count(const double* p) {
    return kHeader + whole(p[kLinks]) * kLinkRecord + whole(p[kContacts]) * kContactRecord +
           whole(p[kSprings]) * kSpringRecord;
  }
  CAROM_INLINE void rates(const double* v, double* q_dot) const {
    for (int j = 0; j < velocities_; ++j) q_dot[j] = v[j];
  }

  CAROM_INLINE TreeMechanism(const double* p, double, const double* q)
      : p_(p),
        q_(q),
        links_(whole(p[kLinks])),
        first_(p[kFloating] > 0.0 ? 2 : 0),
        velocities_(links_ + first_) {
    for (int i = 0; i < links_; ++i) {
      const double* l = link(i);
      const int parent = parent_of(i);
      const double joint = q[first_ + i];
      double x = l[kHingeX];
      double y = l[kHingeY];
      const double above = parent < 0 ? 0.0 : angle_[parent];
      if (l[kSlides] > 0.0) {
        x += joint * kernels::cosine(l[kAxis]);
        y += joint * kernels::sine(l[kAxis]);
        angle_[i] = above;
        axis_[i][0] = kernels::cosine(above + l[kAxis]);
        axis_[i][1] = kernels::sine(above + l[kAxis]);
      } else {
        angle_[i] = above + joint;
        axis_[i][0] = axis_[i][1] = 0.0;
      }
      cosine_[i] = kernels::cosine(angle_[i]);
      sine_[i] = kernels::sine(angle_[i]);
      const double point[2] = {x, y};
      place(parent, point, origin_[i]);
    }
  }

  CAROM_INLINE void mass_matrix(double* matrix) const {
    for (int i = 0; i < velocities_ * velocities_; ++i) matrix[i] = 0.0;
    for (int i = 0; i < links_; ++i) {
      double rows[2][kMostVelocities] = {};
      double spin[kMostVelocities] = {};
      centre_rows(i, rows[0], rows[1]);
      for (int k = i; k >= 0; k = parent_of(k)) {
        if (!(link(k)[kSlides] > 0.0)) spin[first_ + k] = 1.0;
      }
      for (int a = 0; a < velocities_; ++a) {
        for (int b = 0; b < velocities_; ++b) {
          matrix[a * velocities_ + b] +=
              link(i)[kMass] * (rows[0][a] * rows[0][b] + rows[1][a] * rows[1][b]) +
              link(i)[kInertia] * spin[a] * spin[b];
        }
      }
    }
  }

  CAROM_INLINE void force(const double* v, double* f) const {
    for (int j = 0; j < velocities_; ++j) f[j] = 0.0;
    for (int i = 0; i < links_; ++i) {
      const double* l = link(i);
      const double centre[2] = {l[kCentreX], l[kCentreY]};
      double rows[2][kMostVelocities] = {};
      double drawn[2];
      centre_rows(i, rows[0], rows[1]);
      bias(i, centre, v, drawn);
      for (int d = 0; d < 2; ++d) drawn[d] -= p_[kFieldX + d];
      for (int j = 0; j < velocities_; ++j) {
        f[j] -= l[kMass] * (rows[0][j] * drawn[0] + rows[1][j] * drawn[1]);
      }
      const int j = first_ + i;
      f[j] += l[kEffort] - l[kStiffness] * (q_[j] - l[kRest]) - l[kDamping] * v[j];
    }
    for (int k = 0; k < springs(); ++k) {
      double way[2];
      double rows[2][kMostVelocities] = {};
      const double length = span(k, way, rows[0], rows[1]);
      if (!(length > 0.0)) continue;
      const double* s = spring(k);
      double pull[kMostVelocities];
      double rate = 0.0;
      for (int j = 0; j < velocities_; ++j) {
        pull[j] = (rows[0][j] * way[0] + rows[1][j] * way[1]) / length;
        rate = fused(pull[j], v[j], rate);
      }
      const double size = s[kSpringStiffness] * (length - s[kLength]) + s[kSpringDamping] * rate;
      for (int j = 0; j < velocities_; ++j) f[j] -= size * pull[j];
    }
  }
  /// Power that the dampers take, not negative.
  [[nodiscard]] CAROM_INLINE double loss(const double* v) const {
    double sum = 0.0;
    for (int i = 0; i < links_; ++i) {
      sum = fused(link(i)[kDamping] * v[first_ + i], v[first_ + i], sum);
    }
    for (int k = 0; k < springs(); ++k) {
      double way[2];
      double rows[2][kMostVelocities] = {};
      const double length = span(k, way, rows[0], rows[1]);
      if (!(length > 0.0)) continue;
      double rate = 0.0;
      for (int j = 0; j < velocities_; ++j) {
        rate = fused((rows[0][j] * way[0] + rows[1][j] * way[1]) / length, v[j], rate);
      }
      sum = fused(spring(k)[kSpringDamping] * rate, rate, sum);
    }
    return sum;
  }

  [[nodiscard]] CAROM_INLINE double potential() const {
    double sum = 0.0;
    for (int i = 0; i < links_; ++i) {
      const double* l = link(i);
      const double centre[2] = {l[kCentreX], l[kCentreY]};
      double at[2];
      place(i, centre, at);
      const double joint = q_[first_ + i];
      sum -= l[kMass] * (p_[kFieldX] * at[0] + p_[kFieldY] * at[1]);
      sum += 0.5 * l[kStiffness] * (joint - l[kRest]) * (joint - l[kRest]) - l[kEffort] * joint;
    }
    for (int k = 0; k < springs(); ++k) {
      double way[2];
      const double stretch = ends(k, way) - spring(k)[kLength];
      sum += 0.5 * spring(k)[kSpringStiffness] * stretch * stretch;
    }
    return sum;
  }

  [[nodiscard]] CAROM_INLINE double friction(const Constraint& c) const { return c.friction; }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
    const double* r = p_ + kHeader + links_ * kLinkRecord + i * kContactRecord;
    Constraint c;
    c.link = whole(r[kLink]);
    c.end = velocities_;
    c.friction = r[kFriction];
    for (int d = 0; d < 2; ++d) {
      c.point[d] = r[kPointX + d];
      c.normal[d] = r[kNormalX + d];
    }
    place(c.link, c.point, c.place);
    c.gap = c.normal[0] * c.place[0] + c.normal[1] * c.place[1] - r[kOffset];
    return c;
  }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    double x[kMostVelocities] = {};
    double y[kMostVelocities] = {};
    point_rows(c.link, c.place, x, y);
    double tangent[2];
    planar_tangent(c.normal, tangent);
    for (int j = 0; j < velocities_; ++j) {
      rows[j] = c.normal[0] * x[j] + c.normal[1] * y[j];
      rows[stride + j] = tangent[0] * x[j] + tangent[1] * y[j];
    }
  }
  CAROM_INLINE void jacobian_dot_v(const Constraint& c, const double* v, double* x) const {
    double drawn[2];
    double tangent[2];
    bias(c.link, c.point, v, drawn);
    planar_tangent(c.normal, tangent);
    x[0] = c.normal[0] * drawn[0] + c.normal[1] * drawn[1];
    x[1] = tangent[0] * drawn[0] + tangent[1] * drawn[1];
  }

  /// Place in the world of a link's point; of link -1 a point measured from the floating one.
  CAROM_INLINE void place(int i, const double* point, double* out) const {
    if (i < 0) {
      out[0] = point[0] + (first_ > 0 ? q_[0] : 0.0);
      out[1] = point[1] + (first_ > 0 ? q_[1] : 0.0);
      return;
    }
    out[0] = origin_[i][0] + cosine_[i] * point[0] - sine_[i] * point[1];
    out[1] = origin_[i][1] + sine_[i] * point[0] + cosine_[i] * point[1];
  }

 private:
  [[nodiscard]] CAROM_INLINE const double* link(int i) const {
    return p_ + kHeader + i * kLinkRecord;
  }
  [[nodiscard]] CAROM_INLINE int parent_of(int i) const {
    return link(i)[kParent] < 0.0 ? -1 : whole(link(i)[kParent]);
  }
  [[nodiscard]] CAROM_INLINE int springs() const { return whole(p_[kSprings]); }
  [[nodiscard]] CAROM_INLINE const double* spring(int k) const {
    return p_ + kHeader + links_ * kLinkRecord + whole(p_[kContacts]) * kContactRecord +
           k * kSpringRecord;
  }

  /// Rows of the velocity of the link's point at a place, added.
  CAROM_INLINE void point_rows(int i, const double* at, double* x, double* y) const {
    if (first_ > 0) {
      x[0] += 1.0;
      y[1] += 1.0;
    }
    for (int k = i; k >= 0; k = parent_of(k)) {
      if (link(k)[kSlides] > 0.0) {
        x[first_ + k] += axis_[k][0];
        y[first_ + k] += axis_[k][1];
      } else {
        x[first_ + k] -= at[1] - origin_[k][1];
        y[first_ + k] += at[0] - origin_[k][0];
      }
    }
  }
  CAROM_INLINE void centre_rows(int i, double* x, double* y) const {
    const double centre[2] = {link(i)[kCentreX], link(i)[kCentreY]};
    double at[2];
    place(i, centre, at);
    point_rows(i, at, x, y);
  }
  [[nodiscard]] CAROM_INLINE double turning(int i, const double* v) const {
    double sum = 0.0;
    for (int k = i; k >= 0; k = parent_of(k)) {
      if (!(link(k)[kSlides] > 0.0)) sum += v[first_ + k];
    }
    return sum;
  }
  /// Acceleration of a link's point where v does not change.
  CAROM_INLINE void bias(int i, const double* point, const double* v, double* out) const {
    double next[2];
    place(i, point, next);
    out[0] = out[1] = 0.0;
    for (int k = i; k >= 0; k = parent_of(k)) {
      const double omega = turning(k, v);
      for (int d = 0; d < 2; ++d) out[d] -= omega * omega * (next[d] - origin_[k][d]);
      if (link(k)[kSlides] > 0.0) {  // Coriolis': 2 omega x the slide's velocity
        const double twice = 2.0 * omega * v[first_ + k];
        out[0] -= twice * axis_[k][1];
        out[1] += twice * axis_[k][0];
      }
      next[0] = origin_[k][0];
      next[1] = origin_[k][1];
    }
  }

  /// Way between a spring's ends, its length.
  CAROM_INLINE double ends(int k, double* way) const {
    const double* s = spring(k);
    double at[2][2];
    for (int side = 0; side < 2; ++side) {
      const double* end = s + (side == 0 ? kFrom : kTo);
      if (end[0] < 0.0) {
        at[side][0] = end[1];
        at[side][1] = end[2];
      } else {
        place(whole(end[0]), end + 1, at[side]);
      }
    }
    way[0] = at[1][0] - at[0][0];
    way[1] = at[1][1] - at[0][1];
    return length_of(way[0], way[1]);
  }
  /// The same with the rows of the way's velocity.
  CAROM_INLINE double span(int k, double* way, double* x, double* y) const {
    const double* s = spring(k);
    const double length = ends(k, way);
    for (int side = 0; side < 2; ++side) {
      const double* end = s + (side == 0 ? kFrom : kTo);
      if (end[0] < 0.0) continue;
      double rows[2][kMostVelocities] = {};
      double at[2];
      place(whole(end[0]), end + 1, at);
      point_rows(whole(end[0]), at, rows[0], rows[1]);
      for (int j = 0; j < velocities_; ++j) {
        x[j] += side == 0 ? -rows[0][j] : rows[0][j];
        y[j] += side == 0 ? -rows[1][j] : rows[1][j];
      }
    }
    return length;
  }

  const double* p_;
  const double* q_;
  int links_, first_, velocities_;
  double angle_[kMostLinks];
  double cosine_[kMostLinks], sine_[kMostLinks];
  double origin_[kMostLinks][2];
  double axis_[kMostLinks][2];
};

}  // namespace carom::kernels
