#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "cpu/impact/impact_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "support/enclosures.hpp"

namespace carom {
namespace {

TEST(EventSets, InstructionSetsGiveTheSameBits) {
  const auto wide = cpu::simd::instruction_sets().subspan(1);
  if (wide.empty()) GTEST_SKIP() << "SKIP_ONE_INSTRUCTION_SET: this machine has no other";
  test::Generator random(8);
  for (const int contacts : {1, 2, 3, 4}) {
    const ImpactProblem problem = test::random_impact(random, contacts, 5, 1.0);
    const ImpactBatch batch = make_batch({&problem, 1});
    ImpactSettings settings;
    settings.method = ImpactMethod::events;
    settings.samples = settings.keep_samples = 2000;
    const auto followed = [&](const cpu::simd::InstructionSet& set) {
      return cpu::drive_impacts<2>(batch, settings, true, {set.run_block, set.follow_events});
    };
    const ImpactResult plain = followed(*cpu::simd::instruction_sets().front());
    EXPECT_GE(plain.summary[0].terminated, 1990);
    for (const cpu::simd::InstructionSet* set : wide) {
      const ImpactResult other = followed(*set);
      const auto bytes = static_cast<std::size_t>(plain.samples.velocity.size()) * sizeof(double);
      EXPECT_EQ(std::memcmp(plain.samples.velocity.data(), other.samples.velocity.data(), bytes), 0)
          << set->name << ", " << contacts << " contacts";
      EXPECT_EQ(plain.summary[0].lcp_solves, other.summary[0].lcp_solves);
    }
  }
}

}  // namespace
}  // namespace carom
