#pragma once

#include <limits>

#include <carom/certificate_planar.hpp>
#include <carom/types/status.hpp>

#include "equilibrium/kernels/planar_strip.hpp"

/// Computes contact forces, ends and proofs in the world frame from the last basis of a strip.
namespace carom::kernels {

/// Everything known of one posture's strip under one wrench, in the world frame.
struct StripRecord {
  static constexpr int kForces = 4;
  Status status;
  double normal[2];
  double end[2];     ///< lower, upper
  double torque[2];  ///< tau_min, tau_max
  double height[2];
  double separation[2];
  double residual;
  int count[2];
  certificate::PointForce force[2][kForces];
};

/// n = J f / |f| and |f|; |f| is 0 where the force is.
struct ForceFrame {
  double x, y, size;
};
CAROM_INLINE ForceFrame force_frame(const double* wrench) {
  const double size = certificate::planar_length(wrench[0], wrench[1]);
  return {-wrench[1] / size, wrench[0] / size, size};
}

/// Whether a posture and a wrench may be computed with at all.
CAROM_INLINE bool usable_contacts(const certificate::PlanarContacts& contacts) {
  bool usable = true;
  for (int i = 0; i < contacts.count; ++i) {
    const double nx = contacts.normal[2 * i];
    const double ny = contacts.normal[2 * i + 1];
    usable = usable && is_finite(contacts.position[2 * i]) &&
             is_finite(contacts.position[2 * i + 1]) &&
             magnitude(nx * nx + ny * ny - 1.0) <= 3e-6 && contacts.friction[i] >= 0.0 &&
             is_finite(contacts.friction[i]) && contacts.length_of(i) >= 0.0 &&
             is_finite(contacts.length_of(i));
  }
  return usable;
}
CAROM_INLINE bool usable_wrench(const double* wrench, const ForceFrame& frame) {
  return is_finite(wrench[2]) && frame.size > 0.0 && is_finite(frame.size);
}

/// A cone edge: where it acts, its direction in the world and in the frame of the force.
struct EdgeForce {
  int contact;
  double along, x, y, u, v;
};
CAROM_INLINE EdgeForce edge_force(const certificate::PlanarContacts& contacts, bool patches,
                                  const ForceFrame& frame, int edge) {
  const int point = edge / 2;
  const int i = patches ? point / 2 : point;
  const double mu = edge % 2 == 0 ? contacts.friction[i] : -contacts.friction[i];
  const double nx = contacts.normal[2 * i];
  const double ny = contacts.normal[2 * i + 1];
  EdgeForce force{};
  force.contact = i;
  force.along = patches && point % 2 == 1 ? contacts.length_of(i) : 0.0;
  // Of a size near 1 whatever the friction.
  const double size = 1.0 + magnitude(mu);
  force.x = fused(mu, ny, nx) / size;
  force.y = fused(-mu, nx, ny) / size;
  force.u = fused(force.y, frame.y, force.x * frame.x);
  force.v = fused(force.y, frame.x, -(force.x * frame.y));
  return force;
}

/// Collects the forces of one end.
class EndForces {
 public:
  CAROM_INLINE EndForces(const certificate::PlanarContacts& contacts, bool patches,
                         const ForceFrame& frame, certificate::PointForce* forces)
      : contacts_(contacts), patches_(patches), frame_(frame), forces_(forces) {}

  /// The basis under a force of `size` along `up`.
  CAROM_INLINE void base(double left, double right, double size) {
    const EdgeForce l = edge(left);
    if (right < 0.0) {
      add(l, size / l.v);
      return;
    }
    const EdgeForce r = edge(right);
    const double area = fused(r.u, l.v, -(l.u * r.v));
    add(l, size * r.u / area);
    add(r, size * -l.u / area);
  }

  /// Two edges whose components across the force cancel, and the basis that lifts what they press
  /// down.
  CAROM_INLINE void squeeze(double left, double right, double base_left, double base_right) {
    const EdgeForce l = edge(left);
    const EdgeForce r = edge(right);
    add(l, -1.0 / l.u);
    add(r, 1.0 / r.u);
    const double lift = r.v / r.u - l.v / l.u;
    if (lift < 0.0) base(base_left, base_right, -lift);
    normalise();
  }

  /// An edge that pulls along the force, and the basis that holds against it.
  CAROM_INLINE void pull(double down, double base_left, double base_right) {
    const EdgeForce d = edge(down);
    add(d, -1.0 / d.v);
    base(base_left, base_right, 1.0);
    normalise();
  }

  [[nodiscard]] CAROM_INLINE int count() const { return count_; }

 private:
  CAROM_INLINE EdgeForce edge(double index) const {
    return edge_force(contacts_, patches_, frame_, static_cast<int>(index));
  }
  CAROM_INLINE void add(const EdgeForce& edge, double size) {
    forces_[count_++] = {edge.contact, edge.along, size * edge.x, size * edge.y};
  }
  CAROM_INLINE void normalise() {
    double sum = 0.0;
    for (int j = 0; j < count_; ++j) sum += certificate::planar_length(forces_[j].x, forces_[j].y);
    for (int j = 0; j < count_; ++j) {
      forces_[j].x /= sum;
      forces_[j].y /= sum;
    }
  }

  const certificate::PlanarContacts& contacts_;
  bool patches_;
  const ForceFrame& frame_;
  certificate::PointForce* forces_;
  int count_ = 0;
};

CAROM_INLINE void fill_nan(StripRecord& record) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (int e = 0; e < 2; ++e) {
    record.end[e] = record.torque[e] = record.height[e] = record.separation[e] = kNan;
    record.count[e] = 0;
  }
  record.residual = kNan;
}

CAROM_INLINE StripRecord refused_strip() {
  StripRecord record{};
  fill_nan(record);
  record.status = Status::invalid_input;
  record.normal[0] = record.normal[1] = std::numeric_limits<double>::quiet_NaN();
  return record;
}

/// One end of the strip with its proof. Errors: a status other than solved and unbounded.
CAROM_INLINE Status prove_end(const certificate::PlanarContacts& contacts, bool patches,
                              const double* wrench, const ForceFrame& frame,
                              const certificate::PlanarProof& proof, const StripEnd<double>& end,
                              bool upper, double tolerance, StripRecord& record) {
  const int e = upper ? 1 : 0;
  if (end.outcome == kEndUnfinished) return Status::iteration_limit;
  EndForces forces(contacts, patches, frame, record.force[e]);
  certificate::MaxAbs<> worst;
  worst.add(record.residual);
  Status status = Status::solved;
  if (end.outcome == kEndBounded) {
    const double lever = wrench[2] / frame.size;
    const double x0 = contacts.position[0];
    const double y0 = contacts.position[1];
    const double line = end.edge + fused(y0, frame.y, x0 * frame.x);
    record.end[e] = line + lever;
    record.height[e] = end.height + fused(y0, frame.x, -(x0 * frame.y));
    // tau(x) = x' J' f + tau = tau - |f| x . n falls with x . n.
    record.torque[upper ? 0 : 1] = -(frame.size * line);
    forces.base(end.left, end.right, frame.size);
    record.count[e] = forces.count();
    worst.add(proof.balance(record.end[e], record.force[e], record.count[e]));
    worst.add(proof.bound(record.end[e], record.height[e], upper));
    record.residual = worst.value;
    if (!certificate::within(worst.value, tolerance)) {
      status = is_finite(worst.value) ? Status::inaccurate : Status::numerical_error;
    }
  } else {
    record.end[e] = upper ? kInfinity : -kInfinity;
    record.torque[upper ? 0 : 1] = upper ? -kInfinity : kInfinity;
    if (end.outcome == kEndSqueezed) {
      forces.squeeze(end.ray_left, end.ray_right, end.left, end.right);
    } else {
      forces.pull(end.ray_left, end.left, end.right);
    }
    record.count[e] = forces.count();
    worst.add(proof.ray(record.force[e], record.count[e], upper));
    record.residual = worst.value;
    status =
        certificate::within(worst.value, tolerance) ? Status::unbounded : Status::numerical_error;
  }
  return status;
}

/// The record of a usable posture under a usable wrench.
CAROM_INLINE StripRecord strip_record(const certificate::PlanarContacts& contacts, bool patches,
                                      const double* wrench, const ForceFrame& frame,
                                      const Strip<double>& strip, double tolerance) {
  StripRecord record{};
  fill_nan(record);
  const certificate::PlanarProof proof(contacts, wrench);
  record.normal[0] = frame.x;
  record.normal[1] = frame.y;
  if (strip.feasible < 0.5) {
    // (d, 1) in the axes n and up = J n
    const double size = certificate::planar_length(strip.separation, 1.0);
    const double d = strip.separation / size;
    const double one = 1.0 / size;
    const double x = fused(d, frame.x, -(one * frame.y));
    const double y = fused(d, frame.y, one * frame.x);
    const double residual = proof.separation(x, y);
    record.residual = residual;
    if (certificate::within(residual, tolerance)) {
      record.separation[0] = x;
      record.separation[1] = y;
      record.status = Status::infeasible;
    } else {
      record.status = Status::numerical_error;
    }
    return record;
  }
  record.residual = 0.0;
  const Status lower =
      prove_end(contacts, patches, wrench, frame, proof, strip.lower, false, tolerance, record);
  const Status upper =
      prove_end(contacts, patches, wrench, frame, proof, strip.upper, true, tolerance, record);
  const auto failed = [](Status status) {
    return status == Status::numerical_error || status == Status::iteration_limit;
  };
  if (failed(lower) || failed(upper)) {
    record.status = failed(lower) ? lower : upper;
    const double residual = record.residual;
    fill_nan(record);
    record.residual = residual;
    return record;
  }
  if (lower == Status::inaccurate || upper == Status::inaccurate) {
    record.status = Status::inaccurate;
  } else {
    record.status = lower == Status::unbounded ? lower : upper;
  }
  return record;
}

}  // namespace carom::kernels
