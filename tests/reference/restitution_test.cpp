#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "support/enclosures.hpp"
#include "support/message.hpp"
#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// Impacts with restitution by the reference backend, which has no table of modes and solves each of
// them by least squares and each step by Lemke's method: the same draws give the same paths.
namespace carom {
namespace {

using test::Flavour;
using test::Generator;
using test::set_restitution;

struct Agreement {
  double velocity = 0.0;  ///< of the largest speed
  double energy = 0.0;    ///< books, of the energy before
  int apart = 0;  ///< samples that differ by more than 1e-9 of either, or in status or steps
};

double kinetic_energy(const ImpactProblem& problem) {
  const auto nv = static_cast<std::size_t>(problem.velocities);
  double twice = 0.0;
  for (std::size_t k = 0; k < nv * nv; ++k) {
    twice += problem.mass_matrix[k] * problem.velocity[k / nv] * problem.velocity[k % nv];
  }
  return 0.5 * twice;
}

/// The largest difference of a row, NaN where one is and the other is not.
double difference(const Buffer<double>& a, const Buffer<double>& b, std::size_t from,
                  std::size_t count) {
  double most = 0.0;
  for (std::size_t k = from; k < from + count; ++k) {
    const double x = a.host()[k], y = b.host()[k];
    if (std::isnan(x) && std::isnan(y)) continue;
    const double own = std::abs(x - y);
    if (!(own <= most)) most = own;
  }
  return most;
}

Agreement compared(const ImpactProblem& problem, ImpactSettings settings) {
  settings.keep_samples = -1;
  settings.keep_paths = 4;
  const ImpactBatch batch = make_batch({&problem, 1});
  const ImpactResult a = sample_impacts(batch, settings, Backend::cpu);
  const ImpactResult b = sample_impacts(batch, settings, Backend::reference);
  const auto nv = static_cast<std::size_t>(problem.velocities);
  const auto m = static_cast<std::size_t>(problem.contacts);
  double speed = 0.0;
  for (const double v : problem.velocity) speed = std::max(speed, std::abs(v));
  const double energy = kinetic_energy(problem);
  Agreement found;
  for (std::size_t s = 0; s < static_cast<std::size_t>(settings.samples); ++s) {
    const double of_v = difference(a.samples.velocity, b.samples.velocity, s * nv, nv) / speed;
    double of_books = 0.0;
    for (const auto which : {&ImpactSamples::stored, &ImpactSamples::released,
                             &ImpactSamples::lost_compression, &ImpactSamples::lost_friction}) {
      of_books =
          std::max(of_books, difference(a.samples.*which, b.samples.*which, s * m, m) / energy);
    }
    for (const auto which : {&ImpactSamples::restitution, &ImpactSamples::friction}) {
      EXPECT_EQ(difference(a.samples.*which, b.samples.*which, s * m, m), 0.0) << s;
    }
    const bool same = a.samples.status.host()[s] == b.samples.status.host()[s] &&
                      a.samples.steps.host()[s] == b.samples.steps.host()[s] && of_v <= 1e-9 &&
                      of_books <= 1e-9;
    found.apart += same ? 0 : 1;
    if (!same) continue;
    found.velocity = std::max(found.velocity, of_v);
    found.energy = std::max(found.energy, of_books);
  }
  EXPECT_EQ(a.summary[0].guarded, b.summary[0].guarded);
  EXPECT_NEAR(a.summary[0].lost_compression_mean, b.summary[0].lost_compression_mean, 1e-3);
  if (found.apart > 0) return found;
  EXPECT_EQ(a.paths[0].offset, b.paths[0].offset);
  const auto near = [](const std::vector<double>& x, const std::vector<double>& y, double size) {
    ASSERT_EQ(x.size(), y.size());
    ASSERT_FALSE(x.empty());
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], y[k], 1e-9 * size) << k;
  };
  near(a.paths[0].velocity, b.paths[0].velocity, speed);
  near(a.paths[0].impulse, b.paths[0].impulse, std::max(1.0, energy / speed));
  near(a.paths[0].restitution, b.paths[0].restitution, 0.0);
  near(a.paths[0].friction, b.paths[0].friction, 0.0);
  return found;
}

ImpactSettings settings_of(ImpactMethod method, std::int64_t samples) {
  ImpactSettings settings;
  settings.method = method;
  settings.samples = samples;
  settings.epsilon = 0.0;
  settings.max_steps = method == ImpactMethod::events ? 6 : kDerivedReleaseSteps;
  return settings;
}

std::vector<ImpactProblem> planar() {
  Generator random(451);
  std::vector<ImpactProblem> problems;
  for (const char* name : {"rocking_block", "compass_gait", "box_wall"}) {
    problems.push_back(models::build(name));
  }
  for (const int contacts : {1, 2, 3, 4}) {
    problems.push_back(test::random_impact(random, contacts, 5, 1.0));
  }
  for (ImpactProblem& problem : problems) set_restitution(problem, 0.2, 0.9);
  problems.push_back(test::cradle(4, 1.0));
  return problems;
}

std::vector<ImpactProblem> spatial() {
  Generator random(452);
  std::vector<ImpactProblem> problems = {models::build("ball_in_corner")};
  for (const int contacts : {1, 2, 3}) {
    problems.push_back(test::random_problem(random, Flavour::generic, 3, contacts));
  }
  problems.push_back(test::random_problem(random, Flavour::generic, 2, 6));
  for (ImpactProblem& problem : problems) set_restitution(problem, 0.2, 0.9);
  return problems;
}

TEST(ReferenceRestitution, AgreesByEventsWithTablesPathByPath) {
  for (const ImpactProblem& problem : planar()) {
    SCOPED_TRACE(problem.name + " " + std::to_string(problem.contacts));
    EXPECT_EQ(compared(problem, settings_of(ImpactMethod::events, 256)).apart, 0);
  }
}

TEST(ReferenceRestitution, AgreesByEventsOfAnyContactsPathByPath) {
  for (const ImpactProblem& problem : spatial()) {
    SCOPED_TRACE(problem.name + " " + std::to_string(problem.contacts));
    EXPECT_LE(compared(problem, settings_of(ImpactMethod::events, 256)).apart, 1);
  }
}

TEST(ReferenceRestitution, AgreesOnOtherLawsAndIntervalsOfFriction) {
  for (ImpactProblem problem : planar()) {
    SCOPED_TRACE(problem.name + " " + std::to_string(problem.contacts));
    problem.friction_high = problem.friction;
    for (double& mu : problem.friction_high) mu += 0.25;
    ImpactSettings settings = settings_of(ImpactMethod::events, 128);
    for (const RestitutionLaw law :
         {RestitutionLaw::stronge, RestitutionLaw::poisson, RestitutionLaw::newton}) {
      settings.law = law;
      EXPECT_LE(compared(problem, settings).apart, 1) << to_string(law);
    }
    settings.law = RestitutionLaw::stronge;
    settings.vary = true;
    EXPECT_LE(compared(problem, settings).apart, 1);
  }
}

// A release speed follows from a contact's last push; a push of 1e-12 N s knows it to four digits.
TEST(ReferenceRestitution, AgreesBySteps) {
  constexpr int kFew = 6;  // of 64
  std::vector<ImpactProblem> problems = planar();
  for (ImpactProblem& each : spatial()) {
    if (each.dimension == 3) problems.push_back(each);
  }
  for (ImpactProblem& problem : problems) {
    SCOPED_TRACE(problem.name + " " + std::to_string(problem.contacts));
    ImpactSettings settings = settings_of(ImpactMethod::lcp, 64);
    settings.selection = Selection::lemke;  // steps with several solutions
    EXPECT_LE(compared(problem, settings).apart, kFew);
    problem.friction_high = problem.friction;
    problem.friction_high.back() += 0.25;
    settings.vary = true;
    EXPECT_LE(compared(problem, settings).apart, kFew);
  }
}

TEST(ReferenceRestitution, RefusesRandomSolutionsOfItsSteps) {
  ImpactProblem block = models::build("rocking_block");
  set_restitution(block, 0.2, 0.4);
  ImpactSettings settings = settings_of(ImpactMethod::lcp, 4);
  settings.selection = Selection::random;
  test::expect_names(test::refusal([&] {
                       sample_impacts(make_batch({&block, 1}), settings, Backend::reference);
                     }),
                     {"selection is random", "restitution", "lcp", "reference"});
}

}  // namespace
}  // namespace carom
