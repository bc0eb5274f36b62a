#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact_enclosure.hpp>
#include <carom/models/models.hpp>

#include "enclosure/quadratic_bound.hpp"
#include "support/enclosures.hpp"

// Bounds by functions of slip as well, between planes.
namespace carom {
namespace {

using test::Bounds;
using test::bounds_of;
using test::excess;

double width(const Bounds& bounds) {
  double sum = 0.0;
  for (std::size_t k = 0; k < bounds.low.size(); ++k) sum += bounds.high[k] - bounds.low[k];
  return sum;
}

/// Contacts of one body in space, or in the plane, at random places.
ImpactProblem random_body(test::Generator& random, int dimension, int contacts) {
  ImpactProblem problem;
  problem.dimension = dimension;
  problem.contacts = contacts;
  const int nv = problem.velocities = dimension == 2 ? 3 : 6;
  const auto list = [](const auto& m) {
    return std::vector<double>(m.data(), m.data() + m.size());
  };
  const test::Matrix half = random.normal_matrix(nv, nv);
  const test::Matrix mass = half * half.transpose() + 0.3 * test::Matrix::Identity(nv, nv);
  problem.mass_matrix = list(mass);
  const test::Matrix normal = random.normal_matrix(contacts, nv);
  test::Vector v = random.normal_vector(nv);
  if (normal.row(0).dot(v) > 0.0) v = -v;
  problem.normal_jacobian = list(normal);
  problem.tangent_jacobian = list(random.normal_matrix((dimension - 1) * contacts, nv));
  problem.velocity = list(v);
  for (int i = 0; i < contacts; ++i) problem.friction.push_back(random.between(0.0, 1.0));
  return problem;
}

// The largest velocities that samples come to are 0.298 and 0.358 m/s.
TEST(ImpactPlanes, BoundABallInACornerCloser) {
  const ImpactProblem problem = models::build("ball_in_corner");
  const ImpactEnclosure set = enclose_impact(problem);
  EXPECT_EQ(set.status, EnclosureStatus::outer);
  EXPECT_TRUE(proves_enclosure(problem, set));
  const Bounds bounds = bounds_of(set);
  for (std::size_t k = 0; k < bounds.high.size(); ++k) {
    EXPECT_LE(bounds.high[k], 0.6313) << k;
    EXPECT_GE(bounds.low[k], -0.6313) << k;
    EXPECT_TRUE(k >= 3 || bounds.high[k] <= 0.5127) << k;
  }
  const ImpactResult samples = test::followed(problem, test::events(1 << 14));
  EXPECT_LE(excess(bounds_of(samples.summary[0]), bounds), 1e-9);
  const ImpactEnclosure coarse = enclose_impact(problem, {.closeness = 0});
  EXPECT_LE(excess(bounds, bounds_of(coarse)), 0.0);
  EXPECT_LE(width(bounds), 0.4 * width(bounds_of(coarse)));
}

TEST(ImpactPlanes, HoldSamplesOfRandomBodies) {
  test::Generator random(77);
  double closer = 0.0;
  int count = 0;
  for (int trial = 0; trial < 24; ++trial) {
    const bool planar = trial % 12 == 2;
    ImpactProblem problem = random_body(random, planar ? 2 : 3, planar ? 5 : 1 + trial % 2);
    if (trial % 4 == 0) problem.friction[0] = 0.0;
    if (trial % 6 == 1) {  // no friction to speak of, nor a direction for it
      std::fill_n(problem.tangent_jacobian.begin(), problem.velocities, 0.0);
    }
    if (trial % 8 == 5) {  // the same contact twice
      problem.contacts = 2;
      for (std::vector<double>* rows : {&problem.normal_jacobian, &problem.tangent_jacobian}) {
        rows->resize(rows->size() / problem.friction.size());
        rows->insert(rows->end(), rows->begin(), rows->end());
      }
      problem.friction.assign(2, 0.7);
    }
    const ImpactEnclosure set = enclose_impact(problem);
    if (set.status == EnclosureStatus::enclosed) continue;
    EXPECT_TRUE(proves_enclosure(problem, set)) << trial;
    const Bounds bounds = bounds_of(set);
    const ImpactResult samples = test::followed(problem, test::events(1024));
    EXPECT_LE(excess(bounds_of(samples.summary[0]), bounds), 1e-9) << trial;
    const double coarse = width(bounds_of(enclose_impact(problem, {.closeness = 0})));
    closer += coarse > 0.0 ? width(bounds) / coarse : 1.0;
    ++count;
  }
  EXPECT_GE(count, 20);
  EXPECT_LE(closer / count, 0.5);
}

// What is enclosed exactly lies within; the largest slips of compass_gait are met.
TEST(ImpactPlanes, HoldWhatIsEnclosedExactly) {
  test::Generator random(31);
  int compared = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const ImpactProblem problem = test::random_impact(random, 2, 4, trial % 4 == 3 ? 5.0 : 0.5);
    const ImpactEnclosure exact = enclose_impact(problem, {.budget = 150});
    if (exact.status != EnclosureStatus::enclosed) continue;
    ++compared;
    for (int closeness = 1; closeness <= (trial < 4 ? 2 : 1); ++closeness) {
      const ImpactEnclosure bound =
          enclosure::bound_by_forms(problem, {.closeness = closeness, .threads = 1});
      EXPECT_LE(excess(bounds_of(exact), bounds_of(bound)), 1e-9) << trial;
      EXPECT_TRUE(enclosure::proves_bound(problem, bound)) << trial;
    }
  }
  EXPECT_GE(compared, 25);
  const ImpactProblem block = models::build("rocking_block");
  const Bounds two = bounds_of(enclosure::bound_by_forms(block, {}));
  const Bounds exact = bounds_of(enclose_impact(block));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(two.high[i], exact.high[i], 1e-5);
  const ImpactProblem gait = models::build("compass_gait");
  const Bounds three = bounds_of(enclosure::bound_by_forms(gait, {.closeness = 2}));
  EXPECT_NEAR(three.high[3], bounds_of(enclose_impact(gait)).high[3], 1e-4);
}

// Polyhedra of this one do not close.
TEST(ImpactPlanes, BoundWhatPolyhedraDoNotEnclose) {
  test::Generator random(404);
  ImpactProblem problem;
  for (int p = 0; p <= 106; ++p) problem = test::random_impact(random, 2, 4, 1.0);
  const ImpactEnclosure coarse = enclose_impact(problem, {.closeness = 0});
  ASSERT_EQ(coarse.status, EnclosureStatus::outer);
  const ImpactEnclosure set = enclose_impact(problem);
  EXPECT_EQ(set.status, EnclosureStatus::outer);
  EXPECT_LT(width(bounds_of(set)), 0.5 * width(bounds_of(coarse)));
  EXPECT_TRUE(proves_enclosure(problem, set));
  ImpactEnclosure damaged = set;
  damaged.invariant.resize(damaged.invariant.size() - 40);
  EXPECT_FALSE(proves_enclosure(problem, damaged));
  const ImpactResult samples = test::followed(problem, test::events(1024));
  EXPECT_LE(excess(bounds_of(samples.summary[0]), bounds_of(set)), 1e-9);
}

TEST(ImpactPlanes, ADamagedProofProvesNothing) {
  test::Generator random(5);
  const ImpactProblem problem = random_body(random, 3, 2);
  const ImpactEnclosure set = enclose_impact(problem);
  ASSERT_TRUE(proves_enclosure(problem, set));
  const auto narrows = [&](std::vector<double> ImpactEnclosure::*bounds, double share) {
    for (std::size_t k = 0; k < (set.*bounds).size(); ++k) {
      if ((set.*bounds)[k] == 0.0) continue;
      ImpactEnclosure narrowed = set;
      (narrowed.*bounds)[k] *= share;
      EXPECT_FALSE(proves_enclosure(problem, narrowed)) << k;
    }
  };
  narrows(&ImpactEnclosure::normal_velocity_max, 1.0 - 1e-6);
  narrows(&ImpactEnclosure::tangent_velocity_max, 1.0 - 1e-6);
  narrows(&ImpactEnclosure::tangent_velocity_min, 1.0 - 1e-6);
  ImpactProblem other = problem;
  for (double& v : other.velocity) v *= 1.01;
  EXPECT_FALSE(proves_enclosure(other, set));
  other = problem;
  other.friction.assign(2, 1.5);
  EXPECT_FALSE(proves_enclosure(other, set));
  for (std::size_t cut = 40; cut < set.invariant.size(); cut += 1501) {
    ImpactEnclosure damaged = set;
    damaged.invariant.resize(damaged.invariant.size() - cut);
    EXPECT_FALSE(proves_enclosure(problem, damaged)) << cut;
  }
  ImpactEnclosure longer = set;
  longer.invariant += "1";
  EXPECT_FALSE(proves_enclosure(problem, longer));
}

// A form of the opposite of a normal velocity is easily found, and says nothing of the largest one.
TEST(ImpactPlanes, OppositeNormalsBoundNoLargestVelocity) {
  test::Generator random(5);
  const ImpactProblem problem = random_body(random, 3, 2);
  const ImpactEnclosure set = enclose_impact(problem);
  ImpactEnclosure forged = enclose_impact(problem, {.closeness = 0});
  ASSERT_TRUE(proves_enclosure(problem, forged));
  std::istringstream in(set.invariant.substr(set.invariant.find("carom-planes")));
  std::string word;
  int version = 0, refinement = 0, sign = 0;
  std::size_t count = 0, row = 0, entries = 0;
  std::int64_t gamma = 0, alpha = 0, beta = 0, entry = 0;
  in >> word >> version >> refinement >> count >> row >> sign >> gamma >> alpha >> beta >> entries;
  ASSERT_TRUE(in && row == 0 && sign == 1);
  // The form of the largest one over 1024: it does not grow either.
  std::ostringstream out;
  out << word << ' ' << version << ' ' << refinement << " 1\n0 -1 " << gamma / 1024 << " 0 "
      << (alpha + beta) / 1024 << ' ' << entries;
  for (std::size_t k = 0; k < entries && in >> entry; ++k) out << ' ' << entry / 1024;
  forged.invariant += out.str();
  EXPECT_TRUE(proves_enclosure(problem, forged));
  forged.normal_velocity_max[0] = 0.9 * set.normal_velocity_max[0];
  EXPECT_FALSE(proves_enclosure(problem, forged));
}

// Entries raised or lowered by a hundredth: a form that grows or bounds less.
TEST(ImpactPlanes, ChangedEntriesAreSeen) {
  test::Generator random(5);
  const ImpactProblem problem = random_body(random, 3, 2);
  const ImpactEnclosure set = enclose_impact(problem);
  const test::Changes changes = test::change_entries(problem, set, "carom-planes", 17);
  EXPECT_GE(changes.made, 40);
  EXPECT_GE(2 * changes.refused, changes.made);  // in one of both directions at least
}

// A question has only the bounds that it asks for looked for.
TEST(ImpactPlanes, AnswerQuestions) {
  const ImpactProblem problem = models::build("ball_in_corner");
  const std::vector<std::string> names = models::find("ball_in_corner").contact_names;
  const auto decided = [&](const std::string& text, int closeness) {
    return decide_impact(problem, impact_event(text, names, 3), {.closeness = closeness});
  };
  const ImpactDecision slow = decided("floor normal > 0.52", 1);
  EXPECT_EQ(slow.answer, ImpactAnswer::never);
  EXPECT_TRUE(proves_enclosure(problem, slow.proof));
  EXPECT_LT(slow.proof.normal_velocity_max[0], 0.52);
  EXPECT_GT(slow.proof.normal_velocity_max[1], 0.52);
  EXPECT_EQ(decided("floor normal > 0.52", 0).answer, ImpactAnswer::open);
  EXPECT_EQ(decided("wall_x tangent1 < -0.16", 1).answer, ImpactAnswer::never);
  EXPECT_EQ(decided("wall_x tangent1 > 0.16", 1).answer, ImpactAnswer::open);
  EXPECT_EQ(decided("floor sliding", 1).answer, ImpactAnswer::open);
}

// Closer bounds are those of the polygon with four corners; the coarse ones hold for all.
TEST(ImpactPlanes, OtherPolygonsHaveTheCoarseBounds) {
  test::Generator random(8);
  const ImpactProblem problem = random_body(random, 3, 2);
  const ImpactEnclosure coarse = enclose_impact(problem, {.closeness = 0});
  const ImpactEnclosure eight = enclose_impact(problem, {.friction_directions = 8});
  EXPECT_EQ(eight.invariant, coarse.invariant);
  EXPECT_NE(enclose_impact(problem).invariant, coarse.invariant);
}

TEST(ImpactPlanes, AreTheSameForAnyThreadsAndInBatches) {
  test::Generator random(9);
  std::vector<ImpactProblem> problems;
  for (int p = 0; p < 3; ++p) problems.push_back(random_body(random, 3, 2));
  const ImpactBatch batch = make_batch(problems);
  const std::vector<ImpactEnclosure> all = enclose_impacts(batch, {.threads = 2});
  for (std::size_t p = 0; p < problems.size(); ++p) {
    for (const int threads : {1, 2}) {
      EXPECT_EQ(enclose_impact(problems[p], {.threads = threads}).invariant, all[p].invariant);
    }
  }
}

}  // namespace
}  // namespace carom
