#pragma once

#include <span>
#include <vector>

#include <carom/compliant.hpp>
#include <carom/impact.hpp>
#include <carom/motion.hpp>

/// A mechanism's equations at any state, and what the other families make of them: an impact, a
/// compliant step.
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

/// Of a problem's mechanism at q and v (SI) at a time [s]. Errors: InvalidInput naming the array
/// whose length is another, or a mass matrix that is not positive definite there.
MotionTerms motion_terms(const MotionProblem& problem, std::span<const double> position,
                         std::span<const double> velocity, double time = 0.0);

/// M, J, mu and v, of the contacts whose gap is at most `gap` [m]. Errors: InvalidInput where
/// velocity is of another length.
ImpactProblem impact_problem(const MotionTerms& terms, std::span<const double> velocity,
                             double gap = 1e-9);

struct ContactCompliance {
  double stiffness = 0.0;  ///< K of every row [N/m], >= 0
  double damping = 0.0;    ///< B of every row [N s/m], >= 0
};

/// One step of size h [s] with all contacts; phi is the gap along normals and 0 along tangents. The
/// step's increment of positions is h v' (positions = 0). Errors: likewise.
CompliantProblem compliant_problem(const MotionTerms& terms, std::span<const double> velocity,
                                   double step_size, const ContactCompliance& compliance);

}  // namespace carom
