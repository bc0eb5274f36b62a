#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/compliant.hpp>

/// The claims of the paper's examples, as numbers.
namespace carom {
namespace {

using Overrides = std::map<std::string, double>;

WorldsResult run(const std::string& name, const Overrides& overrides, double h, std::int64_t steps,
                 std::int64_t stride = 0, Backend backend = Backend::cpu) {
  const models::Scenario& scenario = models::find_scenario(name);
  WorldRun run;
  run.parameters = models::scenario_parameters(scenario, overrides);
  run.step_size = h;
  run.steps = steps;
  run.stride = stride;
  return step_worlds(scenario, run, {}, backend);
}

void expect_certified(const WorldsResult& result) {
  for (std::size_t w = 0; w < result.status.size(); ++w) {
    EXPECT_EQ(result.status[w], Status::solved);
    EXPECT_EQ(result.failed[w], 0);
    EXPECT_LE(result.max_residual[w], 1e-9);
  }
}

/// Entry `i` of (q, v) of the only world, over the frames.
std::vector<double> history(const WorldsResult& result, int i) {
  std::vector<double> values;
  const auto width = static_cast<std::size_t>(result.positions + result.velocities);
  for (std::size_t f = 0; f < result.frame_time.size(); ++f) {
    values.push_back(result.frame_state[f * width + static_cast<std::size_t>(i)]);
  }
  return values;
}

double largest(const std::vector<double>& values) {
  double size = 0.0;
  for (const double value : values) size = std::max(size, std::abs(value));
  return size;
}

TEST(SpringMassDamperScenario, ExplicitEulerIsStableOnlyWhereFigure1Says) {
  const auto reach = [](double damping) {
    return largest(
        history(run("spring_mass_damper",
                    {{"integrator", 0}, {"stiffness", 1e6}, {"damping", damping}}, 1e-5, 2000, 1),
                0));
  };
  EXPECT_GT(reach(1.0), 1.05);     // grows
  EXPECT_LE(reach(1.9e5), 1.001);  // decays
  EXPECT_GT(reach(2.1e5), 1e3);
}

TEST(SpringMassDamperScenario, SemiImplicitEulerFailsAtFigure2sStiffness) {
  const auto reach = [](double stiffness) {
    return largest(
        history(run("spring_mass_damper",
                    {{"integrator", 1}, {"stiffness", stiffness}, {"damping", 1.0}}, 1e-3, 1000, 1),
                0));
  };
  EXPECT_LT(reach(1e6), 2.0);
  EXPECT_GT(reach(1e7), 1e6);
}

/// The step on a single bilateral row is implicit Euler (13), (14).
TEST(SpringMassDamperScenario, ImplicitStepIsEquation14) {
  for (const double k : {0.0, 1e3, 1e15}) {
    for (const double b : {0.0, 7.0, 1e12}) {
      for (const double h : {1e-8, 1e-2, 10.0}) {
        if (k == 0.0 && b == 0.0) continue;
        const WorldsResult r =
            run("spring_mass_damper",
                {{"stiffness", k}, {"damping", b}, {"force", 3.0}, {"velocity", 0.5}}, h, 1);
        const double expected = (0.5 + h * (3.0 - k)) / (1.0 + h * b + h * h * k);
        // v' is what rounding leaves of v + h f / m, x / h and the answer to them.
        const double rounding = 4e-16 * (0.5 + 3.0 * h + (k > 0.0 ? 1.0 / h : 0.0));
        EXPECT_NEAR(r.velocity[0], expected, 1e-9 * std::abs(expected) + rounding);
        expect_certified(r);
      }
    }
  }
}

TEST(SpringMassDamperScenario, ImplicitEulerIsStableForAnyStiffnessDampingAndStep) {
  for (const double k : {1.0, 1e6, 1e11, 1e15}) {
    for (const double b : {0.0, 1.0, 1e6, 1e12}) {
      for (const double h : {1e-8, 1e-5, 1e-2, 1.0, 100.0}) {
        const WorldsResult r =
            run("spring_mass_damper", {{"stiffness", k}, {"damping", b}}, h, 200, 1);
        expect_certified(r);
        EXPECT_LE(largest(history(r, 0)), 1.0 + 1e-9) << k << " " << b << " " << h;
      }
    }
  }
}

TEST(PendulumJointScenario, DeviationFallsWithTheSquareOfTheStep) {
  std::vector<double> deviation;
  for (const double h : {1e-2, 1e-3, 1e-4}) {
    const auto steps = std::lround(1.0 / h);
    const WorldsResult r = run("pendulum_joint", {}, h, steps, 1);
    expect_certified(r);
    const std::vector<double> x = history(r, 0);
    const std::vector<double> y = history(r, 1);
    const std::vector<double> angle = history(r, 2);
    double worst = 0.0;
    for (std::size_t f = 0; f < x.size(); ++f) {
      worst = std::max(worst, std::hypot(x[f] - std::sin(angle[f]), y[f] + std::cos(angle[f])));
    }
    deviation.push_back(worst);
  }
  EXPECT_NEAR(deviation[0] / deviation[1], 100.0, 20.0);
  EXPECT_NEAR(deviation[1] / deviation[2], 100.0, 20.0);
  EXPECT_TRUE(std::isfinite(run("pendulum_joint", {}, 0.1, 10).displacement[0]));
}

TEST(PendulumJointScenario, EnergyIsKept) {
  const WorldsResult r = run("pendulum_joint", {}, 1e-4, 10000, 10);
  const auto [lowest, highest] = std::minmax_element(r.frame_energy.begin(), r.frame_energy.end());
  EXPECT_LE(*highest - *lowest, 1e-6 * 9.81);  // of m g L
  EXPECT_LE(std::abs(r.energy[0] - r.energy_start[0]), 1e-6 * 9.81);
}

TEST(PendulumLimitScenario, IsDeadForLargeStepsAndElasticForSmall) {
  // From rest at 90 degrees; the limit is met after 0.59 s at sqrt(2 g) rad/s.
  for (const double h : {1e-2, 1e-3, 1e-5}) {
    const WorldsResult r = run("pendulum_limit", {}, h, std::lround(0.8 / h),
                               std::max<std::int64_t>(1, std::lround(1e-3 / h)));
    expect_certified(r);
    const std::vector<double> angle = history(r, 0);
    double highest = 0.0;
    for (std::size_t f = angle.size() * 7 / 8; f < angle.size(); ++f) {
      highest = std::max(highest, std::abs(angle[f]));
    }
    EXPECT_LE(highest, 0.03) << "rises again at h = " << h;
  }
  // From close to the limit, so that the small step reaches it: speed before and after.
  const WorldsResult elastic =
      run("pendulum_limit", {{"angle", 0.01}, {"angular_velocity", -4.4}}, 1e-8, 10000, 1);
  expect_certified(elastic);
  EXPECT_NEAR(elastic.velocity[0], 4.4, 0.05 * 4.4);
  const WorldsResult dead =
      run("pendulum_limit", {{"angle", 0.01}, {"angular_velocity", -4.4}}, 1e-5, 100, 1);
  EXPECT_LE(std::abs(dead.velocity[0]), 0.01 * 4.4);
}

TEST(InclinedBlockScenario, SlidesAsCoulombSays) {
  const double slope = 15.0 * std::numbers::pi / 180.0;
  for (const double mu : {0.0, 0.125, 0.25}) {
    const WorldsResult r = run("inclined_block", {{"friction", mu}}, 0.01, 100);
    expect_certified(r);
    const double expected = 0.5 * 9.81 * (std::sin(slope) - mu * std::cos(slope));
    EXPECT_NEAR(r.displacement[0], expected, 0.02 * expected) << mu;
    double normal = 0.0;
    for (std::size_t foot = 0; foot < 4; ++foot) {
      normal += r.force[3 * foot];
      const double tangent = std::hypot(r.force[3 * foot + 1], r.force[3 * foot + 2]);
      EXPECT_NEAR(tangent, mu * r.force[3 * foot], 1e-9);
      if (mu == 0.0) {
        EXPECT_EQ(r.force[3 * foot + 1], 0.0);
        EXPECT_EQ(r.force[3 * foot + 2], 0.0);
      } else {
        EXPECT_LT(r.force[3 * foot + 1], 0.0);  // against the motion
      }
    }
    EXPECT_NEAR(normal, 9.81 * std::cos(slope), 1e-5);
  }
}

TEST(InclinedBlockScenario, StaysInStiction) {
  const WorldsResult r = run("inclined_block", {{"friction", 0.375}}, 0.01, 100, 1);
  expect_certified(r);
  EXPECT_LE(largest(history(r, 0)), 1e-6);
}

TEST(ElasticFoundationScenario, SettlesAtWeightOverStiffness) {
  for (const double side : {10.0, 30.0}) {
    for (const double modulus : {1e7, 1e11}) {
      const WorldsResult r =
          run("elastic_foundation",
              {{"elements_per_side", side}, {"modulus", modulus}, {"load", 0.0}}, 0.01, 200);
      expect_certified(r);
      EXPECT_NEAR(r.displacement[0], -8.0 * 9.81 / modulus, 1e-9 * 8.0 * 9.81 / modulus + 1e-15);
    }
  }
}

/// Table 2: distance of q after one second from that of a step a hundred times smaller.
/// Table 2 is not reproduced: the errors are those of a load that lags by one step, 130 to 5e9
/// times smaller than printed. docs/gallery/plot_drumwright_table_2.py says what was tried.
TEST(ElasticFoundationScenario, ErrorsAreThoseOfTheLoadsLagNotTable2s) {
  struct Row {
    double load, side, modulus, printed, here;
  };
  const std::vector<Row> table{{5, 10, 1e7, 2.96e-5, 1.500e-7}, {5, 10, 1e11, 2.91e-7, 1.499e-11},
                               {5, 30, 1e7, 1.98e-5, 1.487e-7}, {5, 30, 1e11, 2.71e-9, 1.486e-11},
                               {50, 10, 1e7, 0.813, 1.558e-6},  {50, 10, 1e11, 0.814, 1.555e-10},
                               {50, 30, 1e7, 1.0e-2, 1.543e-6}, {50, 30, 1e11, 1.0e-2, 1.543e-10}};
  for (const Row& row : table) {
    const Overrides overrides{
        {"elements_per_side", row.side}, {"modulus", row.modulus}, {"load", row.load}};
    const WorldsResult coarse = run("elastic_foundation", overrides, 1e-2, 100);
    const WorldsResult fine = run("elastic_foundation", overrides, 1e-4, 10000);
    expect_certified(coarse);
    double square = 0.0;
    double tilt = 0.0;
    for (std::size_t j = 0; j < 7; ++j) {
      square += std::pow(coarse.position[j] - fine.position[j], 2);
      if (j > 3) tilt += std::pow(fine.position[j], 2);
    }
    const double error = std::sqrt(square);
    EXPECT_NEAR(error, row.here, 0.02 * row.here)
        << row.load << " N, " << row.side << " a side, E = " << row.modulus;
    EXPECT_NEAR(error, 10.0 * 1e-2 * std::sqrt(tilt), 0.15 * error);  // 10 rad/s over one step
    EXPECT_GT(row.printed, 100.0 * error);
    EXPECT_GT(row.printed, 2.0 * (8.0 * 9.81 + row.load) / row.modulus) << "all of the compression";
  }
}

TEST(SphereStackScenario, AHundredStiffSpheresStandStill) {
  const WorldsResult r = run("sphere_stack", {{"spheres", 100}}, 0.01, 500);
  expect_certified(r);
  for (std::size_t j = 0; j < r.velocity.size(); ++j) EXPECT_NEAR(r.velocity[j], 0.0, 1e-9);
  // Each sphere compresses the contacts below it by their loads over E r.
  double height = 0.0;
  for (std::size_t i = 0; i < 100; ++i) {
    height += 0.2 * (i > 0 ? 1.0 : 0.5) - (100.0 - static_cast<double>(i)) * 9.81 / 1e10;
    EXPECT_NEAR(r.position[6 * i + 2], height, 1e-9);
    EXPECT_NEAR(r.position[6 * i], 0.0, 1e-9);
  }
}

TEST(SphereStackScenario, SpheresDroppedInAColumnComeToRestInAStack) {
  const WorldsResult r = run("sphere_stack", {{"spheres", 20}, {"gap", 0.01}}, 0.01, 500);
  expect_certified(r);
  EXPECT_LE(largest(r.velocity), 1e-6);
  EXPECT_NEAR(r.displacement[0], 0.0, 1e-6);
}

/// The cost of a step grows with the constraints, not with the stiffness: Newton steps as a count.
TEST(SphereStackScenario, IterationsDoNotGrowWithTheStiffness) {
  std::vector<std::int64_t> iterations;
  for (const double modulus : {1e7, 1e11, 1e14}) {
    iterations.push_back(
        run("sphere_stack", {{"spheres", 20}, {"modulus", modulus}}, 0.01, 200).iterations[0]);
  }
  EXPECT_LE(iterations[1], 2 * iterations[0] + 50);
  EXPECT_LE(iterations[2], 2 * iterations[0] + 50);
}

TEST(Scenarios, ReferenceTakesTheSameWay) {
  const std::vector<std::pair<std::string, Overrides>> cases{
      {"spring_mass_damper", {{"stiffness", 1e9}}},
      {"pendulum_joint", {}},
      {"pendulum_limit", {{"angle", 20.0}}},
      {"inclined_block", {{"friction", 0.2}}},
      {"sphere_stack", {{"spheres", 3}, {"gap", 0.001}}},
      {"elastic_foundation", {{"elements_per_side", 2}, {"load", 50}}}};
  for (const auto& [name, overrides] : cases) {
    const WorldsResult fast = run(name, overrides, 0.01, 25);
    const WorldsResult full = run(name, overrides, 0.01, 25, 0, Backend::reference);
    expect_certified(fast);
    expect_certified(full);
    for (std::size_t j = 0; j < fast.position.size(); ++j) {
      EXPECT_NEAR(fast.position[j], full.position[j], 1e-7) << name << " q" << j;
    }
  }
}

}  // namespace
}  // namespace carom
