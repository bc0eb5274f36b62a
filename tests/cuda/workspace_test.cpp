#include <optional>
#include <string>

#include <carom/error.hpp>

#include "cuda/cuda_test.hpp"
#include "support/bits.hpp"
#include "support/family_calls.hpp"
#if defined(CAROM_CUDA_ON_HOST)
#include "cuda_on_host/counts.hpp"
#endif

namespace carom::test {
namespace {

using WorkspaceOnDevice = CudaTest;

long device_allocations() {
#if defined(CAROM_CUDA_ON_HOST)
  return cuda_on_host::allocations_made();
#else
  return 0;
#endif
}

TEST_F(WorkspaceOnDevice, ARepeatedShapeAllocatesNothingThere) {
  each_family_call(1, Backend::cuda, [](const std::string& name, auto call, auto) {
    SCOPED_TRACE(name);
    const long start = device_allocations();
    const auto plain = call(nullptr);
    EXPECT_TRUE(device_allocations() > start || !kPlayedByHost);
    Workspace workspace;
    call(&workspace);
    const long before = device_allocations();
    const auto again = call(&workspace);
    EXPECT_EQ(device_allocations(), before);
    expect_identical(plain, again);
  });
}

TEST_F(WorkspaceOnDevice, ServesAllFamiliesInAnyOrderOfShapes) {
  Workspace workspace;
  for (const int size : {1, 0, 1}) {
    each_family_call(size, Backend::cuda, [&](const std::string& name, auto call, auto) {
      SCOPED_TRACE(name + " of size " + std::to_string(size));
      expect_identical(call(nullptr), call(&workspace));
    });
    const QpBatch qps = calls_qps(size);
    expect_identical(solve_qp(qps, {}, Backend::cuda),
                     solve_qp(qps, {}, Backend::cuda, {}, &workspace));
  }
}

TEST_F(WorkspaceOnDevice, ServesWorlds) {
  Workspace workspace;
  for (const char* name : {"inclined_block", "sphere_stack", "inclined_block"}) {
    SCOPED_TRACE(name);
    const models::Scenario& scenario = models::find_scenario(name);
    WorldRun run;
    run.worlds = 3;
    run.steps = 5;
    const WorldsResult plain = step_worlds(scenario, run, {}, Backend::cuda);
    const WorldsResult kept = step_worlds(scenario, run, {}, Backend::cuda, &workspace);
    EXPECT_EQ(first_difference(plain.position, kept.position), -1);
    EXPECT_EQ(first_difference(plain.velocity, kept.velocity), -1);
  }
}

}  // namespace
}  // namespace carom::test
