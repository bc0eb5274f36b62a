#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

#include "core/arrays.hpp"
#include "cuda/programs/lp_launch.cuh"
#include "kernels.hpp"
#include "programs/lp/body/lp_finish_body.hpp"
#include "programs/lp/task.hpp"
#include "support_lps.hpp"

namespace carom::warp_slots {

namespace {

/// `problems` of a set, evenly spread over it.
LpBatch spread(const LpBatch& set, int problems) {
  LpBatch batch;
  static_cast<LpSizes&>(batch) = set;
  batch.problems = problems;
  LpBatch::each_array(
      batch,
      [&](const char*, const Extents& extents, auto& to, const auto& from) {
        const std::int64_t stride = extents.stride();
        to = std::remove_cvref_t<decltype(to)>(static_cast<std::size_t>(extents.count()));
        for (std::int64_t p = 0; p < problems; ++p) {
          std::copy_n(from.data() + p * set.problems / problems * stride, stride,
                      to.data() + p * stride);
        }
      },
      batch, set);
  return batch;
}

}  // namespace

std::int64_t count_lps(const std::string& listing, bool cold, int problems, int depth) {
  const LpBatch batch = spread(bench::support_lps(bench::random_supports(), cold), problems);
  LpSettings settings;
  settings.threads = 1;
  const LpResult expected = solve_lp(batch, settings, Backend::cpu);

  auto found = allocate<LpResult>(batch, MemorySpace::host, settings.certificates);
  cuda::LpLaunch launch{};
  launch.arrays = lp_task(batch, settings);
  arrays::bind(static_cast<LpBatchArrays<ConstPointer>&>(launch.arrays), batch);
  arrays::bind(static_cast<LpResultArrays<Pointer>&>(launch.arrays), found);
  launch.problems = problems;

  // The instance for at most eight rows, in shared memory.
  const Run run(listing, "solve_lpsILb1ELi8ELi40E", launch, problems * batch.objectives);
  std::vector<int> open;
  for (int p = 0; p < problems; ++p) {
    for (int k = 0; k < batch.objectives; ++k) {
      const Status status = found.status.host()[p * batch.objectives + k];
      if (kernels::lp_is_open(launch.arrays, status)) open.push_back(p);
    }
  }
  Answers answers("solve_lps", cold ? "support_cold" : "support_warm", problems, batch.objectives);
  answers.compare(found, expected, batch, open, found.pivots.host());
  print_row(answers, run);
  if (depth > 0) print_profile(answers, run, depth);
  return answers.different;
}

}  // namespace carom::warp_slots
