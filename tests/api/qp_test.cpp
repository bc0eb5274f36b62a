#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

#include "core/arrays.hpp"
#include "programs/qp/backends.hpp"
#include "support/bits.hpp"
#include "support/message.hpp"
#include "support/qp_cases.hpp"
#include "support/qp_residual.hpp"
#include "support/random_qps.hpp"

namespace carom {
namespace {

using test::QpFlavour;
using test::random_qps;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool takes(const QpBatch& batch, QpMethod method) {
  if (method != QpMethod::active_set) return true;
  for (const Cone& cone : batch.cones) {
    if (cone.kind == ConeKind::second_order && cone.size > 1) return false;
  }
  return true;
}

QpSettings with(QpMethod method) {
  QpSettings settings;
  settings.method = method;
  settings.threads = 1;
  return settings;
}

enum class Emulated { no, forwards, backwards };

struct Way {
  Backend backend;
  QpMethod method;
  Emulated emulated = Emulated::no;
};

std::string way_name(const ::testing::TestParamInfo<Way>& info) {
  const char* prefix[] = {"", "forwards_", "backwards_"};
  return prefix[static_cast<int>(info.param.emulated)] +
         std::string(to_string(info.param.backend)) + "_" +
         std::string(to_string(info.param.method));
}

class SolveQp : public ::testing::TestWithParam<Way> {
 protected:
  static QpResult solve(const QpBatch& batch) {
    if (GetParam().emulated != Emulated::no) {
      return emulation::solve_qp(batch, with(GetParam().method),
                                 GetParam().emulated == Emulated::backwards);
    }
    return solve_qp(batch, with(GetParam().method), GetParam().backend);
  }
};

TEST_P(SolveQp, StoredProblems) {
  for (const test::QpCase& item : test::qp_cases()) {
    SCOPED_TRACE(item.name);
    if (!takes(item.batch, GetParam().method)) continue;
    const QpResult result = solve(item.batch);
    if (GetParam().method == QpMethod::projected &&
        (item.status != "solved" || result.status.host()[0] == Status::numerical_error)) {
      continue;  // proves nothing, and refuses Hessians that are only semidefinite
    }
    ASSERT_EQ(to_string(result.status.host()[0]), item.status);
    if (item.status != "solved") {
      EXPECT_TRUE(std::isnan(result.solution.host()[0]));
      EXPECT_FALSE(std::isnan(result.certificate.host()[0]));
      continue;
    }
    const test::PlainKkt kkt = test::plain_kkt(item.batch, result, 0);
    EXPECT_LE(kkt.primal, 1e-8);
    EXPECT_LE(kkt.dual, 1e-8);
    EXPECT_LE(kkt.gap, 1e-8);
    EXPECT_LE(result.residual.host()[0], 1e-9);
    const double objective = kkt.objective + item.constant;
    EXPECT_NEAR(result.objective.host()[0] + item.constant, objective,
                1e-9 * (1.0 + std::abs(kkt.objective)));
    if (item.objective.has_value()) {
      EXPECT_NEAR(objective, *item.objective, 1e-4 * (1.0 + std::abs(objective)));
    }
    if (item.name.rfind("mm_", 0) == 0) {
      EXPECT_NEAR(objective, *item.objective, 1e-6 * (1.0 + std::abs(objective)));
    }
  }
}

void expect_like_reference(const QpBatch& batch, const QpResult& result) {
  const QpResult reference = solve_qp(batch, {}, Backend::reference);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    SCOPED_TRACE(p);
    const auto at = static_cast<std::size_t>(p);
    ASSERT_EQ(to_string(reference.status.host()[at]), "solved");
    ASSERT_EQ(to_string(result.status.host()[at]), "solved");
    const test::PlainKkt kkt = test::plain_kkt(batch, result, p);
    EXPECT_LE(kkt.primal, 1e-8);
    EXPECT_LE(kkt.dual, 1e-8);
    EXPECT_LE(kkt.gap, 1e-8);
    const double expected = reference.objective.host()[at];
    EXPECT_NEAR(result.objective.host()[at], expected, 1e-7 * (1.0 + std::abs(expected)));
  }
}

TEST_P(SolveQp, RandomIntervalRows) {
  QpFlavour flavour;
  const QpBatch batch = random_qps(flavour, 50, 1);
  expect_like_reference(batch, solve(batch));
  flavour.variables = 12;
  flavour.rank = 13;
  flavour.rows = 30;
  flavour.equations = 4;
  const QpBatch larger = random_qps(flavour, 30, 2);
  expect_like_reference(larger, solve(larger));
}

TEST_P(SolveQp, RandomCones) {
  QpFlavour flavour;
  flavour.rows = 4;
  flavour.cones = {{ConeKind::second_order, 3},
                   {ConeKind::nonnegative, 2},
                   {ConeKind::zero, 1},
                   {ConeKind::second_order, 1},
                   {ConeKind::second_order, 4}};
  const QpBatch batch = random_qps(flavour, 20, 3);
  if (!takes(batch, GetParam().method)) GTEST_SKIP() << "takes no second-order cones";
  expect_like_reference(batch, solve(batch));
}

TEST_P(SolveQp, SemidefiniteHessians) {
  if (GetParam().method == QpMethod::projected) GTEST_SKIP() << "wants a definite Hessian";
  QpFlavour flavour;
  flavour.rank = 3;
  flavour.rows = 24;
  const QpBatch batch = random_qps(flavour, 40, 4);
  const QpResult reference = solve_qp(batch, {}, Backend::reference);
  const QpResult result = solve(batch);
  int solved = 0;
  for (std::size_t p = 0; p < 40; ++p) {
    EXPECT_EQ(to_string(result.status.host()[p]), to_string(reference.status.host()[p])) << p;
    if (result.status.host()[p] != Status::solved) continue;
    ++solved;
    const double expected = reference.objective.host()[p];
    EXPECT_NEAR(result.objective.host()[p], expected, 1e-7 * (1.0 + std::abs(expected)));
  }
  EXPECT_GE(solved, 30);
}

TEST_P(SolveQp, InfeasibleIsProven) {
  if (GetParam().method == QpMethod::projected) GTEST_SKIP() << "proves nothing";
  QpFlavour flavour;
  flavour.infeasible = true;
  const QpBatch batch = random_qps(flavour, 30, 5);
  const QpResult result = solve(batch);
  const int n = batch.variables;
  const int m = batch.rows;
  for (int p = 0; p < 30; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(result.status.host()[static_cast<std::size_t>(p)]), "infeasible");
    // A'y = 0 with a negative support, from the problem's own numbers.
    const double* y = result.certificate.data() + static_cast<std::ptrdiff_t>(p) * std::max(n, m);
    double support = 0.0;
    for (int i = 0; i < m; ++i) {
      const auto at = static_cast<std::size_t>(p * m + i);
      const double bound = y[i] > 0.0 ? batch.upper.host()[at] : batch.lower.host()[at];
      if (y[i] != 0.0) support += y[i] * bound;
    }
    EXPECT_LT(support, 0.0);
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int i = 0; i < m; ++i) {
        sum += y[i] * batch.matrix.host()[static_cast<std::size_t>((p * m + i) * n + j)];
      }
      EXPECT_NEAR(sum, 0.0, 1e-7 * -support);
    }
    EXPECT_TRUE(std::isnan(result.objective.host()[static_cast<std::size_t>(p)]));
  }
}

TEST_P(SolveQp, UnboundedIsProven) {
  if (GetParam().method == QpMethod::projected) GTEST_SKIP() << "wants a definite Hessian";
  QpFlavour flavour;
  flavour.unbounded = true;
  flavour.rows = 20;
  const QpBatch batch = random_qps(flavour, 30, 6);
  const QpResult result = solve(batch);
  const int n = batch.variables;
  for (int p = 0; p < 30; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(result.status.host()[static_cast<std::size_t>(p)]), "unbounded");
    const double* d =
        result.certificate.data() + static_cast<std::ptrdiff_t>(p) * std::max(n, batch.rows);
    double slope = 0.0;
    for (int j = 0; j < n; ++j)
      slope += d[j] * batch.vector.host()[static_cast<std::size_t>(p * n + j)];
    EXPECT_LT(slope, 0.0);
    for (int i = 0; i < n; ++i) {
      double curved = 0.0;
      for (int j = 0; j < n; ++j) {
        curved += d[j] * batch.hessian.host()[static_cast<std::size_t>((p * n + i) * n + j)];
      }
      EXPECT_NEAR(curved, 0.0, 1e-6 * -slope);
    }
  }
}

TEST_P(SolveQp, NonconvexIsCalledNonconvex) {
  QpFlavour flavour;
  flavour.nonconvex = true;
  const QpBatch batch = random_qps(flavour, 20, 7);
  const QpResult result = solve(batch);
  const int n = batch.variables;
  for (int p = 0; p < 20; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(result.status.host()[static_cast<std::size_t>(p)]), "nonconvex");
    const double* d =
        result.certificate.data() + static_cast<std::ptrdiff_t>(p) * std::max(n, batch.rows);
    double curvature = 0.0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        curvature +=
            d[i] * d[j] * batch.hessian.host()[static_cast<std::size_t>((p * n + i) * n + j)];
      }
    }
    EXPECT_LT(curvature, 0.0);
  }
}

TEST_P(SolveQp, UnitsOfVariablesDoNotMatter) {
  QpFlavour flavour;
  flavour.spread = 8.0;
  flavour.equations = 1;
  const QpBatch batch = random_qps(flavour, 30, 8);
  const QpResult result = solve(batch);
  for (std::size_t p = 0; p < 30; ++p) EXPECT_EQ(to_string(result.status.host()[p]), "solved") << p;
}

TEST_P(SolveQp, SmallProblemsByHand) {
  // (x - 3)^2 / 2 with x <= 1; x^2 / 2 with 2 <= x; and no row in reach.
  QpBatch batch;
  batch.problems = 3;
  batch.variables = 1;
  batch.rows = 1;
  batch.hessian = Buffer<double>::from({1, 1, 1});
  batch.vector = Buffer<double>::from({-3, 0, -3});
  batch.matrix = Buffer<double>::from({1, 1, 1});
  batch.lower = Buffer<double>::from({-kInfinity, 2, -kInfinity});
  batch.upper = Buffer<double>::from({1, kInfinity, kInfinity});
  const QpResult result = solve(batch);
  const double x[] = {1, 2, 3};
  const double y[] = {2, -2, 0};
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(to_string(result.status.host()[p]), "solved");
    EXPECT_NEAR(result.solution.host()[p], x[p], 1e-9);
    EXPECT_NEAR(result.dual.host()[p], y[p], 1e-9);
  }
}

TEST_P(SolveQp, EmptyBatchAndNoRows) {
  QpBatch batch = random_qps({}, 0, 1);
  EXPECT_TRUE(solve(batch).status.empty());
  QpFlavour flavour;
  flavour.rows = 0;
  const QpBatch free = random_qps(flavour, 3, 1);
  const QpResult result = solve(free);
  for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ(to_string(result.status.host()[p]), "solved");
}

TEST_P(SolveQp, PoisonHarmsNoNeighbour) {
  QpFlavour flavour;
  flavour.equations = 1;
  const QpBatch clean = random_qps(flavour, 21, 9);
  QpBatch poisoned = clean.to(MemorySpace::host);
  const std::size_t n = 6;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  poisoned.hessian.host()[2 * n * n + 7] = nan;
  poisoned.vector.host()[3 * n] = kInfinity;
  poisoned.matrix.host()[5 * 8 * n + 1] = nan;
  poisoned.lower.host()[9 * 8 + 3] = nan;
  poisoned.upper.host()[11 * 8 + 3] = -kInfinity;
  const QpResult expected = solve(clean);
  const QpResult result = solve(poisoned);
  for (std::size_t p = 0; p < 21; ++p) {
    const bool bad = p == 2 || p == 3 || p == 5 || p == 9 || p == 11;
    EXPECT_EQ(to_string(result.status.host()[p]), bad ? "invalid_input" : "solved") << p;
    for (std::size_t j = 0; j < n; ++j) {
      if (bad) {
        EXPECT_TRUE(std::isnan(result.solution.host()[p * n + j]));
      }
    }
    if (bad) continue;
    EXPECT_EQ(test::first_difference(result.solution, p * n, expected.solution, p * n, n), -1) << p;
    EXPECT_EQ(test::first_difference(result.dual, p * 8, expected.dual, p * 8, 8), -1) << p;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, SolveQp,
                         ::testing::Values(Way{Backend::cpu, QpMethod::automatic},
                                           Way{Backend::cpu, QpMethod::interior_point},
                                           Way{Backend::cpu, QpMethod::active_set},
                                           Way{Backend::cpu, QpMethod::admm},
                                           Way{Backend::reference, QpMethod::automatic}),
                         way_name);

// The kernels' text on host lanes: first attempts, the second launch, proofs and all.
INSTANTIATE_TEST_SUITE_P(
    Emulated, SolveQp,
    ::testing::Values(Way{Backend::cuda, QpMethod::automatic, Emulated::forwards},
                      Way{Backend::cuda, QpMethod::active_set, Emulated::forwards},
                      Way{Backend::cuda, QpMethod::active_set, Emulated::backwards},
                      Way{Backend::cuda, QpMethod::admm, Emulated::backwards}),
    way_name);

// The projected gradient takes definite Hessians only, and proves nothing.
INSTANTIATE_TEST_SUITE_P(Projected, SolveQp,
                         ::testing::Values(Way{Backend::cpu, QpMethod::projected}), way_name);

// What must not change any bit of an answer.

QpFlavour with_cones() {
  QpFlavour flavour;
  flavour.equations = 1;
  flavour.cones = {{ConeKind::second_order, 3}, {ConeKind::nonnegative, 1}};
  return flavour;
}

/// Problems [first, first + count).
QpBatch part_of(const QpBatch& batch, std::size_t first, std::size_t count) {
  return arrays::slice(batch, static_cast<std::int64_t>(first),
                       static_cast<std::int64_t>(first + count));
}

class QpBits : public ::testing::TestWithParam<QpMethod> {};

TEST_P(QpBits, ThreadsAndSplitsOfABatch) {
  const QpBatch batch = random_qps(with_cones(), 203, 11);
  QpSettings settings = with(GetParam());
  const QpResult whole = solve_qp(batch, settings, Backend::cpu);
  settings.threads = 3;
  test::expect_identical(whole, solve_qp(batch, settings, Backend::cpu));
  for (const std::size_t first : {std::size_t{0}, std::size_t{5}, std::size_t{130}}) {
    const std::size_t count = first == 5 ? 1 : 67;
    const QpResult part = solve_qp(part_of(batch, first, count), settings, Backend::cpu);
    EXPECT_EQ(test::first_difference(part.solution, 0, whole.solution, first * 6, count * 6), -1);
    EXPECT_EQ(test::first_difference(part.dual, 0, whole.dual, first * 8, count * 8), -1);
    EXPECT_EQ(test::first_difference(part.iterations, 0, whole.iterations, first, count), -1);
  }
}

TEST_P(QpBits, EmulatedWarpForwardsAndBackwards) {
  const QpBatch batch = random_qps(with_cones(), 40, 12);
  const QpResult cpu = solve_qp(batch, with(GetParam()), Backend::cpu);
  test::expect_identical(cpu, emulation::solve_qp(batch, with(GetParam()), false));
  test::expect_identical(cpu, emulation::solve_qp(batch, with(GetParam()), true));
}

// What the first method leaves, and what is proven, goes through the second launch.
TEST(QpEmulation, SecondLaunchHasTheBitsOfTheCpu) {
  std::vector<QpFlavour> flavours(5);
  flavours[0].rank = 3;
  flavours[0].rows = 20;
  flavours[1].infeasible = true;
  flavours[2].unbounded = true;
  flavours[2].rows = 20;
  flavours[3].nonconvex = true;
  flavours[4].variables = 40;
  flavours[4].rank = 30;
  flavours[4].rows = 90;
  flavours[4].equations = 3;
  for (std::size_t f = 0; f < flavours.size(); ++f) {
    for (const QpMethod method : {QpMethod::active_set, QpMethod::automatic, QpMethod::admm}) {
      SCOPED_TRACE(std::to_string(f) + " " + std::string(to_string(method)));
      QpBatch batch = random_qps(flavours[f], 12, 31 + static_cast<unsigned>(f));
      batch.vector.data()[3] = std::numeric_limits<double>::quiet_NaN();
      batch.lower.data()[batch.rows + 1] = 1.0;  // crossed, of problem 1
      batch.upper.data()[batch.rows + 1] = 0.0;
      QpSettings settings = with(method);
      // Too few for the first method: its answers are judged and handed on.
      if (f == 4) settings.max_iterations = method == QpMethod::active_set ? 40 : 5;
      const QpResult expected = solve_qp(batch, settings, Backend::cpu);
      EXPECT_EQ(to_string(expected.status.host()[0]), "invalid_input");
      EXPECT_EQ(to_string(expected.status.host()[1]), "infeasible");
      for (const bool backwards : {false, true}) {
        const QpResult result = emulation::solve_qp(batch, settings, backwards);
        test::expect_identical(expected, result);
        EXPECT_EQ(test::first_difference(expected.method, result.method), -1);
        EXPECT_EQ(test::first_difference(expected.objective, result.objective), -1);
        EXPECT_EQ(test::first_difference(expected.certificate, result.certificate), -1);
      }
    }
  }
}

// Twelve unknowns and cones of three have code of their own on the cpu, and none in the emulation.
TEST(QpFixedSizes, SameBitsAsAnySize) {
  for (const int cones : {0, 2}) {
    SCOPED_TRACE(cones);
    QpFlavour flavour;
    flavour.variables = 12;
    flavour.rank = 14;
    flavour.rows = 9;
    flavour.equations = 1;
    flavour.cones.assign(static_cast<std::size_t>(cones), Cone{ConeKind::second_order, 3});
    QpBatch batch = random_qps(flavour, 29, 21);
    // Rows of one, two and three entries among full ones.
    for (std::size_t p = 0; p < 29; ++p) {
      for (const std::size_t i : {4U, 5U, 7U}) {
        double* row = batch.matrix.data() + (p * 9 + i) * 12;
        for (std::size_t j = 0; j < 12; ++j) {
          if (j < i || j > i + (i == 4 ? 0U : i == 5 ? 1U : 2U)) row[j] = 0.0;
        }
        batch.lower.data()[p * 9 + i] -= 10.0;
        batch.upper.data()[p * 9 + i] += 10.0;
      }
    }
    for (const int check : {0, 1}) {
      if (check == 1) batch.vector.data()[5] = std::numeric_limits<double>::infinity();
      const QpResult cpu = solve_qp(batch, with(QpMethod::interior_point), Backend::cpu);
      test::expect_identical(cpu,
                             emulation::solve_qp(batch, with(QpMethod::interior_point), false));
      int solved = 0;
      for (const Status status : cpu.status.host()) solved += status == Status::solved ? 1 : 0;
      EXPECT_GE(solved, 24);
      const QpResult one =
          solve_qp(arrays::slice(batch, 9, 10), with(QpMethod::interior_point), Backend::cpu);
      EXPECT_EQ(test::first_difference(one.solution, 0, cpu.solution, 9 * 12, 12), -1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, QpBits,
                         ::testing::Values(QpMethod::automatic, QpMethod::admm,
                                           QpMethod::projected),
                         [](const auto& method) { return std::string(to_string(method.param)); });

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

// Few unknowns with a definite Hessian and interval rows: the dual active set in packs.

/// Problems of which some have bounds on one side only, an equation, rows twice or a row switched
/// off, and some a Hessian that is only semidefinite, which the active set leaves to the others.
QpBatch many_kinds(int problems, unsigned seed) {
  QpFlavour flavour;
  flavour.variables = 7;
  flavour.rank = 9;
  flavour.rows = 17;
  QpBatch batch = random_qps(flavour, problems, seed);
  for (std::size_t p = 0; p < static_cast<std::size_t>(problems); ++p) {
    double* lower = batch.lower.data() + p * 17;
    double* upper = batch.upper.data() + p * 17;
    double* matrix = batch.matrix.data() + p * 17 * 7;
    double* hessian = batch.hessian.data() + p * 49;
    for (std::size_t i = 0; i < 17; ++i) {
      if (p % 4 == 0) upper[i] = kInfinity;
      if (p % 4 == 1 && i == 3) lower[i] = kInfinity > upper[i] ? upper[i] : lower[i];
      if (p % 4 == 1 && i == 3) upper[i] = lower[i] > -kInfinity ? lower[i] : upper[i];
      if (p % 5 == 2 && i > 11) lower[i] = -kInfinity;
      if (p % 5 == 2 && i > 11) upper[i] = kInfinity;
    }
    if (p % 3 == 1) {  // row 9 twice
      std::copy_n(matrix + 9 * 7, 7, matrix + 10 * 7);
      lower[10] = lower[9];
      upper[10] = upper[9];
    }
    if (p % 7 == 6) {
      for (std::size_t j = 0; j < 7; ++j) hessian[6 * 7 + j] = hessian[j * 7 + 6] = 0.0;
      for (std::size_t j = 0; j < 7; ++j) matrix[16 * 7 + j] = j == 6 ? 1.0 : 0.0;
      lower[16] = -1.0;
      upper[16] = 1.0;
    }
  }
  return batch;
}

TEST(QpDualPivots, TakeDefiniteProblemsAndLeaveTheOthers) {
  const QpBatch batch = many_kinds(131, 31);
  const QpResult result = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  const QpResult reference = solve_qp(batch, {}, Backend::reference);
  int solved = 0;
  for (std::size_t p = 0; p < 131; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(result.status.host()[p]), to_string(reference.status.host()[p]));
    if (result.status.host()[p] != Status::solved) continue;
    ++solved;
    const bool semidefinite = p % 7 == 6;
    EXPECT_EQ(result.method.host()[p] == QpMethod::active_set, !semidefinite);
    const double expected = reference.objective.host()[p];
    EXPECT_NEAR(result.objective.host()[p], expected, 1e-8 * (1.0 + std::abs(expected)));
    const test::PlainKkt kkt = test::plain_kkt(batch, result, static_cast<std::int64_t>(p));
    const double limit = semidefinite ? 1e-8 : 1e-12;
    EXPECT_LE(kkt.primal, limit);
    EXPECT_LE(kkt.dual, limit);
    EXPECT_LE(kkt.gap, limit);
  }
  EXPECT_GE(solved, 100);
}

TEST(QpDualPivots, SameBitsInAnyPackThreadAndEmulation) {
  const QpBatch batch = many_kinds(203, 32);
  QpSettings settings = with(QpMethod::automatic);
  const QpResult whole = solve_qp(batch, settings, Backend::cpu);
  settings.threads = 3;
  test::expect_identical(whole, solve_qp(batch, settings, Backend::cpu));
  test::expect_identical(whole, emulation::solve_qp(batch, settings, false));
  for (const std::size_t first : {std::size_t{0}, std::size_t{5}, std::size_t{130}}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{67}}) {
      const QpResult part = solve_qp(part_of(batch, first, count), settings, Backend::cpu);
      EXPECT_EQ(test::first_difference(part.solution, 0, whole.solution, first * 7, count * 7), -1);
      EXPECT_EQ(test::first_difference(part.dual, 0, whole.dual, first * 17, count * 17), -1);
      EXPECT_EQ(test::first_difference(part.iterations, 0, whole.iterations, first, count), -1);
      EXPECT_EQ(test::first_difference(part.residual, 0, whole.residual, first, count), -1);
    }
  }
}

// Twelve unknowns have code of their own on the cpu; rows of one to three entries everywhere.
TEST(QpDualPivots, SameBitsAsAnySizeAndSparsity) {
  QpFlavour flavour;
  flavour.variables = 12;
  flavour.rank = 14;
  flavour.rows = 22;
  QpBatch batch = random_qps(flavour, 29, 33);
  for (std::size_t p = 0; p < 29; ++p) {
    for (std::size_t i = 0; i < 22; ++i) {
      double* row = batch.matrix.data() + (p * 22 + i) * 12;
      for (std::size_t j = 0; j < 12 && i > 3; ++j) {
        if (j < i % 10 || j > i % 10 + i % 3) row[j] = 0.0;
      }
      batch.lower.data()[p * 22 + i] = -0.5;
      batch.upper.data()[p * 22 + i] = 0.25;
    }
  }
  // One neighbour with full rows, so that the shape of the batch has no short ones.
  QpBatch full = batch.to(MemorySpace::host);
  for (double& value : full.matrix.host().subspan(0, std::size_t{22} * 12)) {
    if (value == 0.0) value = 0.25;
  }
  const QpResult result = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  test::expect_identical(result, emulation::solve_qp(batch, with(QpMethod::automatic), true));
  const QpResult other = solve_qp(full, with(QpMethod::automatic), Backend::cpu);
  EXPECT_EQ(test::first_difference(result.solution, 12, other.solution, 12, 28 * 12), -1);
  EXPECT_EQ(test::first_difference(result.dual, 22, other.dual, 22, 28 * 22), -1);
  int taken = 0;
  for (std::size_t p = 1; p < 29; ++p) {
    taken += result.method.host()[p] == QpMethod::active_set ? 1 : 0;
  }
  EXPECT_GE(taken, 20);
}

TEST(QpDualPivots, DependentRowsAndEquations) {
  // x + y = 1 three times over, of which the last may contradict, and a cone's corner of five rows.
  QpBatch batch;
  batch.problems = 3;
  batch.variables = 3;
  batch.rows = 8;
  std::vector<double> hessian, vector, matrix, lower, upper;
  for (int p = 0; p < 3; ++p) {
    hessian.insert(hessian.end(), {2, 0.5, 0, 0.5, 1, 0, 0, 0, 3});
    vector.insert(vector.end(), {1, 1, p == 2 ? -4.0 : 4.0});
    matrix.insert(matrix.end(), {1, 1, 0, 2, 2, 0, -1, -1, 0});
    lower.insert(lower.end(), {1, 2, p == 1 ? -1.5 : -1});
    upper.insert(upper.end(), {1, 2, p == 1 ? -1.5 : -1});
    matrix.insert(matrix.end(), {0, 0, 1, 1, 0, 1, -1, 0, 1, 0, 1, 1, 0, -1, 1});
    for (int i = 0; i < 5; ++i) {
      lower.push_back(i == 0 ? 0.5 : 0.0);
      upper.push_back(kInfinity);
    }
  }
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(upper);
  const QpResult result = solve_qp(batch, with(QpMethod::automatic), Backend::cpu);
  EXPECT_EQ(to_string(result.status.host()[0]), "solved");
  EXPECT_EQ(to_string(result.status.host()[1]), "infeasible");
  EXPECT_EQ(to_string(result.status.host()[2]), "solved");
  EXPECT_EQ(result.method.host()[0], QpMethod::active_set);
  // By hand: min 2/2 x^2 + xy/2 + y^2/2 + x + y + 3/2 z^2 +- 4 z on x + y = 1.
  const double x0[] = {0.5, 0.5, 0.5};  // z = max(|x|, |y|, 1/2)
  const double x2[] = {0.25, 0.75, 4.0 / 3.0};
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(result.solution.host()[j], x0[j], 1e-12);
    EXPECT_NEAR(result.solution.host()[6 + j], x2[j], 1e-12);
  }
}

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
