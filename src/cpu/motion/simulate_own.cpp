#include <algorithm>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "motion/backends.hpp"
#include "motion/body/motion_body.hpp"
#include "motion/body/own_mechanism.hpp"
#include "motion/prepare.hpp"

namespace carom::cpu {

MotionResult simulate_own(const OwnMechanism& mechanism, const MotionBatch& batch,
                          const MotionSettings& settings) {
  MotionResult result = motion::empty_result(batch, settings);
  kernels::motion::MotionView view = motion::view_of(batch, settings, result);
  view.run.own = &mechanism;
  arrays::bind(view.batch, batch);
  arrays::bind(view.result, result);
  parallel_for_each(settings.samples, settings.threads, [&](std::int64_t sample) {
    const auto row = static_cast<long>(sample);
    if (mechanism.dimension == 2) {
      kernels::motion::simulate<kernels::motion::OwnMechanismAt<2>>(view, row);
    } else {
      kernels::motion::simulate<kernels::motion::OwnMechanismAt<3>>(view, row);
    }
  });
  return result;
}

}  // namespace carom::cpu
