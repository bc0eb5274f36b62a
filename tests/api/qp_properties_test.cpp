#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "core/constants.hpp"
#include "support/qp_residual.hpp"
#include "support/qp_runs.hpp"
#include "support/random_qps.hpp"

namespace carom {
namespace {

using test::QpFlavour;
using test::random_qps;
using test::with;
using test::with_cones;

TEST(QpProperties, ScaledCostsAndRowsGiveTheSameSolution) {
  const QpBatch batch = random_qps(with_cones(), 30, 13);
  QpBatch scaled = batch.to(MemorySpace::host);
  for (double& value : scaled.hessian.host()) value *= 1e5;
  for (double& value : scaled.vector.host()) value *= 1e5;
  for (std::size_t i = 0; i < scaled.lower.size(); ++i) {
    const double factor = i % 2 == 0 ? 1e4 : 1e-4;
    scaled.lower.host()[i] *= factor;
    scaled.upper.host()[i] *= factor;
    for (std::size_t j = 0; j < 6; ++j) scaled.matrix.host()[i * 6 + j] *= factor;
  }
  const QpResult a = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  const QpResult b = solve_qp(scaled, with(QpMethod::automatic), Backend::cpu);
  for (std::size_t p = 0; p < 30; ++p) {
    ASSERT_EQ(to_string(a.status.host()[p]), "solved");
    ASSERT_EQ(to_string(b.status.host()[p]), "solved");
    const double objective = a.objective.host()[p];
    EXPECT_NEAR(b.objective.host()[p] / 1e5, objective, 1e-7 * (1.0 + std::abs(objective)));
  }
}

TEST(QpProperties, OrderOfRowsAndOfProblems) {
  const QpBatch batch = random_qps({}, 20, 14);
  QpBatch turned = batch.to(MemorySpace::host);
  for (std::size_t p = 0; p < 20; ++p) {
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t from = (19 - p) * 8 + 7 - i;
      const std::size_t to = p * 8 + i;
      turned.lower.host()[to] = batch.lower.host()[from];
      turned.upper.host()[to] = batch.upper.host()[from];
      for (std::size_t j = 0; j < 6; ++j) {
        turned.matrix.host()[to * 6 + j] = batch.matrix.host()[from * 6 + j];
      }
    }
    for (std::size_t e = 0; e < 36; ++e) {
      turned.hessian.host()[p * 36 + e] = batch.hessian.host()[(19 - p) * 36 + e];
    }
    for (std::size_t j = 0; j < 6; ++j) {
      turned.vector.host()[p * 6 + j] = batch.vector.host()[(19 - p) * 6 + j];
    }
  }
  const QpResult a = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  const QpResult b = solve_qp(turned, with(QpMethod::automatic), Backend::cpu);
  for (std::size_t p = 0; p < 20; ++p) {
    const double objective = a.objective.host()[19 - p];
    EXPECT_NEAR(b.objective.host()[p], objective, 1e-8 * (1.0 + std::abs(objective)));
  }
}

TEST(QpProperties, WarmStartsFromTheAnswerTakeFewerIterations) {
  const QpBatch batch = random_qps({}, 30, 15);
  for (const QpMethod method : {QpMethod::admm, QpMethod::active_set}) {
    SCOPED_TRACE(to_string(method));
    const QpResult cold = solve_qp(batch, with(method), Backend::cpu);
    QpWarmStart start;
    start.solution = cold.solution.to(MemorySpace::host);
    start.dual = cold.dual.to(MemorySpace::host);
    const QpResult warm = solve_qp(batch, with(method), Backend::cpu, start);
    std::int64_t before = 0;
    std::int64_t after = 0;
    for (std::size_t p = 0; p < 30; ++p) {
      EXPECT_EQ(to_string(warm.status.host()[p]), "solved");
      before += cold.iterations.host()[p];
      after += warm.iterations.host()[p];
    }
    EXPECT_LT(after, before);
  }
}

TEST(QpProperties, RowsSwitchedOffAreAbsent) {
  const QpBatch batch = random_qps({}, 10, 16);
  QpBatch fewer = batch.to(MemorySpace::host);
  QpFlavour flavour;
  flavour.rows = 5;
  for (std::size_t p = 0; p < 10; ++p) {
    for (std::size_t i = 5; i < 8; ++i) {
      fewer.lower.host()[p * 8 + i] = -kInfinity;
      fewer.upper.host()[p * 8 + i] = kInfinity;
    }
  }
  const QpResult off = solve_qp(fewer, with(QpMethod::automatic), Backend::cpu);
  const QpResult reference = solve_qp(fewer, {}, Backend::reference);
  for (std::size_t p = 0; p < 10; ++p) {
    EXPECT_EQ(to_string(off.status.host()[p]), "solved");
    EXPECT_NEAR(off.objective.host()[p], reference.objective.host()[p], 1e-7);
    for (std::size_t i = 5; i < 8; ++i) EXPECT_EQ(off.dual.host()[p * 8 + i], 0.0);
  }
}

TEST(QpProperties, LargeProblems) {
  QpFlavour flavour;
  flavour.variables = 120;
  flavour.rank = 125;
  flavour.rows = 90;
  flavour.equations = 5;
  const QpBatch batch = random_qps(flavour, 2, 17);
  const QpResult result = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  for (std::int64_t p = 0; p < 2; ++p) {
    ASSERT_EQ(to_string(result.status.host()[static_cast<std::size_t>(p)]), "solved");
    const test::PlainKkt kkt = test::plain_kkt(batch, result, p);
    EXPECT_LE(kkt.primal, 1e-8);
    EXPECT_LE(kkt.dual, 1e-8);
    EXPECT_LE(kkt.gap, 1e-8);
  }
}

}  // namespace
}  // namespace carom
