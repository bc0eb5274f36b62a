#include <cuda_runtime.h>

#include "core/arrays.hpp"
#include "cuda/programs/lp_launch.cuh"
#include "kernels.hpp"
#include "picked.hpp"
#include "programs/lp/body/lp_finish_body.hpp"
#include "programs/lp/task.hpp"
#include "support_lps.hpp"

namespace carom::warp_slots {

std::int64_t count_lps(const std::string& listing, bool cold, int problems, int depth) {
  const LpBatch set = bench::support_lps(bench::random_supports(), cold);
  const LpBatch batch = bench::picked(
      set, problems, [&](std::int64_t p) { return p * set.problems / problems; });  // evenly spread
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
