#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "core/workspace.hpp"
#include "cuda/cuda_test.hpp"
#include "cuda/impact/sample_policy.hpp"
#include "impact/mode_table.hpp"
#include "support/enclosures.hpp"
#include "support/message.hpp"
#include "support/model_runs.hpp"
#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// The samples of a host batch are the cpu backend's bit for bit: both run the same bodies on the
// same prepared problems.
namespace carom {
namespace {

using test::exact_block;
using test::Flavour;
using test::Generator;

void compare_with_cpu(const ImpactBatch& batch, const ImpactSettings& settings) {
  const ImpactResult cpu = sample_impacts(batch, settings, Backend::cpu);
  const ImpactResult cuda = sample_impacts(batch, settings, Backend::cuda);
  EXPECT_EQ(cuda.backend, Backend::cuda);
  test::expect_same(cuda, cpu);
}

class CudaModel : public test::ModelTest {
 protected:
  void SetUp() override {
    if (test::no_device()) GTEST_SKIP() << "no usable CUDA device";
  }
};

TEST_P(CudaModel, AgreesWithCpuBitForBit) {
  const ImpactBatch batch = test::model_batch(GetParam());
  for (const Selection selection : {Selection::any, Selection::lemke}) {
    for (const Sampler sampler : {Sampler::uniform, Sampler::sobol}) {
      SCOPED_TRACE("selection " + std::to_string(static_cast<int>(selection)) + ", sampler " +
                   std::to_string(static_cast<int>(sampler)));
      ImpactSettings settings = test::model_settings(GetParam(), test::some(1037, 157));
      settings.selection = selection;
      settings.sampler = sampler;
      settings.epsilon = 0.25;
      settings.keep_paths = 7;
      compare_with_cpu(batch, settings);
    }
  }
}

TEST_P(CudaModel, AgreesWithCpuWithoutTable) {
  const ImpactBatch batch = test::model_batch(GetParam());
  ImpactSettings settings = test::model_settings(GetParam(), 515);
  settings.mode_table = false;
  compare_with_cpu(batch, settings);
}

TEST_P(CudaModel, RandomSelectionAgreesWithCpu) {
  const ImpactBatch batch = test::model_batch(GetParam());
  ImpactSettings settings = test::model_settings(GetParam(), test::some(71, 13));
  settings.selection = Selection::random;
  ImpactResult cpu;
  try {
    cpu = sample_impacts(batch, settings, Backend::cpu);
  } catch (const InvalidInput&) {
    // Too many combinations of modes: both refuse.
    EXPECT_THROW(sample_impacts(batch, settings, Backend::cuda), InvalidInput);
    return;
  }
  test::expect_same(sample_impacts(batch, settings, Backend::cuda), cpu);
}

// One warp a trajectory, tiny chunks and a single worker give what the default policy gives.
TEST_P(CudaModel, PolicyDoesNotMatter) {
  const ImpactBatch batch = test::model_batch(GetParam());
  ImpactSettings settings = test::model_settings(GetParam(), 517);
  settings.epsilon = 0.25;
  settings.keep_paths = 150;
  WorkspaceState workspace;
  const ImpactResult usual = cuda::sample_impacts_with(batch, settings, {}, &workspace);
  cuda::SamplePolicy warps;
  warps.thread_rows = 0;
  test::expect_same(cuda::sample_impacts_with(batch, settings, warps, &workspace), usual);
  cuda::SamplePolicy tiny;
  tiny.chunk = 97;
  tiny.fallback_bytes = 1;
  test::expect_same(cuda::sample_impacts_with(batch, settings, tiny, &workspace), usual);
}

/// Samples alone, which the planar models take from their tables by a kernel of their own.
TEST_P(CudaModel, TablesDoNotMatter) {
  const ImpactBatch batch = test::model_batch(GetParam());
  ImpactSettings settings = test::model_settings(GetParam(), 1517);
  settings.keep_samples = -1;
  WorkspaceState workspace;
  const ImpactResult usual = cuda::sample_impacts_with(batch, settings, {}, &workspace);
  test::expect_same(usual, sample_impacts(batch, settings, Backend::cpu));
  cuda::SamplePolicy path;
  path.tables = false;
  test::expect_same(cuda::sample_impacts_with(batch, settings, path, &workspace), usual);
  cuda::SamplePolicy tiny;
  tiny.chunk = 211;
  test::expect_same(cuda::sample_impacts_with(batch, settings, tiny, &workspace), usual);
}

/// From event to event: with paths, and a later part without.
void compare_followed(const std::vector<ImpactProblem>& problems, int directions, int samples,
                      int later) {
  ImpactSettings settings;
  settings.method = ImpactMethod::events;
  settings.friction_directions = directions;
  settings.samples = samples;
  settings.keep_samples = -1;
  settings.keep_paths = 5;
  settings.max_steps = 8;
  settings.epsilon = 0.1;
  compare_with_cpu(make_batch(problems), settings);
  settings.keep_paths = 0;
  settings.samples = later;
  settings.first_sample = 1000;
  compare_with_cpu(make_batch(problems), settings);
}

/// In a batch whose chunks hold several problems.
TEST(CudaEvents, AgreeWithCpuBitForBit) {
  if (test::no_device()) GTEST_SKIP() << "no usable CUDA device";
  Generator random(21);
  for (const int contacts : {0, 1, 2, 3, 4}) {
    std::vector<ImpactProblem> problems;
    for (int p = 0; p < 3; ++p) problems.push_back(test::random_impact(random, contacts, 5, 1.0));
    compare_followed(problems, ImpactSettings{}.friction_directions, test::some(517, 131), 40);
  }
}

/// The same for spatial contacts, and planar ones without a table of modes.
TEST(CudaEvents, OfAnyContactsAgreeWithCpuBitForBit) {
  if (test::no_device()) GTEST_SKIP() << "no usable CUDA device";
  Generator random(22);
  const std::pair<int, int> shapes[] = {{3, 1}, {3, 3}, {3, 4}, {3, 5}, {2, 6}};
  for (const auto& [dimension, contacts] : shapes) {
    std::vector<ImpactProblem> problems;
    for (int p = 0; p < 3; ++p) {
      problems.push_back(
          test::random_problem(random, Flavour::rank_deficient, dimension, contacts));
    }
    compare_followed(problems, contacts == 5 ? 7 : 4, test::some(317, 53), 20);
  }
}

/// Every number of mass, normals and velocity moved by one unit in its last place.
ImpactBatch moved(ImpactBatch batch) {
  for (Buffer<double>* values : {&batch.mass_matrix, &batch.normal_jacobian, &batch.velocity}) {
    for (double& x : values->host()) x = std::nextafter(x, 2.0 * x);
  }
  return batch;
}

/// Numbers of `velocity` that are not near those of `other`.
std::size_t count_far(const std::vector<double>& velocity, const ImpactResult& other) {
  std::size_t far = 0;
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    far += std::abs(velocity[i] - other.samples.velocity.data()[i]) <= 1e-6 ? 0U : 1U;
  }
  return far;
}

TEST_P(CudaModel, DeviceBatchIsCertified) {
  const ImpactBatch host = test::model_batch(GetParam());
  ImpactSettings settings = test::model_settings(GetParam(), 1037);
  const ImpactResult cpu = sample_impacts(host, settings, Backend::cpu);
  const ImpactResult beside =
      sample_impacts(moved(test::model_batch(GetParam())), settings, Backend::cpu);
  settings.result_space = MemorySpace::device;
  const ImpactResult device = sample_impacts(host.to(MemorySpace::device), settings, Backend::cuda);
  EXPECT_EQ(device.samples.velocity.space(), MemorySpace::device);
  test::expect_certified(device, settings.residual_tolerance);
  // Prepared by other sums, the samples are close to the host's; where a step has several solutions
  // or ends on a bound, rounding may choose another one, as it does on the host itself.
  const ImpactSummary& a = device.summary.front();
  const ImpactSummary& b = cpu.summary.front();
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_NEAR(static_cast<double>(a.terminated), static_cast<double>(b.terminated), 20.0);
  const std::vector<double> near = device.samples.velocity.to_vector();
  ASSERT_EQ(near.size(), cpu.samples.velocity.size());
  EXPECT_LE(count_far(near, cpu),
            near.size() / 50 + 2 * count_far(beside.samples.velocity.to_vector(), cpu));
}

INSTANTIATE_TEST_SUITE_P(Models, CudaModel, ::testing::ValuesIn(test::model_names()),
                         test::model_name);

class CudaImpacts : public test::CudaTest {};

ImpactBatch random_impacts(Generator& random, int dimension, int contacts, int count) {
  std::vector<ImpactProblem> problems;
  while (static_cast<int>(problems.size()) < count) {
    ImpactProblem problem = test::random_problem(random, Flavour::generic, dimension, contacts);
    if (!problems.empty() && problem.velocities != problems.front().velocities) continue;
    problems.push_back(std::move(problem));
  }
  return make_batch(problems);
}

ImpactSettings random_settings(std::int64_t samples) {
  ImpactSettings settings;
  settings.samples = samples;
  settings.keep_samples = -1;
  settings.seed = 99;
  settings.epsilon = 0.5;
  settings.step_size = 0.5;
  settings.max_steps = kDerivedSteps;  // for calls below the public function
  return settings;
}

TEST_F(CudaImpacts, RandomMechanismsAgreeWithCpu) {
  Generator random(91);
  for (const int dimension : {2, 3}) {
    for (int m = 1; m <= 8; ++m) {
      SCOPED_TRACE("dimension " + std::to_string(dimension) + ", m " + std::to_string(m));
      compare_with_cpu(random_impacts(random, dimension, m, 3), random_settings(67));
    }
  }
}

TEST_F(CudaImpacts, ManyProblemsOfFewSamples) {
  Generator random(92);
  const ImpactBatch batch = random_impacts(random, 2, 2, 201);
  ImpactSettings settings = random_settings(3);
  compare_with_cpu(batch, settings);
  settings.keep_samples = 2;
  compare_with_cpu(batch, settings);
  settings.mode_table = false;
  settings.samples = 200;  // more than a block's threads: problems in shared memory
  compare_with_cpu(batch, settings);
}

TEST_F(CudaImpacts, MoreThanADeviceHasRoomForIsRefused) {
  test::Generator random(7);
  const auto refusal = [&](int contacts, ImpactMethod method) {
    const ImpactProblem problem = test::random_problem(random, test::Flavour::generic, 2, contacts);
    ImpactSettings settings;
    settings.method = method;
    return test::refusal([&] {
      sample_impacts(make_batch({&problem, 1}), settings, Backend::cuda);
    });
  };
  test::expect_names(refusal(17, ImpactMethod::lcp), {"contacts", "17", "16", "device"});
  test::expect_names(refusal(9, ImpactMethod::events), {"method", "events", "8", "9", "device"});
}

TEST_F(CudaImpacts, NoContacts) {
  ImpactProblem problem;
  problem.velocities = 2;
  problem.mass_matrix = {1, 0, 0, 2};
  problem.velocity = {1, -1};
  compare_with_cpu(make_batch(std::vector<ImpactProblem>{problem}), random_settings(33));
}

TEST_F(CudaImpacts, ShardsMakeTheWhole) {
  const ImpactBatch batch = test::model_batch("rocking_block");
  ImpactSettings settings = test::model_settings("rocking_block", 900);
  const ImpactResult whole = sample_impacts(batch, settings, Backend::cuda);
  settings.first_sample = 333;
  settings.samples = 567;
  const ImpactResult shard = sample_impacts(batch, settings, Backend::cuda);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  EXPECT_EQ(
      test::first_difference(shard.samples.velocity, 0, whole.samples.velocity, 333 * nv, 567 * nv),
      -1);
}

// A stretch of samples of which some have the wide table, of one problem and of several.
TEST_F(CudaImpacts, TablesWidenAsOnTheCpu) {
  ImpactSettings settings = test::model_settings("cube_drop", 60);
  settings.keep_samples = -1;
  settings.epsilon = 0.0;
  WorkspaceState workspace;
  for (const int problems : {1, 3}) {
    const ImpactBatch batch = test::model_batch("cube_drop", problems);
    for (const std::int64_t first : {kWideFrom - 25, kWideFrom + 5}) {
      settings.first_sample = first;
      const ImpactResult cpu = sample_impacts(batch, settings, Backend::cpu);
      cuda::SamplePolicy policy;
      test::expect_same(cuda::sample_impacts_with(batch, settings, policy, &workspace), cpu);
    }
  }
}

// Problems that come to the device in pieces, one at a time or a few.
TEST_F(CudaImpacts, PiecesDoNotMatter) {
  Generator random(93);
  ImpactBatch planar = random_impacts(random, 2, 2, 23);
  planar.friction.data()[0] = -0.5;
  planar.velocity.data()[7 * planar.velocities] = std::numeric_limits<double>::quiet_NaN();
  planar.mass_matrix.data()[22 * planar.velocities * planar.velocities] = -1.0;
  ImpactSettings settings = random_settings(31);
  settings.bad_problem = BadProblem::isolate;
  settings.keep_paths = 3;
  const ImpactBatch spatial = test::model_batch("cube_drop", 3);
  ImpactSettings wide = test::model_settings("cube_drop", 60);
  wide.keep_samples = -1;
  wide.epsilon = 0.0;
  wide.first_sample = kWideFrom - 25;
  WorkspaceState workspace;
  const auto pieces_of = [&](const ImpactBatch& batch, const ImpactSettings& of,
                             const ImpactResult& expected) {
    for (const std::size_t bytes : {1, 150000}) {  // the latter: some five planar problems
      SCOPED_TRACE(bytes);
      cuda::SamplePolicy policy;
      policy.problem_bytes = bytes;
      test::expect_same(cuda::sample_impacts_with(batch, of, policy, &workspace), expected);
    }
  };
  pieces_of(planar, settings, sample_impacts(planar, settings, Backend::cpu));
  settings.keep_paths = 0;
  pieces_of(planar, settings, sample_impacts(planar, settings, Backend::cpu));
  pieces_of(spatial, wide, sample_impacts(spatial, wide, Backend::cpu));
  settings.epsilon = 0.0;
  settings.bad_problem = BadProblem::refuse;
  const ImpactBatch exact =
      make_batch(std::vector<ImpactProblem>(12, exact_block())).to(MemorySpace::device);
  pieces_of(exact, settings, sample_impacts(exact, settings, Backend::cuda));
}

// What follows a cancelled piece is cancelled, and no longer prepared.
TEST_F(CudaImpacts, CancelledBetweenPieces) {
  const ImpactBatch batch = test::model_batch("rocking_block", 4);
  ImpactSettings settings = test::model_settings("rocking_block", 100);
  settings.keep_paths = 1;  // a problem a chunk
  int calls = 0;
  settings.progress = [&calls](const ImpactProgress&) { return ++calls < 2; };
  cuda::SamplePolicy policy;
  policy.problem_bytes = 1;
  WorkspaceState workspace;
  const ImpactResult result = cuda::sample_impacts_with(batch, settings, policy, &workspace);
  EXPECT_TRUE(result.cancelled);
  ASSERT_EQ(result.summary.size(), 4U);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(result.summary[p].status, p < 2 ? Status::solved : Status::cancelled);
    EXPECT_EQ(result.summary[p].samples, p < 2 ? 100 : 0);
  }
}

// Coarsening between chunks: the net is the one of a single pass.
TEST_F(CudaImpacts, FullNetIsCoarsenedAlike) {
  const ImpactBatch batch = test::model_batch("rocking_block");
  ImpactSettings settings = test::model_settings("rocking_block", 5000);
  settings.epsilon = 1e-4;
  settings.net_capacity = 50;
  const ImpactResult cpu = sample_impacts(batch, settings, Backend::cpu);
  ASSERT_GT(cpu.net.front().epsilon, settings.epsilon);
  WorkspaceState workspace;
  cuda::SamplePolicy policy;
  policy.chunk = 771;
  test::expect_same(cuda::sample_impacts_with(batch, settings, policy, &workspace), cpu);
}

TEST_F(CudaImpacts, WorkspaceServesOtherShapes) {
  ImpactWorkspace workspace;
  for (const std::string& name : test::model_names()) {
    for (const Selection selection : {Selection::any, Selection::lemke}) {
      SCOPED_TRACE(name);
      const ImpactBatch batch = test::model_batch(name);
      ImpactSettings settings = test::model_settings(name, test::some(301, 41));
      settings.selection = selection;
      settings.epsilon = 0.25;
      test::expect_same(sample_impacts(batch, settings, Backend::cuda, &workspace),
                        sample_impacts(batch, settings, Backend::cuda));
    }
  }
}

TEST_F(CudaImpacts, ExactDeviceBatchEqualsHostBatch) {
  const ImpactBatch batch = make_batch(std::vector<ImpactProblem>(5, exact_block()));
  ImpactSettings settings = random_settings(333);
  settings.epsilon = 0.0;
  const ImpactResult host = sample_impacts(batch, settings, Backend::cuda);
  settings.result_space = MemorySpace::device;
  const ImpactResult device =
      sample_impacts(batch.to(MemorySpace::device), settings, Backend::cuda);
  EXPECT_EQ(device.samples.status.space(), MemorySpace::device);
  test::expect_same(device, host);
}

TEST_F(CudaImpacts, PoisonedNeighbourChangesNothing) {
  std::vector<ImpactProblem> problems(7, exact_block());
  const ImpactBatch clean_batch = make_batch(problems);
  problems[2].mass_matrix[4] = -1.0;
  problems[3].velocity[1] = std::numeric_limits<double>::quiet_NaN();
  problems[5].friction[0] = -0.5;
  const ImpactBatch batch = make_batch(problems);
  ImpactSettings settings = random_settings(45);
  settings.epsilon = 0.0;
  EXPECT_THROW(sample_impacts(batch, settings, Backend::cuda), InvalidInput);
  const ImpactResult clean = sample_impacts(clean_batch, settings, Backend::cuda);
  settings.bad_problem = BadProblem::isolate;
  for (const MemorySpace space : {MemorySpace::host, MemorySpace::device}) {
    const ImpactResult poisoned = sample_impacts(batch.to(space), settings, Backend::cuda);
    ASSERT_EQ(poisoned.summary.size(), 7U);
    for (std::size_t p = 0; p < 7; ++p) {
      SCOPED_TRACE("problem " + std::to_string(p));
      const std::size_t row = p * 45;
      if (p == 2 || p == 3 || p == 5) {
        EXPECT_EQ(poisoned.summary[p].status, Status::invalid_input);
        EXPECT_EQ(poisoned.summary[p].samples, 0);
        EXPECT_TRUE(std::isnan(poisoned.samples.velocity.data()[row * 3]));
        EXPECT_EQ(poisoned.samples.status.data()[row], TrajectoryStatus::cancelled);
      } else {
        test::expect_same(poisoned.summary[p], clean.summary[p]);
        EXPECT_EQ(test::first_difference(poisoned.samples.velocity, row * 3, clean.samples.velocity,
                                         row * 3, std::size_t{45} * 3),
                  -1);
      }
    }
  }
}

TEST_F(CudaImpacts, CancelledBetweenChunks) {
  const ImpactBatch batch = test::model_batch("rocking_block", 2);
  ImpactSettings settings = test::model_settings("rocking_block", 450);
  const ImpactResult whole = sample_impacts(batch, settings, Backend::cuda);
  cuda::SamplePolicy policy;
  policy.chunk = 100;
  for (const MemorySpace space : {MemorySpace::host, MemorySpace::device}) {
    int calls = 0;
    settings.result_space = space;
    settings.progress = [&calls](const ImpactProgress& progress) {
      EXPECT_EQ(progress.samples_total, 900);
      EXPECT_EQ(progress.samples_done, 100 * (calls + 1));
      return ++calls < 2;
    };
    WorkspaceState workspace;
    const ImpactResult result = cuda::sample_impacts_with(batch, settings, policy, &workspace);
    EXPECT_TRUE(result.cancelled);
    EXPECT_EQ(calls, 2);
    ASSERT_EQ(result.summary.size(), 2U);
    EXPECT_EQ(result.summary[0].samples, 200);
    EXPECT_EQ(result.summary[0].status, Status::cancelled);
    EXPECT_EQ(result.summary[1].samples, 0);
    EXPECT_EQ(result.summary[1].status, Status::cancelled);
    const ImpactSamples samples = copy_to(result.samples, MemorySpace::host);
    const auto nv = static_cast<std::size_t>(batch.velocities);
    EXPECT_EQ(test::first_difference(samples.velocity, 0, whole.samples.velocity, 0, 200 * nv), -1);
    EXPECT_EQ(samples.status.data()[199], whole.samples.status.data()[199]);
    EXPECT_EQ(samples.status.data()[200], TrajectoryStatus::cancelled);
    EXPECT_TRUE(std::isnan(samples.velocity.data()[200 * nv]));
    EXPECT_EQ(samples.steps.data()[200], 0);
    EXPECT_EQ(samples.modes.data()[200], 0U);
  }
}

}  // namespace
}  // namespace carom
