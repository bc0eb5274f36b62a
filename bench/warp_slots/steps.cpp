#include <cuda_runtime.h>

#include "core/arrays.hpp"
#include "cuda/impact/step_task.cuh"
#include "impact/friction_polygon.hpp"
#include "kernels.hpp"
#include "picked.hpp"
#include "problem_sets.hpp"

namespace carom::warp_slots {

namespace {

constexpr int kDirections = 4;

bench::StepSet find_set(const std::string& name) {
  for (const int dimension : {2, 3}) {
    const std::string shape = dimension == 2 ? "planar" : "spatial";
    if (name.rfind(shape, 0) == 0) {
      return bench::random_steps(test::Flavour::generic, dimension,
                                 std::stoi(name.substr(shape.size())), kDirections);
    }
  }
  return bench::model_steps(models::find(name));
}

}  // namespace

std::int64_t count_steps(const std::string& listing, const std::string& set, int problems,
                         int depth) {
  const StepBatch batch = bench::tiled(find_set(set).batch, problems);
  StepSettings settings;
  settings.threads = 1;
  settings.friction_directions = kDirections;
  const StepResult expected = solve_steps(batch, settings, Backend::cpu);

  auto found = allocate<StepResult>(batch, MemorySpace::host);
  std::vector<int> open(static_cast<std::size_t>(problems));
  int open_count = 0;
  cuda::StepLaunch launch{};
  arrays::bind(launch, batch);
  arrays::bind(launch.result, found);
  launch.problems = problems;
  launch.contacts = batch.contacts;
  launch.polygon = friction_polygon(batch.dimension, kDirections);
  launch.selection = settings.selection;
  launch.tolerance = settings.tolerance;
  launch.open = open.data();
  launch.open_count = &open_count;

  const std::string dimension = std::to_string(batch.dimension);
  const std::string contacts = std::to_string(batch.contacts);
  const Run run(listing, "StepGroupILi" + dimension + "ELi" + contacts + "EE", launch, problems);
  Answers answers("step_groups<" + dimension + ", " + contacts + ">", set, problems);
  answers.compare(found, expected, batch,
                  std::span(open).first(static_cast<std::size_t>(open_count)), found.pivots.host());
  print_row(answers, run);
  if (depth > 0) print_profile(answers, run, depth);
  return answers.different;
}

}  // namespace carom::warp_slots
