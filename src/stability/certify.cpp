#include "stability/certify.hpp"

#include <algorithm>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "stability/exact/proofs.hpp"
#include "stability/labelled.hpp"
#include "stability/neighbours.hpp"
#include "stability/sos.hpp"

namespace carom::stability {

namespace {

void solve_programmes(const PreparedStances& prepared, const StabilitySettings& settings,
                      StabilityResult& result) {
  kernels::stability::StabilityView view{};
  arrays::bind(view, prepared);
  parallel_for_each(prepared.problems, settings.threads, [&](std::int64_t problem) {
    const auto p = static_cast<std::size_t>(problem);
    if (result.verdict.host()[p] != StabilityVerdict::undecided) return;
    const SosAnswer answer =
        solve_sos(view.form(problem),
                  settings.method == StabilityMethod::single ? SosTheorem::one : SosTheorem::two);
    result.sos_status.host()[p] = answer.status;
    if (answer.status == Status::cancelled) return;
    result.sos_residual.host()[p] = answer.residual;
    result.sos_iterations.host()[p] = answer.iterations;
    if (!answer.found) return;
    result.verdict.host()[p] = StabilityVerdict::stable;
    result.certificate.host()[p] = CertificateKind::sos;
    result.s.host()[p] = answer.s;
    result.kappa.host()[p] = answer.kappa;
    result.margin.host()[p] = answer.margin;
  });
}

}  // namespace

void certify_undecided(const StanceBatch& batch, const PreparedStances& prepared,
                       const StabilitySettings& settings, StabilityResult& result) {
  if (poses_a_programme(settings.method)) return solve_programmes(prepared, settings, result);
  const bool wanted =
      settings.method == StabilityMethod::any || settings.method == StabilityMethod::labelled;
  if (!wanted) return;
  kernels::stability::StabilityView view{};
  arrays::bind(view, prepared);
  arrays::bind(view, result);
  view.settings = cascade_settings(settings);
  view.settings.certify = false;
  view.settings.scan = true;
  NeighbourCertificates neighbours;
  parallel_for(prepared.problems, 4, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t problem = begin; problem < end; ++problem) {
      const auto p = static_cast<std::size_t>(problem);
      if (result.verdict.host()[p] != StabilityVerdict::undecided) continue;
      const auto stance = view.form(problem);
      const bool safe = kernels::stability::dissipates(stance.contact[0]) &&
                        kernels::stability::dissipates(stance.contact[1]);
      LabelledCertificate found;
      if (safe) found = neighbours.of(stance);
      if (found.found &&
          !exact::labelled_functions_prove_plainly(stance_at(batch, problem), found.numbers)) {
        found.found = false;
      }
      if (safe && !found.found) found = find_labelled(stance);
      if (!found.found && settings.method == StabilityMethod::any) {
        view.solve(problem, static_cast<std::uint32_t>(problem));
      }
      if (!found.found) continue;
      result.verdict.host()[p] = StabilityVerdict::stable;
      result.certificate.host()[p] = CertificateKind::labelled;
      result.margin.host()[p] = found.margin;
      std::copy(found.numbers.begin(), found.numbers.end(),
                result.coefficients.host().begin() + kLabelledNumbers * problem);
    }
  });
}

}  // namespace carom::stability
