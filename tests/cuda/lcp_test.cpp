#include <atomic>
#include <exception>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <carom/lcp.hpp>

#include "cuda/cuda_test.hpp"
#include "support/random_problems.hpp"

namespace carom {
namespace {

using test::Generator;
using test::Matrix;

/// Positive definite, monotone without symmetry, or anything at all: the last meets rays.
enum class Kind { definite, skew, arbitrary };

LcpBatch random_lcps(Generator& random, Kind kind, int order, int problems) {
  std::vector<double> matrices, vectors;
  for (int p = 0; p < problems; ++p) {
    const Matrix factor = random.normal_matrix(order, order);
    Matrix matrix = factor;
    if (kind == Kind::definite) matrix = factor * factor.transpose() / order;
    if (kind == Kind::skew) matrix = factor - factor.transpose();
    const auto values = test::flat(matrix);
    matrices.insert(matrices.end(), values.begin(), values.end());
    for (int i = 0; i < order; ++i) vectors.push_back(random.normal());
  }
  LcpBatch batch;
  batch.problems = problems;
  batch.order = order;
  batch.matrix = Buffer<double>::from(matrices);
  batch.vector = Buffer<double>::from(vectors);
  return batch;
}

class CudaLcp : public test::CudaTest {};

TEST_F(CudaLcp, AgreesWithCpuBitForBit) {
  Generator random(71);
  for (const int order : {1, 2, 3, 7, 16, 31, 33, 64, 128}) {
    for (const Kind kind : {Kind::definite, Kind::skew, Kind::arbitrary}) {
      SCOPED_TRACE("order " + std::to_string(order) + ", kind " +
                   std::to_string(static_cast<int>(kind)));
      const LcpBatch batch = random_lcps(
          random, kind, order, order < 64 ? test::some(77, order < 31 ? 19 : 9) : test::some(5, 2));
      const LcpResult cpu = solve_lcp(batch, {}, Backend::cpu);
      test::expect_identical(solve_lcp(batch, {}, Backend::cuda), cpu);
      if (kind == Kind::definite) {
        for (const Status status : cpu.status.host()) EXPECT_EQ(status, Status::solved);
      }
    }
  }
}

TEST_F(CudaLcp, DeviceBatchGivesDeviceResult) {
  Generator random(72);
  const LcpBatch batch = random_lcps(random, Kind::definite, 12, 131);
  const LcpResult device = solve_lcp(batch.to(MemorySpace::device), {}, Backend::cuda);
  EXPECT_EQ(device.solution.space(), MemorySpace::device);
  EXPECT_EQ(device.status.space(), MemorySpace::device);
  test::expect_identical(device, solve_lcp(batch, {}, Backend::cpu));
}

TEST_F(CudaLcp, PoisonedNeighbourChangesNothing) {
  Generator random(73);
  LcpBatch batch = random_lcps(random, Kind::definite, 9, 35);
  const LcpResult clean = solve_lcp(batch, {}, Backend::cuda);
  batch.matrix.data()[17 * 81 + 40] = std::numeric_limits<double>::quiet_NaN();
  batch.vector.data()[20 * 9] = std::numeric_limits<double>::infinity();
  const LcpResult poisoned = solve_lcp(batch, {}, Backend::cuda);
  for (std::size_t p = 0; p < 35; ++p) {
    if (p == 17 || p == 20) {
      EXPECT_EQ(poisoned.status.data()[p], Status::invalid_input);
      EXPECT_TRUE(std::isnan(poisoned.solution.data()[p * 9]));
      EXPECT_TRUE(std::isnan(poisoned.residual.data()[p]));
    } else {
      EXPECT_EQ(poisoned.status.data()[p], clean.status.data()[p]);
      EXPECT_EQ(test::first_difference(poisoned.solution, p * 9, clean.solution, p * 9, 9), -1);
    }
  }
}

// Their tableaux want more shared memory than a kernel has without asking, and not the same.
TEST_F(CudaLcp, HostThreadsOfDifferentOrders) {
  Generator random(75);
  const LcpBatch batches[] = {random_lcps(random, Kind::definite, 80, 2),
                              random_lcps(random, Kind::definite, 120, 2)};
  LcpSettings settings;
  settings.max_pivots = 2;
  std::atomic<int> ready = 0;
  std::string said[2];
  const auto work = [&](int which) {
    ++ready;
    while (ready < 2) {
    }
    try {
      for (int turn = 0; turn < 20; ++turn) solve_lcp(batches[which], settings, Backend::cuda);
    } catch (const std::exception& error) {
      said[which] = error.what();
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1], "");
}

TEST_F(CudaLcp, PivotLimitAndEmptyBatch) {
  Generator random(74);
  const LcpBatch batch = random_lcps(random, Kind::definite, 20, 33);
  LcpSettings settings;
  settings.max_pivots = 3;
  test::expect_identical(solve_lcp(batch, settings, Backend::cuda),
                         solve_lcp(batch, settings, Backend::cpu));
  LcpBatch empty;
  empty.order = 4;
  EXPECT_TRUE(solve_lcp(empty, {}, Backend::cuda).status.empty());
}

}  // namespace
}  // namespace carom
