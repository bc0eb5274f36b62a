#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/compliant.hpp>

/// Worlds by the paper's convex programme (StepLaw::programme).
namespace carom::programme_worlds {
namespace {

using Overrides = std::map<std::string, double>;

WorldsResult stepped(const std::string& name, const std::vector<Overrides>& worlds, double h,
                     std::int64_t steps, const CompliantSettings& settings, std::int64_t stride = 0,
                     Backend backend = Backend::cpu) {
  const models::Scenario& scenario = models::find_scenario(name);
  WorldRun run;
  run.worlds = static_cast<std::int64_t>(worlds.size());
  for (const Overrides& overrides : worlds) {
    const std::vector<double> values = models::scenario_parameters(scenario, overrides);
    run.parameters.insert(run.parameters.end(), values.begin(), values.end());
  }
  run.step_size = h;
  run.steps = steps;
  run.stride = stride;
  return step_worlds(scenario, run, settings, backend);
}

CompliantSettings by_programme() {
  CompliantSettings settings;
  settings.law = StepLaw::programme;
  return settings;
}

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(std::abs(a[i] - b[i]));
  return out;
}
double farthest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// Without friction and with rows that press alone there is nothing to trade: both laws are one.
TEST(ProgrammeWorlds, AreTheLawWhereItIsOne) {
  const std::vector<std::pair<std::string, Overrides>> cases = {
      {"pendulum_joint", {}},
      {"pendulum_limit", {{"angle", 0.05}, {"angular_velocity", -1.0}}},
      {"sphere_stack", {{"spheres", 1}, {"friction", 0.0}, {"gap", 0.01}}},
      {"spring_mass_damper", {{"integrator", 2}}}};
  for (const auto& [name, overrides] : cases) {
    const double h = models::find_scenario(name).step_size;
    const WorldsResult law = stepped(name, {overrides}, h, 100, {}, 10);
    const WorldsResult convex = stepped(name, {overrides}, h, 100, by_programme(), 10);
    EXPECT_EQ(convex.status[0], Status::solved) << name;
    EXPECT_LE(farthest(differences(law.frame_state, convex.frame_state)), 1e-7) << name;
    EXPECT_LE(
        farthest(differences(law.force, convex.force)),
        1e-6 * (1.0 + farthest(differences(law.force, std::vector<double>(law.force.size())))))
        << name;
  }
}

/// One step of a world is the single step of its rows.
TEST(ProgrammeWorlds, StepAsTheSingleStepDoes) {
  // A cube whose foundation has one element is a particle on a spring.
  const double load = 50.0;
  const double h = 0.01;
  const WorldsResult world = stepped(
      "elastic_foundation", {{{"elements_per_side", 1}, {"load", load}}}, h, 1, by_programme());
  CompliantProblem problem;
  problem.velocities = 1;
  problem.step_size = h;
  problem.mass_matrix = {8.0};
  problem.force = {-8.0 * 9.81 - load};
  problem.velocity = {0.0};
  CompliantConstraint spring;
  spring.type = CompliantConstraint::Type::unilateral;
  spring.jacobian = {1.0};
  spring.stiffness = {1e7};
  spring.damping = {1.0};
  problem.constraints.push_back(spring);
  const CompliantResult single =
      solve_compliant(make_batch(std::vector{problem}), by_programme(), Backend::cpu);
  EXPECT_NEAR(world.velocity[2], single.velocity.data()[0], 1e-12);
  EXPECT_NEAR(world.force[0], single.force.data()[0], 1e-6);
  EXPECT_NEAR(world.force[0], 8.0 * 9.81 + load, 2.0);
}

/// Figure 9 by the programme: where the block slides it is lifted off the plane. The numbers are
/// those of the cpu and of the reference backend, whose QP methods share nothing.
TEST(ProgrammeWorlds, TheBlockHops) {
  std::vector<Overrides> worlds;
  for (const double mu : {0.0, 0.125, 0.25, 0.375}) worlds.push_back({{"friction", mu}});
  const WorldsResult law = stepped("inclined_block", worlds, 0.01, 100, {}, 1);
  const WorldsResult convex = stepped("inclined_block", worlds, 0.01, 100, by_programme(), 1);
  const auto highest = [](const WorldsResult& result, std::size_t world) {
    double height = 0.0;
    for (std::size_t f = 0; f < result.frame_time.size(); ++f) {
      height = std::max(height, result.frame_state[(f * 4 + world) * 13 + 2] -
                                    result.frame_state[world * 13 + 2]);
    }
    return height;
  };
  for (std::size_t w = 0; w < 4; ++w) {
    EXPECT_LE(convex.failed[w], 1) << w;
    EXPECT_LE(convex.max_residual[w], 1e-7) << w;
  }
  EXPECT_NEAR(convex.displacement[0], law.displacement[0], 1e-6);
  EXPECT_NEAR(convex.displacement[3], 0.0, 1e-6);
  EXPECT_NEAR(highest(convex, 1), 1.27824, 1e-3);
  EXPECT_NEAR(highest(convex, 2), 0.23113, 1e-3);
  EXPECT_NEAR(convex.displacement[1], 0.543614, 1e-4);
  EXPECT_NEAR(convex.displacement[2], 0.330676, 1e-4);
  for (std::size_t w = 0; w < 4; ++w) EXPECT_LE(highest(law, w), 1e-6);
}

/// zeta: at a large weight the normal force is not raised to stop what slides.
TEST(ProgrammeWorlds, TheWeightOfNormalForcesCounts) {
  CompliantSettings heavy = by_programme();
  heavy.normal_weight = 1e14;
  const std::vector<Overrides> worlds = {{{"friction", 0.125}}};
  const WorldsResult paper = stepped("inclined_block", worlds, 0.01, 20, by_programme());
  const WorldsResult weighted = stepped("inclined_block", worlds, 0.01, 20, heavy);
  EXPECT_GT(std::abs(paper.displacement[0] - weighted.displacement[0]), 1e-3);
}

/// A world is the same beside others and on any number of threads; a refused one stays alone.
TEST(ProgrammeWorlds, WorldsDoNotMeet) {
  std::vector<Overrides> worlds;
  for (int i = 0; i < 5; ++i) worlds.push_back({{"friction", 0.1 * i}, {"angle", 10.0 + 3.0 * i}});
  CompliantSettings one = by_programme();
  one.threads = 1;
  const WorldsResult all = stepped("inclined_block", worlds, 0.01, 30, by_programme());
  const WorldsResult serial = stepped("inclined_block", worlds, 0.01, 30, one);
  EXPECT_EQ(all.position, serial.position);
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    const WorldsResult alone = stepped("inclined_block", {worlds[w]}, 0.01, 30, by_programme());
    EXPECT_NEAR(alone.displacement[0], all.displacement[w], 1e-9) << w;
  }
  WorldRun spoilt;
  spoilt.worlds = 2;
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  spoilt.parameters = models::scenario_parameters(scenario);
  const std::vector<double> good = spoilt.parameters;
  spoilt.parameters[models::parameter_index(scenario, "friction")] = -1.0;
  spoilt.parameters.insert(spoilt.parameters.end(), good.begin(), good.end());
  spoilt.steps = 5;
  spoilt.isolate = true;
  const WorldsResult isolated = step_worlds(scenario, spoilt, by_programme(), Backend::cpu);
  EXPECT_EQ(isolated.status[0], Status::invalid_input);
  EXPECT_EQ(isolated.status[1], Status::solved);
}

/// The reference's own solver of the programme.
TEST(ProgrammeWorlds, TheReferenceAgrees) {
  const std::vector<Overrides> worlds = {{{"friction", 0.125}}, {{"friction", 0.375}}};
  const WorldsResult cpu = stepped("inclined_block", worlds, 0.01, 10, by_programme());
  const WorldsResult reference =
      stepped("inclined_block", worlds, 0.01, 10, by_programme(), 0, Backend::reference);
  EXPECT_LE(farthest(differences(cpu.position, reference.position)), 1e-5);
}

/// The programme trades forces of unilateral springs: the foundation of a loaded cube is not that
/// of (68).
TEST(ProgrammeWorlds, FoundationsAreNotThoseOfTheLaw) {
  const std::vector<Overrides> world = {{{"load", 50.0}}};
  const WorldsResult law = stepped("elastic_foundation", world, 0.01, 20, {});
  const WorldsResult convex = stepped("elastic_foundation", world, 0.01, 20, by_programme());
  EXPECT_EQ(convex.failed[0], 0);
  double sum = 0.0;
  for (const double force : convex.force) sum += force;
  EXPECT_NEAR(sum, 8.0 * 9.81 + 50.0, 1.0);
}

}  // namespace
}  // namespace carom::programme_worlds
