#include <string>
#include <vector>

#include <carom/boxed_lcp.hpp>

#include "cuda/cuda_test.hpp"
#include "support/bits.hpp"
#include "support/boxed_problems.hpp"

namespace carom {
namespace {

using test::BoxProblem;
using test::Generator;

class CudaBoxedLcp : public test::CudaTest {};

void expect_cpus_bits(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings = {}) {
  const BoxedLcpResult cpu = solve_boxed_lcp(batch, settings, Backend::cpu);
  test::expect_identical(solve_boxed_lcp(batch, settings, Backend::cuda), cpu);
}

// Rays, proofs and what wants twice the precision are left to the host: their bits too.
TEST_F(CudaBoxedLcp, AgreesWithCpuBitForBit) {
  Generator random(81);
  for (const int order : {1, 2, 7, 16, 33, 64, 128}) {
    SCOPED_TRACE("order " + std::to_string(order));
    std::vector<BoxProblem> problems;
    for (int p = 0; p < (order < 33 ? test::some(60, 16) : test::some(5, 2)); ++p) {
      problems.push_back(test::odd_box(random, order));
    }
    expect_cpus_bits(test::boxed_batch(problems));
  }
}

TEST_F(CudaBoxedLcp, ContactsOfEitherLaw) {
  for (const FrictionLaw law : {FrictionLaw::simultaneous, FrictionLaw::ode}) {
    BoxedLcpSettings settings;
    settings.friction_law = law;
    for (const int contacts : {1, 3, 8}) {
      Generator random(static_cast<std::uint64_t>(contacts));
      std::vector<BoxProblem> problems;
      for (int p = 0; p < test::some(20, 6); ++p) {
        problems.push_back(test::contact_island(random, 1 + p % 3, contacts, p % 2 * 1e-5));
      }
      expect_cpus_bits(test::boxed_batch(problems), settings);
    }
  }
}

TEST_F(CudaBoxedLcp, DeviceBatchGivesDeviceResult) {
  Generator random(82);
  std::vector<BoxProblem> problems;
  for (int p = 0; p < 20; ++p) problems.push_back(test::contact_island(random, 2, 2, 0.0));
  problems[3].vector[0] = std::nan("");  // so that the host finishes some
  const BoxedLcpBatch batch = test::boxed_batch(problems);
  const BoxedLcpResult device = solve_boxed_lcp(batch.to(MemorySpace::device), {}, Backend::cuda);
  EXPECT_EQ(device.solution.space(), MemorySpace::device);
  EXPECT_EQ(device.status.space(), MemorySpace::device);
  const BoxedLcpResult cpu = solve_boxed_lcp(batch, {}, Backend::cpu);
  EXPECT_EQ(cpu.status.host()[3], Status::invalid_input);
  test::expect_identical(device, cpu);
}

TEST_F(CudaBoxedLcp, PivotLimitAndEmptyBatch) {
  Generator random(83);
  std::vector<BoxProblem> problems;
  for (int p = 0; p < 12; ++p) problems.push_back(test::odd_box(random, 10));
  BoxedLcpSettings settings;
  settings.max_pivots = 3;
  expect_cpus_bits(test::boxed_batch(problems), settings);
  BoxedLcpBatch empty;
  empty.order = 4;
  EXPECT_TRUE(solve_boxed_lcp(empty, {}, Backend::cuda).status.empty());
}

}  // namespace
}  // namespace carom
