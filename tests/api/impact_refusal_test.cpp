#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>

#include "core/constants.hpp"
#include "support/message.hpp"

// What a bad input gets: a refusal that names the field, the problem, the index and the value.
namespace carom {
namespace {

using test::expect_names;
using test::refusal;

/// Two contacts of a planar body with three velocities.
ImpactProblem block() {
  ImpactProblem problem;
  problem.name = "block";
  problem.velocities = 3;
  problem.contacts = 2;
  problem.mass_matrix = {1, 0, 0, 0, 1, 0, 0, 0, 0.5};
  problem.normal_jacobian = {0, 1, -0.5, 0, 1, 0.5};
  problem.tangent_jacobian = {1, 0, 1, 1, 0, 1};
  problem.friction = {1.0, 0.5};
  problem.velocity = {0, -1, 0};
  return problem;
}

/// Refusal of `block` after a change, which validate, make_batch and sample_impacts share.
std::string refused_impact(const std::function<void(ImpactProblem&)>& change) {
  ImpactProblem problem = block();
  change(problem);
  const std::string by_validate = refusal([&] { validate(problem); });
  // The same in the middle of a batch, by its index.
  const std::vector<ImpactProblem> batch = {block(), block(), problem, block()};
  const std::string by_run = refusal([&] { sample_impacts(make_batch(batch), {}, Backend::cpu); });
  EXPECT_NE(by_run.find("problem 2"), std::string::npos) << by_run;
  return by_validate;
}

TEST(BadInput, HealthyBlockIsAccepted) {
  EXPECT_NO_THROW(validate(block()));
  const ImpactProblem problem = block();
  EXPECT_NO_THROW(validate(make_batch({&problem, 1})));
}

TEST(BadInput, NumbersThatAreNotFinite) {
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    expect_names(refused_impact([&](auto& p) { p.mass_matrix[4] = bad; }),
                 {"mass_matrix[1][1]", "problem 0 (\"block\")", "must be finite"});
    expect_names(refused_impact([&](auto& p) { p.normal_jacobian[5] = bad; }),
                 {"normal_jacobian[1][2]", "problem 0 (\"block\")", "must be finite"});
    expect_names(refused_impact([&](auto& p) { p.tangent_jacobian[3] = bad; }),
                 {"tangent_jacobian[1][0]", "problem 0 (\"block\")", "must be finite"});
    expect_names(refused_impact([&](auto& p) { p.friction[1] = bad; }),
                 {"friction[1]", "problem 0 (\"block\")", "must be finite"});
    expect_names(refused_impact([&](auto& p) { p.velocity[2] = bad; }),
                 {"velocity[2]", "problem 0 (\"block\")", "must be finite"});
  }
  expect_names(refused_impact([](auto& p) { p.velocity[0] = kNan; }), {"nan"});
  expect_names(refused_impact([](auto& p) { p.velocity[0] = -kInfinity; }), {"-inf"});
}

TEST(BadInput, NegativeFriction) {
  expect_names(refused_impact([](auto& p) { p.friction[1] = -0.5; }),
               {"friction[1]", "problem 0 (\"block\")", "-0.5", ">= 0"});
}

TEST(BadInput, MassMatrix) {
  expect_names(refused_impact([](auto& p) { p.mass_matrix[1] = 0.25; }),
               {"mass_matrix[1][0]", "mass_matrix[0][1]", "0.25", "symmetric", "block"});
  expect_names(refused_impact([](auto& p) { p.mass_matrix[8] = -0.5; }),
               {"mass_matrix", "-0.5", "row 2", "positive definite", "block"});
  expect_names(refused_impact([](auto& p) { p.mass_matrix[8] = 0.0; }), {"positive definite"});
  // Singular, though every diagonal entry is positive.
  expect_names(refused_impact([](auto& p) { p.mass_matrix = {1, 1, 0, 1, 1, 0, 0, 0, 1}; }),
               {"mass_matrix", "row 1", "positive definite"});
  // Asymmetry of 1e-9 relative is where it starts to matter.
  ImpactProblem nearly = block();
  nearly.mass_matrix[1] = 0.9e-9;
  EXPECT_NO_THROW(validate(nearly));
  nearly.mass_matrix[1] = 1.2e-9;
  expect_names(refusal([&] { validate(nearly); }), {"mass_matrix[1][0]", "symmetric"});
  // Rows of other units, a rotation in 1e9 rad: small beside the others, not in their own.
  ImpactProblem mixed = block();
  mixed.mass_matrix[8] *= 1e-18;
  for (const std::size_t end : {2U, 5U}) {
    mixed.normal_jacobian[end] *= 1e-9;
    mixed.tangent_jacobian[end] *= 1e-9;
  }
  EXPECT_NO_THROW(validate(mixed));
  ImpactSettings settings;
  settings.samples = 64;
  const auto outcomes = [&](const ImpactProblem& problem) {
    return sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu).summary[0];
  };
  const ImpactSummary plain = outcomes(block()), other = outcomes(mixed);
  EXPECT_EQ(other.terminated, 64);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(other.normal_velocity_max[i], plain.normal_velocity_max[i], 1e-12);
    EXPECT_NEAR(other.tangent_velocity_min[i], plain.tangent_velocity_min[i], 1e-12);
  }
  mixed.mass_matrix[7] = 1e-15;  // of at most 7e-10
  expect_names(refusal([&] { validate(mixed); }), {"mass_matrix[2][1]", "symmetric"});
}

TEST(BadInput, ShapesThatDoNotFit) {
  const auto shape = [](const std::function<void(ImpactProblem&)>& change) {
    ImpactProblem problem = block();
    change(problem);
    return refusal([&] { validate(problem); });
  };
  expect_names(shape([](auto& p) { p.mass_matrix.pop_back(); }),
               {"mass_matrix", "block", "8", "9"});
  expect_names(shape([](auto& p) { p.normal_jacobian.push_back(0.0); }),
               {"normal_jacobian", "block", "7", "6"});
  expect_names(shape([](auto& p) { p.tangent_jacobian.clear(); }),
               {"tangent_jacobian", "block", "0", "6"});
  expect_names(shape([](auto& p) { p.friction.resize(1); }), {"friction", "block", "1", "2"});
  expect_names(shape([](auto& p) { p.velocity.resize(4); }), {"velocity", "block", "4", "3"});
  expect_names(shape([](auto& p) { p.dimension = 4; }), {"dimension", "block", "4", "2 or 3"});
  expect_names(shape([](auto& p) { p.velocities = 0; }), {"velocities", "block", "0", "256"});
  expect_names(shape([](auto& p) { p.velocities = 257; }), {"velocities", "block", "257", "256"});
  expect_names(shape([](auto& p) { p.contacts = 65; }), {"contacts", "block", "65", "64"});
  expect_names(shape([](auto& p) { p.contacts = -1; }), {"contacts", "block", "-1"});
}

// Problems are looked at by several threads: it is the first bad one that is named.
TEST(BadInput, FirstBadProblemOfManyIsNamed) {
  ImpactBatch batch = make_batch(std::vector<ImpactProblem>(2000, block()));
  batch.friction.data()[2 * 1999] = -1.0;
  batch.friction.data()[2 * 1234 + 1] = -0.25;
  batch.velocity.data()[3 * 1235] = kNan;
  for (int repeat = 0; repeat < 20; ++repeat) {
    expect_names(refusal([&] { validate(batch); }), {"friction[1]", "problem 1234", "-0.25"});
  }
  batch.mass_matrix.data()[9 * 300 + 8] = 0.0;
  for (const int threads : {1, 3}) {
    ImpactSettings settings;
    settings.threads = threads;
    expect_names(refusal([&] { sample_impacts(batch, settings, Backend::cpu); }),
                 {"mass_matrix", "problem 300", "positive definite"});
  }
}

TEST(BadInput, ProblemsOfOneBatchHaveOneShape) {
  ImpactProblem other = block();
  other.name = "odd";
  other.contacts = 1;
  other.normal_jacobian.resize(3);
  other.tangent_jacobian.resize(3);
  other.friction.resize(1);
  const std::vector<ImpactProblem> problems = {block(), other};
  expect_names(refusal([&] { (void)make_batch(problems); }),
               {"contacts", "problem 1 (\"odd\")", "1", "2"});
}

TEST(BadInput, BatchWhoseArraysDoNotFit) {
  const ImpactProblem problem = block();
  ImpactBatch batch = make_batch({&problem, 1});
  batch.problems = 2;
  expect_names(refusal([&] { sample_impacts(batch, {}, Backend::cpu); }),
               {"mass_matrix", "9", "18"});
  batch.problems = -1;
  expect_names(refusal([&] { sample_impacts(batch, {}, Backend::cpu); }), {"problems", "-1"});
}

TEST(BadInput, IsolatedProblemsAreReportedInstead) {
  std::vector<ImpactProblem> problems = {block(), block(), block(), block()};
  problems[1].friction[0] = -1.0;
  problems[2].mass_matrix[0] = -1.0;
  ImpactSettings settings;
  settings.samples = 50;
  settings.keep_samples = -1;
  settings.bad_problem = BadProblem::isolate;
  const ImpactResult result = sample_impacts(make_batch(problems), settings, Backend::cpu);
  EXPECT_EQ(result.summary[0].status, Status::solved);
  EXPECT_EQ(result.summary[1].status, Status::invalid_input);
  EXPECT_EQ(result.summary[2].status, Status::invalid_input);
  EXPECT_EQ(result.summary[3].status, Status::solved);
  EXPECT_TRUE(std::isnan(result.samples.velocity.host()[50 * 3]));
  EXPECT_FALSE(std::isnan(result.samples.velocity.host()[3 * 50 * 3]));
}

TEST(BadSettings, EveryFieldIsNamed) {
  const auto refused_setting = [](const std::function<void(ImpactSettings&)>& change) {
    ImpactSettings settings;
    change(settings);
    const std::string message = refusal([&] { settings.validate(); });
    const ImpactProblem problem = block();
    EXPECT_EQ(refusal([&] {
                sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
              }),
              message);
    return message;
  };
  EXPECT_NO_THROW(ImpactSettings{}.validate());
  expect_names(refused_setting([](auto& s) { s.samples = 0; }), {"samples", "0"});
  expect_names(refused_setting([](auto& s) { s.first_problem = -1; }), {"first_problem", "-1"});
  expect_names(refused_setting([](auto& s) { s.first_problem = std::int64_t{1} << 32; }),
               {"first_problem", "4294967296"});
  expect_names(refused_setting([](auto& s) { s.first_sample = -3; }), {"first_sample", "-3"});
  expect_names(refused_setting([](auto& s) { s.step_size = -2.5; }), {"step_size", "-2.5"});
  expect_names(refused_setting([](auto& s) { s.step_size = kNan; }), {"step_size", "nan"});
  expect_names(refused_setting([](auto& s) { s.step_size = kInfinity; }), {"step_size", "inf"});
  expect_names(refused_setting([](auto& s) { s.max_steps = -1; }), {"max_steps", "-1"});
  expect_names(refused_setting([](auto& s) { s.friction_directions = 3; }),
               {"friction_directions", "3", "4..16"});
  expect_names(refused_setting([](auto& s) { s.friction_directions = 17; }),
               {"friction_directions", "17"});
  expect_names(refused_setting([](auto& s) { s.velocity_tolerance = -1e-9; }),
               {"velocity_tolerance", "-1e-09"});
  expect_names(refused_setting([](auto& s) { s.residual_tolerance = 0.0; }),
               {"residual_tolerance"});
  expect_names(refused_setting([](auto& s) { s.mode_tolerance = kNan; }), {"mode_tolerance"});
  expect_names(refused_setting([](auto& s) { s.epsilon = -0.1; }), {"epsilon", "-0.1"});
  expect_names(refused_setting([](auto& s) { s.epsilon = -2.0; }), {"epsilon", "-2"});
  expect_names(refused_setting([](auto& s) { s.net_capacity = 0; }), {"net_capacity", "0"});
  expect_names(refused_setting([](auto& s) { s.keep_samples = -2; }), {"keep_samples", "-2"});
  expect_names(refused_setting([](auto& s) { s.keep_paths = -1; }), {"keep_paths", "-1"});
  expect_names(refused_setting([](auto& s) { s.threads = -1; }), {"threads", "-1"});
}

TEST(BadSettings, TooMuchForTheSampler) {
  const ImpactProblem problem = block();
  ImpactSettings settings;
  settings.sampler = Sampler::sobol;
  settings.max_steps = 2000;
  expect_names(refusal([&] {
                 sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
               }),
               {"sobol", "4000", "3667"});
}

TEST(BadSettings, TooManyModesToEnumerate) {
  ImpactProblem problem = block();
  problem.contacts = 6;
  for (int copy = 0; copy < 4; ++copy) {
    const std::vector<double> row = {0.0, 1.0, 0.1 * copy};
    problem.normal_jacobian.insert(problem.normal_jacobian.end(), row.begin(), row.end());
    problem.tangent_jacobian.insert(problem.tangent_jacobian.end(), {1.0, 0.0, 1.0});
    problem.friction.push_back(1.0);
  }
  ImpactSettings settings;
  settings.selection = Selection::random;
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    expect_names(refusal([&] {
                   sample_impacts(make_batch({&problem, 1}), settings, backend);
                 }),
                 {"random", "6", "lemke"});
  }
}

TEST(BadSteps, AreRefusedByName) {
  StepBatch batch;
  batch.problems = 1;
  batch.dimension = 2;
  batch.contacts = 1;
  batch.delassus = Buffer<double>::from(std::vector<double>{1, 0, 0, 1});
  batch.contact_velocity = Buffer<double>::from(std::vector<double>{-1, 0});
  batch.friction = Buffer<double>::from(std::vector<double>{1.0});
  batch.max_impulse = Buffer<double>::from(std::vector<double>{kInfinity});
  EXPECT_EQ(solve_steps(batch, {}, Backend::cpu).status.host()[0], Status::solved);
  StepSettings settings;
  settings.friction_directions = 2;
  expect_names(refusal([&] { solve_steps(batch, settings, Backend::cpu); }),
               {"friction_directions", "2"});
  settings = {};
  settings.selection = Selection::random;
  expect_names(refusal([&] { solve_steps(batch, settings, Backend::cpu); }), {"selection"});
  batch.contacts = 2;
  expect_names(refusal([&] { solve_steps(batch, {}, Backend::cpu); }), {"delassus", "4", "16"});
  batch.contacts = 0;
  expect_names(refusal([&] { solve_steps(batch, {}, Backend::cpu); }), {"contacts", "0"});
}

}  // namespace
}  // namespace carom
