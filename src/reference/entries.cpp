#include "compliant/backends.hpp"
#include "core/backends.hpp"
#include "equilibrium/planar_backends.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "impact/backends.hpp"
#include "programs/lcp/backends.hpp"
#include "programs/lp/backends.hpp"
#include "programs/qp/backends.hpp"
#include "stability/backends.hpp"

namespace carom {
namespace {

/// An entry that keeps nothing between calls.
template <auto kSolve>
struct Keepless;
template <class Result, class... Arguments, Result (*kSolve)(Arguments...)>
struct Keepless<kSolve> {
  static Result call(Arguments... arguments, WorkspaceState*) { return kSolve(arguments...); }
};

}  // namespace
}  // namespace carom

const carom::BackendEntries& carom::reference::entries() {
  // It starts from nothing.
  constexpr auto kSolveQp = [](const QpBatch& batch, const QpSettings& settings, const QpWarmStart&,
                               WorkspaceState*) { return reference::solve_qp(batch, settings); };
  static constexpr BackendEntries kEntries{Keepless<&solve_lcp>::call,
                                           Keepless<&solve_lp>::call,
                                           kSolveQp,
                                           Keepless<&solve_steps>::call,
                                           Keepless<&sample_impacts>::call,
                                           Keepless<&planar_equilibrium>::call,
                                           Keepless<&planar_margins>::call,
                                           Keepless<&support>::call,
                                           Keepless<&solve_compliant>::call,
                                           Keepless<&make_stepper>::call,
                                           Keepless<&analyse_stability>::call};
  return kEntries;
}
