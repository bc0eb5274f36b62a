#include "compliant/backends.hpp"
#include "core/backends.hpp"
#include "equilibrium/planar_backends.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "impact/backends.hpp"
#include "motion/backends.hpp"
#include "programs/lcp/backends.hpp"
#include "programs/lp/backends.hpp"
#include "programs/qp/backends.hpp"
#include "stability/backends.hpp"

const carom::BackendEntries& carom::cpu::entries() {
  static constexpr BackendEntries kEntries{solve_lcp,      solve_lp,          solve_qp,
                                           solve_steps,    sample_impacts,    planar_equilibrium,
                                           planar_margins, support,           solve_compliant,
                                           make_stepper,   analyse_stability, simulate_motions};
  return kEntries;
}
