#pragma once

#include <nanobind/nanobind.h>

namespace carom::python {

/// What each family adds to the module. Functions take arrays by their names in the C++ batch,
/// contiguous and of the very type, sizes, settings by name, and give arrays by name: shapes,
/// conversions and classes of results are made in Python (carom/_arrays.py).
void add_info(nanobind::module_& module);
void add_cuda_scope(nanobind::module_& module);
void add_solvers(nanobind::module_& module);
void add_solver_objects(nanobind::module_& module);
void add_derivatives(nanobind::module_& module);
void add_proofs(nanobind::module_& module);
void add_models(nanobind::module_& module);
void add_impact(nanobind::module_& module);
void add_impact_models(nanobind::module_& module);
void add_impact_theory(nanobind::module_& module);
void add_patches(nanobind::module_& module);
void add_contact_rows(nanobind::module_& module);
void add_contact_taker(nanobind::module_& module);
void add_equalities(nanobind::module_& module);
void add_boxed_lcp(nanobind::module_& module);
void add_coulomb(nanobind::module_& module);
void add_equilibrium(nanobind::module_& module);
void add_membership(nanobind::module_& module);
void add_compliant(nanobind::module_& module);
void add_stability(nanobind::module_& module);
void add_motion(nanobind::module_& module);
void add_mechanisms(nanobind::module_& module);
void add_enclosure(nanobind::module_& module);
void add_log(nanobind::module_& module);
void add_impact_judge(nanobind::module_& module);
/// Empty where the build had no headers of jax.ffi.
void add_jax(nanobind::module_& module);

}  // namespace carom::python
