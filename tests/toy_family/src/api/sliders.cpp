#include <carom/sliders.hpp>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "programs/sliders/backends.hpp"

namespace carom {

void SliderSettings::validate() const { require::settings(*this); }

SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings,
                           Backend backend) {
  settings.validate();
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
  const Backend chosen = resolve(backend);
  require::reachable(chosen, arrays::common_space("slider batch", batch));
  return entries<SliderEntries>(chosen).solve(batch, settings);
}

}  // namespace carom
