#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <carom/boxed_lcp.hpp>

#include "cpu/programs/boxed_driver.hpp"
#include "cpu/simd/box_code.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/lcp/kernels/box_solver.hpp"
#include "support/bits.hpp"
#include "support/boxed_problems.hpp"

// Packs of boxed LCPs (src/cpu/simd/programs/pack_boxes.hpp) against one problem after the other.
namespace carom {
namespace {

using test::BoxProblem;
using test::Generator;

/// At least the most friction rows of a problem.
int frictions(const BoxedLcpBatch& batch) { return batch.findex.empty() ? 0 : batch.order; }

BoxedLcpResult alone(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings) {
  const cpu::simd::InstructionSet& narrowest = *cpu::simd::instruction_sets().front();
  return cpu::drive_boxed_lcp(
      batch, settings, frictions(batch), [](const cpu::simd::BoxRange&) {},
      cpu::simd::box_code(narrowest).follow);
}

/// Every instruction set's answers are those of one problem at a time; how many the packs gave.
std::int64_t expect_same(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings) {
  const BoxedLcpResult one = alone(batch, settings);
  std::int64_t packed = 0;
  for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
    SCOPED_TRACE(set->name);
    packed = 0;
    const cpu::simd::BoxCode code = cpu::simd::box_code(*set);
    const auto solve = [&](const cpu::simd::BoxRange& range) {
      code.solve(range);
      for (std::int64_t p = range.begin; p < range.end; ++p) packed += range.pivots[p] >= 0 ? 1 : 0;
    };
    test::expect_identical(
        cpu::drive_boxed_lcp(batch, settings, frictions(batch), solve, code.follow), one);
  }
  return packed;
}

BoxedLcpSettings on_one_thread() {
  BoxedLcpSettings settings;
  settings.threads = 1;
  return settings;
}

TEST(BoxPack, MatchesOneProblemAtATime) {
  for (const int n : {1, 2, 3, 5, 8, 13, 20, 33, 64, 65}) {
    SCOPED_TRACE(n);
    Generator random(static_cast<std::uint64_t>(n));
    std::vector<BoxProblem> problems;
    for (int p = 0; p < (n < 30 ? 90 : 20); ++p) problems.push_back(test::odd_box(random, n));
    const std::int64_t packed = expect_same(test::boxed_batch(problems), on_one_thread());
    if (n < 20) {
      EXPECT_GT(packed, 30);
    }
  }
}

TEST(BoxPack, ContactsOfOdeDartAndNimble) {
  for (const FrictionLaw law : {FrictionLaw::simultaneous, FrictionLaw::ode}) {
    BoxedLcpSettings settings = on_one_thread();
    settings.friction_law = law;
    for (const int contacts : {1, 2, 4, 6, 9}) {
      SCOPED_TRACE(contacts);
      Generator random(static_cast<std::uint64_t>(contacts));
      std::vector<BoxProblem> problems;
      for (int p = 0; p < 60; ++p) {
        // ODE's cfm, and none: contacts of one body beyond the third are redundant
        const double cfm = p % 2 == 0 ? 1e-5 : 0.0;
        problems.push_back(test::contact_island(random, 1 + p % 3, contacts, cfm));
        if (p % 7 == 0) {  // a joint in place of friction
          problems.back().findex[1] = -1;
          problems.back().friction[1] = 0.0;
        }
      }
      EXPECT_GT(expect_same(test::boxed_batch(problems), settings), 30);
    }
  }
}

TEST(BoxPack, OdesOwnTest) {
  Generator random(4);
  std::vector<BoxProblem> problems;
  for (int p = 0; p < 40; ++p) problems.push_back(test::ode_test(random, 40, 20));
  const BoxedLcpBatch batch = test::boxed_batch(problems);
  EXPECT_GT(expect_same(batch, on_one_thread()), 35);
  const BoxedLcpResult result = solve_boxed_lcp(batch);
  for (const Status status : result.status.host()) EXPECT_EQ(status, Status::solved);
}

// Which problems share a pack depends on the split and on the threads; the answers do not.
TEST(BoxPack, NeighboursDoNotMatter) {
  Generator random(77);
  std::vector<BoxProblem> problems;
  for (int p = 0; p < 70; ++p) {
    problems.push_back(p % 3 == 0 ? test::odd_box(random, 9)
                                  : test::contact_island(random, 2, 3, 0));
  }
  const BoxedLcpResult whole = solve_boxed_lcp(test::boxed_batch(problems), on_one_thread());
  BoxedLcpSettings settings;
  settings.threads = 3;
  test::expect_identical(solve_boxed_lcp(test::boxed_batch(problems), settings), whole);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    // with a neighbour that has friction rows, so that the arrays are the same
    const BoxedLcpResult own =
        solve_boxed_lcp(test::boxed_batch({problems[p], problems[1]}), on_one_thread());
    EXPECT_EQ(test::first_difference(own.solution, 0, whole.solution, 9 * p, 9), -1) << p;
    EXPECT_EQ(own.pivots.host()[0], whole.pivots.host()[p]) << p;
  }
}

TEST(BoxPack, PivotLimitsAndTolerancesMatch) {
  Generator random(5);
  std::vector<BoxProblem> problems;
  for (int p = 0; p < 40; ++p) problems.push_back(test::odd_box(random, 12));
  for (const int max_pivots : {1, 3, 7}) {
    BoxedLcpSettings settings = on_one_thread();
    settings.max_pivots = max_pivots;
    settings.tolerance = max_pivots == 7 ? 1e-17 : 1e-9;
    expect_same(test::boxed_batch(problems), settings);
  }
}

/// The device's body on a warp's worth of host lanes: what it finds has the host's bits.
template <bool kBackwards>
std::int64_t expect_body(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings) {
  using Lanes = kernels::EmulatedLanes<32, kBackwards>;
  const BoxedLcpResult one = alone(batch, settings);
  const auto n = static_cast<std::size_t>(batch.order);
  const Lanes lanes;
  const int most = batch.order + 2 * frictions(batch);
  std::vector<double> memory(
      static_cast<std::size_t>(kernels::box_solver_workspace(batch.order, most)));
  kernels::BoxSolver<Lanes> solver(lanes, batch.order, most, memory.data());
  std::vector<double> z(n), w(n), limit(n);
  std::int64_t found = 0;
  for (std::size_t p = 0; p < one.status.size(); ++p) {
    const bool friction = !batch.findex.empty();
    const certificate::BoxedLcpData given{batch.order,
                                          batch.matrix.data() + p * n * n,
                                          batch.vector.data() + p * n,
                                          batch.lower.data() + p * n,
                                          batch.upper.data() + p * n,
                                          friction ? batch.findex.data() + p * n : nullptr,
                                          friction ? batch.friction.data() + p * n : nullptr};
    std::fill(limit.begin(), limit.end(), std::nan(""));
    const kernels::BoxAnswer answer =
        solver.run(given, settings.friction_law, settings.tolerance, settings.max_pivots,
                   {z.data(), w.data(), limit.data()});
    if (!answer.found) continue;
    ++found;
    EXPECT_EQ(one.status.host()[p], Status::solved);
    EXPECT_EQ(one.pivots.host()[p], answer.pivots);
    EXPECT_EQ(one.residual.host()[p], answer.residual);
    const auto same = [&](const std::vector<double>& own, const Buffer<double>& all) {
      return std::memcmp(own.data(), all.data() + p * n, n * sizeof(double)) == 0;
    };
    EXPECT_TRUE(same(z, one.solution)) << p;
    EXPECT_TRUE(same(w, one.slack)) << p;
    if (!friction) continue;
    EXPECT_TRUE(same(limit, one.limit)) << p;
    EXPECT_EQ(one.limit_error.host()[p], answer.limit_error);
  }
  return found;
}

TEST(BoxSolver, TheDevicesBodyHasTheHostsBits) {
  for (const int n : {1, 4, 9, 20, 40}) {
    SCOPED_TRACE(n);
    Generator random(static_cast<std::uint64_t>(100 + n));
    std::vector<BoxProblem> problems;
    for (int p = 0; p < 40; ++p) problems.push_back(test::odd_box(random, n));
    const BoxedLcpBatch batch = test::boxed_batch(problems);
    EXPECT_GT(expect_body<false>(batch, on_one_thread()), 10);
    EXPECT_GT(expect_body<true>(batch, on_one_thread()), 10);
  }
  for (const FrictionLaw law : {FrictionLaw::simultaneous, FrictionLaw::ode}) {
    BoxedLcpSettings settings = on_one_thread();
    settings.friction_law = law;
    Generator random(8);
    std::vector<BoxProblem> problems;
    for (int p = 0; p < 40; ++p) {
      problems.push_back(test::contact_island(random, 1 + p % 3, 4, p % 2 == 0 ? 1e-5 : 0.0));
    }
    const BoxedLcpBatch batch = test::boxed_batch(problems);
    EXPECT_GT(expect_body<false>(batch, settings), 30);
    EXPECT_GT(expect_body<true>(batch, settings), 30);
  }
}

}  // namespace
}  // namespace carom
