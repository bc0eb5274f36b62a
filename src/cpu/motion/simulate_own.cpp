#include <algorithm>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "motion/backends.hpp"
#include "motion/first_impact.hpp"
#include "motion/kernels/motion.hpp"
#include "motion/kernels/own_mechanism.hpp"
#include "motion/prepare.hpp"

namespace carom::cpu {

MotionResult simulate_own(const OwnMechanism& mechanism, const MotionBatch& batch,
                          const MotionSettings& settings) {
  MotionResult result = motion::empty_result(batch, settings);
  kernels::motion::MotionView view = motion::view_of(batch, settings, result);
  view.run.own = &mechanism;
  arrays::bind(view.batch, batch);
  arrays::bind(view.result, result);
  const auto simulate = [&](const kernels::motion::MotionView& of, long row) {
    if (mechanism.dimension == 2) {
      kernels::motion::simulate<kernels::motion::OwnMechanismAt<2>>(of, row);
    } else {
      kernels::motion::simulate<kernels::motion::OwnMechanismAt<3>>(of, row);
    }
  };
  const auto probe = [&](kernels::motion::MotionView one) {
    one.run.own = &mechanism;
    simulate(one, 0);
  };
  motion::FirstImpactBuilder narrow(batch, settings, probe);
  motion::FirstImpactBuilder wide(batch, settings, probe);
  if (motion::wants_first_impacts(batch, settings)) {
    if (settings.first_sample < kWideFrom) view.first[0] = &narrow.build(0, 0);
    if (settings.first_sample + settings.samples > kWideFrom) {
      view.first[1] = &wide.build(0, kWideFrom);
    }
  }
  parallel_for_each(settings.samples, settings.threads,
                    [&](std::int64_t sample) { simulate(view, static_cast<long>(sample)); });
  return result;
}

}  // namespace carom::cpu
