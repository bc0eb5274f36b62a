#pragma once

#include <functional>
#include <span>
#include <string>

#include <carom/types/motion_terms.hpp>

/// The plain structs of carom/motion_function.hpp.
namespace carom {

/// A state that is asked about, SI.
struct MechanismState {
  double time = 0.0;
  std::span<const double> position;  ///< q, [positions]
  std::span<const double> velocity;  ///< v, [velocities]
};

/// What a mechanism answers there: q' = rates, M v' = force + J' lambda. All numbers are zero
/// before. Rows of a contact: the gradient of its gap along v, positive separating, then its
/// tangents: one in the plane, two in space, right-handed with the normal.
struct MechanismAnswer {
  std::span<double> mass;      ///< M, symmetric positive definite, [velocities, velocities]
  std::span<double> force;     ///< gravity, Coriolis forces, springs, drives, [velocities]
  std::span<double> rates;     ///< N(q) v, [positions]
  std::span<double> gap;       ///< [m], [contacts]
  std::span<double> friction;  ///< mu > 0, [contacts]; 0: none
  std::span<double> jacobian;  ///< J, [contacts, dimension, velocities]
  std::span<double> drift;     ///< (dJ/dt) v, [contacts, dimension]
  double potential = 0.0;      ///< energy of gravity, springs and constant forces [J]
  double loss = 0.0;           ///< power that dampers take [W], >= 0
};

inline constexpr int kMostOwnVelocities = 12;
inline constexpr int kMostOwnContacts = 8;

struct OwnMechanism {
  std::string name = "own mechanism";
  int dimension = 2;  ///< of space: 2 or 3
  int positions = 0;  ///< `velocities`, or one more: then q[3..6] is a quaternion, kept at length 1
  int velocities = 0;  ///< 1 to kMostOwnVelocities
  int contacts = 0;    ///< at most kMostOwnContacts
  /// Smooth in the state, the same at every call for the same state; called from several threads at
  /// a time. What it throws ends the call.
  std::function<void(const MechanismState&, MechanismAnswer&)> terms;
};

}  // namespace carom
