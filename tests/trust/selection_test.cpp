#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include <carom/impact.hpp>

#include "support/model_runs.hpp"

// Steps with several solutions: what `any` draws from a table and along the contact path is the set
// that `random` draws from all solutions, of which disk_stack has most.
namespace carom {
namespace {

TEST(Selections, AnyReachesTheModesThatRandomReaches) {
  const ImpactBatch batch = test::model_batch("disk_stack");
  ImpactSettings all = test::model_settings("disk_stack", 128);
  all.selection = Selection::random;
  ImpactSettings some = test::model_settings("disk_stack", 1 << 14);
  some.selection = Selection::any;
  const ImpactResult random = sample_impacts(batch, all, Backend::cpu);
  const ImpactResult any = sample_impacts(batch, some, Backend::cpu);
  const std::map<std::uint64_t, std::int64_t> reached(any.summary[0].mode_counts.begin(),
                                                      any.summary[0].mode_counts.end());
  std::int64_t seen = 0;
  for (const auto& [mode, count] : random.summary[0].mode_counts) {
    if (count < 2) continue;  // one in 128 may be anything
    EXPECT_TRUE(reached.contains(mode))
        << std::hex << mode << std::dec << ", " << count << " times";
    ++seen;
  }
  EXPECT_GE(seen, 8);
}

}  // namespace
}  // namespace carom
