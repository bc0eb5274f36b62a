// Many problems at once, kept where they are solved: the batch is moved to the device by name, the
// samples stay there for a consumer on the device, and only the summaries come back.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include <carom/carom.hpp>

int main() try {
  // One disk stack per friction coefficient.
  constexpr int kProblems = 256;
  std::vector<carom::ImpactProblem> problems;
  problems.reserve(kProblems);
  for (int i = 0; i < kProblems; ++i) {
    problems.push_back(
        carom::models::build("disk_stack", {{"friction", 0.1 + 0.9 * i / (kProblems - 1.0)}}));
  }
  const carom::ImpactBatch batch = carom::make_batch(problems);
  const carom::models::Model& model = carom::models::find("disk_stack");

  carom::ImpactSettings settings;
  settings.samples = 64;
  settings.mode_table = false;  // few samples of many problems: not worth a table each
  settings.step_size = model.step_size;
  settings.max_steps = model.max_steps;
  settings.keep_samples = -1;  // every row of every problem

  const bool device = !carom::cuda_devices().empty();
  const carom::Backend backend = carom::resolve(carom::Backend::automatic);
  carom::MemorySpace space = carom::MemorySpace::host;
  if (device) {
    std::printf("on %s\n", carom::cuda_devices()[0].name.c_str());
    space = carom::MemorySpace::device;
    settings.result_space = carom::MemorySpace::device;
  } else {
    std::printf("no usable CUDA device: the same on the CPU\n");
  }

  const carom::ImpactBatch resident = batch.to(space);
  carom::ImpactWorkspace workspace;  // reused: later calls allocate only what they lack
  carom::ImpactResult result;
  for (int round = 0; round < 3; ++round) {
    settings.first_sample = round * settings.samples;  // fresh samples, not the same again
    result = carom::sample_impacts(resident, settings, backend, &workspace);
    std::printf("round %d: %d x %lld samples in %.3f s\n", round, kProblems,
                static_cast<long long>(settings.samples), result.seconds);
  }

  // What a consumer on the device would read: a pointer, no copy.
  const double* rows = result.samples.velocity.data();
  std::printf("%zu post-impact velocities at %p in %s memory\n",
              result.samples.velocity.size() / static_cast<std::size_t>(batch.velocities),
              static_cast<const void*>(rows), device ? "device" : "host");

  std::printf("friction  LCPs/sample  step limit  largest residual\n");
  double worst = 0.0;
  for (std::size_t i = 0; i < result.summary.size(); ++i) {
    const carom::ImpactSummary& summary = result.summary[i];
    worst = std::max(worst, summary.max_residual);
    if (summary.status != carom::Status::solved) return 1;
    if (i % 51 == 0) {
      std::printf("%8.3f  %11.2f  %10lld  %.1e\n", problems[i].friction[0],
                  static_cast<double>(summary.lcp_solves) / static_cast<double>(summary.samples),
                  static_cast<long long>(summary.max_steps_reached), summary.max_residual);
    }
  }
  std::printf("largest residual of all problems %.1e\n", worst);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "device_resident: %s\n", error.what());
  return 1;
}
