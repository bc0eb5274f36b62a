#include "stability/certify.hpp"

#include <algorithm>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "stability/labelled.hpp"

namespace carom::stability {

void certify_undecided(const PreparedStances& prepared, const StabilitySettings& settings,
                       StabilityResult& result) {
  const bool wanted =
      settings.method == StabilityMethod::any || settings.method == StabilityMethod::labelled;
  if (!wanted) return;
  kernels::stability::StabilityView view{};
  arrays::bind(view, prepared);
  arrays::bind(view, result);
  view.settings = cascade_settings(settings);
  view.settings.certify = false;
  view.settings.scan = true;
  parallel_for(prepared.problems, 4, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t problem = begin; problem < end; ++problem) {
      const auto p = static_cast<std::size_t>(problem);
      if (result.verdict.host()[p] != StabilityVerdict::undecided) continue;
      const auto stance = view.form(problem);
      const bool safe = kernels::stability::dissipates(stance.contact[0]) &&
                        kernels::stability::dissipates(stance.contact[1]);
      const LabelledCertificate found = safe ? find_labelled(stance) : LabelledCertificate{};
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
