#pragma once

#include <carom/device/numeric.hpp>

/// A stance's zero-order data, the input of all kernels of the family.
namespace carom::kernels::stability {

/// (y, z, theta): a velocity, an acceleration or a wrench; the metric is the identity.
struct Vec3 {
  double y, z, t;
};
CAROM_INLINE Vec3 operator+(Vec3 a, Vec3 b) { return {a.y + b.y, a.z + b.z, a.t + b.t}; }
CAROM_INLINE Vec3 operator*(double s, Vec3 a) { return {s * a.y, s * a.z, s * a.t}; }
CAROM_INLINE double dot(Vec3 a, Vec3 b) { return a.y * b.y + a.z * b.z + a.t * b.t; }
CAROM_INLINE Vec3 cross(Vec3 a, Vec3 b) {
  return {a.z * b.t - a.t * b.z, a.t * b.y - a.y * b.t, a.y * b.z - a.z * b.y};
}

/// Letters of a mode's word, as carom::ContactLetter.
inline constexpr int kFree = 0, kStick = 1, kPositive = 2, kNegative = 3;
/// The sign of slip that a letter stands for.
CAROM_INLINE double sign_of(int letter) {
  return letter == kPositive ? 1.0 : (letter == kNegative ? -1.0 : 0.0);
}

/// A contact: gradients of its gap and of its slip, and their products.
struct ContactForm {
  Vec3 normal, tangent;
  double nn, nt, tt;
  double friction, restitution;

  /// Direction of the force of one that slips along `sign`, per normal force.
  [[nodiscard]] CAROM_INLINE Vec3 slip_force(double sign) const {
    return normal + (-sign * friction) * tangent;
  }
  /// Gap acceleration by that force: k of slip along `sign`.
  [[nodiscard]] CAROM_INLINE double slip_stiffness(double sign) const {
    return nn - sign * friction * nt;
  }
};

/// Two contacts and the wrench g, which is the acceleration in flight.
struct StanceForm {
  ContactForm contact[2];
  Vec3 g;
};

CAROM_INLINE ContactForm contact_form(const double* normal, const double* tangent, double friction,
                                      double restitution) {
  ContactForm form{};
  form.normal = {normal[0], normal[1], normal[2]};
  form.tangent = {tangent[0], tangent[1], tangent[2]};
  form.nn = dot(form.normal, form.normal);
  form.nt = dot(form.normal, form.tangent);
  form.tt = dot(form.tangent, form.tangent);
  form.friction = friction;
  form.restitution = restitution;
  return form;
}

/// Velocity of a rotation about contact i, N x T: it leaves that contact where it is.
CAROM_INLINE Vec3 rotation_about(const ContactForm& contact) {
  return cross(contact.normal, contact.tangent);
}

/// Unit vector along which both gaps stay; downhill where the wrench has a part along it.
CAROM_INLINE Vec3 cyclic_direction(const StanceForm& stance) {
  const Vec3 n = cross(stance.contact[0].normal, stance.contact[1].normal);
  const double length = square_root(dot(n, n));
  return ((dot(n, stance.g) < 0.0 ? -1.0 : 1.0) / length) * n;
}

}  // namespace carom::kernels::stability
