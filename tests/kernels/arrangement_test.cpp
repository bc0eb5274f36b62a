#include "enclosure/arrangement.hpp"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/lp.hpp>
#include <carom/models/models.hpp>

#include "enclosure/interior_point.hpp"
#include "support/enclosures.hpp"

namespace carom::enclosure {
namespace {

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::optional<Arrangement> arranged(const ImpactProblem& problem, Refinement refinement) {
  return arrange(round_impact(problem).value(), {refinement, kMostPlanes, 100'000});
}

// Theorem 2: no motion in a face adds energy, whatever the velocity there. Corners lie on the side
// of planes that the face is on, or on the planes.
TEST(Arrangement, MotionsLoseEnergy) {
  for (const char* name : {"compass_gait", "box_wall", "ball_in_corner", "tripod", "cube_drop"}) {
    for (const Refinement refinement : {Refinement::none, Refinement::pairs}) {
      const auto found = arranged(models::build(name), refinement);
      ASSERT_TRUE(found) << name;
      EXPECT_GT(found->descents.size(), 20U);
      for (const Descent& descent : found->descents) {
        const Direction& corner = found->corners[descent.corner];
        const Direction& motion = found->motions[descent.motion];
        ASSERT_LE(product(corner.energy, motion.energy), 1e-12) << name;
        for (std::size_t k = 0; k < corner.part.size(); ++k) {
          ASSERT_TRUE((descent.above >> k & 1) == 0 || corner.part[k] >= 0.0);
          ASSERT_TRUE((descent.below >> k & 1) == 0 || corner.part[k] <= 0.0);
        }
      }
    }
  }
}

// Along a sample every piece's velocity and rate fit the arrangement's: the energy before is 1.
TEST(Arrangement, KnowsTheVelocityBefore) {
  const ImpactProblem problem = models::build("tripod");
  const auto found = arranged(problem, Refinement::none);
  ASSERT_TRUE(found);
  EXPECT_NEAR(product(found->start.energy, found->start.energy), 1.0, 1e-12);
  const ImpactEnclosure coarse = enclose_impact(problem, {.closeness = 0});
  for (std::size_t k = 3; k < 9; ++k) {  // tangents: the energy's bound
    EXPECT_NEAR(found->length[k] * found->speed, coarse.tangent_velocity_max[k - 3], 1e-6);
  }
}

// Rows of n independent planes have 3^n faces, without 0 itself: of 2^n + ... corners, 2 n rays.
TEST(Arrangement, OfIndependentRowsHasTheirRays) {
  test::Generator random(3);
  const auto found = arranged(test::random_impact(random, 2, 4, 1.0), Refinement::none);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->planes, 4);
  EXPECT_EQ(found->corners.size(), 8U);
  EXPECT_FALSE(arrange(round_impact(test::random_impact(random, 4, 6, 1.0)).value(),
                       {Refinement::none, kMostPlanes, 100}));
}

// The same optimum as the simplex method's, to the tolerance.
TEST(InteriorPoint, FindsTheSimplexMethodsOptimum) {
  test::Generator random(4);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = 4 + trial, m = 3 * n;
    InnerProgram program;
    program.cost = random.normal_vector(n);
    program.low = test::Vector::Constant(n, -2.0);
    program.high = test::Vector::Constant(n, 3.0);
    const test::Matrix dense = random.normal_matrix(m, n);
    program.rows = dense.sparseView();
    program.bounds = test::Vector::Constant(m, 1.0);
    const InnerSolution found = solve_inner(program, 1e-9);
    ASSERT_TRUE(found.solved) << trial;
    EXPECT_LE((dense * found.x - program.bounds).maxCoeff(), 1e-8);
    EXPECT_GE(found.multipliers.minCoeff(), 0.0);
    LpBatch batch = allocate<LpBatch>({1, m, n, 1});
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) batch.matrix.data()[i * n + j] = dense(i, j);
      batch.row_lower.data()[i] = -INFINITY;
      batch.row_upper.data()[i] = 1.0;
    }
    for (int j = 0; j < n; ++j) {
      batch.cost.data()[j] = program.cost(j);
      batch.column_lower.data()[j] = -2.0;
      batch.column_upper.data()[j] = 3.0;
    }
    const LpResult exact = solve_lp(batch, {}, Backend::cpu);
    ASSERT_EQ(exact.status.data()[0], Status::solved);
    double best = 0.0;
    for (int j = 0; j < n; ++j) best += program.cost(j) * exact.solution.data()[j];
    EXPECT_NEAR(program.cost.dot(found.x), best, 1e-6) << trial;
  }
}

}  // namespace
}  // namespace carom::enclosure
