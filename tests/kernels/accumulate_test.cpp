#include "impact/accumulate.hpp"

#include <gtest/gtest.h>

#include <vector>

// Totals of parts do not depend on which of them is merged into which.
namespace carom::test {
namespace {

struct Part {
  double residual;
  double energy;
  double velocity;
  TrajectoryStatus status = TrajectoryStatus::terminated;
};

// One planar contact on a line of two velocities.
ImpactAccumulator sum_of(const std::vector<Part>& parts, std::int64_t first) {
  ImpactSettings settings;
  settings.epsilon = 0.5;
  ImpactAccumulator sum(2, 2, 1, settings, settings.epsilon);
  for (const Part& part : parts) {
    const double velocity[2] = {part.velocity, -part.velocity};
    const double impulse[2] = {1.0, 0.25};
    TrajectoryRow row;
    row.sample = first++;
    row.status = part.status;
    row.steps = 3;
    row.pivots = 5;
    row.residual = part.residual;
    row.energy_ratio = part.energy;
    row.modes = part.velocity > 0.0 ? 0 : 1;
    row.velocity = row.net_velocity = velocity;
    row.contact_velocity = velocity;
    row.impulse = row.net_impulse = impulse;
    row.net_modes = row.modes;
    sum.add(row);
  }
  return sum;
}

void expect_same(const ImpactSummary& a, const ImpactSummary& b) {
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.terminated, b.terminated);
  EXPECT_EQ(a.failed, b.failed);
  EXPECT_EQ(a.lcp_solves, b.lcp_solves);
  EXPECT_EQ(a.pivots, b.pivots);
  EXPECT_EQ(a.max_residual, b.max_residual);
  EXPECT_EQ(a.max_energy_ratio, b.max_energy_ratio);
  EXPECT_EQ(a.normal_velocity_min, b.normal_velocity_min);
  EXPECT_EQ(a.normal_velocity_max, b.normal_velocity_max);
  EXPECT_EQ(a.tangent_velocity_min, b.tangent_velocity_min);
  EXPECT_EQ(a.tangent_velocity_max, b.tangent_velocity_max);
  EXPECT_EQ(a.mode_counts, b.mode_counts);
}

TEST(ImpactAccumulator, TotalsOfPartsAreThoseOfTheWholeInEitherOrder) {
  // every largest value once in the first part and once in the second
  const std::vector<Part> early = {{1e-10, 0.9, 0.1}, {2e-12, 0.2, 0.7}};
  const std::vector<Part> late = {
      {3e-11, 0.4, -0.3}, {5e-13, 0.5, 0.2}, {4e-12, 0.1, 0.0, TrajectoryStatus::failed}};
  std::vector<Part> all = early;
  all.insert(all.end(), late.begin(), late.end());
  const ImpactSummary whole = sum_of(all, 0).summary();
  EXPECT_EQ(whole.max_energy_ratio, 0.9);
  EXPECT_EQ(whole.max_residual, 1e-10);
  EXPECT_EQ(whole.failed, 1);

  ImpactAccumulator forward = sum_of(early, 0);
  forward.merge(sum_of(late, 2));
  expect_same(forward.summary(), whole);
  ImpactAccumulator backward = sum_of(late, 2);
  backward.merge(sum_of(early, 0));
  expect_same(backward.summary(), whole);

  // what a device summed up itself
  ImpactAccumulator first = sum_of(early, 0);
  first.merge(sum_of(late, 2).summary());
  expect_same(first.summary(), whole);
  ImpactAccumulator second = sum_of(late, 2);
  second.merge(sum_of(early, 0).summary());
  expect_same(second.summary(), whole);
}

}  // namespace
}  // namespace carom::test
