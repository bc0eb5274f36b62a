#include <carom/stability.hpp>

#include <gtest/gtest.h>

#include "cuda/cuda_test.hpp"
#include "support/bits.hpp"
#include "support/stances.hpp"

namespace carom {
namespace {

class CudaStability : public test::CudaTest {};

TEST_F(CudaStability, SameBitsAsCpu) {
  test::RandomStances random(21);
  std::vector<Stance> stances;
  for (int i = 0; i < 60; ++i) stances.push_back(random.any());
  for (int i = 0; i < 60; ++i) {
    stances.push_back(test::of_figure2(random.between(0.02, 1.1), random.between(0.05, 1.2)));
  }
  stances[7].contacts[0].friction = -1.0;
  const StanceBatch batch = stance_batch(stances);
  StabilitySettings settings;
  settings.angles = 20;
  const StabilityResult cpu = analyse_stability(batch, settings, Backend::cpu);
  const StabilityResult cuda = analyse_stability(batch, settings, Backend::cuda);
  test::expect_identical(cpu, cuda);
  EXPECT_EQ(cuda.verdict.host()[7], StabilityVerdict::invalid_input);
  const StabilityResult device =
      analyse_stability(batch.to(MemorySpace::device), settings, Backend::cuda);
  EXPECT_EQ(device.verdict.space(), MemorySpace::device);
  test::expect_identical(cpu, device);
}

}  // namespace
}  // namespace carom
