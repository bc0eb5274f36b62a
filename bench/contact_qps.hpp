#pragma once

#include <carom/compliant.hpp>
#include <carom/qp.hpp>

/// Random compliant contact steps, as steps and as quadratic programs.
namespace carom::bench {

/// A box of random mass and size on four contacts with random stiffness and damping: unknowns
/// (n, r, s), equations (176)-(185) of the first-order constraint solver without bilateral
/// constraints. `cones`: |(r, s)| <= mu n as second-order cones; otherwise as the pyramid
/// |r| + |s| <= mu n in four half-lines a contact, which every quadratic programming code takes.
QpBatch contact_qps(int problems, bool cones);

/// The same steps as solve_compliant takes them: M, G, K, B, phi, mu. contacts: the first so many.
CompliantBatch contact_steps(int problems, int contacts = 4);

}  // namespace carom::bench
