#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/equilibrium_membership.hpp>
#include <carom/error.hpp>

#include "programs/qp/layout.hpp"
#include "support/allocations.hpp"
#include "support/bits.hpp"
#include "support/family_calls.hpp"

namespace carom {
namespace {

using test::allocations_of;

/// What a call made of its workspace: "" or the refusal's message.
std::string refused(Workspace& workspace) {
  try {
    solve_lcp(test::calls_lcps(0), {}, Backend::cpu, &workspace);
  } catch (const InvalidInput& error) {
    EXPECT_EQ(error.refusal().field, "workspace");
    return error.what();
  }
  return "";
}

TEST(Workspace, ARepeatedShapeAllocatesItsResultsAlone) {
  test::each_family_call(1, Backend::cpu, [](const std::string& name, auto call, auto results) {
    SCOPED_TRACE(name);
    const auto plain = call(nullptr);
    Workspace workspace;
    call(&workspace);
    std::optional<decltype(call(nullptr))> again;
    const long repeated = allocations_of([&] { again.emplace(call(&workspace)); });
    EXPECT_EQ(repeated, allocations_of([&] { results(); }));
    test::expect_identical(plain, *again);
  });
}

TEST(Workspace, ARepeatedQpLaysItsShapeOutAndNoMore) {
  const QpBatch batch = test::calls_qps(1);
  for (const QpMethod method :
       {QpMethod::automatic, QpMethod::interior_point, QpMethod::active_set}) {
    SCOPED_TRACE(to_string(method));
    QpSettings settings;
    settings.method = method;
    settings.threads = 1;
    const QpResult plain = solve_qp(batch, settings, Backend::cpu);
    Workspace workspace;
    solve_qp(batch, settings, Backend::cpu, {}, &workspace);
    std::optional<QpResult> again;
    const long repeated = allocations_of(
        [&] { again.emplace(solve_qp(batch, settings, Backend::cpu, {}, &workspace)); });
    EXPECT_EQ(repeated, allocations_of([&] {
                const QpLayout layout(batch);
                const auto result = allocate<QpResult>(batch);
              }));
    test::expect_identical(plain, *again);
  }
}

TEST(Workspace, ServesAllFamiliesInAnyOrderOfShapes) {
  Workspace workspace;
  for (const int size : {1, 0, 1}) {
    test::each_family_call(size, Backend::cpu, [&](const std::string& name, auto call, auto) {
      SCOPED_TRACE(name + " of size " + std::to_string(size));
      test::expect_identical(call(nullptr), call(&workspace));
    });
    const QpBatch qps = test::calls_qps(size);
    test::expect_identical(solve_qp(qps, {}, Backend::cpu),
                           solve_qp(qps, {}, Backend::cpu, {}, &workspace));
  }
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return test::first_difference(a, b) == -1;
}
bool same(const SpatialRegion& a, const SpatialRegion& b) {
  return a.status == b.status && same_bits(a.inner, b.inner) && same_bits(a.outer, b.outer) &&
         same_bits(a.forces, b.forces) && a.pivots == b.pivots;
}
bool same(const Membership& a, const Membership& b) {
  return a.status == b.status && same_bits(a.forces, b.forces) && same_bits(a.dual, b.dual);
}

/// A third call allocates what a second one does, its results; the first one more.
template <class Call>
void expect_settles(Call&& call) {
  using Results = decltype(call(nullptr));
  const Results plain = call(nullptr);
  Workspace workspace;
  std::vector<long> counts;
  std::optional<Results> last;
  for (int i = 0; i < 3; ++i) {
    counts.push_back(allocations_of([&] { last.emplace(call(&workspace)); }));
    if (i < 2) last.reset();
  }
  EXPECT_LT(counts[1], counts[0]);
  EXPECT_EQ(counts[2], counts[1]);
  ASSERT_EQ(plain.size(), last->size());
  for (std::size_t p = 0; p < plain.size(); ++p) EXPECT_TRUE(same(plain[p], (*last)[p])) << p;
}

TEST(Workspace, ServesRegionsAndMemberships) {
  if (!test::kAlignedAreCounted) GTEST_SKIP() << "the thread sanitizer counts no aligned memory";
  const PostureBatch batch = test::calls_spatial(0);
  expect_settles([&](Workspace* workspace) {
    return spatial_equilibrium(batch, {.threads = 1}, Backend::cpu, workspace);
  });
  const std::vector<double> centre(3 * static_cast<std::size_t>(batch.problems), 0.1);
  expect_settles([&](Workspace* workspace) {
    return probe_membership(batch, centre, {.threads = 1}, workspace);
  });
}

TEST(Workspace, ServesWorldsAndImpacts) {
  Workspace workspace;
  for (const char* name : {"inclined_block", "sphere_stack", "inclined_block"}) {
    SCOPED_TRACE(name);
    const models::Scenario& scenario = models::find_scenario(name);
    WorldRun run;
    run.worlds = 5;
    run.steps = 20;
    const WorldsResult plain = step_worlds(scenario, run, {.threads = 1}, Backend::cpu);
    const WorldsResult kept = step_worlds(scenario, run, {.threads = 1}, Backend::cpu, &workspace);
    EXPECT_EQ(test::first_difference(plain.position, kept.position), -1);
    EXPECT_EQ(test::first_difference(plain.velocity, kept.velocity), -1);
  }
  for (const char* name : {"compass_gait", "cube_drop", "compass_gait"}) {
    SCOPED_TRACE(name);
    const ImpactBatch batch = test::model_batch(name);
    const ImpactSettings settings = test::model_settings(name, 100);
    test::expect_identical(sample_impacts(batch, settings, Backend::cpu),
                           sample_impacts(batch, settings, Backend::cpu, &workspace));
  }
}

// From the progress of a call another one begins, in its thread and in a second one.
TEST(Workspace, TakesOneCallAtATime) {
  Workspace workspace;
  Workspace other;
  int calls = 0;
  WorldRun run;
  run.steps = 20;
  run.progress = [&](const WorldProgress&) {
    const std::string wanted = "workspace is used by another call: takes one call at a time";
    EXPECT_EQ(refused(workspace), wanted);
    std::thread([&] {
      EXPECT_EQ(refused(workspace), wanted);
      EXPECT_EQ(refused(other), "");
    }).join();
    EXPECT_THROW(workspace.clear(), InvalidInput);
    ++calls;
    return true;
  };
  step_worlds(models::find_scenario("inclined_block"), run, {}, Backend::cpu, &workspace);
  EXPECT_GT(calls, 0);
  EXPECT_EQ(refused(workspace), "");
}

TEST(Workspace, IsFreeAfterACallThatThrows) {
  Workspace workspace;
  WorldRun run;
  run.steps = 20;
  run.progress = [](const WorldProgress&) -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW(
      step_worlds(models::find_scenario("inclined_block"), run, {}, Backend::cpu, &workspace),
      std::runtime_error);
  EXPECT_EQ(refused(workspace), "");
}

TEST(Workspace, MovesWithItsMemoryAndLeavesANewOne) {
  if (!test::kAlignedAreCounted) GTEST_SKIP() << "the thread sanitizer counts no aligned memory";
  const LcpBatch batch = test::calls_lcps(1);
  const LcpResult plain = solve_lcp(batch, {}, Backend::cpu);
  const auto allocations_with = [&](Workspace& workspace) {
    std::optional<LcpResult> result;
    const long count = allocations_of(
        [&] { result.emplace(solve_lcp(batch, {.threads = 1}, Backend::cpu, &workspace)); });
    test::expect_identical(plain, *result);
    return count;
  };
  const long results = allocations_of([&] { const auto result = allocate<LcpResult>(batch); });
  Workspace first;
  EXPECT_GT(allocations_with(first), results);
  Workspace second = std::move(first);
  EXPECT_EQ(allocations_with(second), results);
  EXPECT_GT(allocations_with(first), results);
  Workspace third;
  third = std::move(second);
  EXPECT_EQ(allocations_with(third), results);
  third.clear();
  EXPECT_GT(allocations_with(third), results);
}

}  // namespace
}  // namespace carom
