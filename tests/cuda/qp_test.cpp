#include <string>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "cuda/cuda_test.hpp"
#include "support/bits.hpp"
#include "support/random_qps.hpp"

namespace carom {
namespace {

class CudaQp : public test::CudaTest {};

test::QpFlavour contact_like(int variables) {
  test::QpFlavour flavour;
  flavour.variables = variables;
  flavour.rank = variables + 1;
  flavour.rows = 10;
  flavour.equations = 1;
  flavour.cones = {{ConeKind::second_order, 3}, {ConeKind::nonnegative, 2}};
  return flavour;
}

// A thread, and beyond 24 variables a block, runs the text that the host runs.
TEST_F(CudaQp, SameBitsAsTheHost) {
  for (const int variables : {6, 24, 40}) {
    for (const QpMethod method : {QpMethod::automatic, QpMethod::admm, QpMethod::projected}) {
      SCOPED_TRACE(std::to_string(variables) + " " + std::string(to_string(method)));
      const QpBatch batch = test::random_qps(contact_like(variables), 101, 21);
      QpSettings settings;
      settings.method = method;
      const QpResult host = solve_qp(batch, settings, Backend::cpu);
      const QpResult device = solve_qp(batch, settings, Backend::cuda);
      EXPECT_EQ(test::first_difference(host.status, device.status), -1);
      EXPECT_EQ(test::first_difference(host.iterations, device.iterations), -1);
      EXPECT_EQ(test::first_difference(host.solution, device.solution), -1);
      EXPECT_EQ(test::first_difference(host.dual, device.dual), -1);
      EXPECT_EQ(test::first_difference(host.cone_dual, device.cone_dual), -1);
    }
  }
}

TEST_F(CudaQp, ResultsLiveWhereTheBatchLives) {
  const QpBatch batch = test::random_qps(contact_like(6), 33, 22);
  const QpResult host = solve_qp(batch, {}, Backend::cuda);
  const QpResult device = solve_qp(batch.to(MemorySpace::device), {}, Backend::cuda);
  ASSERT_EQ(device.solution.space(), MemorySpace::device);
  const Buffer<double> solution = device.solution.to(MemorySpace::host);
  EXPECT_EQ(test::first_difference(host.solution, solution), -1);
}

TEST_F(CudaQp, ProofsAndPoison) {
  test::QpFlavour flavour;
  flavour.infeasible = true;
  QpBatch batch = test::random_qps(flavour, 37, 23);
  batch.vector.host()[5 * 6] = std::numeric_limits<double>::quiet_NaN();
  const QpResult result = solve_qp(batch, {}, Backend::cuda);
  for (std::size_t p = 0; p < 37; ++p) {
    EXPECT_EQ(to_string(result.status.host()[p]), p == 5 ? "invalid_input" : "infeasible") << p;
  }
}

}  // namespace
}  // namespace carom
