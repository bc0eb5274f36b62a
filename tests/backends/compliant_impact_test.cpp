#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/compliant.hpp>
#include <carom/impact.hpp>

/// Figure 12 of Halm and Posa: compliant impacts of the rocking block against its sampled set.
namespace carom {
namespace {

struct NormalVelocity {
  double a, b;
};

NormalVelocity at_corners(const double* v) { return {v[1] - 0.5 * v[2], v[1] + 0.5 * v[2]}; }

/// Post-impact normal velocities of the rigid model, terminated samples.
std::vector<NormalVelocity> routh_set() {
  const ImpactProblem problem = models::build("rocking_block");
  const models::Model& model = models::find("rocking_block");
  ImpactSettings settings;
  settings.samples = 1 << 15;
  settings.step_size = model.step_size;
  settings.max_steps = model.max_steps;
  settings.keep_samples = -1;
  const ImpactResult result =
      sample_impacts(make_batch(std::vector{problem}), settings, Backend::cpu);
  std::vector<NormalVelocity> set;
  for (std::size_t i = 0; i < result.samples.status.size(); ++i) {
    if (result.samples.status.data()[i] != TrajectoryStatus::terminated) continue;
    set.push_back(at_corners(result.samples.velocity.data() + 3 * i));
  }
  return set;
}

std::vector<NormalVelocity> compliant_outcomes(const std::string& name, double low, double high,
                                               bool logarithmic, int count) {
  const models::Scenario& scenario = models::find_scenario("compliant_block_impact");
  WorldRun run;
  run.worlds = count;
  run.step_size = 1e-7;
  run.steps = 40000;
  for (int i = 0; i < count; ++i) {
    const double x = i / (count - 1.0);
    const double value = logarithmic ? low * std::pow(high / low, x) : low + (high - low) * x;
    const std::vector<double> p = models::scenario_parameters(scenario, {{name, value}});
    run.parameters.insert(run.parameters.end(), p.begin(), p.end());
  }
  const WorldsResult result = step_worlds(scenario, run, {}, Backend::cpu);
  std::vector<NormalVelocity> outcomes;
  for (std::size_t w = 0; w < static_cast<std::size_t>(count); ++w) {
    EXPECT_EQ(result.status[w], Status::solved) << w << " " << result.max_residual[w];
    EXPECT_LE(result.max_residual[w], 1e-9);
    EXPECT_LT(result.steps_taken[w], run.steps) << "the impact is not over";
    EXPECT_LE(result.energy[w], result.energy_start[w]);
    outcomes.push_back(at_corners(result.velocity.data() + 3 * w));
  }
  return outcomes;
}

double distance(const NormalVelocity& x, const std::vector<NormalVelocity>& set) {
  double least = 1e300;
  for (const NormalVelocity& y : set) least = std::min(least, std::hypot(x.a - y.a, x.b - y.b));
  return least;
}

double extent(const std::vector<NormalVelocity>& set) {
  double largest = 0.0;
  for (const NormalVelocity& x : set) largest = std::max({largest, x.a, x.b});
  return largest;
}

TEST(CompliantImpact, EveryStiffnessRatioEndsInsideTheRouthSetAndTheyCoverIt) {
  const std::vector<NormalVelocity> set = routh_set();
  const std::vector<NormalVelocity> outcomes =
      compliant_outcomes("stiffness_ratio", 1e-5, 1e5, true, 51);
  const double size = extent(set);
  ASSERT_GT(size, 0.09);
  for (const NormalVelocity& outcome : outcomes) EXPECT_LE(distance(outcome, set), 0.02 * size);
  // 51 outcomes on two arms: no place of the set is farther from one than their widest gap.
  double gap = 0.0;
  for (const NormalVelocity& x : set) gap = std::max(gap, distance(x, outcomes));
  EXPECT_LE(gap, 0.06 * size);
  EXPECT_GE(extent(outcomes), 0.98 * size);
}

TEST(CompliantImpact, SmallAnglesReachTheSameSetAndSlightlyBeyond) {
  const std::vector<NormalVelocity> set = routh_set();
  const std::vector<NormalVelocity> outcomes = compliant_outcomes("angle", -1e-2, 1e-2, false, 21);
  const double size = extent(set);
  for (const NormalVelocity& outcome : outcomes) EXPECT_LE(distance(outcome, set), 0.04 * size);
  EXPECT_GE(extent(outcomes), 0.99 * size);
}

/// Left and right are mirror images.
TEST(CompliantImpact, RatioAndItsInverseMirrorEachOther) {
  const std::vector<NormalVelocity> outcomes =
      compliant_outcomes("stiffness_ratio", 1e-3, 1e3, true, 2);
  EXPECT_NEAR(outcomes[0].a, outcomes[1].b, 1e-9);
  EXPECT_NEAR(outcomes[0].b, outcomes[1].a, 1e-9);
}

}  // namespace
}  // namespace carom
