#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <carom/stability.hpp>

#include "support/from_environment.hpp"
#include "support/stances.hpp"

// A longer run: CAROM_TRUST_STANCES=1000000 CAROM_TRUST_SEED=2 test_trust
// --gtest_filter='StabilityTrust.*'

namespace carom {
namespace {

using test::RandomStances;

constexpr int kChunk = 4096;

/// Wider than RandomStances::any(): steep walls, torques, contacts that differ in everything,
/// points just beside the charts' boundaries.
Stance drawn(RandomStances& random) {
  const double kind = random.between(0, 1);
  if (kind < 0.4) return random.any();
  if (kind < 0.5) return test::of_figure2(random.between(0.02, 0.7), random.between(0.02, 1.3));
  if (kind < 0.6) return test::of_figure3(random.between(0.37, 0.9), random.between(0.02, 1.3));
  Stance stance;
  stance.angle = random.between(-1.2, 1.2);
  stance.force = std::pow(10.0, random.between(-2, 2));
  if (kind < 0.8) stance.torque = random.between(-0.5, 0.5) * stance.force;
  const bool elastic = random.between(0, 1) < 0.5;
  for (int i = 0; i < 2; ++i) {
    StanceContact contact;
    contact.l = (i == 0 ? -1.0 : 1.0) * random.between(0.02, 2.5) + random.between(-0.5, 0.5);
    contact.h = random.between(-1.0, 2.5);
    contact.slope = random.between(-1.0, 1.0);
    contact.friction = random.between(0.0, 3.0);
    if (elastic && random.between(0, 1) < 0.8) contact.restitution = random.between(0.0, 0.95);
    stance.contacts.push_back(contact);
  }
  return stance;
}

/// As a file of the command has it.
std::string told(const Stance& stance) {
  std::ostringstream text;
  text.precision(17);
  text << "{\"angle\": " << stance.angle << ", \"force\": " << stance.force
       << ", \"torque\": " << stance.torque << ", \"contacts\": [";
  for (const StanceContact& c : stance.contacts) {
    text << (&c == stance.contacts.data() ? "" : ", ") << "{\"l\": " << c.l << ", \"h\": " << c.h
         << ", \"slope\": " << c.slope << ", \"friction\": " << c.friction
         << ", \"restitution\": " << c.restitution << "}";
  }
  return text.str() + "]}";
}

std::vector<Stance> only(const std::vector<Stance>& stances, const StabilityResult& result,
                         StabilityVerdict verdict) {
  std::vector<Stance> chosen;
  for (std::size_t p = 0; p < stances.size(); ++p) {
    if (result.verdict.host()[p] == verdict) chosen.push_back(stances[p]);
  }
  return chosen;
}

TEST(StabilityTrust, NothingIsCertifiedAndEscapes) {
  const int total = test::from_environment("CAROM_TRUST_STANCES", 4000);
  const auto seed = static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1));
  RandomStances random(1000 + seed);
  std::ptrdiff_t verdicts[7] = {}, kinds[3] = {}, inexact = 0, both = 0, replayed = 0;
  for (int first = 0; first < total; first += kChunk) {
    std::vector<Stance> stances;
    for (int i = first; i < std::min(total, first + kChunk); ++i) stances.push_back(drawn(random));
    StabilitySettings settings;
    settings.first_problem = first;
    const StanceBatch batch = stance_batch(stances);
    const StabilityResult result = analyse_stability(batch, settings, Backend::cpu);
    const auto exact = verify_certificates(batch, result);
    for (std::size_t p = 0; p < stances.size(); ++p) {
      const StabilityVerdict verdict = result.verdict.host()[p];
      ++verdicts[static_cast<int>(verdict)];
      ++kinds[static_cast<int>(result.certificate.host()[p])];
      const bool proven = verdict == StabilityVerdict::stable;
      EXPECT_EQ(proven, result.certificate.host()[p] != CertificateKind::none) << first + p;
      if (proven && exact[p] == 0) {
        ++inexact;
        ADD_FAILURE() << "not proven anew, slack " << result.margin.host()[p] << ": "
                      << told(stances[p]);
      }
      if (verdict != StabilityVerdict::unstable || p % 16 != 0) continue;
      std::array<double, 6> start{};
      std::copy_n(result.start.data() + 6 * p, 6, start.begin());
      const double said = result.start_growth.host()[p];
      const double wanted = std::isinf(said) ? 1e300 : 0.9 * said;
      const std::int64_t events = result.start_events.host()[p];
      double growth = replayed_growth(stances[p], start, events);
      // bouncing is chaotic: the replayed motion is another one after a while
      if (growth < wanted) growth = replayed_growth(stances[p], start, 8 * events);
      EXPECT_GE(growth, wanted) << growth << " of " << said << ": " << told(stances[p]);
      ++replayed;
    }
    // what is proven never escapes, from other states, too
    settings.method = StabilityMethod::simulate;
    settings.seed = 77;
    settings.angles = 97;
    const auto proven = only(stances, result, StabilityVerdict::stable);
    const auto moved = analyse_stability(stance_batch(proven), settings, Backend::cpu);
    // ... and what escapes is never proven
    const auto falsified = only(stances, result, StabilityVerdict::unstable);
    const StanceBatch escaping = stance_batch(falsified);
    settings.method = StabilityMethod::paper;
    const auto paper = analyse_stability(escaping, settings, Backend::cpu);
    settings.method = StabilityMethod::labelled;
    const auto labelled = analyse_stability(escaping, settings, Backend::cpu);
    const auto check = [&](const std::vector<Stance>& asked, const StabilityResult& answer,
                           bool proven_before) {
      for (std::size_t p = 0; p < asked.size(); ++p) {
        const StabilityVerdict verdict = answer.verdict.host()[p];
        if (proven_before ? verdict == StabilityVerdict::undecided
                          : verdict != StabilityVerdict::stable) {
          continue;
        }
        ADD_FAILURE() << to_string(verdict) << ": " << told(asked[p]);
        ++both;
      }
    };
    check(proven, moved, true);
    check(falsified, paper, false);
    check(falsified, labelled, false);
    if (total > 100000 && first / kChunk % 8 == 0) {
      std::printf(
          "%d: stable %td (paper %td, labelled %td), unstable %td, ambiguous %td, "
          "undecided %td, no equilibrium %td, no mode %td; both %td, not exact %td, "
          "replayed %td\n",
          first, verdicts[0], kinds[1], kinds[2], verdicts[1], verdicts[2], verdicts[3],
          verdicts[4], verdicts[5], both, inexact, replayed);
      std::fflush(stdout);
    }
  }
  EXPECT_GT(verdicts[static_cast<int>(StabilityVerdict::stable)], total / 10);
  EXPECT_GT(verdicts[static_cast<int>(StabilityVerdict::unstable)], total / 200);
  EXPECT_GT(verdicts[static_cast<int>(StabilityVerdict::ambiguous)], total / 200);
  EXPECT_GT(verdicts[static_cast<int>(StabilityVerdict::no_consistent_mode)], total / 200);
}

// The three kinds from (15)-(21), solved here once more.
TEST(StabilityTrust, ExactlyOneImpactModeIsConsistent) {
  const int total = test::from_environment("CAROM_TRUST_STANCES", 100000);
  const auto seed = static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1));
  RandomStances random(2000 + seed);
  std::ptrdiff_t seen[3] = {}, paradoxical = 0, close = 0;
  for (int trial = 0; trial < total; ++trial) {
    Stance stance = drawn(random);
    stance.contacts[1].friction = std::pow(10.0, random.between(-3, 1.5));
    const StanceContact& c = stance.contacts[1];
    const auto [n, t] = test::gradients(c);
    std::array<double, 3> v = random.velocity();
    if (n.dot(test::vector(v)) > 0.0) v = {-v[0], -v[1], -v[2]};
    const double gap = n.dot(test::vector(v)), slip = t.dot(test::vector(v));
    const double nn = n.dot(n), nt = n.dot(t), tt = t.dot(t), e = c.restitution, mu = c.friction;
    const double det = nn * tt - nt * nt, rebound = -(1.0 + e) * gap;
    // slack of each kind: > 0 where it is consistent
    const double stick_n = (tt * rebound + nt * slip) / det;
    const double stick_t = (-nt * rebound - nn * slip) / det;
    double slack[3] = {(mu * stick_n - std::fabs(stick_t)) /
                       (mu * std::fabs(stick_n) + std::fabs(stick_t) + 1e-300)};
    for (int way = 0; way < 2; ++way) {
      const double sign = way == 0 ? 1.0 : -1.0;
      const double k = nn - sign * mu * nt, pressed = rebound / k;
      const double after = sign * (slip + pressed * (nt - sign * mu * tt));
      slack[1 + way] =
          k > 0.0 ? after / (std::fabs(slip) + pressed * (std::fabs(nt) + mu * tt)) : -std::fabs(k);
      paradoxical += k <= 0.0 ? 1 : 0;
    }
    const bool near = std::any_of(slack, slack + 3, [](double s) { return std::fabs(s) < 1e-11; });
    close += near ? 1 : 0;
    if (near) continue;
    const StanceImpact impact = stance_impact(stance, 1, v);
    ASSERT_EQ(std::count_if(slack, slack + 3, [](double s) { return s > 0.0; }), 1) << trial;
    ASSERT_EQ(impact.consistent, 1) << trial;
    const int kind = static_cast<int>(impact.kind);
    ++seen[kind];
    ASSERT_GT(slack[kind], 0.0) << trial;
    const double normal = kind == 0 ? stick_n : rebound / (nn - (kind == 1 ? 1.0 : -1.0) * mu * nt);
    EXPECT_NEAR(impact.normal_impulse, normal,
                1e-10 * (1.0 + normal) + 1e-13 * normal / slack[kind])
        << trial;
  }
  EXPECT_LT(close, 1 + total / 100000);
  EXPECT_GT(paradoxical, total / 50);
  for (const std::ptrdiff_t count : seen) EXPECT_GT(count, total / 50);
}

}  // namespace
}  // namespace carom
