#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/derivative_worlds.hpp>

#include "support/message.hpp"

namespace carom {
namespace {

using test::expect_names;
using test::refusal;

CompliantSettings sharp() {
  CompliantSettings settings;
  settings.tolerance = 1e-12;
  settings.centripetal = false;  // four feet depend on each other
  settings.threads = 1;
  return settings;
}

/// One world of a scenario with some parameters changed.
WorldRun run_of(const models::Scenario& scenario, const std::map<std::string, double>& changed,
                std::int64_t steps) {
  WorldRun run;
  run.parameters = models::scenario_parameters(scenario, changed);
  run.steps = steps;
  return run;
}

struct Case {
  const char* scenario;
  std::map<std::string, double> parameters;
  std::int64_t steps;
};

/// A loss that sees all of the state at the end.
double loss(const models::Scenario& scenario, const WorldRun& run) {
  const WorldsResult end = step_worlds(scenario, run, sharp(), Backend::cpu);
  double sum = 0.3 * end.displacement[0];
  for (std::size_t j = 0; j < end.position.size(); ++j) sum += std::sin(1.0 + j) * end.position[j];
  for (std::size_t j = 0; j < end.velocity.size(); ++j) sum += std::cos(2.0 + j) * end.velocity[j];
  return sum;
}
WorldsCotangent cotangent_of(const WorldsResult& end) {
  WorldsCotangent cotangent;
  for (std::size_t j = 0; j < end.position.size(); ++j) {
    cotangent.position.push_back(std::sin(1.0 + j));
  }
  for (std::size_t j = 0; j < end.velocity.size(); ++j) {
    cotangent.velocity.push_back(std::cos(2.0 + j));
  }
  cotangent.displacement = {0.3};
  return cotangent;
}

class RunsOf : public testing::TestWithParam<Case> {};

// Differences of fourth order, of the best of five steps: no code of the derivatives.
TEST_P(RunsOf, EveryParameterHasItsDifference) {
  const Case& given = GetParam();
  const models::Scenario& scenario = models::find_scenario(given.scenario);
  WorldRun run = run_of(scenario, given.parameters, given.steps);
  run.step_size = scenario.step_size;
  const WorldsResult end = step_worlds(scenario, run, sharp(), Backend::cpu);
  const double size = 1.0 + std::abs(loss(scenario, run));
  const WorldsGradient gradient = differentiate_worlds(scenario, run, cotangent_of(end), sharp());
  EXPECT_EQ(gradient.status[0], Smoothness::smooth);
  EXPECT_EQ(gradient.first_step[0], -1);
  EXPECT_LE(gradient.residual[0], 1e-12);
  const auto compare = [&](const std::string& name, double& number, double found) {
    const double at = number;
    double best = 1e300;
    for (const double share : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
      const double step = share * (at != 0.0 ? std::abs(at) : 1e-3);
      const auto along = [&](double times) {
        number = at + times * step;
        return loss(scenario, run);
      };
      const double difference =
          (8.0 * (along(1.0) - along(-1.0)) - (along(2.0) - along(-2.0))) / (12.0 * step);
      const double noise = 1e-14 * size / step;
      best = std::min(best, (std::abs(difference - found) - noise) /
                                std::max(std::abs(found), std::abs(difference)));
    }
    number = at;
    EXPECT_LT(best, 1e-6) << name << " " << found;
  };
  for (std::size_t k = 0; k < scenario.parameters.size(); ++k) {
    const std::string& name = scenario.parameters[k].name;
    if (std::find(scenario.sizes.begin(), scenario.sizes.end(), name) != scenario.sizes.end()) {
      EXPECT_EQ(gradient.parameters[k], 0.0);
      continue;
    }
    if (name == "integrator") continue;  // a choice
    compare(name, run.parameters[k], gradient.parameters[k]);
  }
  compare("step_size", run.step_size, gradient.step_size[0]);
}

/// A direction in which every number of a run has a part.
WorldsDirection direction_of(const models::Scenario& scenario, const WorldRun& run,
                             const WorldsResult& end) {
  WorldsDirection along;
  for (std::size_t k = 0; k < scenario.parameters.size(); ++k) {
    const std::string& name = scenario.parameters[k].name;
    const bool leads =
        name != "integrator" &&
        std::find(scenario.sizes.begin(), scenario.sizes.end(), name) == scenario.sizes.end();
    along.parameters.push_back(leads ? std::cos(3.0 + k) * (0.1 + std::abs(run.parameters[k]))
                                     : 0.0);
  }
  along.step_size = {0.7 * run.step_size};
  for (std::size_t j = 0; j < end.position.size(); ++j) along.position.push_back(std::sin(2.0 * j));
  for (std::size_t j = 0; j < end.velocity.size(); ++j) along.velocity.push_back(std::sin(5.0 + j));
  return along;
}
double inner(const std::vector<double>& a, const std::vector<double>& b, double& size) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    sum += a[j] * b[j];
    size += std::abs(a[j] * b[j]);
  }
  return sum;
}

// <J d, g> = <d, J'g>.
TEST_P(RunsOf, AheadAndBackAreAdjoint) {
  const Case& given = GetParam();
  const models::Scenario& scenario = models::find_scenario(given.scenario);
  WorldRun run = run_of(scenario, given.parameters, given.steps);
  run.step_size = scenario.step_size;
  const WorldsResult end = step_worlds(scenario, run, sharp(), Backend::cpu);
  const WorldsCotangent g = cotangent_of(end);
  const WorldsDirection d = direction_of(scenario, run, end);
  const WorldsGradient back = differentiate_worlds(scenario, run, g, sharp());
  const WorldsTangent ahead = propagate_worlds(scenario, run, d, sharp());
  EXPECT_EQ(ahead.status[0], Smoothness::smooth);
  EXPECT_EQ(ahead.first_step[0], -1);
  EXPECT_LE(ahead.residual[0], 1e-12);
  EXPECT_EQ(ahead.touch, back.touch);
  double size = 0.0;
  const double left = inner(g.position, ahead.position, size) +
                      inner(g.velocity, ahead.velocity, size) +
                      inner(g.displacement, ahead.displacement, size);
  const double right =
      inner(back.parameters, d.parameters, size) + inner(back.step_size, d.step_size, size) +
      inner(back.position, d.position, size) + inner(back.velocity, d.velocity, size);
  EXPECT_NE(left, 0.0);
  EXPECT_NEAR(left, right, 1e-12 * size * std::max(1.0, ahead.condition[0] / 1e3));
}

INSTANTIATE_TEST_SUITE_P(
    DifferentiateWorlds, RunsOf,
    testing::Values(Case{"spring_mass_damper", {{"force", 2.0}}, 50},
                    Case{"spring_mass_damper", {{"integrator", 1.0}}, 50},
                    Case{"spring_mass_damper", {{"integrator", 0.0}}, 20},
                    Case{"pendulum_joint", {{"stiffness", 1e4}, {"damping", 10.0}}, 40},
                    Case{"pendulum_limit", {{"angular_velocity", -2.0}, {"damping", 3.0}}, 60},
                    Case{"inclined_block", {}, 100},
                    Case{"compliant_block_impact",
                         {{"stiffness_ratio", 1.5},
                          {"angle", 3.0},
                          {"downward_velocity", 3.0},
                          {"tangent_damping", 10.0}},
                         12},
                    Case{"sphere_stack", {{"gap", 1e-3}}, 40}, Case{"elastic_foundation", {}, 30}),
    [](const auto& tested) {
      return std::string(tested.param.scenario) + std::to_string(tested.index);
    });

/// Blocks that slide, with some frictions.
WorldRun blocks(const models::Scenario& scenario, std::int64_t worlds, std::int64_t steps) {
  WorldRun run;
  run.worlds = worlds;
  run.steps = steps;
  for (std::int64_t w = 0; w < worlds; ++w) {
    const auto own =
        models::scenario_parameters(scenario, {{"friction", 0.1 + 0.002 * static_cast<double>(w)}});
    run.parameters.insert(run.parameters.end(), own.begin(), own.end());
  }
  return run;
}

TEST(DifferentiateWorlds, ABlockThatSlidesHasTheClosedForm) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  constexpr std::int64_t kSteps = 400;
  const WorldRun run = blocks(scenario, 1, kSteps);
  WorldsCotangent cotangent;
  cotangent.displacement = {1.0};
  const WorldsGradient gradient =
      differentiate_worlds(scenario, run, cotangent, sharp(), {}, {"friction"});
  const auto of = [&](const char* name) {
    return run.parameters[models::parameter_index(scenario, name)];
  };
  const double h = scenario.step_size, steps = kSteps;
  const double cosine = std::cos(of("angle") * 3.14159265358979323846 / 180.0);
  const double closed = -of("gravity") * cosine * h * h * steps * (steps + 1.0) / 2.0;
  const std::size_t place = models::parameter_index(scenario, "friction");
  // The feet sink in at first: normal forces sum to the weight's impulse less what is stored then.
  EXPECT_NEAR(gradient.parameters[place], closed, 2e-4 * std::abs(closed));
  EXPECT_EQ(gradient.status[0], Smoothness::smooth);
  for (std::size_t k = 0; k < scenario.parameters.size(); ++k) {
    if (k == place) continue;
    EXPECT_EQ(gradient.parameters[k], 0.0);  // not wanted
  }
}

// Above a friction of 0.268 two feet of the block creep, by the softness of the others that stick:
// slips of 1e-9 of their terms, and a displacement that friction changes linearly.
TEST(DifferentiateWorlds, ABlockThatCreepsHasItsDerivative) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  const std::size_t place = models::parameter_index(scenario, "friction");
  WorldsCotangent cotangent;
  cotangent.displacement = {1.0};
  const auto displacement = [&](double friction) {
    return step_worlds(scenario, run_of(scenario, {{"friction", friction}}, 50), sharp(),
                       Backend::cpu)
        .displacement[0];
  };
  const double slope = (displacement(0.282) - displacement(0.27)) / 0.012;
  DerivativeSettings strict;
  strict.margin_tolerance = 1e-12;
  for (const double friction : {0.27, 0.275, 0.28, 0.284}) {
    SCOPED_TRACE(friction);
    const WorldRun run = run_of(scenario, {{"friction", friction}}, 50);
    for (const bool always : {false, true}) {
      const WorldsGradient gradient = differentiate_worlds(
          scenario, run, cotangent, sharp(), always ? strict : DerivativeSettings(), {"friction"});
      // A slip below the tolerance is on the border: the mean of what slides and of what sticks.
      const bool border = friction > 0.282 && !always;
      EXPECT_EQ(gradient.status[0], border ? Smoothness::kink : Smoothness::smooth);
      EXPECT_NEAR(gradient.parameters[place], border ? 0.5 * slope : slope, 1e-6 * std::abs(slope));
    }
  }
}

TEST(DifferentiateWorlds, BitsDependNeitherOnCheckpointsNorOnTheBatchNorOnThreads) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  const WorldRun run = blocks(scenario, 70, 50);
  WorldsCotangent cotangent;
  cotangent.displacement.assign(70, 1.0);
  const WorldsGradient whole = differentiate_worlds(scenario, run, cotangent, sharp());
  for (const std::int64_t checkpoint : {1, 7, 50, 1000}) {
    CompliantSettings settings = sharp();
    settings.threads = 2;
    DerivativeSettings derivative;
    derivative.threads = 2;
    const WorldsGradient other =
        differentiate_worlds(scenario, run, cotangent, settings, derivative, {}, checkpoint);
    EXPECT_EQ(other.parameters, whole.parameters) << checkpoint;
    EXPECT_EQ(other.position, whole.position);
  }
  WorldRun alone = run;
  const std::size_t count = scenario.parameters.size();
  alone.worlds = 1;
  alone.parameters.assign(run.parameters.begin() + 67 * static_cast<long>(count),
                          run.parameters.begin() + 68 * static_cast<long>(count));
  WorldsCotangent one;
  one.displacement = {1.0};
  const WorldsGradient found = differentiate_worlds(scenario, alone, one, sharp());
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_EQ(found.parameters[k], whole.parameters[67 * count + k]) << k;
  }
}

TEST(DifferentiateWorlds, SaysWhereTheMapOfAScenarioHasNoDerivative) {
  const models::Scenario& scenario = models::find_scenario("compliant_block_impact");
  // Flat: which corner is lower, and so where the block starts, has a kink in the angle; and both
  // corners touch at the start, where the damper is switched.
  const WorldRun flat = run_of(scenario, {{"angle", 0.0}}, 10);
  WorldsCotangent cotangent;
  cotangent.displacement = {1.0};
  const WorldsGradient gradient = differentiate_worlds(scenario, flat, cotangent, sharp());
  EXPECT_EQ(gradient.status[0], Smoothness::set_valued);
  EXPECT_EQ(gradient.touch[0], 0.0);
  const std::size_t angle = models::parameter_index(scenario, "angle");
  EXPECT_TRUE(std::isnan(gradient.parameters[angle]));
  // Nothing of that moves with the mass.
  const WorldsGradient of_mass =
      differentiate_worlds(scenario, flat, cotangent, sharp(), {}, {"mass"});
  EXPECT_EQ(of_mass.status[0], Smoothness::smooth);
  EXPECT_EQ(of_mass.first_step[0], -1);
  EXPECT_GT(of_mass.touch[0], 1e-3);
  // A ratio of one is where the softer corner changes.
  const WorldsGradient of_ratio =
      differentiate_worlds(scenario, flat, cotangent, sharp(), {}, {"stiffness_ratio"});
  EXPECT_EQ(of_ratio.status[0], Smoothness::kink);
  EXPECT_TRUE(
      std::isnan(of_ratio.parameters[models::parameter_index(scenario, "stiffness_ratio")]));
}

// A block that starts flat: the lower corner is another for other angles.
TEST(PropagateWorlds, IsOneSidedAtAKinkOfTheStart) {
  const models::Scenario& scenario = models::find_scenario("compliant_block_impact");
  const WorldRun flat = run_of(scenario, {{"angle", 0.0}}, 1);
  const std::size_t angle = models::parameter_index(scenario, "angle");
  std::vector<double> rates;
  for (const double way : {1.0, -1.0}) {
    WorldsDirection along;
    along.parameters.assign(scenario.parameters.size(), 0.0);
    along.parameters[angle] = way;
    const WorldsTangent found = propagate_worlds(scenario, flat, along, sharp());
    EXPECT_EQ(found.status[0], Smoothness::set_valued);  // both corners touch at the start
    EXPECT_EQ(found.first_step[0], 0);
    rates.push_back(found.displacement[0]);
  }
  // Another corner is the lower one then, and the block starts higher either way.
  EXPECT_NE(rates[0], -rates[1]);
  EXPECT_NEAR(rates[0], rates[1], 1e-9 * std::abs(rates[0]));
}

// The centripetal term of four feet, which depend on each other whatever the parameters are.
TEST(DifferentiateWorlds, ABodyThatTurnsOnRedundantFeetHasItsDifferences) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  CompliantSettings settings = sharp();
  settings.centripetal = true;
  WorldRun run = run_of(scenario, {{"angle", 25.0}, {"friction", 0.2}}, 60);
  run.step_size = scenario.step_size;
  const WorldsResult end = step_worlds(scenario, run, settings, Backend::cpu);
  const WorldsGradient found = differentiate_worlds(scenario, run, cotangent_of(end), settings);
  EXPECT_EQ(found.status[0], Smoothness::smooth);
  const auto loss_of = [&] {
    const WorldsResult at = step_worlds(scenario, run, settings, Backend::cpu);
    const WorldsCotangent weights = cotangent_of(at);
    double size = 0.0;
    return inner(weights.position, at.position, size) + inner(weights.velocity, at.velocity, size) +
           inner(weights.displacement, at.displacement, size);
  };
  for (const char* name : {"friction", "angle", "mass", "length", "stiffness"}) {
    double& number = run.parameters[models::parameter_index(scenario, name)];
    const double at = number, step = 1e-5 * at;
    const auto along = [&](double times) {
      number = at + times * step;
      return loss_of();
    };
    const double difference =
        (8.0 * (along(1.0) - along(-1.0)) - (along(2.0) - along(-2.0))) / (12.0 * step);
    number = at;
    const double gradient = found.parameters[models::parameter_index(scenario, name)];
    EXPECT_NEAR(gradient, difference, 1e-6 * std::abs(difference) + 1e-12 / step) << name;
  }
}

TEST(DifferentiateWorlds, AWorldThatIsRefusedLeavesItsNeighbours) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  WorldRun run = blocks(scenario, 3, 20);
  WorldsCotangent cotangent;
  cotangent.displacement.assign(3, 1.0);
  const WorldsGradient good = differentiate_worlds(scenario, run, cotangent, sharp());
  const std::size_t count = scenario.parameters.size();
  run.parameters[count] = -1.0;  // a mass
  run.isolate = true;
  const WorldsGradient found = differentiate_worlds(scenario, run, cotangent, sharp());
  EXPECT_EQ(found.status[1], Smoothness::not_solved);
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_EQ(found.parameters[k], good.parameters[k]);
    EXPECT_TRUE(std::isnan(found.parameters[count + k]));
    EXPECT_EQ(found.parameters[2 * count + k], good.parameters[2 * count + k]);
  }
}

TEST(DifferentiateWorlds, RefusesByField) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  const WorldRun run = blocks(scenario, 2, 5);
  WorldsCotangent cotangent;
  cotangent.displacement = {1.0};
  expect_names(refusal([&] { return differentiate_worlds(scenario, run, cotangent); }),
               {"cotangent.displacement", "1", "2"});
  cotangent.displacement = {1.0, std::nan("")};
  expect_names(refusal([&] { return differentiate_worlds(scenario, run, cotangent); }),
               {"cotangent.displacement[1]", "nan"});
  cotangent.displacement = {1.0, 1.0};
  expect_names(
      refusal([&] { return differentiate_worlds(scenario, run, cotangent, {}, {}, {"frictoin"}); }),
      {"wanted", "frictoin"});
  WorldsDirection along;
  along.position.assign(3, 0.0);
  expect_names(refusal([&] { return propagate_worlds(scenario, run, along); }),
               {"direction.position", "3", "14"});
  const models::Scenario& stack = models::find_scenario("sphere_stack");
  WorldsDirection more;
  more.parameters.assign(stack.parameters.size(), 1.0);
  expect_names(refusal([&] { return propagate_worlds(stack, run_of(stack, {}, 1), more); }),
               {"direction.parameters", "spheres"});
  CompliantSettings programme;
  programme.law = StepLaw::programme;
  expect_names(refusal([&] { return differentiate_worlds(scenario, run, cotangent, programme); }),
               {"law", "programme"});
}

}  // namespace
}  // namespace carom
