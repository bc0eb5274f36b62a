#include <vector>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/motions.hpp"
#include "motion/backends.hpp"
#include "motion/prepare.hpp"

namespace carom::cpu {

namespace {

constexpr std::int64_t kGrain = 16;

}  // namespace

MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings) {
  MotionResult result = motion::empty_result(batch, settings);
  std::vector<std::uint8_t> accepted(static_cast<std::size_t>(batch.problems), 1);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    if (motion::refused(batch, p).field.empty()) continue;
    motion::mark_refused(result, p);
    accepted[static_cast<std::size_t>(p)] = 0;
  }
  kernels::motion::MotionView view = motion::view_of(batch, settings, result);
  arrays::bind(view.batch, batch);
  arrays::bind(view.result, result);
  const auto simulate = simd::instruction_set().simulate_motions;
  parallel_for(batch.problems * settings.samples, kGrain, settings.threads,
               [&](std::int64_t begin, std::int64_t end) {
                 simulate({&view, batch.mechanism, accepted.data(), static_cast<long>(begin),
                           static_cast<long>(end)});
               });
  return result;
}

}  // namespace carom::cpu
