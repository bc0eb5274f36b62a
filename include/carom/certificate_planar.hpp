#pragma once

#include <carom/certificate.hpp>

/// Proofs of a planar posture's strip, recomputed from its contacts in the world frame. No solver
/// calls or shares this code.
namespace carom::certificate {

/// The contacts of one planar posture.
struct PlanarContacts {
  int count;
  const double* position;  ///< [count, 2]
  const double* normal;    ///< [count, 2]
  const double* friction;  ///< [count]
  const double* length;    ///< [count], or null

  [[nodiscard]] CAROM_INLINE double length_of(int i) const {
    return length == nullptr ? 0.0 : length[i];
  }
};

/// A force on the body at a point of contact `contact`, `along` metres from its position.
struct PointForce {
  int contact;
  double along;
  double x, y;
};

/// Length of a vector; no library function whose last bit differs between host and device.
CAROM_INLINE double planar_length(double x, double y) {
  const double a = kernels::larger(kernels::magnitude(x), kernels::magnitude(y));
  if (!(a > 0.0)) return a;
  return a * std::sqrt((x / a) * (x / a) + (y / a) * (y / a));
}

CAROM_INLINE double planar_cross(double ax, double ay, double bx, double by) {
  return ax * by - ay * bx;
}

/// Largest coordinate or lever arm of the posture: what lengths are compared with.
CAROM_INLINE double planar_scale(const PlanarContacts& contacts, double lever) {
  MaxAbs<> scale;
  scale.add(lever);
  for (int i = 0; i < contacts.count; ++i) {
    scale.add(contacts.position[2 * i]);
    scale.add(contacts.position[2 * i + 1]);
    scale.add(contacts.length_of(i));
  }
  return scale.value > kTiny ? scale.value : kTiny;
}

/// How far forces are from their cones and points from their patches, relative to `size` and
/// `scale`.
CAROM_INLINE double planar_cone_residual(const PlanarContacts& contacts, const PointForce* forces,
                                         int count, double size, double scale) {
  MaxAbs<> worst;
  worst.add(0.0);
  for (int j = 0; j < count; ++j) {
    const int i = forces[j].contact;
    const double nx = contacts.normal[2 * i];
    const double ny = contacts.normal[2 * i + 1];
    const double pressure = forces[j].x * nx + forces[j].y * ny;
    const double shear = forces[j].x * ny - forces[j].y * nx;
    const double excess = (shear < 0.0 ? -shear : shear) - contacts.friction[i] * pressure;
    // Relative to the force that friction multiplies.
    const double weight = size * (1.0 + contacts.friction[i]);
    if (!(excess <= 0.0)) worst.add(excess / weight);
    if (!(pressure >= 0.0)) worst.add(pressure / size);
    const double beyond = forces[j].along - contacts.length_of(i);
    if (!(beyond <= 0.0)) worst.add(beyond / scale);
    if (!(forces[j].along >= 0.0)) worst.add(forces[j].along / scale);
  }
  return worst.value;
}

/// Net force and net torque about (x, y).
struct PlanarSum {
  double x, y, torque;
};
CAROM_INLINE PlanarSum planar_sum(const PlanarContacts& contacts, const PointForce* forces,
                                  int count, double x, double y) {
  PlanarSum sum{0.0, 0.0, 0.0};
  for (int j = 0; j < count; ++j) {
    const int i = forces[j].contact;
    // t = J' n
    const double px = contacts.position[2 * i] + forces[j].along * contacts.normal[2 * i + 1] - x;
    const double py = contacts.position[2 * i + 1] - forces[j].along * contacts.normal[2 * i] - y;
    sum.x += forces[j].x;
    sum.y += forces[j].y;
    sum.torque += planar_cross(px, py, forces[j].x, forces[j].y);
  }
  return sum;
}

/// Violation of (1) and of the cones by forces that are to hold a centre of mass at x . n = end.
/// wrench: f and tau, [3].
CAROM_INLINE double planar_balance_residual(const PlanarContacts& contacts, const double* wrench,
                                            double end, const PointForce* forces, int count) {
  const double size = planar_length(wrench[0], wrench[1]);
  const double scale = planar_scale(contacts, wrench[2] / size);
  // A point of the end's line: end * n with n = J f / |f|.
  const double x = end * (-wrench[1] / size);
  const double y = end * (wrench[0] / size);
  const PlanarSum sum = planar_sum(contacts, forces, count, x, y);
  MaxAbs<> worst;
  worst.add((sum.x + wrench[0]) / size);
  worst.add((sum.y + wrench[1]) / size);
  const double arm = end < 0.0 ? -end : end;
  worst.add((sum.torque + wrench[2]) / (size * (arm > scale ? arm : scale)));
  worst.add(planar_cone_residual(contacts, forces, count, size, scale));
  return worst.value;
}

/// Outward torque about the dual point that some unit force of some contact has, relative to the
/// posture's size: what is missing to the proof that x . n cannot pass `end`.
CAROM_INLINE double planar_bound_residual(const PlanarContacts& contacts, const double* wrench,
                                          double end, double height, bool upper) {
  const double size = planar_length(wrench[0], wrench[1]);
  const double nx = -wrench[1] / size;
  const double ny = wrench[0] / size;
  const double line = end - wrench[2] / size;
  const double scale = planar_scale(contacts, wrench[2] / size);
  const double arm = line < 0.0 ? -line : line;
  MaxAbs<> worst;
  worst.add(0.0);
  for (int i = 0; i < contacts.count; ++i) {
    const double cx = contacts.normal[2 * i];
    const double cy = contacts.normal[2 * i + 1];
    const double mu = contacts.friction[i];
    const double unit = planar_length(1.0, mu);
    for (int corner = 0; corner < (contacts.length_of(i) > 0.0 ? 2 : 1); ++corner) {
      const double along = corner == 0 ? 0.0 : contacts.length_of(i);
      const double px = contacts.position[2 * i] + along * cy;
      const double py = contacts.position[2 * i + 1] - along * cx;
      // Coordinates across and against the force: the dual point may be far up.
      const double across = px * nx + py * ny - line;
      const double over = py * nx - px * ny - height;
      for (int edge = 0; edge < 2; ++edge) {
        const double sign = edge == 0 ? mu : -mu;
        const double fx = (cx + sign * cy) / unit;
        const double fy = (cy - sign * cx) / unit;
        const double turn = planar_cross(across, over, fx * nx + fy * ny, fy * nx - fx * ny);
        const double outward = upper ? turn : -turn;
        if (!(outward <= 0.0)) worst.add(outward / (arm > scale ? arm : scale));
      }
    }
  }
  return worst.value;
}

/// Forces of total size 1 that are to balance each other and to turn the body: violation of that.
/// upper: they must turn it counter-clockwise, which moves x . n up without limit.
CAROM_INLINE double planar_ray_residual(const PlanarContacts& contacts, const PointForce* forces,
                                        int count, bool upper) {
  const double scale = planar_scale(contacts, 0.0);
  const PlanarSum sum =
      planar_sum(contacts, forces, count, contacts.position[0], contacts.position[1]);
  MaxAbs<> worst;
  worst.add(sum.x);
  worst.add(sum.y);
  worst.add(planar_cone_residual(contacts, forces, count, 1.0, scale));
  // What does not balance may be carried by a force of that size somewhere on the posture.
  const double turn = (upper ? sum.torque : -sum.torque) / scale;
  if (!(turn > 8.0 * worst.value)) worst.add(1.0);
  return worst.value;
}

/// Violation of a proof that no forces balance the wrench: direction . force <= 0 for every
/// contact, relative to direction . (-f) > 0.
CAROM_INLINE double planar_separation_residual(const PlanarContacts& contacts, const double* wrench,
                                               double dx, double dy) {
  const double size = planar_length(wrench[0], wrench[1]);
  const double against = -(dx * wrench[0] + dy * wrench[1]) / size;
  MaxAbs<> worst;
  worst.add(against > 0.0 ? 0.0 : 1.0);
  for (int i = 0; i < contacts.count; ++i) {
    const double cx = contacts.normal[2 * i];
    const double cy = contacts.normal[2 * i + 1];
    const double mu = contacts.friction[i];
    for (int edge = 0; edge < 2; ++edge) {
      const double sign = edge == 0 ? mu : -mu;
      const double along = (dx * (cx + sign * cy) + dy * (cy - sign * cx)) / planar_length(1.0, mu);
      if (!(along <= 0.0)) worst.add(along / (against > kTiny ? against : kTiny));
    }
  }
  return worst.value;
}

}  // namespace carom::certificate
