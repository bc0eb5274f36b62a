#include <algorithm>
#include <vector>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "core/workspace.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/motion/motions.hpp"
#include "motion/backends.hpp"
#include "motion/first_impact.hpp"
#include "motion/prepare.hpp"

namespace carom::cpu {

namespace {

constexpr std::int64_t kGrain = 16;

struct MotionBlock : ScratchBlock {
  std::vector<std::uint8_t> accepted;  ///< 0 for problems with a number that is refused
};

/// A thread's: the first impact of the problem and the samples that it is at.
struct FirstImpactAt {
  motion::FirstImpactBuilder builder;
  std::int64_t problem = -1;
  bool wide = false;
  const kernels::motion::FirstImpact* first = nullptr;

  const kernels::motion::FirstImpact* of(std::int64_t p, std::int64_t sample) {
    if (problem != p || wide != (sample >= kWideFrom)) {
      first = &builder.build(p, sample);
      problem = p;
      wide = sample >= kWideFrom;
    }
    return first;
  }
};

}  // namespace

MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings,
                              WorkspaceState* workspace) {
  MotionResult result = motion::empty_result(batch, settings);
  const Scratch<MotionBlock> scratch(workspace);
  std::vector<std::uint8_t>& accepted = scratch->accepted;
  accepted.assign(static_cast<std::size_t>(batch.problems), 1);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    if (motion::refused(batch, p).field.empty()) continue;
    motion::mark_refused(result, p);
    accepted[static_cast<std::size_t>(p)] = 0;
  }
  kernels::motion::MotionView view = motion::view_of(batch, settings, result);
  arrays::bind(view.batch, batch);
  arrays::bind(view.result, result);
  const auto simulate = simd::instruction_set().simulate_motions;
  const auto simulate_range = [&](const kernels::motion::MotionView& of, std::int64_t begin,
                                  std::int64_t end) {
    simulate(
        {&of, batch.mechanism, accepted.data(), static_cast<long>(begin), static_cast<long>(end)});
  };
  const std::int64_t rows = batch.problems * settings.samples;
  if (!motion::wants_first_impacts(batch, settings)) {
    parallel_for(rows, kGrain, settings.threads,
                 [&](std::int64_t begin, std::int64_t end) { simulate_range(view, begin, end); });
    return result;
  }
  tbb::enumerable_thread_specific<FirstImpactAt> known([&] {
    return FirstImpactAt{{batch, settings, [&](const kernels::motion::MotionView& one) {
                            motion::host_simulate_row(one, batch.mechanism);
                          }}};
  });
  parallel_for(rows, kGrain, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    kernels::motion::MotionView own = view;
    for (std::int64_t row = begin; row < end;) {
      const std::int64_t p = row / settings.samples;
      const std::int64_t sample = settings.first_sample + row % settings.samples;
      std::int64_t last = std::min(end, (p + 1) * settings.samples);
      if (sample < kWideFrom) last = std::min(last, row + kWideFrom - sample);
      if (accepted[static_cast<std::size_t>(p)] != 0) {
        own.first[0] = own.first[1] = known.local().of(p, sample);
        own.first_of = static_cast<long>(p);
        simulate_range(own, row, last);
      }
      row = last;
    }
  });
  return result;
}

template <>
const MotionEntries& entries() {
  static constexpr MotionEntries kEntries{simulate_motions};
  return kEntries;
}

}  // namespace carom::cpu
