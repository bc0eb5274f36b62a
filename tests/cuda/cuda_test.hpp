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

#if defined(CAROM_CUDA_ON_HOST)
inline constexpr bool kPlayedByHost = true;
#else
inline constexpr bool kPlayedByHost = false;
#endif

/// How many of a kind a test takes: few where the host plays the device, one lane after another.
constexpr int some(int many, int few) { return kPlayedByHost ? few : many; }

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
  expect_summaries(a, b, expect_same_numbers);
}

/// Summaries, nets, paths and rows; rows may live on the device.
inline void expect_same(const ImpactResult& a, const ImpactResult& b) {
  EXPECT_EQ(a.cancelled, b.cancelled);
  ASSERT_EQ(a.summary.size(), b.summary.size());
  for (std::size_t p = 0; p < a.summary.size(); ++p) expect_same(a.summary[p], b.summary[p]);
  expect_identical_sets(a, b);
  expect_identical(a.samples, b.samples);
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
