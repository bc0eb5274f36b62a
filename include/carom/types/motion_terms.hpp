#pragma once

#include <span>
#include <vector>

#include <carom/types/compliant.hpp>
#include <carom/types/impact.hpp>
#include <carom/types/motion.hpp>

/// The plain structs of carom/motion_terms.hpp.
namespace carom {

/// q' = rates, M v' = force + drive + J' lambda. Rows of a contact: its normal, then its tangents.
struct MotionTerms {
  int rows = 2;                  ///< of a contact: 2 in the plane, 3 in space
  std::vector<double> mass;      ///< M, [nv, nv]
  std::vector<double> force;     ///< gravity, Coriolis forces, springs; not the drive, [nv]
  std::vector<double> rates;     ///< N(q) v, [nq]
  std::vector<double> gap;       ///< [m], [contacts]
  std::vector<double> friction;  ///< [contacts]
  std::vector<double> jacobian;  ///< J, [contacts, rows, nv]
  std::vector<double> drift;     ///< (dJ/dt) v, [contacts, rows]
  double energy = 0.0;           ///< kinetic and potential [J]
  std::vector<int> quaternions;  ///< where in q a unit quaternion w, x, y, z begins
};

struct ContactCompliance {
  double stiffness = 0.0;  ///< K of every row [N/m], >= 0
  double damping = 0.0;    ///< B of every row [N s/m], >= 0
};

}  // namespace carom
