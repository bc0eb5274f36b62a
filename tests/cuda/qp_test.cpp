#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <carom/qp.hpp>

#include "cuda/cuda_test.hpp"
#include "support/bits.hpp"
#include "support/large_qps.hpp"
#include "support/qp_residual.hpp"
#include "support/qp_runs.hpp"
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
      const QpBatch batch =
          test::random_qps(contact_like(variables), test::some(101, variables > 24 ? 3 : 37), 21);
      QpSettings settings;
      settings.method = method;
      const QpResult host = solve_qp(batch, settings, Backend::cpu);
      const QpResult device = solve_qp(batch, settings, Backend::cuda);
      test::expect_identical(host, device);
    }
  }
}

// A warp each, sizes known: rows with one side or two, equations, half-lines of cones, numbers of
// rows around those that are known, and problems that dual pivots leave.
TEST_F(CudaQp, FourContactsHaveTheBitsOfTheHost) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto compare = [](const QpBatch& batch, const QpSettings& settings = {}) {
    const QpResult host = solve_qp(batch, settings, Backend::cpu);
    const QpResult device = solve_qp(batch, settings, Backend::cuda);
    test::expect_same_bits_but_wide(host, device);
    const auto methods = device.method.host();
    return std::count(methods.begin(), methods.end(), QpMethod::active_set);
  };
  for (const int rows : {3, 13, 24, 25, 32, 33}) {
    for (const int kind : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, kind " + std::to_string(kind));
      test::QpFlavour flavour;
      flavour.variables = 12;
      flavour.rank = 13;
      flavour.rows = rows;
      flavour.equations = kind == 1 ? 2 : 0;
      if (kind == 1) flavour.cones = {{ConeKind::nonnegative, 2}, {ConeKind::zero, 1}};
      QpBatch batch = test::random_qps(flavour, test::some(67, 29), 31);
      if (kind == 2) std::fill_n(batch.upper.data(), batch.upper.size(), kInfinity);
      EXPECT_GE(compare(batch), batch.problems * 9 / 10);
      if (rows != 24) continue;
      batch.vector.data()[5 * 12 + 3] = std::numeric_limits<double>::quiet_NaN();
      batch.hessian.data()[7 * 144] = -1.0;
      batch.matrix.data()[9 * 24 * 12] = kInfinity;
      batch.lower.data()[11 * 24 + 2] = 1e300;
      EXPECT_LE(compare(batch), batch.problems - 4);
      QpSettings settings;
      settings.max_iterations = 3;
      EXPECT_LE(compare(batch, settings), batch.problems / 2);
    }
  }
}

// The second launch: a thread each where there are very many small ones, a warp, and above 64
// variables a block.
TEST_F(CudaQp, ActiveSetHasTheBitsOfTheHost) {
  const std::pair<int, int> sizes[] = {
      {6, test::some(70000, 201)}, {6, 101}, {40, test::some(33, 5)}, {70, test::some(5, 2)}};
  for (const auto& [variables, problems] : sizes) {
    SCOPED_TRACE(variables);
    test::QpFlavour flavour;
    flavour.variables = variables;
    flavour.rank = variables + 1;
    flavour.rows = 2 * variables;
    flavour.equations = 1;
    const QpBatch batch = test::random_qps(flavour, problems, 24);
    QpSettings settings;
    settings.method = QpMethod::active_set;
    test::expect_identical(solve_qp(batch, settings, Backend::cpu),
                           solve_qp(batch, settings, Backend::cuda));
  }
}

// Too few iterations for the first method, proofs and refusals.
TEST_F(CudaQp, WhatTheFirstMethodLeavesHasTheBitsOfTheHost) {
  for (int kind = 0; kind < 4; ++kind) {
    SCOPED_TRACE(kind);
    test::QpFlavour flavour;
    flavour.rows = 20;
    flavour.infeasible = kind == 1;
    flavour.unbounded = kind == 2;
    flavour.nonconvex = kind == 3;
    QpBatch batch = test::random_qps(flavour, 77, 25);
    batch.vector.data()[7 * 6] = std::numeric_limits<double>::quiet_NaN();
    batch.lower.data()[9 * 20] = 2.0;
    batch.upper.data()[9 * 20] = 1.0;
    QpSettings settings;
    if (kind == 0) settings.max_iterations = 4;
    test::expect_same_bits_but_wide(solve_qp(batch, settings, Backend::cpu),
                                    solve_qp(batch, settings, Backend::cuda));
  }
}

// The libraries' path, on both sides of the size where they take one matrix at a time.
TEST_F(CudaQp, LargeProblems) {
  const int problems = test::some(7, 2);
  for (const int variables : {65, 100, 300}) {
    for (const QpMethod method : {QpMethod::automatic, QpMethod::admm}) {
      SCOPED_TRACE(std::to_string(variables) + " " + std::string(to_string(method)));
      const QpBatch batch = test::boxed_qps(variables, 10, 1, variables / 3, problems, 26);
      QpSettings settings;
      settings.method = method;
      const QpResult host = solve_qp(batch, settings, Backend::cpu);
      const QpResult device = solve_qp(batch, settings, Backend::cuda);
      for (std::size_t p = 0; p < static_cast<std::size_t>(problems); ++p) {
        ASSERT_EQ(to_string(device.status.host()[p]), "solved") << p;
        EXPECT_LE(device.residual.host()[p], 1e-9);
        const test::PlainKkt kkt = test::plain_kkt(batch, device, static_cast<std::int64_t>(p));
        EXPECT_LE(std::max({kkt.primal, kkt.dual, kkt.gap}), 1e-8);
        EXPECT_NEAR(device.objective.host()[p], host.objective.host()[p],
                    1e-8 * (1.0 + std::abs(host.objective.host()[p])));
      }
    }
  }
}

TEST_F(CudaQp, ElasticFoundationOfNineHundredElements) {
  for (const double modulus : {1e7, 1e11}) {
    SCOPED_TRACE(modulus);
    const test::Foundation foundation = test::foundation(30, 30, modulus, 1e-3);
    const QpResult result = solve_qp(foundation.batch, {}, Backend::cuda);
    ASSERT_EQ(to_string(result.status.host()[0]), "solved");
    const Eigen::VectorXd expected = test::foundation_forces(foundation);
    const Eigen::Map<const Eigen::VectorXd> forces(result.solution.data(), expected.size());
    EXPECT_LE((forces - expected).norm(), 1e-6 * expected.norm());
  }
}

TEST_F(CudaQp, LargeProofsAndPoison) {
  QpBatch batch = test::boxed_qps(70, 10, 1, 75, 4, 27);
  const QpResult clean = solve_qp(batch, {}, Backend::cuda);
  batch.vector.data()[70 + 3] = std::numeric_limits<double>::quiet_NaN();
  batch.lower.data()[2 * 80 + 4] = 2.0;
  batch.upper.data()[2 * 80 + 4] = 1.0;
  batch.hessian.data()[3 * 70 * 70 + 5 * 70 + 5] = -1.0;
  const QpResult result = solve_qp(batch, {}, Backend::cuda);
  const char* statuses[] = {"solved", "invalid_input", "infeasible", "nonconvex"};
  for (std::size_t p = 0; p < 4; ++p) EXPECT_EQ(to_string(result.status.host()[p]), statuses[p]);
  if (test::kPlayedByHost) {
    EXPECT_EQ(test::first_difference(result.solution, 0, clean.solution, 0, 70), -1);
  }
  // A device's libraries choose how they sum by the number of problems that are left.
  for (std::size_t j = 0; j < 70; ++j) {
    const double expected = clean.solution.host()[j];
    EXPECT_NEAR(result.solution.host()[j], expected, 1e-10 * (1.0 + std::abs(expected)));
  }
}

TEST_F(CudaQp, ResultsLiveWhereTheBatchLives) {
  const QpBatch batch = test::random_qps(contact_like(6), 33, 22);
  const QpResult host = solve_qp(batch, {}, Backend::cuda);
  const QpResult device = solve_qp(batch.to(MemorySpace::device), {}, Backend::cuda);
  ASSERT_EQ(device.solution.space(), MemorySpace::device);
  test::expect_identical(host, device);
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
