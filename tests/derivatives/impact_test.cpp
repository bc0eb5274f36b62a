#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/derivative_impact.hpp>
#include <carom/models/models.hpp>

#include "support/bits.hpp"
#include "support/message.hpp"
#include "support/model_runs.hpp"

namespace carom {
namespace {

using test::expect_names;
using test::refusal;

struct Sampled {
  ImpactBatch batch;
  ImpactSettings settings;
  ImpactSamples samples;
};

Sampled sampled(const ImpactProblem& problem, ImpactSettings settings) {
  settings.selection = Selection::lemke;
  settings.keep_samples = -1;
  settings.epsilon = 0.0;
  Sampled run{make_batch({&problem, 1}), settings, {}};
  run.samples = sample_impacts(run.batch, settings, Backend::cpu).samples;
  return run;
}

Sampled of_model(const std::string& name, std::int64_t samples) {
  return sampled(models::build(name), test::model_settings(name, samples));
}

ImpactCotangent random_cotangent(const Sampled& run, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(run.samples.velocity.size());
  for (double& value : values) value = normal(random);
  return {{Buffer<double>::from(values)}};
}

double dot(const double* a, const double* b, std::int64_t n, double* terms = nullptr) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += a[i] * b[i];
    if (terms != nullptr) *terms += std::fabs(a[i] * b[i]);
  }
  return sum;
}

/// v+ of all samples of a changed problem and h.
using Change = std::function<void(ImpactProblem&, double& step_size, double by)>;
std::vector<double> ends(const Sampled& run, const Change& change, double by) {
  ImpactProblem problem;
  problem.dimension = run.batch.dimension;
  problem.velocities = run.batch.velocities;
  problem.contacts = run.batch.contacts;
  problem.mass_matrix = run.batch.mass_matrix.to_vector();
  problem.normal_jacobian = run.batch.normal_jacobian.to_vector();
  problem.tangent_jacobian = run.batch.tangent_jacobian.to_vector();
  problem.friction = run.batch.friction.to_vector();
  problem.velocity = run.batch.velocity.to_vector();
  ImpactSettings settings = run.settings;
  change(problem, settings.step_size, by);
  return sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu)
      .samples.velocity.to_vector();
}

/// Differences of fourth order, with what two widths say of their error.
struct Difference {
  std::vector<double> value, error;
};
Difference difference(const Sampled& run, double width, const Change& change) {
  const auto at = [&](double t) { return ends(run, change, t); };
  const auto rate = [&](double t) {
    const auto a = at(t), b = at(-t), c = at(2 * t), d = at(-2 * t);
    std::vector<double> sum(a.size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] = (8 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * t);
    }
    return sum;
  };
  const auto wide = rate(width), narrow = rate(width / 2);
  Difference found{narrow, wide};
  for (std::size_t i = 0; i < wide.size(); ++i) found.error[i] = std::fabs(wide[i] - narrow[i]);
  return found;
}

/// Models whose contacts do not depend on each other in most steps: what is asked in Jacobians
/// exists.
bool independent(const std::string& model) {
  return model == "compass_gait" || model == "ramone" || model == "newtons_cradle" ||
         model == "cube_two_corners";
}

/// Least number of 100 samples that are smooth in v-, mu, M and h: the steps of the others have
/// several v', or too many combinations of modes to exclude that.
std::int64_t smooth_samples(const std::string& model) {
  if (model == "newtons_cradle" || model == "cube_two_corners") return 100;
  if (model == "rocking_block") return 80;
  return model == "box_wall" ? 8 : 0;
}

class ImpactDerivatives : public test::ModelTest {};

// Samples whose modes change within a difference's width show in its error and are left out; few
// may.
TEST_P(ImpactDerivatives, AgreeWithDifferencesOfTheSampler) {
  const Sampled run = of_model(GetParam(), 100);
  const std::int64_t nv = run.batch.velocities, count = run.samples.count;
  ASSERT_GT(run.settings.step_size, 0.0);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  // Directions as large as what they change.
  const auto along = [&](const Buffer<double>& values) {
    std::vector<double> made = values.to_vector();
    double size = 0.0;
    for (const double value : made) size = std::max(size, std::fabs(value));
    for (double& value : made) value = 0.5 * size * normal(random);
    return made;
  };
  const auto velocity = along(run.batch.velocity), friction = along(run.batch.friction);
  const auto normals = along(run.batch.normal_jacobian);
  const auto tangents = along(run.batch.tangent_jacobian);
  std::vector<double> mass = run.batch.mass_matrix.to_vector();
  for (std::int64_t i = 0; i < nv; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const double size = std::sqrt(run.batch.mass_matrix.data()[i * (nv + 1)] *
                                    run.batch.mass_matrix.data()[j * (nv + 1)]);
      mass[i * nv + j] = mass[j * nv + i] = 0.2 * size * normal(random);
    }
  }
  const auto add = [](double by, const std::vector<double>& what, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += by * what[i];
  };
  struct Input {
    const char* name;
    ImpactDirection direction;
    Change change;
  };
  const auto buffer = [](const std::vector<double>& values) {
    return Buffer<double>::from(values);
  };
  std::vector<Input> inputs(4);
  inputs[0].name = "velocity";
  inputs[0].direction.velocity = buffer(velocity);
  inputs[0].change = [&](ImpactProblem& p, double&, double by) { add(by, velocity, p.velocity); };
  inputs[1].name = "friction";
  inputs[1].direction.friction = buffer(friction);
  inputs[1].change = [&](ImpactProblem& p, double&, double by) { add(by, friction, p.friction); };
  inputs[2].name = "mass_matrix";
  inputs[2].direction.mass_matrix = buffer(mass);
  inputs[2].change = [&](ImpactProblem& p, double&, double by) { add(by, mass, p.mass_matrix); };
  inputs[3].name = "step_size";
  inputs[3].direction.step_size = buffer({1.0});
  inputs[3].change = [&](ImpactProblem&, double& h, double by) { h += by; };
  if (independent(GetParam())) {
    Input& jacobians = inputs.emplace_back();
    jacobians.name = "jacobians";
    jacobians.direction.normal_jacobian = buffer(normals);
    jacobians.direction.tangent_jacobian = buffer(tangents);
    jacobians.change = [&](ImpactProblem& p, double&, double by) {
      add(by, normals, p.normal_jacobian);
      add(by, tangents, p.tangent_jacobian);
    };
  }
  for (const Input& input : inputs) {
    SCOPED_TRACE(input.name);
    const ImpactTangent tangent =
        propagate_impacts(run.batch, run.settings, run.samples, input.direction);
    const Difference expected = difference(run, 1e-4, input.change);
    std::int64_t compared = 0, smooth = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      if (tangent.status.data()[s] != Smoothness::smooth) continue;
      ++smooth;
      double size = 1.0, error = 0.0, off = 0.0;
      for (std::int64_t i = s * nv; i < (s + 1) * nv; ++i) {
        size = std::max(size, std::fabs(expected.value[i]));
        error = std::max(error, expected.error[i]);
        off = std::max(off, std::fabs(expected.value[i] - tangent.velocity.data()[i]));
      }
      if (!(error <= 1e-9 * size)) continue;
      ++compared;
      EXPECT_LE(off, 2e-9 * size) << "sample " << s;
    }
    EXPECT_GE(smooth, smooth_samples(GetParam()));
    EXPECT_GE(compared, smooth * 7 / 10);
  }
}

TEST_P(ImpactDerivatives, AdjointsAreThoseOfTheTangents) {
  const Sampled run = of_model(GetParam(), 60);
  const std::int64_t nv = run.batch.velocities, m = run.batch.contacts;
  const ImpactCotangent cotangent = random_cotangent(run, 1);
  for (const bool jacobians : {false, true}) {
    const ImpactGradient gradient = differentiate_impacts(run.batch, run.settings, run.samples,
                                                          cotangent, {}, {.jacobians = jacobians});
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    const auto numbers = [&](std::int64_t n) {
      std::vector<double> values(static_cast<std::size_t>(n));
      for (double& value : values) value = normal(random);
      return Buffer<double>::from(values);
    };
    ImpactDirection direction;
    direction.velocity = numbers(nv);
    direction.friction = numbers(m);
    direction.step_size = numbers(1);
    direction.mass_matrix = numbers(nv * nv);
    for (int i = 0; i < nv; ++i) {
      for (int j = 0; j < i; ++j) {
        direction.mass_matrix.data()[i * nv + j] = direction.mass_matrix.data()[j * nv + i];
      }
    }
    if (jacobians) {
      direction.normal_jacobian = numbers(m * nv);
      direction.tangent_jacobian = numbers((run.batch.dimension - 1) * m * nv);
    }
    const ImpactTangent tangent =
        propagate_impacts(run.batch, run.settings, run.samples, direction);
    // Each sample by itself, so that one without a derivative hides no other. That of a branch is
    // one, too.
    const auto has = [](Smoothness status) {
      return status == Smoothness::smooth || status == Smoothness::set_valued;
    };
    std::int64_t compared = 0;
    for (std::int64_t s = 0; s < run.samples.count; ++s) {
      if (!has(gradient.status.data()[s]) || !has(tangent.status.data()[s])) continue;
      ImpactCotangent one{{Buffer<double>(run.samples.velocity.size())}};
      std::fill_n(one.velocity.data(), one.velocity.size(), 0.0);
      std::copy_n(cotangent.velocity.data() + s * nv, nv, one.velocity.data() + s * nv);
      if (compared == 4) break;
      const ImpactGradient own = differentiate_impacts(run.batch, run.settings, run.samples, one,
                                                       {}, {.jacobians = jacobians});
      double terms = 0.0;
      const double left =
          dot(tangent.velocity.data() + s * nv, one.velocity.data() + s * nv, nv, &terms);
      double right = dot(own.velocity.data(), direction.velocity.data(), nv, &terms) +
                     dot(own.friction.data(), direction.friction.data(), m, &terms) +
                     dot(own.step_size.data(), direction.step_size.data(), 1, &terms) +
                     dot(own.mass_matrix.data(), direction.mass_matrix.data(), nv * nv, &terms);
      if (jacobians) {
        right += dot(own.normal_jacobian.data(), direction.normal_jacobian.data(), m * nv, &terms) +
                 dot(own.tangent_jacobian.data(), direction.tangent_jacobian.data(),
                     (run.batch.dimension - 1) * m * nv, &terms);
      }
      for (int i = 0; i < nv; ++i) {
        terms += std::fabs(direction.velocity.data()[i] * one.velocity.data()[s * nv + i]);
      }
      EXPECT_NEAR(left, right, 1e-12 * terms) << "sample " << s;
      ++compared;
    }
    if (!jacobians || independent(GetParam())) {
      EXPECT_GE(compared, 4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ImpactDerivatives, ::testing::ValuesIn(test::model_names()),
                         test::model_name);

/// Masses in a row along x: mass 0 runs into mass 1.
ImpactProblem two_masses(double first, double second, double speed) {
  ImpactProblem problem;
  problem.velocities = 2;
  problem.contacts = 1;
  problem.mass_matrix = {first, 0, 0, second};
  problem.normal_jacobian = {-1, 1};
  problem.tangent_jacobian = {0, 0};
  problem.friction = {0.0};
  problem.velocity = {speed, 0.0};
  return problem;
}

ImpactSettings few(std::int64_t samples = 40) {
  ImpactSettings settings;
  settings.samples = samples;
  settings.max_steps = 200;
  return settings;
}

// v+ = (m1 v1 + m2 v2) / (m1 + m2), whatever the draws.
TEST(DifferentiateImpacts, OfADeadHeadOnImpactByHand) {
  const double m1 = 2.0, m2 = 3.0, v = 1.5;
  const Sampled run = sampled(two_masses(m1, m2, v), few());
  ImpactCotangent cotangent{{Buffer<double>(run.samples.velocity.size())}};
  for (std::size_t i = 0; i < cotangent.velocity.size(); ++i) {
    cotangent.velocity.data()[i] = i % 2 == 0 ? 1.0 : 0.0;
  }
  const ImpactGradient gradient =
      differentiate_impacts(run.batch, run.settings, run.samples, cotangent);
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    ASSERT_EQ(gradient.status.data()[s], Smoothness::smooth) << s;
    EXPECT_NEAR(gradient.sample_velocity.data()[2 * s], m1 / (m1 + m2), 1e-14);
    EXPECT_NEAR(gradient.sample_velocity.data()[2 * s + 1], m2 / (m1 + m2), 1e-14);
  }
  const auto count = static_cast<double>(run.samples.count);
  EXPECT_NEAR(gradient.velocity.data()[0], count * m1 / (m1 + m2), 1e-12);
  EXPECT_NEAR(gradient.mass_matrix.data()[0], count * v * m2 / std::pow(m1 + m2, 2), 1e-12);
  EXPECT_NEAR(gradient.mass_matrix.data()[3], -count * v * m1 / std::pow(m1 + m2, 2), 1e-12);
  EXPECT_NEAR(gradient.step_size.data()[0], 0.0, 1e-12);
  EXPECT_EQ(gradient.friction.data()[0], 0.0);
}

/// A point mass that slides to the right under friction while it lands.
ImpactProblem point(double along, double down, double friction) {
  ImpactProblem problem;
  problem.velocities = 2;
  problem.contacts = 1;
  problem.mass_matrix = {2, 0, 0, 2};
  problem.normal_jacobian = {0, 1};
  problem.tangent_jacobian = {1, 0};
  problem.friction = {friction};
  problem.velocity = {along, -down};
  return problem;
}

ImpactCotangent along(const Sampled& run) {
  ImpactCotangent cotangent{{Buffer<double>(run.samples.velocity.size())}};
  for (std::size_t i = 0; i < cotangent.velocity.size(); ++i) {
    cotangent.velocity.data()[i] = i % 2 == 0 ? 1.0 : 0.0;
  }
  return cotangent;
}

// It ends at v_x - mu |v_y|, until friction stops it.
TEST(DifferentiateImpacts, OfASlidingPointByHand) {
  const Sampled run = sampled(point(3.0, 1.0, 0.25), few());
  const ImpactGradient gradient =
      differentiate_impacts(run.batch, run.settings, run.samples, along(run));
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    ASSERT_EQ(gradient.status.data()[s], Smoothness::smooth) << s;
    EXPECT_NEAR(gradient.sample_velocity.data()[2 * s], 1.0, 1e-14);
    EXPECT_NEAR(gradient.sample_velocity.data()[2 * s + 1], 0.25, 1e-13);
    EXPECT_NEAR(gradient.sample_friction.data()[s], -1.0, 1e-13);
  }
}

// Friction stops it just as it stops approaching: of the last step sticking and sliding meet.
TEST(DifferentiateImpacts, SayWhereTheyHaveAKinkAndTakeTheElementAskedFor) {
  const Sampled run = sampled(point(0.25, 1.0, 0.25), few());
  const auto of = [&](AtKink element) {
    return differentiate_impacts(run.batch, run.settings, run.samples, along(run),
                                 {.at_kink = element});
  };
  const ImpactGradient free = of(AtKink::free), held = of(AtKink::held), mean = of(AtKink::mean);
  const ImpactGradient none = of(AtKink::nan);
  std::int64_t kinks = 0;
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    EXPECT_EQ(free.status.data()[s], Smoothness::kink) << s;
    if (free.status.data()[s] != Smoothness::kink) continue;
    ++kinks;
    EXPECT_GT(free.doubtful.data()[s], 0);
    EXPECT_NEAR(free.sample_velocity.data()[2 * s], 1.0, 1e-12);
    EXPECT_NEAR(held.sample_velocity.data()[2 * s], 0.0, 1e-12);
    EXPECT_NEAR(mean.sample_velocity.data()[2 * s], 0.5, 1e-12);
    EXPECT_TRUE(std::isnan(none.sample_velocity.data()[2 * s]));
  }
  EXPECT_EQ(kinks, run.samples.count);
  // A loss of the normal velocity sees none of it.
  ImpactCotangent normal = along(run);
  for (std::size_t i = 0; i < normal.velocity.size(); ++i) {
    normal.velocity.data()[i] = 1.0 - normal.velocity.data()[i];
  }
  const ImpactGradient unseen = differentiate_impacts(run.batch, run.settings, run.samples, normal);
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    EXPECT_EQ(unseen.status.data()[s], Smoothness::smooth) << s;
    EXPECT_NEAR(unseen.sample_velocity.data()[2 * s + 1], 0.0, 1e-14);
  }
}

// A contact that touches at rest: pushed down it stops the mass, pulled up it does not.
TEST(DifferentiateImpacts, AtRestHaveAKink) {
  const Sampled run = sampled(point(1.0, 0.0, 0.0), few(4));
  ImpactCotangent cotangent = along(run);
  for (std::size_t i = 1; i < cotangent.velocity.size(); i += 2) cotangent.velocity.data()[i] = 1.0;
  const ImpactGradient gradient = differentiate_impacts(run.batch, run.settings, run.samples,
                                                        cotangent, {}, {.friction = false});
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    EXPECT_EQ(gradient.status.data()[s], Smoothness::kink);
    EXPECT_NEAR(gradient.sample_velocity.data()[2 * s], 1.0, 1e-14);
    EXPECT_NEAR(gradient.sample_velocity.data()[2 * s + 1], 0.5, 1e-14);
  }
}

// The first step of ramone has three v', and Lemke's choice among them jumps: with J by 0.1 for
// relative changes of 5e-5.
TEST(DifferentiateImpacts, OfStepsWithSeveralSolutionsAreThoseOfTheBranchTaken) {
  const Sampled run = of_model("ramone", 40);
  ImpactDirection direction;
  direction.velocity = Buffer<double>::from(run.batch.velocity.to_vector());
  const ImpactTangent tangent = propagate_impacts(run.batch, run.settings, run.samples, direction);
  const ImpactGradient gradient =
      differentiate_impacts(run.batch, run.settings, run.samples, random_cotangent(run, 4));
  for (std::int64_t s = 0; s < run.samples.count; ++s) {
    EXPECT_EQ(tangent.status.data()[s], Smoothness::set_valued) << s;
    EXPECT_EQ(gradient.status.data()[s], Smoothness::set_valued) << s;
    EXPECT_FALSE(std::isnan(tangent.velocity.data()[s * run.batch.velocities])) << s;
  }
}

// Draws of a later problem, later samples and the other sampler; and each problem by itself.
TEST(DifferentiateImpacts, FollowTheSamplesOfAPartOfARun) {
  for (const Sampler sampler : {Sampler::uniform, Sampler::sobol}) {
    ImpactSettings settings = test::model_settings("ramone", 40);
    settings.selection = Selection::lemke;
    settings.sampler = sampler;
    settings.max_steps = 20;
    settings.first_sample = 7;
    const ImpactBatch both = test::model_batch("ramone", 2), one = test::model_batch("ramone");
    ImpactSettings second = settings;
    second.first_problem = 1;
    const ImpactSamples all = sample_impacts(both, settings, Backend::cpu).samples;
    const ImpactSamples part = sample_impacts(one, second, Backend::cpu).samples;
    const std::size_t half = part.velocity.size();
    const ImpactGradient of_all = differentiate_impacts(
        both, settings, all, {{Buffer<double>::from(std::vector<double>(2 * half, 1.0))}});
    const ImpactGradient of_part = differentiate_impacts(
        one, second, part, {{Buffer<double>::from(std::vector<double>(half, 1.0))}});
    for (std::int64_t s = 0; s < part.count; ++s) {
      EXPECT_EQ(of_part.status.data()[s], Smoothness::set_valued) << s;
    }
    EXPECT_EQ(
        test::first_difference(of_all.sample_velocity, half, of_part.sample_velocity, 0, half), -1);
    EXPECT_EQ(test::first_difference(of_all.mass_matrix, of_part.mass_matrix.size(),
                                     of_part.mass_matrix, 0, of_part.mass_matrix.size()),
              -1);
  }
}

TEST(DifferentiateImpacts, HaveTheSameBitsForAllThreadCounts) {
  const Sampled run = of_model("compass_gait", 300);
  const ImpactCotangent cotangent = random_cotangent(run, 3);
  const ImpactGradient one =
      differentiate_impacts(run.batch, run.settings, run.samples, cotangent, {.threads = 1});
  const ImpactGradient four =
      differentiate_impacts(run.batch, run.settings, run.samples, cotangent, {.threads = 4});
  EXPECT_EQ(test::first_difference(one.velocity, four.velocity), -1);
  EXPECT_EQ(test::first_difference(one.sample_velocity, four.sample_velocity), -1);
}

TEST(DifferentiateImpacts, LeaveOutWhatDidNotEndOrIsNotTheProblems) {
  Sampled run = sampled(point(3.0, 1.0, 0.25), few(8));
  run.samples.velocity.data()[2] += 1e-6;
  run.samples.status.data()[5] = TrajectoryStatus::max_steps;
  ImpactCotangent cotangent = along(run);
  const auto gradient = [&] {
    return differentiate_impacts(run.batch, run.settings, run.samples, cotangent);
  };
  EXPECT_TRUE(std::isnan(gradient().velocity.data()[0]));
  cotangent.velocity.data()[2] = cotangent.velocity.data()[10] = 0.0;
  const ImpactGradient rest = gradient();
  EXPECT_NEAR(rest.velocity.data()[0], 6.0, 1e-12);
  EXPECT_EQ(rest.status.data()[1], Smoothness::not_solved);
  EXPECT_EQ(rest.status.data()[5], Smoothness::not_solved);
  EXPECT_TRUE(std::isnan(rest.sample_velocity.data()[2]));
}

TEST(DifferentiateImpacts, RefuseWhatTheyDoNotDifferentiate) {
  Sampled run = sampled(point(3.0, 1.0, 0.25), few(4));
  ImpactCotangent cotangent = along(run);
  const auto refused = [&](const ImpactSettings& settings, const ImpactBatch& batch) {
    return refusal([&] { differentiate_impacts(batch, settings, run.samples, cotangent); });
  };
  ImpactSettings any = run.settings;
  any.selection = Selection::any;
  expect_names(refused(any, run.batch), {"selection", "any", "lemke"});
  ImpactSettings events = run.settings;
  events.method = ImpactMethod::events;
  expect_names(refused(events, run.batch), {"method", "events", "lcp"});
  ImpactProblem bouncing = point(3.0, 1.0, 0.25);
  bouncing.restitution_low = bouncing.restitution_high = {0.5};
  expect_names(refused(run.settings, make_batch({&bouncing, 1})), {"restitution_high", "0.5"});
  cotangent.velocity.data()[3] = std::nan("");
  expect_names(refused(run.settings, run.batch), {"cotangent.velocity", "nan"});
  cotangent.velocity = Buffer<double>(3);
  expect_names(refused(run.settings, run.batch), {"cotangent.velocity", "8"});
}

}  // namespace
}  // namespace carom
