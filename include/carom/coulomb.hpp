#pragma once

#include <vector>

#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/coulomb.hpp>

namespace carom {

/// The largest of three, each zero exactly at the solutions: the natural map
/// max|r - P_K(r - rho (u + mu |u_t| e_n))| / rho and Alart and Curnier's function, with rho_i the
/// inverse of the contact's largest diagonal of W, both relative to max|q| (tiny where q = 0); and
/// the share by which one contact breaks the law, its cone and sign by its own force, its motion by
/// what the data explain of its own rows of |W||r| + |q|: docs/explanation/certificates.md.
double coulomb_residual(const CoulombProblem& problem, const std::vector<double>& reaction);

/// Host solver for one problem. Errors: InvalidInput for shapes, NaN, mu < 0.
CoulombResult solve_coulomb(const CoulombProblem& problem, const CoulombSettings& settings = {});

}  // namespace carom
