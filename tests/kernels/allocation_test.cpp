#include <atomic>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <carom/device/lanes.hpp>
#include <carom/models/models.hpp>
#include <carom/solver_objects.hpp>

#include "core/arrays.hpp"
#include "cpu/impact/impact_driver.hpp"
#include "cpu/programs/lcp_driver.hpp"
#include "cpu/programs/lp_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/programs/qp.hpp"
#include "programs/lcp/kernels/lemke.hpp"
#include "programs/qp/task.hpp"
#include "support/allocations.hpp"
#include "support/compliant_problems.hpp"
#include "support/compliant_range.hpp"
#include "support/lp_problems.hpp"
#include "support/model_runs.hpp"
#include "support/path_run.hpp"
#include "support/random_qps.hpp"

// Every allocation of this executable is counted; the solver bodies make none.
namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t size = bytes == 0 ? 1 : bytes;
  void* data = alignment == 0
                   ? std::malloc(size)
                   : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace

long carom::test::allocation_count() { return allocations; }

void* operator new(std::size_t bytes) { return counted(bytes, 0); }
void* operator new[](std::size_t bytes) { return counted(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete[](void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete[](void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete[](void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }

namespace carom {
namespace {

using kernels::SingleLane;
using test::allocations_of;
using test::Generator;

TEST(Allocations, AreCounted) {
  if (!test::kAlignedAreCounted) GTEST_SKIP() << "the thread sanitizer counts no aligned memory";
  EXPECT_GE(allocations_of([] {
              std::vector<double> values(10, 1.0);
              (void)values.at(3);
            }),
            1);
  EXPECT_GE(allocations_of([] {
              Buffer<double> values(10);
              (void)values.data();
            }),
            1);
}

TEST(Allocations, NoneInLemke) {
  Generator random(3);
  constexpr int kOrder = 20;
  const test::Matrix b = random.normal_matrix(kOrder, kOrder);
  const test::Matrix matrix = b * b.transpose() + test::Matrix::Identity(kOrder, kOrder);
  const test::Vector vector = random.normal_vector(kOrder);
  std::vector<double> reals(static_cast<std::size_t>(kernels::lemke_real_workspace(kOrder)));
  std::vector<int> ints(static_cast<std::size_t>(kernels::lemke_int_workspace(kOrder)));
  std::vector<double> z(kOrder);
  kernels::LemkeOutcome outcome{};
  EXPECT_EQ(allocations_of([&] {
              const SingleLane lane;
              kernels::Lemke<SingleLane> lemke(lane, kOrder, reals.data(), ints.data());
              outcome = lemke.run([&](int i, int j) { return matrix(i, j); },
                                  [&](int i) { return vector[i]; }, 1000, z.data());
            }),
            0);
  EXPECT_EQ(outcome.status, Status::solved);
  EXPECT_GT(outcome.pivots, 1);
}

template <int Dim, class Real>
void expect_none_on_path(Generator& random) {
  const int m = 4;
  const int rows = Dim * m;
  const ImpactProblem problem = test::random_problem(random, test::Flavour::rank_deficient, Dim, m);
  const test::StepProblem step =
      test::step_problem(problem, test::random_limits(random, test::Flavour::generic, m), 6);
  const test::Matrix delassus = step.delassus();
  const test::Vector u = step.contact_velocity();
  const kernels::FrictionPolygon polygon = friction_polygon(Dim, 6);
  std::vector<Real> reals(static_cast<std::size_t>(kernels::path_real_workspace(Dim, m)));
  std::vector<int> ints(static_cast<std::size_t>(kernels::path_int_workspace(Dim, m)));
  std::vector<double> impulse(static_cast<std::size_t>(rows));
  kernels::PathOutcome outcome{};
  EXPECT_EQ(allocations_of([&] {
              const SingleLane lane;
              kernels::ContactPath<Dim, Real, SingleLane> path(
                  lane, m, polygon, step.friction.data(), reals.data(), ints.data());
              outcome = path.run(delassus.data(), u.data(), step.limit.data(), 200, impulse.data());
              path.correct(delassus.data(), u.data(), impulse.data());
            }),
            0);
  EXPECT_TRUE(outcome.found);
}

TEST(Allocations, NoneOnTheContactPath) {
  Generator random(4);
  expect_none_on_path<2, double>(random);
  expect_none_on_path<2, float>(random);
  expect_none_on_path<3, double>(random);
  expect_none_on_path<3, float>(random);
}

template <int Dim>
long allocations_of_trajectories(const ImpactBatch& batch, const ImpactSettings& settings) {
  const PreparedImpacts prepared(batch, settings);
  const auto sobol = run_directions(batch, settings);
  const kernels::ImpactRun run = impact_run(batch, settings, sobol);
  const kernels::ImpactProblemView view = prepared.view(0);
  const cpu::TrajectoryMemory<Dim> memory(batch.velocities, batch.contacts,
                                          settings.friction_directions, settings.selection);
  std::vector<double> path(static_cast<std::size_t>((settings.max_steps + 1) * batch.velocities));
  int steps = 0;
  const long count = allocations_of([&] {
    const SingleLane lane;
    kernels::ImpactTrajectory<Dim, SingleLane> trajectory(lane, run, view, memory.scratch());
    for (std::uint64_t sample = 0; sample < 200; ++sample) {
      steps += trajectory.run(0, sample, path.data()).steps;
    }
  });
  EXPECT_GT(steps, 200);
  return count;
}

TEST(Allocations, NoneInCompliantSteps) {
  std::vector<CompliantProblem> problems;
  for (std::uint32_t p = 0; p < 40; ++p) {
    problems.push_back(test::random_compliant(
        {.velocities = 6, .bilateral = 0, .unilateral = 0, .contacts = static_cast<int>(1 + p % 4)},
        p));
  }
  const CompliantBatch batch = make_batch(problems);
  test::CompliantRangeRun run(batch);
  for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
    SCOPED_TRACE(set->name);
    EXPECT_EQ(allocations_of([&] { run.run(*set); }), 0);
  }
  EXPECT_EQ(run.result().status.data()[39], Status::solved);
}

TEST(Allocations, NoneInTrajectories) {
  for (const char* name : {"compass_gait", "rocking_block", "ball_in_corner"}) {
    for (const Selection selection : {Selection::any, Selection::lemke, Selection::random}) {
      for (const Sampler sampler : {Sampler::uniform, Sampler::sobol}) {
        SCOPED_TRACE(name);
        const ImpactBatch batch = test::model_batch(name);
        ImpactSettings settings = test::model_settings(name, 200);
        settings.selection = selection;
        settings.sampler = sampler;
        settings.epsilon = 0.1;
        if (selection == Selection::random && batch.contact_rows() > 6) continue;
        EXPECT_EQ(batch.dimension == 2 ? allocations_of_trajectories<2>(batch, settings)
                                       : allocations_of_trajectories<3>(batch, settings),
                  0);
      }
    }
  }
}

/// Single problems, packs of eight and what goes on to Lemke's method in twice the precision.
TEST(Allocations, NoneInLinearPrograms) {
  for (const int rows : {6, 12}) {
    for (const test::LpFlavour flavour : test::kLpFlavours) {
      Generator random(11 + rows);
      const LpBatch batch = test::batch_of(test::random_lps(random, flavour, rows, 20, 44));
      for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
        SCOPED_TRACE(set->name);
        long count = 0;
        long problems = 0;
        const LpResult result =
            cpu::drive_lp(batch, {.threads = 1}, nullptr, [&](const cpu::simd::LpRange& range) {
              problems += range.finish == nullptr ? range.end - range.begin : 0;
              count += allocations_of([&] { set->solve_lps(range); });
            });
        EXPECT_EQ(count, 0);
        EXPECT_EQ(problems, batch.problems);
        EXPECT_NE(result.status.data()[43], Status::numerical_error);
      }
    }
  }
}

TEST(Allocations, NoneInLcpsOfABatch) {
  for (const int order : {4, 10, 28}) {
    constexpr int kProblems = 30;
    Generator random(order);
    std::vector<double> matrix;
    std::vector<double> vector;
    for (int p = 0; p < kProblems; ++p) {
      // Half of them without full rank, and with equal entries that tie.
      const test::Matrix b = random.normal_matrix(order, p % 2 == 0 ? order : order / 2);
      const test::Matrix m = b * b.transpose();
      const test::Vector q = p % 3 == 0 ? test::Vector(m * test::Vector::Constant(order, -1.0))
                                        : test::Vector(m * random.normal_vector(order));
      matrix.insert(matrix.end(), m.data(), m.data() + m.size());
      vector.insert(vector.end(), q.data(), q.data() + q.size());
    }
    LcpBatch batch;
    batch.problems = kProblems;
    batch.order = order;
    batch.matrix = Buffer<double>::from(matrix);
    batch.vector = Buffer<double>::from(vector);
    for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
      SCOPED_TRACE(set->name);
      long count = 0;
      const LcpResult result =
          cpu::drive_lcp(batch, {.threads = 1}, [&](const cpu::simd::LcpRange& range) {
            count += allocations_of([&] { set->solve_lcps(range); });
          });
      EXPECT_EQ(count, 0);
      EXPECT_EQ(result.status.data()[0], Status::solved);
    }
  }
}

long allocations_of_qps(const QpBatch& batch, QpMethod method) {
  const QpLayout layout(batch);
  auto result = allocate<QpResult>(batch);
  const auto problems = static_cast<std::size_t>(batch.problems);
  std::vector<std::uint8_t> end(problems);
  Buffer<double> workspace(
      static_cast<std::size_t>(cpu::simd::qp_workspace(method, layout.shape())));
  kernels::QpTaskArrays task =
      qp_task(batch, layout, {.method = method, .max_iterations = 100000}, {}, result);
  task.end = end.data();
  const cpu::simd::QpRange range{0, batch.problems, &task, workspace.data()};
  const auto solve = cpu::simd::instruction_set().solve_qps;
  const long count = allocations_of([&] { solve(range); });
  for (const double r : result.residual.host()) EXPECT_LE(r, 1e-9);
  return count;
}

TEST(Allocations, NoneInQuadraticPrograms) {
  test::QpFlavour flavour;
  flavour.equations = 1;
  const QpBatch rows = test::random_qps(flavour, 19, 5);
  flavour.rank = 4;  // too few for the dual active set: the interior point takes over
  flavour.rows = 24;
  const QpBatch semidefinite = test::random_qps(flavour, 11, 6);
  flavour.rank = 6;
  flavour.rows = 4;
  flavour.cones = {{ConeKind::second_order, 3}};
  const QpBatch cones = test::random_qps(flavour, 19, 7);
  for (const QpBatch* batch : {&rows, &cones}) {
    for (const QpMethod method :
         {QpMethod::automatic, QpMethod::interior_point, QpMethod::admm, QpMethod::projected}) {
      SCOPED_TRACE(to_string(method));
      EXPECT_EQ(allocations_of_qps(*batch, method), 0);
    }
  }
  EXPECT_EQ(allocations_of_qps(semidefinite, QpMethod::automatic), 0);
}

TEST(Allocations, NoneInKeptSolvers) {
  test::QpFlavour flavour;
  flavour.equations = 1;
  constexpr std::int64_t kProblems = 19;
  const QpBatch batch = test::random_qps(flavour, kProblems, 5);
  const auto values = [](const Buffer<double>& from) {
    return std::span<const double>(from.data(), from.size());
  };
  for (const bool shared : {true, false}) {
    std::vector<double> lower, upper;
    for (std::int64_t p = 0; p < kProblems; ++p) {
      const std::int64_t from = shared ? 0 : p * batch.rows;
      lower.insert(lower.end(), batch.lower.data() + from, batch.lower.data() + from + batch.rows);
      upper.insert(upper.end(), batch.upper.data() + from, batch.upper.data() + from + batch.rows);
    }
    const QpVectors vectors{kProblems, values(batch.vector), lower, upper};
    QpSolver solver(arrays::slice(batch, 0, shared ? 1 : kProblems), {.threads = 1});
    std::vector<std::uint8_t> held(lower.size(), 0);
    QpResult result = solver.solve(vectors, held);
    EXPECT_EQ(allocations_of([&] { solver.solve(vectors, held, result); }), 0);
    for (const double r : result.residual.host()) EXPECT_LE(r, 1e-9);
  }
}

}  // namespace
}  // namespace carom
