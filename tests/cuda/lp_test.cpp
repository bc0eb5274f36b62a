#include <limits>
#include <string>
#include <vector>

#include <carom/lp.hpp>

#include "cuda/cuda_test.hpp"
#include "support/lp_problems.hpp"

namespace carom {
namespace {

using test::batch_of;
using test::Generator;
using test::Lp;
using test::LpFlavour;

class CudaLp : public test::CudaTest {};

TEST_F(CudaLp, AgreesWithCpuBitForBit) {
  Generator random(171);
  struct Shape {
    int rows, columns, count;
  };
  // Also on both sides of the sizes for which all places are known: 8 rows, 40 columns.
  for (const Shape shape : {Shape{1, 1, 77}, Shape{3, 2, 77}, Shape{6, 34, test::some(77, 17)},
                            Shape{8, 40, test::some(33, 5)}, Shape{5, 41, test::some(33, 5)},
                            Shape{9, 17, test::some(33, 5)}, Shape{16, 100, test::some(33, 5)},
                            Shape{33, 70, test::some(9, 3)}, Shape{64, 512, test::some(3, 1)}}) {
    for (const LpFlavour flavour : test::kLpFlavours) {
      SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + ", " +
                   std::string(to_string(flavour)));
      const LpBatch batch =
          batch_of(test::random_lps(random, flavour, shape.rows, shape.columns, shape.count));
      const LpResult cpu = solve_lp(batch, {}, Backend::cpu);
      const LpResult cuda = solve_lp(batch, {}, Backend::cuda);
      test::expect_identical(cuda, cpu);
      test::expect_identical(solve_lp(batch, {}, Backend::cuda, &cuda.basis),
                             solve_lp(batch, {}, Backend::cpu, &cpu.basis));
    }
  }
}

TEST_F(CudaLp, StoredProblems) {
  for (const test::LpCase& item : test::lp_cases()) {
    SCOPED_TRACE(item.name);
    const LpResult result = solve_lp(batch_of({item.lp}), {}, Backend::cuda);
    EXPECT_EQ(result.status.host()[0], item.optimal ? Status::solved : Status::infeasible);
    test::expect_proven(item.lp, result, 0);
  }
}

TEST_F(CudaLp, DeviceBatchWithManyObjectives) {
  Generator random(172);
  constexpr int kObjectives = 9;
  LpBatch batch = batch_of(test::random_lps(random, LpFlavour::feasible, 6, 20, 45));
  std::vector<double> cost;
  for (int k = 0; k < kObjectives * 45 * 20; ++k) cost.push_back(random.normal());
  batch.objectives = kObjectives;
  batch.cost = Buffer<double>::from(cost);
  const LpResult device = solve_lp(batch.to(MemorySpace::device), {}, Backend::cuda);
  EXPECT_EQ(device.solution.space(), MemorySpace::device);
  EXPECT_EQ(device.basis.space(), MemorySpace::device);
  test::expect_identical(device, solve_lp(batch, {}, Backend::cpu));
}

TEST_F(CudaLp, PoisonedNeighbourAndEmptyBatch) {
  Generator random(173);
  std::vector<Lp> problems = test::random_lps(random, LpFlavour::feasible, 6, 10, 35);
  const LpResult clean = solve_lp(batch_of(problems), {}, Backend::cuda);
  problems[17].matrix[3] = std::numeric_limits<double>::quiet_NaN();
  const LpResult poisoned = solve_lp(batch_of(problems), {}, Backend::cuda);
  for (std::size_t p = 0; p < 35; ++p) {
    if (p == 17) {
      EXPECT_EQ(poisoned.status.host()[p], Status::invalid_input);
    } else {
      EXPECT_EQ(test::first_difference(poisoned.solution, 10 * p, clean.solution, 10 * p, 10), -1);
    }
  }
  LpBatch empty;
  empty.rows = 2;
  empty.columns = 2;
  EXPECT_TRUE(solve_lp(empty, {}, Backend::cuda).status.empty());
}

}  // namespace
}  // namespace carom
