#include <carom/sliders.hpp>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "programs/sliders/backends.hpp"

namespace carom {

namespace {

/// A family of the library has a member of BackendEntries instead (core/backends.hpp), which
/// entries(chosen) returns.
using SolveSliders = SliderResult (*)(const SliderBatch&, const SliderSettings&);
SolveSliders slider_entry(Backend chosen) {
  if (chosen == Backend::cuda) return cuda::solve_sliders;
  return chosen == Backend::reference ? reference::solve_sliders : cpu::solve_sliders;
}

}  // namespace

void SliderSettings::validate() const { require::settings(*this); }

SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings,
                           Backend backend) {
  settings.validate();
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
  const Backend chosen = resolve(backend);
  require::reachable(chosen, arrays::common_space("slider batch", batch));
  return slider_entry(chosen)(batch, settings);
}

}  // namespace carom
