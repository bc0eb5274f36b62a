#include <vector>

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
  const kernels::motion::MotionRun run = motion::run_of(batch, settings);
  std::vector<std::uint8_t> accepted(static_cast<std::size_t>(batch.problems), 1);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    if (motion::refused(batch, p).field.empty()) continue;
    motion::mark_refused(result, p);
    accepted[static_cast<std::size_t>(p)] = 0;
  }
  parallel_for(batch.problems * settings.samples, kGrain, settings.threads,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t p = row / settings.samples;
                   const std::int64_t i = row % settings.samples;
                   if (accepted[static_cast<std::size_t>(p)] == 0) continue;
                   const auto problem = motion::problem_view(batch, p);
                   const auto out = motion::sample_view(result, p, i);
                   kernels::motion::Motion<T>(run, problem, static_cast<std::uint32_t>(p),
                                              static_cast<std::uint64_t>(settings.first_sample + i),
                                              out)
                       .run();
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
