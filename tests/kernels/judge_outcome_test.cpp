#include "impact/exact/judge_outcome.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// Kept samples, judged by what momentum, friction, energy and modes ask: those of the samplers
// pass, changed ones do not.
namespace carom {
namespace {

/// A sample with arrays of its own.
struct Sample {
  std::vector<double> velocity, impulse, restitution, friction, stored, released, lost_compression,
      lost_friction;
  std::uint64_t modes = 0;

  [[nodiscard]] exact::KeptOutcome kept() const {
    const auto row = [](const std::vector<double>& of) { return of.empty() ? nullptr : of.data(); };
    return {velocity.data(), impulse.data(),        row(restitution),   row(friction), row(stored),
            row(released),   row(lost_compression), row(lost_friction), modes};
  }
};

struct Samples {
  exact::OutcomeSettings settings;
  std::vector<Sample> ended;
};

Samples sampled(const ImpactProblem& problem, ImpactMethod method) {
  ImpactSettings settings;
  settings.method = method;
  settings.samples = settings.keep_samples = 64;
  settings.max_steps = 4096;
  const ImpactResult run = sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
  Samples samples{{method, settings.law, settings.friction_directions, settings.velocity_tolerance,
                   settings.residual_tolerance, settings.mode_tolerance},
                  {}};
  for (std::size_t s = 0; s < 64; ++s) {
    if (run.samples.status.data()[s] != TrajectoryStatus::terminated) continue;
    const auto row = [&](const Buffer<double>& of) {
      const std::size_t width = of.size() / 64;
      return std::vector<double>(of.data() + s * width, of.data() + (s + 1) * width);
    };
    const ImpactSamples& all = run.samples;
    samples.ended.push_back({row(all.velocity), row(all.impulse), row(all.restitution),
                             row(all.friction), row(all.stored), row(all.released),
                             row(all.lost_compression), row(all.lost_friction),
                             all.modes.data()[s]});
  }
  EXPECT_GE(samples.ended.size(), 60U);
  return samples;
}

ImpactProblem elastic(ImpactProblem problem, double low, double high) {
  problem.restitution_low.assign(static_cast<std::size_t>(problem.contacts), low);
  problem.restitution_high.assign(static_cast<std::size_t>(problem.contacts), high);
  return problem;
}

std::string judged(const ImpactProblem& problem, const Samples& samples, const Sample& sample) {
  return refutation(exact::KeptMechanics(problem, samples.settings.friction_directions),
                    samples.settings, sample.kept());
}

TEST(JudgeOutcome, SamplesPass) {
  int judged_samples = 0;
  for (const char* name : {"rocking_block", "compass_gait", "box_wall", "disk_stack", "cube_drop",
                           "tripod", "ball_in_corner"}) {
    const ImpactProblem plain = models::build(name);
    for (const ImpactProblem& problem :
         {plain, elastic(plain, 0.5, 0.5), elastic(plain, 0.1, 1.0)}) {
      for (const ImpactMethod method : {ImpactMethod::lcp, ImpactMethod::events}) {
        const Samples samples = sampled(problem, method);
        for (const Sample& sample : samples.ended) {
          ASSERT_EQ(judged(problem, samples, sample), "") << name << " by " << to_string(method);
          ++judged_samples;
        }
      }
    }
  }
  EXPECT_GE(judged_samples, 7 * 3 * 2 * 60);
}

TEST(JudgeOutcome, ChangedSamplesAreRefuted) {
  struct Change {
    const char* what;
    std::function<bool(Sample&, const ImpactProblem&)> make;  ///< false: nothing to change
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Change changes[] = {
      {"a digit of v", [](Sample& s, const ImpactProblem&) { return s.velocity[0] += 1e-6, true; }},
      {"v reversed",
       [](Sample& s, const ImpactProblem&) {
         for (double& v : s.velocity) v = -v;
         return true;
       }},
      {"v is none", [](Sample& s, const ImpactProblem&) { return s.velocity[1] = kNan, true; }},
      {"v too large", [](Sample& s, const ImpactProblem&) { return s.velocity[1] = 1e300, true; }},
      {"a digit of an impulse",
       [](Sample& s, const ImpactProblem&) { return s.impulse[0] += 1e-6, true; }},
      {"a pull", [](Sample& s, const ImpactProblem&) { return s.impulse[1] = -0.1, true; }},
      {"the next mode", [](Sample& s, const ImpactProblem&) { return s.modes ^= 1U, true; }},
      {"another friction",
       [](Sample& s, const ImpactProblem& p) {
         return s.friction[0] = p.friction[0] + 0.01, true;
       }},
      {"another restitution",
       [](Sample& s, const ImpactProblem&) { return s.restitution[0] = 0.9, true; }},
      {"more stored", [](Sample& s, const ImpactProblem&) { return s.stored[0] += 1e-3, true; }},
      {"more released",
       [](Sample& s, const ImpactProblem&) { return s.released[0] += 1e-3, true; }},
      {"more lost",
       [](Sample& s, const ImpactProblem&) { return s.lost_friction[0] += 1e-3, true; }},
      {"lost by the other",
       [](Sample& s, const ImpactProblem&) {
         const double moved = s.lost_compression[0];
         s.lost_compression[0] -= moved;
         s.lost_compression[1] += moved;
         return moved > 1e-6;
       }},
  };
  const ImpactProblem problem = elastic(models::build("box_wall"), 0.5, 0.5);
  const Samples samples = sampled(problem, ImpactMethod::events);
  for (const Change& change : changes) {
    int changed = 0;
    for (Sample sample : samples.ended) {
      if (!change.make(sample, problem)) continue;
      ++changed;
      EXPECT_NE(judged(problem, samples, sample), "") << change.what;
    }
    EXPECT_GE(changed, 20) << change.what;
  }
}

// The impulses of rough contacts leave the cones of smooth ones.
TEST(JudgeOutcome, AnImpulseBeyondFrictionIsRefuted) {
  const ImpactProblem problem = models::build("rocking_block");
  const Samples samples = sampled(problem, ImpactMethod::events);
  ImpactProblem slippery = problem;
  for (double& mu : slippery.friction) mu = 1e-3;
  int refuted = 0;
  for (const Sample& sample : samples.ended)
    refuted += judged(slippery, samples, sample).empty() ? 0 : 1;
  EXPECT_EQ(refuted, static_cast<int>(samples.ended.size()));
}

}  // namespace
}  // namespace carom
