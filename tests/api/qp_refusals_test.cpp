#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "support/message.hpp"
#include "support/qp_runs.hpp"
#include "support/random_qps.hpp"

namespace carom {
namespace {

using test::random_qps;
using test::with;
using test::with_cones;

TEST(QpErrors, ShapesSettingsAndMethodsAreNamed) {
  const auto refused = [](const QpBatch& batch, const QpSettings& settings = {}) {
    return test::refusal([&] { solve_qp(batch, settings, Backend::cpu); });
  };
  const QpBatch good = random_qps(with_cones(), 2, 1);
  QpBatch batch = good.to(MemorySpace::host);
  batch.variables = 0;
  test::expect_names(refused(batch), {"variables", "0", "1..2048"});
  batch = good.to(MemorySpace::host);
  batch.rows = 7;
  test::expect_names(refused(batch), {"matrix", "84", "96"});
  batch = good.to(MemorySpace::host);
  batch.cones[0].size = 0;
  test::expect_names(refused(batch), {"cones[0].size", "0"});
  batch = good.to(MemorySpace::host);
  batch.cones.pop_back();
  test::expect_names(refused(batch), {"cone_matrix", "36", "48"});
  QpSettings settings = with(QpMethod::active_set);
  test::expect_names(refused(good, settings), {"active_set", "cones[0]", "3"});
  settings = {};
  settings.tolerance = -1.0;
  test::expect_names(refused(good, settings), {"tolerance", "-1"});
  settings = {};
  settings.over_relaxation = 2.5;
  test::expect_names(refused(good, settings), {"over_relaxation", "2.5"});
  settings = {};
  settings.penalty = 0.0;
  test::expect_names(refused(good, settings), {"penalty", "0"});
  settings = {};
  settings.max_iterations = -3;
  test::expect_names(refused(good, settings), {"max_iterations", "-3"});
  QpWarmStart start;
  start.dual = Buffer<double>(3);
  test::expect_names(test::refusal([&] { solve_qp(good, {}, Backend::cpu, start); }),
                     {"start.dual", "3", "16"});
}

TEST(QpErrors, CrossedBoundsAreInfeasible) {
  QpBatch batch = random_qps({}, 3, 2);
  batch.lower.host()[8 + 2] = 5.0;
  batch.upper.host()[8 + 2] = 4.0;
  const QpResult result = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  EXPECT_EQ(to_string(result.status.host()[1]), "infeasible");
  EXPECT_EQ(result.certificate.host()[8 + 2], 1.0);
  EXPECT_EQ(to_string(result.status.host()[0]), "solved");
}

}  // namespace
}  // namespace carom
