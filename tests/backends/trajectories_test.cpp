#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "core/random.hpp"
#include "emulation/emulation.hpp"
#include "impact/backends.hpp"
#include "impact/mode_table.hpp"
#include "support/bits.hpp"
#include "support/enumerated.hpp"
#include "support/model_runs.hpp"
#include "support/random_problems.hpp"

// Trajectories of the nine models: certified, and the same however they are computed.
namespace carom {
namespace {

using test::Matrix;
using test::model_batch;
using test::model_settings;

ImpactResult on_cpu(const ImpactBatch& batch, const ImpactSettings& settings) {
  return sample_impacts(batch, settings, Backend::cpu);
}

void expect_all_certified(const ImpactSummary& summary, std::int64_t samples) {
  EXPECT_EQ(summary.status, Status::solved);
  EXPECT_EQ(summary.samples, samples);
  EXPECT_EQ(summary.failed, 0);
  EXPECT_EQ(summary.terminated + summary.max_steps_reached, samples);
  EXPECT_LE(summary.max_residual, 1e-9);
  EXPECT_LE(summary.max_energy_ratio, 1.0 + 1e-12);
  std::int64_t counted = 0;
  for (const auto& [modes, count] : summary.mode_counts) counted += count;
  EXPECT_EQ(counted, summary.terminated);
}

class Trajectories : public test::ModelTest {};

TEST_P(Trajectories, AllCertified) {
  const std::int64_t samples = 1 << 14;
  const ImpactSettings settings = model_settings(GetParam(), samples);
  const ImpactProblem problem = models::build(GetParam());
  const ImpactResult result = on_cpu(make_batch({&problem, 1}), settings);
  const ImpactSummary& summary = result.summary[0];
  expect_all_certified(summary, samples);
  EXPECT_LT(100 * summary.fallback_solves, summary.lcp_solves);
  EXPECT_GT(10 * summary.terminated, 9 * samples);
  std::int64_t steps = 0;
  for (const std::int32_t count : result.samples.steps.host()) steps += count;
  EXPECT_EQ(steps, summary.lcp_solves);
  // A terminated sample's own velocity says so, and its impulse explains it: M (v+ - v) = J'
  // lambda.
  const int nv = problem.velocities;
  const int m = problem.contacts;
  const int t = (problem.dimension - 1) * m;
  const Eigen::Map<const Matrix> mass(problem.mass_matrix.data(), nv, nv);
  const Eigen::Map<const Matrix> normal(problem.normal_jacobian.data(), m, nv);
  const Eigen::Map<const Matrix> tangent(problem.tangent_jacobian.data(), t, nv);
  const Eigen::Map<const Eigen::VectorXd> before(problem.velocity.data(), nv);
  const double momentum = (mass * before).cwiseAbs().maxCoeff();
  for (std::int64_t s = 0; s < samples; s += 7) {
    const auto row = static_cast<std::size_t>(s);
    const Eigen::Map<const Eigen::VectorXd> v(result.samples.velocity.data() + s * nv, nv);
    const Eigen::Map<const Eigen::VectorXd> impulse(result.samples.impulse.data() + s * (m + t),
                                                    m + t);
    const Eigen::VectorXd gap = mass * (v - before) - normal.transpose() * impulse.head(m) -
                                tangent.transpose() * impulse.tail(t);
    ASSERT_LE(gap.cwiseAbs().maxCoeff(), 1e-10 * (momentum + impulse.cwiseAbs().maxCoeff()));
    if (result.samples.status.data()[row] == TrajectoryStatus::terminated) {
      ASSERT_GE((normal * v).minCoeff(), -1.001e-9);
    }
  }
}

TEST_P(Trajectories, EmulatedWarpMatchesBitForBit) {
  ImpactSettings settings = model_settings(GetParam(), 700);
  settings.epsilon = 0.05;
  settings.keep_paths = 33;
  const ImpactBatch batch = model_batch(GetParam());
  const ImpactResult cpu = on_cpu(batch, settings);
  test::expect_identical(cpu, emulation::sample_impacts(batch, settings, false));
  test::expect_identical(cpu, emulation::sample_impacts(batch, settings, true));
  settings.samples = 200;
  settings.selection = Selection::lemke;
  test::expect_identical(on_cpu(batch, settings), emulation::sample_impacts(batch, settings, true));
}

TEST_P(Trajectories, ThreadsDoNotMatter) {
  ImpactSettings settings = model_settings(GetParam(), 3000);
  settings.epsilon = 0.02;
  settings.keep_paths = 100;
  const ImpactBatch batch = model_batch(GetParam());
  settings.threads = 1;
  const ImpactResult one = on_cpu(batch, settings);
  settings.threads = 2;
  test::expect_identical(one, on_cpu(batch, settings));
}

/// Shards of a run whose first sample is `origin`, and the first samples of a longer one.
void expect_any_split(const std::string& model, std::int64_t origin) {
  SCOPED_TRACE(origin);
  const ImpactBatch batch = model_batch(model);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto rows = static_cast<std::size_t>(batch.contact_rows());
  ImpactSettings settings = model_settings(model, 1500);
  settings.first_sample = origin;
  const ImpactResult whole = on_cpu(batch, settings);
  ImpactSummary sums;
  for (const auto& [first, count] :
       {std::pair{0, 1}, std::pair{1, 255}, std::pair{256, 1000}, std::pair{1256, 244}}) {
    settings.first_sample = origin + first;
    settings.samples = count;
    const ImpactResult shard = on_cpu(batch, settings);
    const auto from = static_cast<std::size_t>(first);
    const auto n = static_cast<std::size_t>(count);
    EXPECT_EQ(test::first_difference(shard.samples.velocity, 0, whole.samples.velocity, from * nv,
                                     n * nv),
              -1);
    EXPECT_EQ(test::first_difference(shard.samples.impulse, 0, whole.samples.impulse, from * rows,
                                     n * rows),
              -1);
    EXPECT_EQ(test::first_difference(shard.samples.status, 0, whole.samples.status, from, n), -1);
    EXPECT_EQ(test::first_difference(shard.samples.modes, 0, whole.samples.modes, from, n), -1);
    EXPECT_EQ(test::first_difference(shard.samples.residual, 0, whole.samples.residual, from, n),
              -1);
    sums.terminated += shard.summary[0].terminated;
    sums.lcp_solves += shard.summary[0].lcp_solves;
    sums.pivots += shard.summary[0].pivots;
    sums.max_residual = std::max(sums.max_residual, shard.summary[0].max_residual);
  }
  EXPECT_EQ(sums.terminated, whole.summary[0].terminated);
  EXPECT_EQ(sums.lcp_solves, whole.summary[0].lcp_solves);
  EXPECT_EQ(sums.pivots, whole.summary[0].pivots);
  EXPECT_EQ(sums.max_residual, whole.summary[0].max_residual);
}

TEST_P(Trajectories, AnySplitGivesTheSameSamples) { expect_any_split(GetParam(), 0); }

// Where samples begin to have the wide table.
TEST_P(Trajectories, AnySplitGivesTheSameSamplesAcrossTables) {
  expect_any_split(GetParam(), kWideFrom - 700);
}

// Shards by problems: a part of a batch, told where it begins.
TEST_P(Trajectories, AnyPartOfABatchGivesTheSameSamples) {
  const ImpactBatch whole = model_batch(GetParam(), 5);
  ImpactSettings settings = model_settings(GetParam(), 300);
  settings.epsilon = 0.05;
  const ImpactResult all = on_cpu(whole, settings);
  const auto values = static_cast<std::size_t>(300 * whole.velocities);
  for (const auto& [first, count] : {std::pair{0, 2}, std::pair{2, 1}, std::pair{3, 2}}) {
    settings.first_problem = first;
    const ImpactResult part = on_cpu(model_batch(GetParam(), count), settings);
    for (int p = 0; p < count; ++p) {
      const auto here = static_cast<std::size_t>(p);
      const auto there = static_cast<std::size_t>(first + p);
      test::expect_identical(part.summary[here], all.summary[there]);
      test::expect_identical(part.net[here], all.net[there]);
      EXPECT_EQ(test::first_difference(part.samples.velocity, here * values, all.samples.velocity,
                                       there * values, values),
                -1);
    }
  }
  // The reference draws the same numbers.
  settings.first_problem = 4;
  settings.samples = 20;
  settings.selection = Selection::lemke;
  const ImpactBatch one = model_batch(GetParam(), 1);
  const ImpactResult reference = sample_impacts(one, settings, Backend::reference);
  const ImpactResult cpu = on_cpu(one, settings);
  for (std::size_t i = 0; i < cpu.samples.velocity.size(); ++i) {
    EXPECT_NEAR(cpu.samples.velocity.host()[i], reference.samples.velocity.host()[i], 1e-9);
  }
}

// The numbers of problem p are addressed by p: a batch's neighbours change nothing, sick or not.
TEST_P(Trajectories, PoisonStaysInItsProblem) {
  ImpactSettings settings = model_settings(GetParam(), 300);
  settings.epsilon = 0.05;
  settings.keep_paths = 2;
  settings.bad_problem = BadProblem::isolate;
  const ImpactResult healthy = on_cpu(model_batch(GetParam(), 3), settings);
  ImpactBatch batch = model_batch(GetParam(), 3);
  batch.velocity.host()[static_cast<std::size_t>(batch.velocities)] =
      std::numeric_limits<double>::quiet_NaN();
  const ImpactResult sick = on_cpu(batch, settings);
  const auto count = static_cast<std::size_t>(300 * batch.velocities);
  for (const std::size_t p : {0UL, 2UL}) {
    test::expect_identical(sick.summary[p], healthy.summary[p]);
    test::expect_identical(sick.net[p], healthy.net[p]);
    EXPECT_EQ(sick.paths[p].velocity, healthy.paths[p].velocity);
    EXPECT_EQ(test::first_difference(sick.samples.velocity, p * count, healthy.samples.velocity,
                                     p * count, count),
              -1);
  }
  EXPECT_EQ(sick.summary[1].status, Status::invalid_input);
  EXPECT_EQ(sick.summary[1].samples, 0);
  EXPECT_EQ(sick.net[1].points(), 0);
  for (std::size_t i = count; i < 2 * count; ++i) {
    ASSERT_TRUE(std::isnan(sick.samples.velocity.host()[i]));
  }
  EXPECT_EQ(healthy.summary[1].samples, 300);
  // Each problem of the batch draws its own numbers.
  EXPECT_NE(
      test::first_difference(healthy.samples.velocity, 0, healthy.samples.velocity, count, count),
      -1);
}

/// Where two runs of the same samples part, by more than their certificates explain, the step that
/// parts them has several outcomes: returns how many of the first `count` samples part.
int expect_apart_only_where_nonunique(const std::string& name, ImpactSettings one,
                                      ImpactSettings other, std::int64_t count) {
  one.samples = one.keep_paths = other.samples = other.keep_paths = count;
  const ImpactProblem problem = models::build(name);
  const ImpactBatch batch = make_batch({&problem, 1});
  const ImpactResult first = on_cpu(batch, one);
  const ImpactResult second = on_cpu(batch, other);
  const int nv = problem.velocities;
  const int m = problem.contacts;
  const auto at = [nv](const ImpactResult& result, std::size_t sample, std::int64_t step) {
    const std::int64_t row = result.paths[0].offset[sample] + step;
    return Eigen::Map<const Eigen::VectorXd>(result.paths[0].velocity.data() + row * nv, nv);
  };
  const double speed =
      Eigen::Map<const Eigen::VectorXd>(problem.velocity.data(), nv).cwiseAbs().maxCoeff();
  int apart = 0;
  for (std::size_t s = 0; s < static_cast<std::size_t>(count); ++s) {
    SCOPED_TRACE(name + ", sample " + std::to_string(s));
    const double residual =
        std::max(first.samples.residual.data()[s], second.samples.residual.data()[s]);
    const double tolerance = (1e-9 + 10.0 * residual) * speed;
    const std::int64_t steps =
        std::min(first.samples.steps.data()[s], second.samples.steps.data()[s]);
    std::int64_t step = 1;
    while (step <= steps &&
           (at(first, s, step) - at(second, s, step)).cwiseAbs().maxCoeff() <= tolerance) {
      ++step;
    }
    if (step > steps) continue;
    if (++apart > 8) continue;
    Eigen::VectorXd limit(m);
    for (int i = 0; i < m; ++i) {
      limit[i] =
          one.step_size * uniform(one.seed, 0, s, static_cast<std::uint32_t>((step - 1) * m + i));
    }
    test::StepProblem parting = test::step_problem(problem, limit, one.friction_directions);
    parting.velocity = at(first, s, step - 1);
    EXPECT_GT(test::enumerated(parting).size(), 1U);
  }
  return apart;
}

// Two ways differ only where the step has a choice.
TEST_P(Trajectories, PathAndLemkeDifferOnlyWhereTheStepHasAChoice) {
  ImpactSettings lemke = model_settings(GetParam(), 1);
  lemke.selection = Selection::lemke;
  const int apart =
      expect_apart_only_where_nonunique(GetParam(), model_settings(GetParam(), 1), lemke, 500);
  if (GetParam() == "rocking_block" || GetParam() == "box_wall") {
    EXPECT_EQ(apart, 0);
  }
}

TEST_P(Trajectories, ReferenceAgreesUnderLemke) {
  ImpactSettings settings = model_settings(GetParam(), 250);
  settings.selection = Selection::lemke;
  const ImpactBatch batch = model_batch(GetParam());
  const ImpactResult fast = on_cpu(batch, settings);
  const ImpactResult slow = sample_impacts(batch, settings, Backend::reference);
  expect_all_certified(fast.summary[0], 250);
  expect_all_certified(slow.summary[0], 250);
  const int nv = batch.velocities;
  double speed = 0.0;
  for (const double v : batch.velocity.host()) speed = std::max(speed, std::abs(v));
  for (std::size_t s = 0; s < 250; ++s) {
    SCOPED_TRACE("sample " + std::to_string(s));
    EXPECT_EQ(fast.samples.status.data()[s], slow.samples.status.data()[s]);
    EXPECT_EQ(mode_words(fast.samples.modes.data()[s], batch.contacts, batch.dimension),
              mode_words(slow.samples.modes.data()[s], batch.contacts, batch.dimension));
    EXPECT_EQ(fast.samples.steps.data()[s], slow.samples.steps.data()[s]);
    for (std::size_t i = s * static_cast<std::size_t>(nv);
         i < (s + 1) * static_cast<std::size_t>(nv); ++i) {
      EXPECT_NEAR(fast.samples.velocity.data()[i], slow.samples.velocity.data()[i], 1e-9 * speed);
    }
  }
}

TEST_P(Trajectories, SobolAndOtherDirectionsAreCertified) {
  ImpactSettings settings = model_settings(GetParam(), 3000);
  settings.sampler = Sampler::sobol;
  const ImpactBatch batch = model_batch(GetParam());
  expect_all_certified(on_cpu(batch, settings).summary[0], 3000);
  if (batch.dimension == 2) return;
  settings.sampler = Sampler::uniform;
  settings.samples = 1000;
  for (const int k : {5, 7, 8, 16}) {
    settings.friction_directions = k;
    expect_all_certified(on_cpu(batch, settings).summary[0], 1000);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Trajectories, ::testing::ValuesIn(test::model_names()),
                         test::model_name);

}  // namespace
}  // namespace carom
