#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/models/models.hpp>

#include "cpu/impact/impact_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "impact/kernels/any_events.hpp"
#include "impact/prepare.hpp"
#include "support/enclosures.hpp"
#include "support/restitution.hpp"

namespace carom {
namespace {

template <class T>
bool same_bits(const T& a, const T& b) {
  const auto bytes = static_cast<std::size_t>(a.size()) * sizeof(*a.data());
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), bytes) == 0;
}

/// Everything that a call returns of its samples.
void expect_same(const ImpactResult& a, const ImpactResult& b, const std::string& where) {
  EXPECT_TRUE(same_bits(a.samples.velocity, b.samples.velocity)) << where;
  EXPECT_TRUE(same_bits(a.samples.impulse, b.samples.impulse)) << where;
  EXPECT_TRUE(same_bits(a.samples.residual, b.samples.residual)) << where;
  EXPECT_TRUE(same_bits(a.samples.modes, b.samples.modes)) << where;
  EXPECT_TRUE(same_bits(a.samples.steps, b.samples.steps)) << where;
  EXPECT_TRUE(same_bits(a.samples.status, b.samples.status)) << where;
  EXPECT_TRUE(same_bits(a.samples.restitution, b.samples.restitution)) << where;
  EXPECT_TRUE(same_bits(a.samples.released, b.samples.released)) << where;
  EXPECT_TRUE(same_bits(a.samples.lost_friction, b.samples.lost_friction)) << where;
  EXPECT_EQ(a.summary[0].pivots, b.summary[0].pivots) << where;
  EXPECT_EQ(a.summary[0].terminated, b.summary[0].terminated) << where;
  EXPECT_TRUE(same_bits(a.summary[0].tangent_velocity_max, b.summary[0].tangent_velocity_max))
      << where;
}

TEST(EventSets, NoContactIsNoEvent) {
  ImpactProblem problem = models::build("rocking_block");
  problem.contacts = 0;
  for (auto* part : {&problem.normal_jacobian, &problem.tangent_jacobian, &problem.friction}) {
    part->clear();
  }
  ImpactSettings settings;
  settings.method = ImpactMethod::events;
  settings.samples = 40;
  const ImpactSummary summary =
      sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu).summary[0];
  EXPECT_EQ(summary.terminated, 40);
  EXPECT_EQ(summary.lcp_solves, 0);
}

// A trajectory a lane of a register: the text of a trajectory alone, lane by lane.
TEST(EventSets, PacksGiveTheBitsOfTrajectoriesAlone) {
  std::vector<ImpactProblem> problems;
  for (const char* name : {"rocking_block", "compass_gait", "box_wall", "ramone"}) {
    problems.push_back(models::build(name));
  }
  test::Generator random(505);
  for (int trial = 0; trial < 220; ++trial) {
    ImpactProblem problem = test::random_impact(random, 1 + trial % 10 / 2, 4, 1.0);
    if (problem.contacts == 5) problem = test::random_impact(random, 2, 3, 1.0);
    if (trial % 20 == 2) problem.friction.assign(problem.friction.size(), 0.0);
    if (trial % 20 == 3) problem.friction.assign(problem.friction.size(), 1e5);
    if (trial % 20 == 9) {  // contact 1 repeats contact 0
      for (auto* jacobian : {&problem.normal_jacobian, &problem.tangent_jacobian}) {
        std::copy_n(jacobian->begin(), 3, jacobian->begin() + 3);
      }
    }
    if (trial % 4 == 1) test::set_restitution(problem, 0.1, 0.9);
    problems.push_back(problem);
  }
  std::int64_t pieces = 0, series = 0;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const ImpactBatch batch = make_batch({&problems[p], 1});
    ImpactSettings settings;
    settings.method = ImpactMethod::events;
    settings.samples = settings.keep_samples = p < 4 ? 6000 : 300;
    settings.keep_paths = static_cast<std::int64_t>(p % 4);
    settings.seed = p;
    settings.threads = 1;
    const auto followed = [&](const cpu::simd::InstructionSet& set, bool packs) {
      return cpu::drive_impacts<2>(batch, settings, packs, {set.run_block, set.follow_events});
    };
    const ImpactResult alone = followed(*cpu::simd::instruction_sets().front(), false);
    pieces += alone.summary[0].lcp_solves;
    series += alone.summary[0].pivots;
    for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
      expect_same(alone, followed(*set, true),
                  std::string(set->name) + ", problem " + std::to_string(p));
    }
  }
  EXPECT_GT(pieces, 300000);
  EXPECT_GT(series, 1000);
}

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

/// Samples of a problem by this set's code, contact by contact.
ImpactResult followed(const ImpactProblem& problem, const cpu::simd::InstructionSet& set,
                      ImpactSettings settings) {
  const ImpactBatch batch = make_batch({&problem, 1});
  const cpu::ImpactCode code{set.run_block, set.follow_events, set.follow_any_events};
  return problem.dimension == 2 ? cpu::drive_impacts<2>(batch, settings, true, code)
                                : cpu::drive_impacts<3>(batch, settings, true, code);
}

// Contacts in lanes of registers: all instruction sets follow the same modes.
TEST(EventSets, OfAnyContactsGiveTheSameBits) {
  const auto wide = cpu::simd::instruction_sets().subspan(1);
  if (wide.empty()) GTEST_SKIP() << "SKIP_ONE_INSTRUCTION_SET: this machine has no other";
  test::Generator random(18);
  struct Shape {
    int dimension, contacts, directions;
    test::Flavour flavour;
  };
  const auto rank_deficient = test::Flavour::rank_deficient;
  const Shape shapes[] = {{3, 1, 4, rank_deficient},
                          {3, 2, 4, rank_deficient},
                          {3, 4, 8, rank_deficient},
                          {3, 6, 16, rank_deficient},
                          {3, 8, 8, rank_deficient},
                          {3, 8, 5, test::Flavour::duplicated},
                          {3, 7, 16, test::Flavour::frictionless},
                          {3, 5, 4, test::Flavour::generic},
                          {3, 11, 8, rank_deficient},
                          {2, 5, 4, rank_deficient},
                          {2, 8, 4, rank_deficient}};
  for (const Shape& shape : shapes) {
    const std::string name = std::to_string(shape.dimension) + "D, " +
                             std::to_string(shape.contacts) + " contacts, " +
                             std::to_string(shape.directions) + " directions";
    const ImpactProblem problem =
        test::random_problem(random, shape.flavour, shape.dimension, shape.contacts);
    ImpactSettings settings;
    settings.method = ImpactMethod::events;
    settings.friction_directions = shape.directions;
    settings.samples = settings.keep_samples = 300;
    const ImpactResult plain = followed(problem, *cpu::simd::instruction_sets().front(), settings);
    EXPECT_GE(plain.summary[0].terminated, 290) << name;
    for (const cpu::simd::InstructionSet* set : wide) {
      expect_same(followed(problem, *set, settings), plain, std::string(set->name) + ", " + name);
    }
  }
}

/// What samples remember of modes is theirs: not of the problem beside them, not of the samples
/// before them, nor of other threads.
TEST(EventSets, SamplesOfABatchAreThoseOfEachProblem) {
  test::Generator random(20);
  std::vector<ImpactProblem> problems;
  for (int p = 0; p < 3; ++p) {
    problems.push_back(test::random_problem(random, test::Flavour::rank_deficient, 3, 8));
  }
  ImpactSettings settings;
  settings.method = ImpactMethod::events;
  settings.friction_directions = 8;
  settings.samples = settings.keep_samples = 100;
  settings.threads = 1;
  const ImpactResult together = sample_impacts(make_batch(problems), settings, Backend::cpu);
  settings.threads = 2;
  expect_same(sample_impacts(make_batch(problems), settings, Backend::cpu), together, "threads");
  settings.samples = settings.keep_samples = 50;
  const std::ptrdiff_t nv = problems[0].velocities;
  for (int p = 0; p < 3; ++p) {
    settings.first_problem = p;
    for (int half = 0; half < 2; ++half) {
      settings.first_sample = 50 * half;
      const ImpactResult alone =
          sample_impacts(make_batch({&problems[p], 1}), settings, Backend::cpu);
      const double* const expected = together.samples.velocity.data() + (100 * p + 50 * half) * nv;
      EXPECT_EQ(std::memcmp(alone.samples.velocity.data(), expected, 50 * nv * sizeof(double)), 0)
          << p << ", half " << half;
    }
  }
}

struct Bare;  // no registers, no memory of modes: the text of a device

/// Most: of contacts, that the code which is tested has arrays for.
template <int Most>
void expect_bits(test::Generator& random, int contacts, int directions) {
  const ImpactProblem problem =
      test::random_problem(random, test::Flavour::rank_deficient, 3, contacts);
  const ImpactBatch batch = make_batch({&problem, 1});
  ImpactSettings settings;
  settings.method = ImpactMethod::events;
  settings.friction_directions = directions;
  settings.samples = settings.keep_samples = 100;
  const ImpactResult known = sample_impacts(batch, settings, Backend::cpu);
  const auto prepared = PreparedImpacts(batch, settings);
  const kernels::ImpactProblemView view = prepared.view(0);
  const kernels::ImpactRun run = impact_run(batch, settings, {});
  std::vector<double> v(problem.velocities), u(3 * Most), total(3 * Most);
  kernels::ImpactScratch<3> scratch{};
  scratch.v = v.data();
  scratch.u = u.data();
  scratch.total = total.data();
  kernels::AnyEventTrajectory<Bare, 3, Most> trajectory(run, view, scratch);
  for (std::size_t sample = 0; sample < 100; ++sample) {
    trajectory.run(0, sample, nullptr);
    const double* const expected = known.samples.velocity.data() + sample * v.size();
    EXPECT_EQ(std::memcmp(v.data(), expected, v.size() * sizeof(double)), 0)
        << contacts << " contacts, " << directions << " directions, sample " << sample;
  }
}

TEST(EventSets, RegistersAndMemoryLeaveTheBits) {
  test::Generator random(21);
  expect_bits<8>(random, 3, 8);
  expect_bits<8>(random, 8, 8);
  expect_bits<8>(random, 6, 16);
  expect_bits<16>(random, 11, 4);
}

/// The search without a table finds the modes that the table holds: of problems with little
/// friction, where each velocity has one.
TEST(EventSets, SearchedModesAreThoseOfTheTable) {
  test::Generator random(19);
  const cpu::simd::InstructionSet& set = cpu::simd::instruction_set();
  int apart = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const int contacts = 1 + trial % 4;
    const ImpactProblem problem = test::random_impact(random, contacts, 2 * contacts + 1, 0.1);
    const ImpactBatch batch = make_batch({&problem, 1});
    ImpactSettings settings;
    settings.method = ImpactMethod::events;
    settings.samples = settings.keep_samples = 200;
    const ImpactResult tabled = followed(problem, set, settings);
    const auto prepared = PreparedImpacts(batch, settings);
    const kernels::ImpactProblemView view = prepared.view(0);
    const kernels::ImpactRun run = impact_run(batch, settings, {});
    double v[16], u[16], total[16];
    kernels::ImpactScratch<2> scratch{};
    scratch.v = v;
    scratch.u = u;
    scratch.total = total;
    struct Judge {
      const ImpactResult* tabled;
      const double* v;
      int nv;
      int* apart;
    } judge{&tabled, v, problem.velocities, &apart};
    cpu::simd::AnyEventBlock block{};
    block.problem = &view;
    block.run = &run;
    block.count = 200;
    block.planar = &scratch;
    block.context = &judge;
    block.finished = [](void* context, int position, const kernels::TrajectoryEnd*) {
      const Judge& to = *static_cast<Judge*>(context);
      const double* const expected = to.tabled->samples.velocity.data() + position * to.nv;
      bool same = true;
      for (int j = 0; j < to.nv; ++j) same = same && std::abs(expected[j] - to.v[j]) < 1e-9;
      *to.apart += same ? 0 : 1;
    };
    set.follow_any_events(block);
  }
  EXPECT_LE(apart, 40);  // of 4000: where a mode is not unique after all
}

// Contacts that nearly rest on bodies at 100 m/s: J v+ has no more digits than rounding leaves it.
TEST(EventSets, NearlyRestingContactsOfFastBodiesEnd) {
  for (const int dimension : {2, 3}) {
    for (const double slow : {3e-6, 3e-7, 3e-8}) {
      ImpactProblem problem;
      problem.dimension = dimension;
      problem.velocities = 4;
      problem.contacts = 1;
      problem.mass_matrix.assign(16, 0.0);
      for (int j = 0; j < 4; ++j) problem.mass_matrix[5 * j] = 1.0;
      problem.normal_jacobian = {0.3, 0.7, 0.0, 0.0};
      problem.tangent_jacobian = {0.0, 0.0, 1.0, 0.0};
      if (dimension == 3)
        problem.tangent_jacobian.insert(problem.tangent_jacobian.end(), {0, 0, 0, 1});
      problem.friction = {0.5};
      problem.velocity = {-100.0 * 0.7 / 0.3 - slow / 0.3, 100.0, slow, 0.0};
      ImpactSettings settings;
      settings.method = ImpactMethod::events;
      settings.samples = settings.keep_samples = 64;
      const ImpactResult result = sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
      EXPECT_EQ(result.summary[0].terminated, 64) << dimension << ", " << slow;
      for (std::size_t s = 0; s < 64; ++s) {
        const double* const v = result.samples.velocity.data() + 4 * s;
        EXPECT_NEAR(0.3 * v[0] + 0.7 * v[1], 0.0, 1e-13) << dimension << ", " << slow;
        const double slip = slow - 0.5 * slow / 0.58;  // friction's share of the stopping impulse
        EXPECT_NEAR(v[2], slip, 1e-6 * slow + 1e-13) << dimension << ", " << slow;
      }
    }
  }
}

}  // namespace
}  // namespace carom
