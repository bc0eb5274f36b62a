#pragma once

#include <cmath>
#include <concepts>

#include <carom/device/numeric.hpp>

/// Mechanisms as functors, on host and device. With positions q [positions], velocities v
/// [velocities] and parameters p, a mechanism obeys the manipulator equations, (9) and (10) of Halm
/// and Posa,
///
///     q' = N(q) v,    M(q) v' = F(q, v, t) + J(q)' lambda.
///
/// A type T stands for one kind of mechanism, T(p, t, q) for one of them at a time and a
/// configuration: what its members share, as sines and rotations, is computed once. Numbers are SI:
/// m, rad, kg, s, N; angles among the parameters are in degrees. Forces of planar mechanisms are
/// (N, N, N m) of (x, y, counter-clockwise), y upward unless the type says otherwise. A free
/// spatial body has q = (centre of mass in the world, quaternion w, x, y, z from body to world) and
/// v = (velocity of the centre in the world, angular velocity in the body). Bias forces c of M v' +
/// c = J' lambda are -F.
///
/// Constraints are contacts, limits and joints. Each has kRows rows of J: the first is the gradient
/// of its gap along v, d gap / dt = J_0 v, positive separating; rows after it are the tangents of
/// a contact, velocities of the touching points against each other: one in the plane (the normal
/// turned by -90 degrees), two in space (right-handed, t1 x t2 = n).
///
/// Names that end in Of are templates over the number, double or DualNumber (dual_number.hpp), by
/// which the derivatives of worlds are found.
namespace carom::kernels {

struct MechanismSizes {
  int positions, velocities, constraints;
};

template <class T>
concept Mechanism = std::constructible_from<T, const double*, double, const double*> &&
    requires(const T& at, const typename T::Constraint& constraint, const double* in, double* out) {
  /// Rows of a constraint: 1 without friction, else the dimension, 2 or 3.
  { T::kRows } -> std::convertible_to<int>;
  { T::sizes(in) } -> std::same_as<MechanismSizes>;
  /// (v, q'): q' = N(q) v, [positions].
  at.rates(in, out);
  /// M, [velocities, velocities] row-major, symmetric positive definite.
  at.mass_matrix(out);
  /// (v, F): gravity, Coriolis and centrifugal forces and drives, [velocities].
  at.force(in, out);
  /// Energy of gravity and of constant forces [J].
  { at.potential() } -> std::same_as<double>;
  /// Geometry of constraint i; `gap` [m] (a limit's may be [rad]) and the columns
  /// [begin, end) outside of which its rows are zero.
  { at.constraint(0) } -> std::same_as<typename T::Constraint>;
  { constraint.gap } -> std::convertible_to<double>;
  { constraint.begin } -> std::convertible_to<int>;
  { constraint.end } -> std::convertible_to<int>;
  /// (constraint, rows, stride): row k into rows + k stride, zeros there before.
  at.jacobian(constraint, out, 0);
  /// (constraint, v, x): (dJ/dt) v of its rows, [kRows].
  at.jacobian_dot_v(constraint, in, out);
} &&(T::kRows == 1 || requires(const T& at, const typename T::Constraint& constraint) {
  /// Coulomb's coefficient.
  { at.friction(constraint) } -> std::same_as<double>;
});

/// Mechanisms whose positions have unit quaternions w, x, y, z: quaternions(p, first) fills in
/// where in q each begins and says how many there are, kMostQuaternions at most.
template <class T, class Parameters>
concept TurningMechanism = requires(const Parameters& p, int* first) {
  { T::quaternions(p, first) } -> std::same_as<int>;
};
inline constexpr int kMostQuaternions = 4;

/// Mechanisms of one size for any parameters.
template <class T>
concept SizedMechanism = Mechanism<T> && requires {
  T::kSizes.constraints;
};

/// Mechanisms whose parameters choose their sizes, kSizes at most.
template <class T>
concept GrowingMechanism = SizedMechanism<T> && requires {
  T::kMostVelocities;
};

/// M is diagonal: (1 / M_jj), [velocities].
template <class T>
concept DiagonalMechanism = Mechanism<T> && requires(const T& at, double* out) {
  at.inverse_mass(out);
};

/// Mechanisms that carry a configuration and a velocity at which an impact is looked at:
/// start(p, q, v). The parameters of an impact model come in its order, gravity [m/s2] after them.
template <class T>
concept ImpactMechanism = SizedMechanism<T> && requires(const double* p, double* q, double* v) {
  T::start(p, q, v);
  { T::kGravity } -> std::convertible_to<int>;
};

/// What mechanisms have whose velocities are the rates of their positions.
template <int kPositions, int kConstraints, int kRowsOfOne>
struct PlainMechanism {
  static constexpr int kRows = kRowsOfOne;
  static constexpr MechanismSizes kSizes{kPositions, kPositions, kConstraints};
  template <class T>
  static CAROM_INLINE MechanismSizes sizes(const T*) {
    return kSizes;
  }
  static CAROM_INLINE void rates(const double* v, double* q_dot) {
    for (int j = 0; j < kPositions; ++j) q_dot[j] = v[j];
  }
};

inline constexpr double kPi = 3.14159265358979323846;
/// A parameter that counts something, not negative.
CAROM_INLINE int whole(double count) {
  return static_cast<int>(count + 0.5);  // NOLINT(bugprone-incorrect-roundings): no such number
}
template <class T>
CAROM_INLINE T radians(T degrees) {
  return degrees * kPi / 180.0;
}
/// Without derivatives.
CAROM_INLINE double number_of(double x) { return x; }
CAROM_INLINE double power(double base, double exponent) { return std::pow(base, exponent); }

/// diag(d) as a matrix.
template <class T>
CAROM_INLINE void put_diagonal(int n, const T* d, T* matrix) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) matrix[i * n + j] = i == j ? d[i] : T(0.0);
  }
}

}  // namespace carom::kernels
