#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <carom/backend.hpp>
#include <carom/impact.hpp>

#include "support/bits.hpp"

/// Tests that need a device: skipped, visibly, where there is none.
namespace carom::test {

inline bool no_device() { return cuda_devices().empty(); }

class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (no_device()) GTEST_SKIP() << "no usable CUDA device";
  }
};

/// Equal numbers, NaN equal to NaN, and 0 to -0: which zero an extremum keeps depends on the order.
inline void expect_same_numbers(const std::vector<double>& a, const std::vector<double>& b,
                                const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
        << what << "[" << i << "]: " << a[i] << " and " << b[i];
  }
}

inline void expect_same(const ImpactSummary& a, const ImpactSummary& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.terminated, b.terminated);
  EXPECT_EQ(a.max_steps_reached, b.max_steps_reached);
  EXPECT_EQ(a.failed, b.failed);
  EXPECT_EQ(a.lcp_solves, b.lcp_solves);
  EXPECT_EQ(a.fallback_solves, b.fallback_solves);
  EXPECT_EQ(a.pivots, b.pivots);
  EXPECT_EQ(a.nonunique_solves, b.nonunique_solves);
  EXPECT_EQ(a.examined_solves, b.examined_solves);
  EXPECT_EQ(a.max_residual, b.max_residual);
  EXPECT_EQ(a.max_energy_ratio, b.max_energy_ratio);
  EXPECT_EQ(a.mode_counts, b.mode_counts);
  expect_same_numbers(a.normal_velocity_min, b.normal_velocity_min, "normal_velocity_min");
  expect_same_numbers(a.normal_velocity_max, b.normal_velocity_max, "normal_velocity_max");
  expect_same_numbers(a.tangent_velocity_min, b.tangent_velocity_min, "tangent_velocity_min");
  expect_same_numbers(a.tangent_velocity_max, b.tangent_velocity_max, "tangent_velocity_max");
  expect_same_numbers(a.velocity_min, b.velocity_min, "velocity_min");
  expect_same_numbers(a.velocity_max, b.velocity_max, "velocity_max");
}

inline ImpactSamples to_host(const ImpactSamples& samples) {
  ImpactSamples copy;
  copy.count = samples.count;
  copy.velocity = samples.velocity.to(MemorySpace::host);
  copy.impulse = samples.impulse.to(MemorySpace::host);
  copy.residual = samples.residual.to(MemorySpace::host);
  copy.modes = samples.modes.to(MemorySpace::host);
  copy.steps = samples.steps.to(MemorySpace::host);
  copy.status = samples.status.to(MemorySpace::host);
  return copy;
}

/// Summaries, nets, paths and rows; rows may live on the device.
inline void expect_same(const ImpactResult& a, const ImpactResult& b) {
  EXPECT_EQ(a.cancelled, b.cancelled);
  ASSERT_EQ(a.summary.size(), b.summary.size());
  for (std::size_t p = 0; p < a.summary.size(); ++p) expect_same(a.summary[p], b.summary[p]);
  ASSERT_EQ(a.net.size(), b.net.size());
  for (std::size_t p = 0; p < a.net.size(); ++p) expect_identical(a.net[p], b.net[p]);
  ASSERT_EQ(a.paths.size(), b.paths.size());
  for (std::size_t p = 0; p < a.paths.size(); ++p) {
    EXPECT_EQ(a.paths[p].offset, b.paths[p].offset);
    EXPECT_EQ(first_difference(a.paths[p].velocity, b.paths[p].velocity), -1);
  }
  expect_identical(to_host(a.samples), to_host(b.samples));
}

/// Fails if any sample of the problem did, or if none was computed.
inline void expect_certified(const ImpactResult& result, double tolerance) {
  for (const ImpactSummary& summary : result.summary) {
    EXPECT_GT(summary.samples, 0);
    EXPECT_EQ(summary.failed, 0);
    EXPECT_LE(summary.max_residual, tolerance);
    EXPECT_LE(summary.max_energy_ratio, 1.0 + 1e-9);
  }
}

}  // namespace carom::test
