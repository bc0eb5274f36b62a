#pragma once

#include <limits>

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

/// Residuals of one posture under one wrench. `scale` is the posture's largest coordinate or lever
/// arm, what lengths are compared with.
class PlanarProof {
 public:
  /// wrench: f and tau, [3].
  CAROM_INLINE PlanarProof(const PlanarContacts& contacts, const double* wrench)
      : contacts_(contacts),
        fx_(wrench[0]),
        fy_(wrench[1]),
        torque_(wrench[2]),
        size_(planar_length(wrench[0], wrench[1])),
        nx_(-wrench[1] / size_),
        ny_(wrench[0] / size_) {
    MaxAbs<> scale;
    scale.add(torque_ / size_);
    for (int i = 0; i < contacts.count; ++i) {
      scale.add(contacts.position[2 * i]);
      scale.add(contacts.position[2 * i + 1]);
      scale.add(contacts.length_of(i));
    }
    scale_ = scale.value > kTiny || scale.value != scale.value ? scale.value : kTiny;
  }

  [[nodiscard]] CAROM_INLINE double scale() const { return scale_; }

  /// Violation of (1) and of the cones by forces that are to hold a centre of mass at x . n = end.
  [[nodiscard]] CAROM_INLINE double balance(double end, const PointForce* forces, int count) const {
    const Sum sum = sum_of(forces, count, end * nx_, end * ny_);
    const double arm = end < 0.0 ? -end : end;
    MaxAbs<> worst;
    worst.add((sum.x + fx_) / size_);
    worst.add((sum.y + fy_) / size_);
    worst.add((sum.torque + torque_) / (size_ * (arm > scale_ ? arm : scale_)));
    worst.add(cones(forces, count, size_));
    return worst.value;
  }

  /// Outward torque about the dual point that some force of some contact has, relative to that
  /// force and to the posture's size: what is missing to the proof that x . n cannot pass `end`.
  [[nodiscard]] CAROM_INLINE double bound(double end, double height, bool upper) const {
    const double line = end - torque_ / size_;
    const double arm = line < 0.0 ? -line : line;
    const double outward = upper ? 1.0 : -1.0;
    double most = 0.0;
    bool known = true;
    for (int i = 0; i < contacts_.count; ++i) {
      const double cx = contacts_.normal[2 * i];
      const double cy = contacts_.normal[2 * i + 1];
      const double mu = contacts_.friction[i];
      // Components across and against the force: the dual point may be far up.
      const double a = cx * nx_ + cy * ny_;
      const double b = cy * nx_ - cx * ny_;
      const double px = contacts_.position[2 * i];
      const double py = contacts_.position[2 * i + 1];
      double across = px * nx_ + py * ny_ - line;
      double over = py * nx_ - px * ny_ - height;
      // Coulomb's cone is spanned by n + mu t and n - mu t with t = (b, -a) in these axes.
      const double size = 1.0 + mu;
      const int corners = contacts_.length_of(i) > 0.0 ? 2 : 1;
      for (int corner = 0; corner < corners; ++corner) {
        const double normal_turn = planar_cross(across, over, a, b);
        const double tangent_turn = mu * planar_cross(across, over, b, -a);
        const double first = outward * (normal_turn + tangent_turn) / size;
        const double second = outward * (normal_turn - tangent_turn) / size;
        known = known && first == first && second == second;
        most = first > most ? first : most;
        most = second > most ? second : most;
        // Implied by the two edges, unless rounding lost the normal next to a huge friction.
        most = outward * normal_turn > most ? outward * normal_turn : most;
        across += contacts_.length_of(i) * b;
        over -= contacts_.length_of(i) * a;
      }
    }
    const double reach = arm > scale_ ? arm : scale_;
    return known ? most / reach : std::numeric_limits<double>::quiet_NaN();
  }

  /// Violation by forces of total size 1 that are to balance each other and to turn the body,
  /// counter-clockwise for the upper end, which moves x . n up without limit.
  [[nodiscard]] CAROM_INLINE double ray(const PointForce* forces, int count, bool upper) const {
    const Sum sum = sum_of(forces, count, contacts_.position[0], contacts_.position[1]);
    MaxAbs<> worst;
    worst.add(sum.x);
    worst.add(sum.y);
    worst.add(cones(forces, count, 1.0));
    // What does not balance may be carried by a force of that size somewhere on the posture.
    const double turn = (upper ? sum.torque : -sum.torque) / scale_;
    if (!(turn > 8.0 * worst.value)) worst.add(1.0);
    return worst.value;
  }

  /// Violation of a proof that no forces balance the wrench: direction . force <= 0 for every
  /// contact, relative to direction . (-f) > 0.
  [[nodiscard]] CAROM_INLINE double separation(double dx, double dy) const {
    const double against = -(dx * fx_ + dy * fy_) / size_;
    MaxAbs<> worst;
    worst.add(against > 0.0 ? 0.0 : 1.0);
    for (int i = 0; i < contacts_.count; ++i) {
      const double cx = contacts_.normal[2 * i];
      const double cy = contacts_.normal[2 * i + 1];
      const double mu = contacts_.friction[i];
      for (int edge = -1; edge < 2; ++edge) {
        const double sign = edge * mu;  // the normal is in the cone too
        const double along =
            (dx * (cx + sign * cy) + dy * (cy - sign * cx)) / (edge == 0 ? 1.0 : 1.0 + mu);
        if (!(along <= 0.0)) worst.add(along / (against > kTiny ? against : kTiny));
      }
    }
    return worst.value;
  }

 private:
  /// Net force and net torque about a point.
  struct Sum {
    double x, y, torque;
  };
  CAROM_INLINE Sum sum_of(const PointForce* forces, int count, double x, double y) const {
    Sum sum{0.0, 0.0, 0.0};
    for (int j = 0; j < count; ++j) {
      const int i = forces[j].contact;
      // t = J' n
      const double px =
          contacts_.position[2 * i] + forces[j].along * contacts_.normal[2 * i + 1] - x;
      const double py =
          contacts_.position[2 * i + 1] - forces[j].along * contacts_.normal[2 * i] - y;
      sum.x += forces[j].x;
      sum.y += forces[j].y;
      sum.torque += planar_cross(px, py, forces[j].x, forces[j].y);
    }
    return sum;
  }

  /// How far forces are from their cones, relative to `size`, and points from their patches.
  CAROM_INLINE double cones(const PointForce* forces, int count, double size) const {
    MaxAbs<> worst;
    worst.add(0.0);
    for (int j = 0; j < count; ++j) {
      const int i = forces[j].contact;
      const double nx = contacts_.normal[2 * i];
      const double ny = contacts_.normal[2 * i + 1];
      const double pressure = forces[j].x * nx + forces[j].y * ny;
      const double shear = forces[j].x * ny - forces[j].y * nx;
      const double excess = (shear < 0.0 ? -shear : shear) - contacts_.friction[i] * pressure;
      // Relative to the force that friction multiplies.
      if (!(excess <= 0.0)) worst.add(excess / (size * (1.0 + contacts_.friction[i])));
      if (!(pressure >= 0.0)) worst.add(pressure / size);
      const double beyond = forces[j].along - contacts_.length_of(i);
      if (!(beyond <= 0.0)) worst.add(beyond / scale_);
      if (!(forces[j].along >= 0.0)) worst.add(forces[j].along / scale_);
    }
    return worst.value;
  }

  const PlanarContacts& contacts_;
  double fx_, fy_, torque_, size_;
  double nx_, ny_;
  double scale_;
};

}  // namespace carom::certificate
