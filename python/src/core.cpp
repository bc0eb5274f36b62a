#include <nanobind/nanobind.h>

#include <carom/workspace.hpp>

#include "errors.hpp"
#include "families.hpp"

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  using namespace carom::python;
  module.doc() = "Compiled half of carom; use the package's functions.";
  register_errors(module);
  nb::class_<carom::Workspace>(module, "Workspace",
                               "Memory that a call leaves to the calls after it; one call at a "
                               "time.")
      .def(nb::init<>())
      .def("clear", &carom::Workspace::clear, "Gives all memory back.");
  add_info(module);
  add_log(module);
  add_cuda_scope(module);
  add_solvers(module);
  add_boxed_lcp(module);
  add_coulomb(module);
  add_solver_objects(module);
  add_derivatives(module);
  add_proofs(module);
  add_models(module);
  add_impact(module);
  add_impact_models(module);
  add_impact_theory(module);
  add_patches(module);
  add_contact_rows(module);
  add_contact_taker(module);
  add_equalities(module);
  add_equilibrium(module);
  add_membership(module);
  add_compliant(module);
  add_stability(module);
  add_motion(module);
  add_mechanisms(module);
  add_enclosure(module);
  add_impact_judge(module);
  add_jax(module);
}
