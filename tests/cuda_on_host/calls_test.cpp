// What only a host that plays the device can tell: how often its memory is taken and given back.
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <carom/backend.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/impact.hpp>
#include <carom/lp.hpp>
#include <carom/models/models.hpp>
#include <carom/models/motions.hpp>
#include <carom/workspace.hpp>

#include "cuda/cuda_test.hpp"
#include "cuda/devices.hpp"
#include "cuda/staging.hpp"
#include "cuda_on_host/counts.hpp"
#include "equilibrium/planar_backends.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "support/compliant_problems.hpp"
#include "support/lp_problems.hpp"
#include "support/model_runs.hpp"
#include "support/planar_batches.hpp"
#include "support/random_problems.hpp"
#include "support/random_qps.hpp"
#include "support/stances.hpp"
#include "support/step_problem.hpp"

namespace carom {
namespace {

/// Four feet on level ground of random heights.
PostureBatch four_feet(int count) {
  test::Generator random(2);
  std::vector<Posture> postures;
  for (int p = 0; p < count; ++p) {
    Posture posture;
    posture.dimension = 3;
    posture.contacts = 4;
    for (int i = 0; i < 4; ++i) {
      for (int axis = 0; axis < 3; ++axis) posture.position.push_back(random.normal());
      posture.normal.insert(posture.normal.end(), {0.0, 0.0, 1.0});
      posture.friction.push_back(0.5);
    }
    postures.push_back(std::move(posture));
  }
  return make_batch(postures);
}

/// A small call of each family.
std::vector<std::pair<std::string, std::function<void()>>> calls() {
  std::vector<std::pair<std::string, std::function<void()>>> all;
  all.emplace_back("planar", [] {
    cuda::planar_equilibrium(test::random_batch(1, test::PostureKind::upward, 3, 1), {});
  });
  all.emplace_back("spatial", [] { cuda::support(four_feet(1), equal_directions(16), {}); });
  all.emplace_back("lp", [] {
    test::Generator random(3);
    solve_lp(test::batch_of(test::random_lps(random, test::LpFlavour::feasible, 4, 8, 2)), {},
             Backend::cuda);
  });
  all.emplace_back("qp", [] { solve_qp(test::random_qps({}, 2, 4), {}, Backend::cuda); });
  all.emplace_back("compliant", [] {
    std::vector<CompliantProblem> problems;
    for (std::uint32_t i = 0; i < 2; ++i) {
      problems.push_back(test::random_compliant({.dimension = 3, .contacts = 2}, i, 5));
    }
    solve_compliant(make_batch(problems), {}, Backend::cuda);
  });
  all.emplace_back("impact", [] {
    ImpactSettings settings = test::model_settings("rocking_block", 20);
    settings.epsilon = 0.25;
    sample_impacts(test::model_batch("rocking_block"), settings, Backend::cuda);
  });
  return all;
}

// Every allocation of a call fails in turn: an error each time, nothing is kept, and the next call
// is none the worse.
TEST(CudaOnHost, FailedAllocationsAreErrorsAndLeaveNothing) {
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    call();  // what a process keeps is there from now on
    const long before = cuda_on_host::allocations();
    const long made = cuda_on_host::allocations_made();
    call();
    const long needed = cuda_on_host::allocations_made() - made;
    EXPECT_EQ(cuda_on_host::allocations(), before);
    for (int n = 1; n <= needed; ++n) {
      cuda_on_host::fail_allocation(n);
      EXPECT_THROW(call(), CudaError) << "allocation " << n << " of " << needed;
      EXPECT_EQ(cuda_on_host::allocations(), before);
    }
    cuda_on_host::fail_allocation(0);
    EXPECT_NO_THROW(call());
  }
}

template <class... Buffers>
void expect_same_arrays(const std::tuple<Buffers...>& a, const std::tuple<Buffers...>& b) {
  const auto compare = [](const auto& x, const auto& y) {
    EXPECT_EQ(test::first_difference(*x, *y), -1);
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (compare(std::get<i>(a), std::get<i>(b)), ...);
  }
  (std::index_sequence_for<Buffers...>{});
}

/// Runs `solve` with all problems in one piece and with few in each.
template <class Solve, class Arrays>
void expect_pieces_do_not_matter(Solve&& solve, Arrays&& arrays) {
  const auto whole = solve(nullptr);
  const std::size_t usual = cuda::piece_bytes.exchange(20'000);
  const auto pieces = solve(nullptr);
  expect_same_arrays(arrays(whole), arrays(pieces));
  // With a workspace one piece travels beside another's work.
  Workspace workspace;
  for (int turn = 0; turn < 2; ++turn) {
    expect_same_arrays(arrays(whole), arrays(solve(&workspace)));
  }
  cuda::piece_bytes = usual;
}

TEST(CudaOnHost, PiecesDoNotMatter) {
  test::Generator random(11);
  const LpBatch lps = test::batch_of(test::random_lps(random, test::LpFlavour::feasible, 4, 8, 61));
  expect_pieces_do_not_matter(
      [&](Workspace* w) { return solve_lp(lps, {}, Backend::cuda, nullptr, w); },
      [](const LpResult& r) { return std::tuple(&r.solution, &r.dual, &r.status, &r.basis); });
  const QpBatch qps = test::random_qps({}, 61, 12);
  expect_pieces_do_not_matter([&](Workspace* w) { return solve_qp(qps, {}, Backend::cuda, {}, w); },
                              [](const QpResult& r) {
                                return std::tuple(&r.solution, &r.dual, &r.status, &r.certificate);
                              });
  std::vector<CompliantProblem> problems;
  for (std::uint32_t i = 0; i < 61; ++i) {
    problems.push_back(
        test::random_compliant({.dimension = 3, .contacts = static_cast<int>(i % 4)}, i, 13));
  }
  const CompliantBatch steps = make_batch(problems);
  expect_pieces_do_not_matter(
      [&](Workspace* w) { return solve_compliant(steps, {}, Backend::cuda, w); },
      [](const CompliantResult& r) {
        return std::tuple(&r.velocity, &r.increment, &r.force, &r.status, &r.kinetic_energy,
                          &r.iterations, &r.residual);
      });
  std::vector<test::StepProblem> impulses;
  for (int i = 0; i < 61; ++i) {
    const ImpactProblem problem = test::random_problem(random, test::Flavour::generic, 3, 4);
    const test::Vector limit = test::random_limits(random, test::Flavour::generic, 4);
    impulses.push_back(test::step_problem(problem, limit, 4));
  }
  const StepBatch contacts = test::step_batch(impulses);
  expect_pieces_do_not_matter(
      [&](Workspace* w) { return solve_steps(contacts, {}, Backend::cuda, w); },
      [](const StepResult& r) {
        return std::tuple(&r.impulse, &r.status, &r.pivots, &r.residual);
      });
  const PostureBatch planar = test::random_batch(14, test::PostureKind::any, 5, 261, true, true);
  expect_pieces_do_not_matter(
      [&](Workspace* w) { return planar_equilibrium(planar, {}, Backend::cuda, w); },
      [](const PlanarResult& r) {
        return std::tuple(&r.status, &r.lower, &r.force, &r.robust_polygon);
      });
  const PostureBatch spatial = four_feet(33);
  const std::vector<double> directions = equal_directions(16);
  expect_pieces_do_not_matter(
      [&](Workspace* w) { return support(spatial, directions, {}, Backend::cuda, w); },
      [](const SupportResult& r) {
        return std::tuple(&r.status, &r.lower, &r.upper, &r.dual, &r.pivots);
      });
}

// What was compiled for another generation, and not as PTX, does not run.
TEST(CudaOnHost, ADeviceWithoutCodeIsLeftOut) {
  ASSERT_EQ(cuda_devices().size(), 2U);
  EXPECT_EQ(cuda_devices()[1].index, 1);
  int device = -1;
  cudaGetDevice(&device);
  EXPECT_EQ(device, 0);
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(CudaOnHost, AnotherDevicesBatchIsRefused) {
  const std::string expected =
      "the batch lives on CUDA device 0, the calling thread's is 1: call cudaSetDevice first";
  test::Generator random(21);
  const LpBatch lps = test::batch_of(test::random_lps(random, test::LpFlavour::feasible, 4, 8, 3))
                          .to(MemorySpace::device);
  const QpBatch qps = test::random_qps({}, 3, 22).to(MemorySpace::device);
  const ImpactBatch impacts = test::model_batch("rocking_block").to(MemorySpace::device);
  const cuda::OnDevice other(1);
  EXPECT_EQ(refusal([&] { solve_lp(lps, {}, Backend::cuda); }), expected);
  EXPECT_EQ(refusal([&] { solve_qp(qps, {}, Backend::cuda); }), expected);
  EXPECT_EQ(refusal([&] { sample_impacts(impacts, {}, Backend::cuda); }), expected);
}

// One host thread, workspace and shard for each device.
TEST(CudaOnHost, ShardsOnTwoDevicesMakeTheWhole) {
  const ImpactBatch batch = test::model_batch("rocking_block");
  const ImpactSettings whole_settings = test::model_settings("rocking_block", 400);
  const ImpactResult whole = sample_impacts(batch, whole_settings, Backend::cuda);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  ImpactResult shards[2];
  std::vector<std::thread> threads;
  for (int device = 0; device < 2; ++device) {
    threads.emplace_back([&, device] {
      const cuda::OnDevice chosen(device);
      ImpactSettings settings = test::model_settings("rocking_block", 200);
      settings.first_sample = 200 * device;
      shards[device] = sample_impacts(batch, settings, Backend::cuda);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t device = 0; device < 2; ++device) {
    EXPECT_EQ(test::first_difference(shards[device].samples.velocity, 0, whole.samples.velocity,
                                     200 * device * nv, 200 * nv),
              -1);
  }
}

template <class Result>
void expect_same_result(const Result& a, const Result& b) {
  Result::each_array(
      {},
      [](const char* name, const Extents&, const auto& x, const auto& y) {
        EXPECT_EQ(test::first_difference(x, y), -1) << name;
      },
      a, b);
}

/// The same call on one device and on two.
template <class Call>
void expect_devices_do_not_matter(Call&& call) {
  const auto one = call(nullptr);
  Workspace workspace;
  for (int turn = 0; turn < 2; ++turn) {
    const CudaScope both(std::vector<int>{0, 1});
    expect_same_result(one, call(&workspace));
  }
  const CudaScope second(std::vector<int>{1});
  expect_same_result(one, call(nullptr));
}

TEST(CudaOnHost, DevicesDoNotMatter) {
  constexpr Backend kCuda = Backend::cuda;
  test::Generator random(31);
  const LpBatch lps = test::batch_of(test::random_lps(random, test::LpFlavour::feasible, 4, 8, 7));
  const LpResult base = solve_lp(lps, {}, kCuda);
  expect_devices_do_not_matter([&](Workspace* w) { return solve_lp(lps, {}, kCuda, nullptr, w); });
  expect_devices_do_not_matter(
      [&](Workspace* w) { return solve_lp(lps, {}, kCuda, &base.basis, w); });
  const QpBatch qps = test::random_qps({}, 5, 12);
  expect_devices_do_not_matter([&](Workspace* w) { return solve_qp(qps, {}, kCuda, {}, w); });
  const QpResult solved = solve_qp(qps, {}, kCuda);
  QpWarmStart start;
  start.solution = solved.solution.to(MemorySpace::host);
  start.dual = solved.dual.to(MemorySpace::host);
  expect_devices_do_not_matter([&](Workspace* w) { return solve_qp(qps, {}, kCuda, start, w); });
  std::vector<CompliantProblem> problems;
  for (std::uint32_t i = 0; i < 7; ++i) {
    problems.push_back(test::random_compliant({.dimension = 3, .contacts = 2}, i, 5));
  }
  const CompliantBatch steps = make_batch(problems);
  expect_devices_do_not_matter([&](Workspace* w) { return solve_compliant(steps, {}, kCuda, w); });
  const PostureBatch planar = test::random_batch(14, test::PostureKind::any, 5, 9, true, true);
  expect_devices_do_not_matter(
      [&](Workspace* w) { return planar_equilibrium(planar, {}, kCuda, w); });
  const auto centres = Buffer<double>::from(std::vector<double>(18, 0.1));
  expect_devices_do_not_matter(
      [&](Workspace* w) { return planar_margins(planar, centres, {}, kCuda, w); });
  const PostureBatch spatial = four_feet(3);
  const std::vector<double> directions = equal_directions(16);
  expect_devices_do_not_matter(
      [&](Workspace* w) { return support(spatial, directions, {}, kCuda, w); });
  std::vector<Stance> stances;
  test::RandomStances any_stance(32);
  for (int p = 0; p < 11; ++p) stances.push_back(any_stance.any());
  const StanceBatch bipeds = stance_batch(stances);
  const StabilitySettings from{.first_problem = 5};
  expect_devices_do_not_matter(
      [&](Workspace* w) { return analyse_stability(bipeds, from, kCuda, w); });
}

/// Fewer problems than devices are divided by samples, others by problems.
TEST(CudaOnHost, DevicesDoNotMatterForImpacts) {
  ImpactSettings settings = test::model_settings("rocking_block", 333);
  settings.epsilon = 0.05;
  settings.keep_paths = 200;
  settings.keep_samples = 250;
  settings.first_sample = 7;
  std::vector<ImpactProblem> problems;
  for (const double friction : {0.2, 0.5, 0.9}) {
    problems.push_back(models::build("rocking_block", {{"friction", friction}}));
  }
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
    const ImpactBatch batch = make_batch(std::span(problems).first(count));
    const ImpactResult one = sample_impacts(batch, settings, Backend::cuda);
    Workspace workspace;
    std::int64_t heard = 0;
    settings.progress = [&](const ImpactProgress& progress) {
      EXPECT_EQ(progress.samples_total, static_cast<std::int64_t>(count) * 333);
      heard = progress.samples_done;
      return true;
    };
    const CudaScope both(std::vector<int>{1, 0});
    const ImpactResult two = sample_impacts(batch, settings, Backend::cuda, &workspace);
    EXPECT_GT(heard, 0);
    settings.progress = nullptr;
    test::expect_same(one, two);
    ASSERT_EQ(one.paths.size(), two.paths.size());
    for (std::size_t p = 0; p < one.paths.size(); ++p) {
      EXPECT_EQ(one.paths[p].offset, two.paths[p].offset);
      EXPECT_EQ(one.paths[p].velocity, two.paths[p].velocity);
    }
  }
}

/// Worlds stay on their device from chunk to chunk.
TEST(CudaOnHost, DevicesDoNotMatterForWorlds) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  WorldRun run;
  run.steps = 30;
  run.stride = 7;
  for (const std::int64_t worlds : {1, 5}) {
    run.worlds = worlds;
    run.parameters.clear();
    for (std::int64_t w = 0; w < worlds; ++w) {
      const std::vector<double> own = models::scenario_parameters(
          scenario, {{"angle", 10.0 + 5.0 * static_cast<double>(w)}, {"friction", 0.2}});
      run.parameters.insert(run.parameters.end(), own.begin(), own.end());
    }
    for (const bool alike : {false, true}) {
      if (alike) run.parameters = models::scenario_parameters(scenario, {{"friction", 0.2}});
      const WorldsResult one = step_worlds(scenario, run, {}, Backend::cuda);
      const CudaScope both(std::vector<int>{1, 0});
      Workspace workspace;
      for (int turn = 0; turn < 2; ++turn) {
        const WorldsResult two = step_worlds(scenario, run, {}, Backend::cuda, &workspace);
        EXPECT_EQ(one.frame_state, two.frame_state);
        EXPECT_EQ(one.position, two.position);
        EXPECT_EQ(one.velocity, two.velocity);
        EXPECT_EQ(one.force, two.force);
        EXPECT_EQ(one.max_residual, two.max_residual);
        EXPECT_EQ(one.iterations, two.iterations);
        EXPECT_EQ(one.status, two.status);
      }
    }
  }
}

/// Likewise.
TEST(CudaOnHost, DevicesDoNotMatterForMotions) {
  std::vector<MotionProblem> problems;
  for (const double width : {0.8, 1.0, 1.3}) {
    problems.push_back(models::build_motion("rocking_block_drop", {{"width", width}}));
    problems.back().velocity_spread = {0.1, 0.0, 0.2};
  }
  problems[1].velocity[0] = std::numeric_limits<double>::quiet_NaN();
  MotionSettings settings;
  settings.duration = 0.2;
  settings.samples = 5;
  settings.keep_samples = 4;
  settings.keep_events = 6;
  settings.grid = 0.05;
  settings.first_problem = 3;
  settings.first_sample = 2;
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
    const MotionBatch batch = make_batch(std::span(problems).first(count));
    const MotionResult one = simulate_motions(batch, settings, Backend::cuda);
    const CudaScope both(std::vector<int>{1, 0});
    Workspace workspace;
    simulate_motions(batch, settings, Backend::cuda, &workspace);
    const MotionResult two = simulate_motions(batch, settings, Backend::cuda, &workspace);
    EXPECT_EQ(two.problems, one.problems);
    EXPECT_EQ(two.kept, one.kept);
    expect_same_result(one, two);
  }
}

TEST(CudaOnHost, AScopeRefusesDevicesByName) {
  EXPECT_EQ(refusal([] {
              CudaScope({0, 2});
            }),
            "devices is 2: must be a usable CUDA device, see carom info");
  EXPECT_EQ(refusal([] { CudaScope({1, 1}); }), "devices is 1: must be named once");
  EXPECT_EQ(CudaScope::current(), nullptr);
}

// What a call queues on the caller's stream follows what is there already.
TEST(CudaOnHost, CallsFollowTheCallersStream) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  {
    const CudaScope scope(static_cast<void*>(stream));
    test::Generator random(41);
    const LpBatch host =
        test::batch_of(test::random_lps(random, test::LpFlavour::feasible, 4, 8, 5));
    LpBatch device = host.to(MemorySpace::device);
    const std::size_t bytes = host.cost.size() * sizeof(double);
    cudaMemsetAsync(device.cost.data(), 0xff, bytes, nullptr);
    // Filled by work that nobody waits for but the call.
    cudaMemcpyAsync(device.cost.data(), host.cost.data(), bytes, cudaMemcpyHostToDevice, stream);
    const LpResult there = solve_lp(device, {}, Backend::cuda);
    test::expect_identical(there, solve_lp(host, {}, Backend::cpu));
    const QpBatch qps = test::random_qps({}, 3, 8);
    test::expect_identical(solve_qp(qps, {}, Backend::cuda), solve_qp(qps, {}, Backend::cpu));
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// Without a workspace memory comes from what earlier calls left.
TEST(CudaOnHost, LaterCallsTakeThePoolsMemory) {
  const std::size_t usual = cuda::pool_bytes.exchange(std::size_t{1} << 30);
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    for (int turn = 0; turn < 3; ++turn) call();  // until each has found the memory that fits best
    const long made = cuda_on_host::allocations_made();
    call();
    EXPECT_EQ(cuda_on_host::allocations_made() - made, 0);
  }
  // What is kept gives way where memory is short.
  const QpBatch qps = test::random_qps({}, 40, 12);
  cuda_on_host::fail_allocation(1);
  EXPECT_NO_THROW(solve_qp(qps, {}, Backend::cuda));
  cuda_on_host::fail_allocation(0);
  cuda::pool_bytes = usual;
}

// A call of few numbers is a matter of transfers, not of work.
TEST(CudaOnHost, SmallCallsTakeMemoryAndTransferOnce) {
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    const long made = cuda_on_host::allocations_made();
    const long downloads = cuda_on_host::downloads_made();
    call();
    if (name == "planar" || name == "lp" || name == "compliant") {
      EXPECT_EQ(cuda_on_host::allocations_made() - made, 1);
      EXPECT_EQ(cuda_on_host::downloads_made() - downloads, 1);
    } else if (name == "spatial") {
      EXPECT_EQ(cuda_on_host::allocations_made() - made, 2);  // the directions
      EXPECT_EQ(cuda_on_host::downloads_made() - downloads, 1);
    } else if (name == "qp") {
      EXPECT_LE(cuda_on_host::allocations_made() - made, 6);
      EXPECT_LE(cuda_on_host::downloads_made() - downloads, 2);
    }
  }
}

}  // namespace
}  // namespace carom
