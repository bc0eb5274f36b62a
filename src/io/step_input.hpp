#pragma once

#include <filesystem>
#include <vector>

#include <carom/compliant.hpp>

namespace carom::io {

/// Steps of a JSON file, one object or an array of objects with mass_matrix, force, velocity, dt
/// and constraints (type, jacobian, jacobian_dot_v, phi, stiffness, damping, friction), or of an
/// HDF5 file with batched data sets by rows: mass_matrix [p, nv, nv], force and velocity [p, nv],
/// dt [p], type [p, m] (RowType as a number), jacobian [p, m, nv], and jacobian_dot_v, phi,
/// stiffness, damping, friction [p, m]. The dimension follows from the contacts' rows: 2 planar, 3
/// spatial.
/// Errors: InvalidInput naming file, problem, constraint, field and value.
std::vector<CompliantProblem> read_steps(const std::filesystem::path& file);

}  // namespace carom::io
