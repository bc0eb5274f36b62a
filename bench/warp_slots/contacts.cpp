#include <cuda_runtime.h>

#include "compliant/backends.hpp"
#include "contact_qps.hpp"
#include "cuda/compliant/compliant_launch.cuh"
#include "kernels.hpp"

namespace carom::warp_slots {

std::int64_t count_contacts(const std::string& listing, int problems, int depth) {
  const CompliantBatch batch = bench::contact_steps(problems);
  CompliantSettings settings;
  settings.threads = 1;
  const CompliantResult expected = solve_compliant(batch, settings, Backend::cpu);

  auto found = allocate<CompliantResult>(batch, MemorySpace::host);
  std::vector<int> open(static_cast<std::size_t>(problems));
  int open_count = 0;
  cuda::CompliantLaunch launch{};
  launch.arrays = compliant_arrays(batch, found);
  launch.options = compliant_options(batch, settings);
  launch.problems = problems;
  launch.open = open.data();
  launch.open_count = &open_count;

  const Run run(listing, "step_contacts", launch, problems);
  Answers answers("step_contacts", "boxes", problems);
  answers.compare(found, expected, batch,
                  std::span(open).first(static_cast<std::size_t>(open_count)),
                  found.iterations.host());
  print_row(answers, run);
  if (depth > 0) print_profile(answers, run, depth);
  return answers.different;
}

}  // namespace carom::warp_slots
