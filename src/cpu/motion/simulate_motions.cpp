#include <vector>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "motion/backends.hpp"
#include "motion/body/motion_body.hpp"
#include "motion/mechanisms.hpp"
#include "motion/prepare.hpp"

namespace carom::cpu {

namespace {

constexpr std::int64_t kGrain = 16;

template <class T>
void simulate(const MotionBatch& batch, const MotionSettings& settings, MotionResult& result) {
  std::vector<std::uint8_t> accepted(static_cast<std::size_t>(batch.problems), 1);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    if (motion::refused(batch, p).field.empty()) continue;
    motion::mark_refused(result, p);
    accepted[static_cast<std::size_t>(p)] = 0;
  }
  kernels::motion::MotionView view = motion::view_of(batch, settings, result);
  arrays::bind(view.batch, batch);
  arrays::bind(view.result, result);
  parallel_for(batch.problems * settings.samples, kGrain, settings.threads,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   if (accepted[static_cast<std::size_t>(row / settings.samples)] == 0) continue;
                   kernels::motion::simulate<T>(view, static_cast<long>(row), 0);
                 }
               });
}

}  // namespace

MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings) {
  MotionResult result = motion::empty_result(batch, settings);
  motion::with_mechanism(batch.mechanism, [&]<class T>() { simulate<T>(batch, settings, result); });
  return result;
}

}  // namespace carom::cpu
