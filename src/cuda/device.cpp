#include "compliant/backends.hpp"
#include "core/backends.hpp"
#include "cuda/memory.hpp"
#include "equilibrium/planar_backends.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "impact/backends.hpp"
#include "motion/backends.hpp"
#include "programs/lcp/backends.hpp"
#include "programs/lp/backends.hpp"
#include "programs/qp/backends.hpp"
#include "stability/backends.hpp"

const carom::cuda::Device* carom::cuda::device() {
  static constexpr Device kDevice{
      {solve_lcp, solve_lp, solve_qp, solve_steps, sample_impacts, planar_equilibrium,
       planar_margins, support, solve_compliant, make_stepper, analyse_stability, simulate_motions},
      devices,
      allocate,
      release,
      copy};
  return &kDevice;
}
