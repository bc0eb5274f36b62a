#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/qp.hpp>

namespace carom {
namespace {

/// Flows of least cost through a network, quadratic on some arcs: P is semidefinite, one balance
/// follows from the others, and most arcs of an answer are empty or full.
QpBatch flows(int nodes, int arcs, std::int64_t problems, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::uniform_int_distribution<int> any(0, nodes - 1);
  QpBatch batch;
  batch.problems = problems;
  batch.variables = arcs;
  batch.rows = nodes + arcs;
  std::vector<double> hessian, vector, matrix, lower, upper;
  for (std::int64_t p = 0; p < problems; ++p) {
    std::vector<double> rows(static_cast<std::size_t>((nodes + arcs) * arcs));
    std::vector<double> supply(static_cast<std::size_t>(nodes));
    std::vector<double> capacity;
    for (int j = 0; j < arcs; ++j) {
      const int start = any(random);
      const int end = (start + 1 + any(random) % (nodes - 1)) % nodes;
      rows[static_cast<std::size_t>(start * arcs + j)] = 1.0;
      rows[static_cast<std::size_t>(end * arcs + j)] = -1.0;
      rows[static_cast<std::size_t>((nodes + j) * arcs + j)] = 1.0;
      const double planted = uniform(random) < 0.6 ? std::floor(4.0 * uniform(random)) : 0.0;
      supply[static_cast<std::size_t>(start)] += planted;
      supply[static_cast<std::size_t>(end)] -= planted;
      capacity.push_back(planted + std::floor(3.0 * uniform(random)));
      const double bend = uniform(random) < 0.4 ? 0.5 + uniform(random) : 0.0;
      for (int k = 0; k < arcs; ++k) hessian.push_back(k == j ? bend : 0.0);
      vector.push_back(2.0 * uniform(random));
    }
    matrix.insert(matrix.end(), rows.begin(), rows.end());
    lower.insert(lower.end(), supply.begin(), supply.end());
    lower.insert(lower.end(), static_cast<std::size_t>(arcs), 0.0);
    upper.insert(upper.end(), supply.begin(), supply.end());
    upper.insert(upper.end(), capacity.begin(), capacity.end());
  }
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(upper);
  return batch;
}

// What the active set does not answer costs ten to fifty times as much.
TEST(QpNetworks, DependentBalancesAreSolvedByTheActiveSet) {
  for (const auto& [nodes, arcs] : {std::pair{4, 8}, {6, 16}, {10, 24}, {16, 40}, {22, 56}}) {
    const std::int64_t problems = 40;
    const QpBatch batch = flows(nodes, arcs, problems, 7U + static_cast<unsigned>(arcs));
    const QpResult result = solve_qp(batch, {}, Backend::cpu);
    QpSettings interior;
    interior.method = QpMethod::interior_point;
    const QpResult other = solve_qp(batch, interior, Backend::cpu);
    int taken = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(problems); ++p) {
      EXPECT_EQ(to_string(result.status.host()[p]), "solved") << arcs << " arcs, problem " << p;
      if (other.status.host()[p] == Status::solved) {
        const double objective = other.objective.host()[p];
        EXPECT_NEAR(result.objective.host()[p], objective, 1e-7 * (1.0 + std::abs(objective)));
      }
      taken += result.method.host()[p] == QpMethod::active_set ? 1 : 0;
    }
    EXPECT_GE(taken, problems * 9 / 10) << arcs << " arcs";
  }
}

}  // namespace
}  // namespace carom
