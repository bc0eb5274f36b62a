#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>

#include "emulation/emulation.hpp"
#include "impact/backends.hpp"
#include "support/bits.hpp"
#include "support/enumerated.hpp"
#include "support/step_problem.hpp"

// Random contact problems on every backend of the host: (75) and (31), planar and spatial.
namespace carom {
namespace {

using test::Flavour;
using test::Generator;
using test::Matrix;
using test::StepProblem;
using test::Vector;

struct StepShape {
  int dimension;
  int contacts;
  int directions;
};

std::vector<StepShape> shapes(int most_contacts) {
  std::vector<StepShape> all;
  for (int m = 1; m <= most_contacts; ++m) {
    all.push_back({2, m, 4});
    for (const int k : {4, 5, 8, 16}) all.push_back({3, m, k});
  }
  return all;
}

std::vector<StepProblem> random_steps(Generator& random, Flavour flavour, StepShape shape,
                                      int count) {
  std::vector<StepProblem> steps;
  for (int i = 0; i < count; ++i) {
    const ImpactProblem problem =
        test::random_problem(random, flavour, shape.dimension, shape.contacts);
    const Vector limit = test::random_limits(random, flavour, shape.contacts);
    steps.push_back(test::step_problem(problem, limit, shape.directions));
  }
  return steps;
}

StepSettings settings_of(StepShape shape, Selection selection = Selection::any) {
  StepSettings settings;
  settings.friction_directions = shape.directions;
  settings.selection = selection;
  return settings;
}

Vector part(const Buffer<double>& values, std::int64_t problem, int rows) {
  return Eigen::Map<const Vector>(values.data() + problem * rows, rows);
}

double kinetic_energy(const StepProblem& step, const Vector& v) {
  return 0.5 * v.dot(step.mass * v);
}

/// What every solution of a step satisfies, whichever solver found it.
void expect_solution(const StepProblem& step, const Vector& impulse, const Vector& next) {
  const int m = step.contacts;
  EXPECT_LE(test::full_residual(step, impulse), 1e-9);
  const Vector v = step.velocity + step.response() * impulse;
  const double speed = std::max(step.contact_velocity().cwiseAbs().maxCoeff(), 1e-300);
  EXPECT_LE((step.jacobian * v - next).cwiseAbs().maxCoeff(), 1e-8 * speed);
  const double before = kinetic_energy(step, step.velocity);
  EXPECT_LE(kinetic_energy(step, v), before * (1.0 + 1e-9));  // Theorem 7
  bool activated = false;
  bool separated = true;
  for (int i = 0; i < m; ++i) {
    EXPECT_GE(impulse[i], 0.0);
    EXPECT_LE(impulse[i], step.limit[i] + 1e-12 * speed);
    const double force =
        step.dimension == 2 ? std::abs(impulse[m + i]) : impulse.segment(m + 2 * i, 2).norm();
    EXPECT_LE(force, step.friction[i] * impulse[i] + 1e-9 * (1.0 + step.friction[i]));
    activated = activated || impulse[i] >= step.limit[i] * (1.0 - 1e-12);
    separated = separated && next[i] >= -1e-9 * speed;
  }
  EXPECT_TRUE(activated || separated);  // Lemma 13
}

class Steps : public ::testing::TestWithParam<Flavour> {
 protected:
  Generator random{100 + static_cast<std::uint64_t>(GetParam())};
};

TEST_P(Steps, SolvedAndCertifiedOnEveryKindOfLanes) {
  std::int64_t fallbacks = 0;
  std::int64_t problems = 0;
  for (const StepShape shape : shapes(8)) {
    SCOPED_TRACE("dimension " + std::to_string(shape.dimension) + ", m " +
                 std::to_string(shape.contacts) + ", k " + std::to_string(shape.directions));
    const auto steps = random_steps(random, GetParam(), shape, shape.dimension == 2 ? 45 : 13);
    const StepBatch batch = test::step_batch(steps);
    const StepSettings settings = settings_of(shape);
    const StepResult result = cpu::solve_steps(batch, settings);
    for (std::size_t p = 0; p < steps.size(); ++p) {
      SCOPED_TRACE("problem " + std::to_string(p));
      const auto index = static_cast<std::int64_t>(p);
      ASSERT_EQ(result.status.data()[p], Status::solved);
      EXPECT_LE(result.residual.data()[p], 1e-9);
      expect_solution(steps[p], part(result.impulse, index, batch.dimension * batch.contacts),
                      part(result.contact_velocity, index, batch.dimension * batch.contacts));
      fallbacks += result.fallback.data()[p];
      ++problems;
    }
    test::expect_identical(result, emulation::solve_steps(batch, settings, false));
    test::expect_identical(result, emulation::solve_steps(batch, settings, true));
  }
  RecordProperty("fallbacks", std::to_string(fallbacks));
  EXPECT_LE(100 * fallbacks, problems);
}

TEST_P(Steps, AgreeWithLemkeAndReferenceWhereUnique) {
  int unique = 0;
  int compared = 0;
  for (const StepShape shape : shapes(4)) {
    if (shape.dimension == 3 && shape.contacts > 2) continue;
    SCOPED_TRACE("dimension " + std::to_string(shape.dimension) + ", m " +
                 std::to_string(shape.contacts) + ", k " + std::to_string(shape.directions));
    const auto steps = random_steps(random, GetParam(), shape, shape.contacts < 3 ? 16 : 6);
    const StepBatch batch = test::step_batch(steps);
    const int rows = shape.dimension * shape.contacts;
    const StepResult fast = cpu::solve_steps(batch, settings_of(shape));
    const StepResult lemke = cpu::solve_steps(batch, settings_of(shape, Selection::lemke));
    const StepResult eigen = reference::solve_steps(batch, settings_of(shape, Selection::lemke));
    test::expect_identical(
        lemke, emulation::solve_steps(batch, settings_of(shape, Selection::lemke), true));
    for (std::size_t p = 0; p < steps.size(); ++p) {
      SCOPED_TRACE("problem " + std::to_string(p));
      const auto index = static_cast<std::int64_t>(p);
      EXPECT_EQ(lemke.status.data()[p], Status::solved);
      EXPECT_EQ(eigen.status.data()[p], Status::solved);
      if (lemke.status.data()[p] != Status::solved) continue;
      EXPECT_EQ(lemke.fallback.data()[p], 0);
      expect_solution(steps[p], part(lemke.impulse, index, rows),
                      part(lemke.contact_velocity, index, rows));
      const double speed = steps[p].contact_velocity().cwiseAbs().maxCoeff();
      const std::vector<Vector> outcomes = test::enumerated(steps[p]);
      ASSERT_FALSE(outcomes.empty());
      unique += outcomes.size() == 1 ? 1 : 0;
      ++compared;
      for (const StepResult* answer : {&fast, &lemke, &eigen}) {
        const Vector next = part(answer->contact_velocity, index, rows);
        double nearest = HUGE_VAL;
        for (const Vector& outcome : outcomes) {
          nearest = std::min(nearest, (next - outcome).cwiseAbs().maxCoeff());
        }
        const char* who = answer == &fast ? "path" : answer == &lemke ? "Lemke" : "reference";
        EXPECT_LE(nearest, (outcomes.size() == 1 ? 1e-9 : 1e-7) * speed)
            << who << ", " << outcomes.size() << " outcomes";
      }
    }
  }
  EXPECT_GT(2 * unique, compared);
}

// Velocities and impulses times a power of two; masses and impulses times another.
TEST_P(Steps, ScaleExactly) {
  for (const StepShape shape :
       {StepShape{2, 3, 4}, StepShape{2, 6, 4}, StepShape{3, 2, 5}, StepShape{3, 4, 8}}) {
    const auto steps = random_steps(random, GetParam(), shape, 10);
    const StepResult plain = cpu::solve_steps(test::step_batch(steps), settings_of(shape));
    auto faster = steps;
    for (StepProblem& step : faster) {
      step.velocity *= 0x1p12;
      step.limit *= 0x1p12;
    }
    auto heavier = steps;
    for (StepProblem& step : heavier) {
      step.mass *= 0x1p6;
      step.limit *= 0x1p6;
    }
    const StepResult fast = cpu::solve_steps(test::step_batch(faster), settings_of(shape));
    const StepResult heavy = cpu::solve_steps(test::step_batch(heavier), settings_of(shape));
    EXPECT_EQ(test::first_difference(fast.pivots, plain.pivots), -1);
    EXPECT_EQ(test::first_difference(heavy.pivots, plain.pivots), -1);
    for (std::size_t i = 0; i < plain.impulse.size(); ++i) {
      EXPECT_EQ(fast.impulse.data()[i], 0x1p12 * plain.impulse.data()[i]);
      EXPECT_EQ(fast.contact_velocity.data()[i], 0x1p12 * plain.contact_velocity.data()[i]);
      EXPECT_EQ(heavy.impulse.data()[i], 0x1p6 * plain.impulse.data()[i]);
      EXPECT_EQ(heavy.contact_velocity.data()[i], plain.contact_velocity.data()[i]);
    }
  }
}

// Contacts in another order: the same v' wherever the step is unique.
TEST_P(Steps, OrderOfContactsDoesNotMatter) {
  int compared = 0;
  for (const StepShape shape :
       {StepShape{2, 3, 4}, StepShape{2, 4, 4}, StepShape{3, 2, 4}, StepShape{3, 2, 5}}) {
    const int m = shape.contacts;
    const int t = shape.dimension - 1;
    const auto steps = random_steps(random, GetParam(), shape, 12);
    auto turned = steps;
    for (StepProblem& step : turned) {
      const StepProblem old = step;
      for (int i = 0; i < m; ++i) {
        const int from = (i + 1) % m;
        step.jacobian.row(i) = old.jacobian.row(from);
        step.jacobian.middleRows(m + t * i, t) = old.jacobian.middleRows(m + t * from, t);
        step.friction[i] = old.friction[from];
        step.limit[i] = old.limit[from];
      }
    }
    const StepResult a = cpu::solve_steps(test::step_batch(steps), settings_of(shape));
    const StepResult b = cpu::solve_steps(test::step_batch(turned), settings_of(shape));
    for (std::size_t p = 0; p < steps.size(); ++p) {
      if (test::enumerated(steps[p]).size() != 1) continue;
      ++compared;
      const auto next = [&](const StepResult& result, const StepProblem& step) -> Vector {
        const Vector impulse =
            part(result.impulse, static_cast<std::int64_t>(p), shape.dimension * m);
        return step.velocity + step.response() * impulse;
      };
      const Vector difference = next(a, steps[p]) - next(b, turned[p]);
      EXPECT_LE(difference.cwiseAbs().maxCoeff(), 1e-8 * steps[p].velocity.cwiseAbs().maxCoeff())
          << "problem " << p;
    }
  }
  EXPECT_GT(compared, 24);
}

INSTANTIATE_TEST_SUITE_P(Flavours, Steps, ::testing::ValuesIn(test::kFlavours),
                         [](const auto& flavour) {
                           return std::string(test::to_string(flavour.param));
                         });

TEST(StepBatches, PoisonStaysInItsProblem) {
  Generator random(7);
  for (const StepShape shape : {StepShape{2, 3, 4}, StepShape{3, 2, 8}}) {
    const auto steps = random_steps(random, Flavour::generic, shape, 35);
    const int rows = shape.dimension * shape.contacts;
    const StepResult clean = cpu::solve_steps(test::step_batch(steps), settings_of(shape));
    StepBatch batch = test::step_batch(steps);
    batch.contact_velocity.data()[17 * rows + 1] = std::numeric_limits<double>::quiet_NaN();
    for (int backend = 0; backend < 3; ++backend) {
      const StepResult result =
          backend == 0 ? cpu::solve_steps(batch, settings_of(shape))
                       : emulation::solve_steps(batch, settings_of(shape), backend == 1);
      EXPECT_EQ(result.status.data()[17], Status::invalid_input);
      EXPECT_TRUE(std::isnan(result.impulse.data()[17 * rows]));
      EXPECT_TRUE(std::isnan(result.contact_velocity.data()[17 * rows]));
      const auto r = static_cast<std::size_t>(rows);
      EXPECT_EQ(test::first_difference(result.impulse, 0, clean.impulse, 0, 17 * r), -1);
      EXPECT_EQ(test::first_difference(result.impulse, 18 * r, clean.impulse, 18 * r, 17 * r), -1);
    }
  }
}

TEST(StepBatches, PositionAndThreadsDoNotMatter) {
  Generator random(11);
  const StepShape shape{3, 3, 5};
  const auto steps = random_steps(random, Flavour::rank_deficient, shape, 1);
  std::vector<StepProblem> many = random_steps(random, Flavour::generic, {3, 3, 5}, 100);
  for (StepProblem& step : many) step.contacts = 3;
  const StepResult alone = cpu::solve_steps(test::step_batch(steps), settings_of(shape));
  for (const std::size_t place : {0UL, 41UL, 99UL}) {
    auto batch = many;
    batch[place] = steps.front();
    for (const int threads : {1, 2}) {
      StepSettings settings = settings_of(shape);
      settings.threads = threads;
      const StepResult result = cpu::solve_steps(test::step_batch(batch), settings);
      EXPECT_EQ(test::first_difference(result.impulse, place * 9, alone.impulse, 0, 9), -1);
      EXPECT_EQ(result.pivots.data()[place], alone.pivots.data()[0]);
    }
  }
}

}  // namespace
}  // namespace carom
