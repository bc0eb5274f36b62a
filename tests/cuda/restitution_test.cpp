#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <carom/backend.hpp>
#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "core/workspace.hpp"
#include "cuda/cuda_test.hpp"
#include "cuda/impact/sample_policy.hpp"
#include "support/enclosures.hpp"
#include "support/message.hpp"
#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// Impacts with restitution: the cpu backend's samples, books, paths and summaries bit for bit.
namespace carom {
namespace {

using test::exact_block;
using test::Flavour;
using test::Generator;
using test::set_restitution;

class CudaRestitution : public test::CudaTest {};

ImpactSettings settings_of(ImpactMethod method, std::int64_t samples) {
  ImpactSettings settings;
  settings.method = method;
  settings.samples = samples;
  settings.keep_samples = -1;
  settings.keep_paths = 5;
  settings.max_steps = method == ImpactMethod::events ? 8 : kDerivedReleaseSteps;
  settings.epsilon = 0.1;
  return settings;
}

ImpactResult compare_with_cpu(const ImpactBatch& batch, const ImpactSettings& settings) {
  const ImpactResult cpu = sample_impacts(batch, settings, Backend::cpu);
  ImpactResult cuda = sample_impacts(batch, settings, Backend::cuda);
  EXPECT_EQ(cuda.backend, Backend::cuda);
  test::expect_same(cuda, cpu);
  return cuda;
}

/// Inelastic, with numbers, with intervals of e, with intervals of both: in one batch.
std::vector<ImpactProblem> mixed(Generator& random, int dimension, int contacts) {
  std::vector<ImpactProblem> problems;
  for (int p = 0; p < 5; ++p) {
    problems.push_back(
        dimension == 2 && contacts <= 4
            ? test::random_impact(random, contacts, 5, 1.0)
            : test::random_problem(random, Flavour::rank_deficient, dimension, contacts));
    ImpactProblem& problem = problems.back();
    if (p > 0) set_restitution(problem, p == 1 ? 0.5 : 0.2, p == 1 ? 0.5 : 0.9);
    if (p < 3) continue;
    problem.friction_high = problem.friction;
    problem.friction_high.back() += 0.25;
  }
  return problems;
}

TEST_F(CudaRestitution, OfEventsAgreesWithCpuBitForBit) {
  Generator random(441);
  const std::pair<int, int> shapes[] = {{2, 1}, {2, 2}, {2, 3}, {2, 4}, {2, 6},
                                        {3, 1}, {3, 3}, {3, 4}, {3, 5}};
  for (const auto& [dimension, contacts] : shapes) {
    SCOPED_TRACE(std::to_string(dimension) + " " + std::to_string(contacts));
    const ImpactBatch batch = make_batch(mixed(random, dimension, contacts));
    ImpactSettings settings = settings_of(ImpactMethod::events, test::some(517, 61));
    const ImpactResult run = compare_with_cpu(batch, settings);
    EXPECT_TRUE(std::isnan(run.summary[0].lost_friction_mean));
    EXPECT_GT(run.summary[2].lost_compression_mean, 0.0);
    settings.keep_paths = 0;
    settings.first_sample = 1000;
    settings.vary = true;
    compare_with_cpu(batch, settings);
    settings.vary = false;
    settings.samples = test::some(300, 31);
    for (const RestitutionLaw law : {RestitutionLaw::poisson, RestitutionLaw::newton}) {
      settings.law = law;
      compare_with_cpu(batch, settings);
    }
  }
}

TEST_F(CudaRestitution, OfStepsAgreesWithCpuBitForBit) {
  Generator random(442);
  const std::pair<int, int> shapes[] = {{2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}};
  for (const auto& [dimension, contacts] : shapes) {
    SCOPED_TRACE(std::to_string(dimension) + " " + std::to_string(contacts));
    const ImpactBatch batch = make_batch(mixed(random, dimension, contacts));
    for (const Selection selection : {Selection::any, Selection::lemke, Selection::random}) {
      ImpactSettings settings =
          settings_of(ImpactMethod::lcp, selection == Selection::any ? test::some(517, 61) : 13);
      settings.selection = selection;
      const ImpactResult run = compare_with_cpu(batch, settings);
      EXPECT_GT(run.summary[2].lost_compression_mean, 0.0);
    }
    ImpactSettings settings = settings_of(ImpactMethod::lcp, 31);
    settings.vary = true;
    settings.mode_table = false;
    compare_with_cpu(batch, settings);
  }
}

TEST_F(CudaRestitution, OfModelsIsThatOfTheCpuInChunksAndPiecesToo) {
  for (const char* name : {"rocking_block", "cube_drop"}) {
    ImpactProblem problem = models::build(name);
    std::vector<ImpactProblem> problems(3, problem);
    set_restitution(problems[1], 0.2, 0.4);
    set_restitution(problems[2], 0.5, 1.0);
    const ImpactBatch batch = make_batch(problems);
    for (const ImpactMethod method : {ImpactMethod::events, ImpactMethod::lcp}) {
      SCOPED_TRACE(std::string(name) + " " + std::string(to_string(method)));
      ImpactSettings settings = settings_of(method, test::some(1037, 97));
      settings.keep_paths = 40;
      const ImpactResult usual = compare_with_cpu(batch, settings);
      WorkspaceState workspace;
      cuda::SamplePolicy tiny;
      tiny.chunk = 23;
      tiny.problem_bytes = 1;
      tiny.fallback_bytes = 1;
      test::expect_same(cuda::sample_impacts_with(batch, settings, tiny, &workspace), usual);
    }
  }
}

TEST_F(CudaRestitution, OfSeveralDevicesIsThatOfOne) {
  std::vector<int> usable;
  for (const DeviceInfo& device : cuda_devices()) usable.push_back(device.index);
  if (usable.size() < 2) GTEST_SKIP() << "one device";
  usable.resize(2);
  std::vector<ImpactProblem> problems(3, models::build("rocking_block"));
  set_restitution(problems[1], 0.2, 0.4);
  set_restitution(problems[2], 0.5, 1.0);
  for (const std::size_t first : {0, 2}) {  // cut by problems, by samples
    const ImpactBatch batch = make_batch(std::span(problems).subspan(first));
    const ImpactSettings settings = settings_of(ImpactMethod::events, 101);
    const ImpactResult one = sample_impacts(batch, settings, Backend::cuda);
    const CudaScope scope(usable);
    test::expect_same(sample_impacts(batch, settings, Backend::cuda), one);
  }
}

TEST_F(CudaRestitution, OfADeviceBatchIsThatOfTheHostAndItsIntervalsAreScreened) {
  std::vector<ImpactProblem> problems(6, exact_block());
  set_restitution(problems[1], 0.2, 0.4);
  problems[2].friction_high = {0.5, 1.0};
  set_restitution(problems[3], 0.5, 0.5);
  const ImpactBatch clean = make_batch(problems);
  for (const ImpactMethod method : {ImpactMethod::events, ImpactMethod::lcp}) {
    ImpactSettings settings = settings_of(method, 55);
    settings.epsilon = 0.0;
    const ImpactResult host = sample_impacts(clean, settings, Backend::cuda);
    settings.result_space = MemorySpace::device;
    const ImpactResult device =
        sample_impacts(clean.to(MemorySpace::device), settings, Backend::cuda);
    EXPECT_EQ(device.samples.stored.space(), MemorySpace::device);
    test::expect_same(device, host);
  }
  ImpactSettings settings = settings_of(ImpactMethod::events, 21);
  settings.bad_problem = BadProblem::isolate;
  const auto spoiled = [&](auto&& spoil, std::size_t p) {
    std::vector<ImpactProblem> some = problems;
    for (ImpactProblem& each : some) {
      if (each.restitution_low.empty()) set_restitution(each, 0.0, 0.0);
      if (each.friction_high.empty()) each.friction_high = each.friction;
    }
    spoil(some[p]);
    const ImpactBatch batch = make_batch(some).to(MemorySpace::device);
    EXPECT_THROW(sample_impacts(batch, settings_of(ImpactMethod::events, 21), Backend::cuda),
                 InvalidInput);
    const ImpactResult run = sample_impacts(batch, settings, Backend::cuda);
    for (std::size_t q = 0; q < some.size(); ++q) {
      EXPECT_EQ(run.summary[q].status, q == p ? Status::invalid_input : Status::solved) << q;
    }
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  spoiled([](ImpactProblem& p) { p.restitution_high[1] = 1.5; }, 1);
  spoiled([](ImpactProblem& p) { p.restitution_low[0] = -0.5; }, 3);
  spoiled([](ImpactProblem& p) { p.restitution_low[1] = 0.45; }, 1);
  spoiled([&](ImpactProblem& p) { p.restitution_low[1] = nan; }, 5);
  spoiled([](ImpactProblem& p) { p.friction_high[1] = 0.5; }, 2);
}

}  // namespace
}  // namespace carom
