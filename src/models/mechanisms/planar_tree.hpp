#pragma once

#include <carom/device/trigonometry.hpp>

#include "models/mechanisms/mechanism.hpp"

namespace carom::kernels {

/// One link. Its frame sits at its hinge and, at angle zero, has the world's axes.
struct PlanarLink {
  int parent = -1;        ///< link that carries the hinge, before this one; -1: the floating point
  double hinge[2];        ///< in the parent's frame; in world axes from the floating point
  double mass = 0.0;      ///< [kg]
  double inertia = 0.0;   ///< about the mass centre [kg m2]; zero for a point mass
  double mass_centre[2];  ///< in the link's frame
};

/// Planar tree of links that hang on a floating point, q = (x, y, angle of link 0, of link 1, ...)
/// with every angle counter-clockwise and relative to the link's parent (to the world where the
/// parent is the floating point). Places are measured from the floating point, in world axes.
template <int kLinks>
class PlanarTree {
 public:
  static constexpr int kVelocities = 2 + kLinks;

  CAROM_INLINE PlanarTree(const PlanarLink* links, const double* q) {
    for (int i = 0; i < kLinks; ++i) {
      links_[i] = links[i];
      cosine_[i] = kernels::cosine(q[2 + i]);
      sine_[i] = kernels::sine(q[2 + i]);
    }
    const double origin[2] = {0.0, 0.0};
    for (int i = 0; i < kLinks; ++i) place(i, origin, hinge_[i]);
  }

  [[nodiscard]] CAROM_INLINE int parent(int link) const { return links_[link].parent; }

  /// Angle of a link in the world.
  [[nodiscard]] CAROM_INLINE double angle(int link, const double* q) const {
    double sum = 0.0;
    for (int i = link; i >= 0; i = links_[i].parent) sum += q[2 + i];
    return sum;
  }

  /// Place of a point fixed in a link's frame.
  CAROM_INLINE void place(int link, const double* point, double* out) const {
    double x = point[0];
    double y = point[1];
    for (int i = link; i >= 0; i = links_[i].parent) {
      const double along = cosine_[i] * x - sine_[i] * y;
      const double up = sine_[i] * x + cosine_[i] * y;
      x = links_[i].hinge[0] + along;
      y = links_[i].hinge[1] + up;
    }
    out[0] = x;
    out[1] = y;
  }

  /// Velocity of the link's point that is at a place: rows of x and y, zeros there before. A hinge
  /// moves what hangs on it by angle x (place - hinge).
  CAROM_INLINE void jacobian(int link, const double* at, double* x_row, double* y_row) const {
    x_row[0] = y_row[1] = 1.0;
    for (int i = link; i >= 0; i = links_[i].parent) {
      x_row[2 + i] = -(at[1] - hinge_[i][1]);
      y_row[2 + i] = at[0] - hinge_[i][0];
    }
  }

  /// Acceleration of the link's point that is at a place where v does not change: each hinge's next
  /// one, and the point, are drawn to it by the square of the link's angular velocity.
  CAROM_INLINE void acceleration(int link, const double* at, const double* v, double* out) const {
    out[0] = out[1] = 0.0;
    const double* next = at;
    for (int i = link; i >= 0; i = links_[i].parent) {
      const double omega = angle(i, v);  // angles add, and so do their rates
      for (int j = 0; j < 2; ++j) out[j] -= omega * omega * (next[j] - hinge_[i][j]);
      next = hinge_[i];
    }
  }

  /// M(q) = sum over links of m Jc' Jc + I w' w, with Jc the mass centre's Jacobian and w the
  /// link's angular velocity row.
  CAROM_INLINE void mass_matrix(double* matrix) const {
    for (int i = 0; i < kVelocities * kVelocities; ++i) matrix[i] = 0.0;
    for (int link = 0; link < kLinks; ++link) {
      double at[2];
      double centre[2][kVelocities] = {};
      double spin[kVelocities] = {};
      place(link, links_[link].mass_centre, at);
      jacobian(link, at, centre[0], centre[1]);
      for (int i = link; i >= 0; i = links_[i].parent) spin[2 + i] = 1.0;
      for (int i = 0; i < kVelocities; ++i) {
        for (int j = 0; j < kVelocities; ++j) {
          const double moved = centre[0][i] * centre[0][j] + centre[1][i] * centre[1][j];
          matrix[i * kVelocities + j] +=
              links_[link].mass * moved + links_[link].inertia * spin[i] * spin[j];
        }
      }
    }
  }

  /// F = -sum over links of m Jc' (dJc/dt v + (0, gravity)).
  CAROM_INLINE void force(const double* v, double gravity, double* f) const {
    for (int j = 0; j < kVelocities; ++j) f[j] = 0.0;
    for (int link = 0; link < kLinks; ++link) {
      double at[2];
      double centre[2][kVelocities] = {};
      double drawn[2];
      place(link, links_[link].mass_centre, at);
      jacobian(link, at, centre[0], centre[1]);
      acceleration(link, at, v, drawn);
      drawn[1] += gravity;
      for (int j = 0; j < kVelocities; ++j) {
        f[j] -= links_[link].mass * (centre[0][j] * drawn[0] + centre[1][j] * drawn[1]);
      }
    }
  }

  /// f += sum over links of m Jc' (1, 0): what a field of 1 m/s2 along x gives.
  CAROM_INLINE void push(double* f) const {
    for (int link = 0; link < kLinks; ++link) {
      double at[2];
      double centre[2][kVelocities] = {};
      place(link, links_[link].mass_centre, at);
      jacobian(link, at, centre[0], centre[1]);
      for (int j = 0; j < kVelocities; ++j) f[j] += links_[link].mass * centre[0][j];
    }
  }

  /// sum over links of m x, the floating point's x being `x`.
  [[nodiscard]] CAROM_INLINE double moment(double x) const {
    double sum = 0.0;
    for (int link = 0; link < kLinks; ++link) {
      double at[2];
      place(link, links_[link].mass_centre, at);
      sum += links_[link].mass * (x + at[0]);
    }
    return sum;
  }

  /// sum over links of m g times the mass centre's height, the floating point's being `height`.
  [[nodiscard]] CAROM_INLINE double potential(double height, double gravity) const {
    double sum = 0.0;
    for (int link = 0; link < kLinks; ++link) {
      double at[2];
      place(link, links_[link].mass_centre, at);
      sum += links_[link].mass * gravity * (height + at[1]);
    }
    return sum;
  }

 private:
  PlanarLink links_[kLinks];
  double cosine_[kLinks], sine_[kLinks];
  double hinge_[kLinks][2];
};

}  // namespace carom::kernels
