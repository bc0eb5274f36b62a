#include <carom/stability.hpp>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "support/stances.hpp"

namespace carom {
namespace {

using Eigen::Vector3d;
using test::biped;
using test::certified;
using test::count;
using test::Gradients;
using test::gradients;
using test::judged;
using test::mode;
using test::of_figure2;
using test::RandomStances;
using test::vector;
using test::verdict_of;
using test::wrench;

TEST(StabilityProofs, NeverBothCertifiedAndEscaping) {
  RandomStances random(6);
  std::vector<Stance> stances;
  for (int i = 0; i < 3000; ++i) stances.push_back(random.any());
  for (int i = 0; i < 2000; ++i) {
    stances.push_back(of_figure2(random.between(0.02, 0.6), random.between(0.02, 1.2)));
  }
  const auto proven = judged(stances, StabilityMethod::paper);
  const auto labelled = judged(stances, StabilityMethod::labelled);
  const auto moved = judged(stances, StabilityMethod::simulate);
  EXPECT_GT(count(proven, StabilityVerdict::stable), 500);
  EXPECT_GT(count(labelled, StabilityVerdict::stable),
            count(proven, StabilityVerdict::stable) + 100);
  EXPECT_GT(count(moved, StabilityVerdict::unstable), 100);
  int beyond = 0;
  for (std::size_t p = 0; p < stances.size(); ++p) {
    const bool paper = proven.verdict.host()[p] == StabilityVerdict::stable;
    const bool label = labelled.verdict.host()[p] == StabilityVerdict::stable;
    EXPECT_FALSE((paper || label) && moved.verdict.host()[p] != StabilityVerdict::undecided) << p;
    beyond += paper && !label ? 1 : 0;
  }
  EXPECT_LE(beyond, 5);  // the labelled class contains the paper's; its search may miss thin parts
}

TEST(StabilityProofs, ReferenceAgrees) {
  RandomStances random(7);
  std::vector<Stance> stances;
  for (int i = 0; i < 150; ++i) stances.push_back(random.any());
  for (int i = 0; i < 100; ++i) {
    stances.push_back(of_figure2(random.between(0.02, 1.1), random.between(0.05, 1.2)));
  }
  const auto here = judged(stances, StabilityMethod::any);
  const auto there = judged(stances, StabilityMethod::any, Backend::reference);
  int differing = 0;
  for (std::size_t p = 0; p < stances.size(); ++p) {
    const double a = here.force_margin.host()[p], b = there.force_margin.host()[p];
    if (std::isfinite(a) || std::isfinite(b)) {
      EXPECT_NEAR(a, b, 1e-7) << p;
    }
    EXPECT_EQ(here.paradox.host()[p], there.paradox.host()[p]) << p;
    EXPECT_EQ(here.ambiguous_modes.host()[p], there.ambiguous_modes.host()[p]) << p;
    const double g = here.growth.host()[p], r = there.growth.host()[p];
    EXPECT_EQ(std::isnan(g), std::isnan(r)) << p;
    if (!std::isnan(g)) {
      EXPECT_NEAR(g, r, 1e-9 * (1 + g)) << p;
    }
    const auto one = here.verdict.host()[p], two = there.verdict.host()[p];
    const bool labelled = here.certificate.host()[p] == CertificateKind::labelled;
    EXPECT_TRUE(!labelled || two == StabilityVerdict::undecided) << p;
    differing += one == two || labelled ? 0 : 1;
    // neither may contradict the other
    EXPECT_FALSE(one == StabilityVerdict::stable && two == StabilityVerdict::unstable) << p;
    EXPECT_FALSE(two == StabilityVerdict::stable && one == StabilityVerdict::unstable) << p;
    if (there.certificate.host()[p] == CertificateKind::paper) {
      EXPECT_EQ(here.certificate.host()[p], CertificateKind::paper) << p;
    }
  }
  EXPECT_LE(differing, 3);  // within the coarser search of the reference
}

// V1 and the certificate's V at the events of motions of certified stances.
TEST(StabilityProofs, CertificatesFallAlongMotions) {
  RandomStances random(9);
  int checked = 0;
  for (int trial = 0; trial < 400 && checked < 60; ++trial) {
    const Stance stance = trial % 3 == 0 ? of_figure2(random.between(0.3, 1.1), 0.5) : random.any();
    const auto result = judged({stance}, StabilityMethod::paper);
    if (result.certificate.host()[0] != CertificateKind::paper) continue;
    ++checked;
    const auto [n1, t1] = gradients(stance.contacts[0]);
    const auto [n2, t2] = gradients(stance.contacts[1]);
    const Vector3d g = wrench(stance);
    Vector3d n = n1.cross(n2);
    if (n.dot(g) < 0.0) n = -n;
    Vector3d c = n1.cross(t1).cross(n2.cross(t2));
    if (c.dot(n) < 0.0) c = -c;
    c /= c.head<2>().norm();
    const double b = n.dot(g) / n.dot(c) + result.kappa.host()[0], s = result.s.host()[0];
    const auto v1 = [&](const StanceEvent& e) {
      return 0.5 * vector(e.velocity).squaredNorm() - g.dot(vector(e.position));
    };
    const auto v2 = [&](const StanceEvent& e) {
      const double along = c.dot(vector(e.velocity));
      return v1(e) + b * c.dot(vector(e.position)) + 0.5 * s * along * along;
    };
    const bool elastic = stance.contacts[0].restitution > 0.0;
    for (int start = 0; start < 5; ++start) {
      std::array<double, 3> v = random.velocity();
      if (n1.dot(vector(v)) < 0.0 || n2.dot(vector(v)) < 0.0) v[1] = 3.0;
      const auto events = stance_trajectory(stance, {0, 0, 0}, v, 60);
      bool landed = elastic;
      for (std::size_t k = 1; k < events.size(); ++k) {
        const double size = vector(events[k - 1].velocity).squaredNorm() + 1e-6;
        EXPECT_LE(v1(events[k]), v1(events[k - 1]) + 1e-6 * size) << trial;
        // a flight's end is recorded after its impact; without bounces only the first flight is
        if (landed) {
          EXPECT_LE(v2(events[k]), v2(events[k - 1]) + 1e-6 * size) << trial << " " << k;
        }
        landed = true;
      }
    }
  }
  EXPECT_GE(checked, 40);
}

// The labelled functions (e = 0) along motions, whose labels are the contact that was closed last
// and its slip; impacts out of label S among them, which a proof must not forget.
TEST(StabilityProofs, LabelledFunctionsFallAlongMotions) {
  RandomStances random(11);
  int checked = 0, from_stick = 0;
  for (int trial = 0; trial < 400 && checked < 60; ++trial) {
    const double d = random.between(0.2, 1.1);
    const Stance stance = of_figure2(random.between(0.05, 0.5), d);
    const auto result = judged({stance}, StabilityMethod::labelled);
    if (result.certificate.host()[0] != CertificateKind::labelled) continue;
    ++checked;
    Gradients of[2] = {gradients(stance.contacts[0]), gradients(stance.contacts[1])};
    Vector3d turn[2] = {of[0].normal.cross(of[0].tangent), of[1].normal.cross(of[1].tangent)};
    const Vector3d g = wrench(stance);
    Vector3d n = of[0].normal.cross(of[1].normal).normalized();
    if (n.dot(g) < 0.0) n = -n;
    Vector3d c = turn[0].cross(turn[1]);
    c /= c.dot(n);
    const auto numbers = result.coefficients.host();
    const auto value = [&](int i, const Vector3d& q, const Vector3d& v, bool sticks) {
      const double x = turn[i].dot(v), slip = sticks ? 0.0 : of[i].tangent.dot(v);
      const std::size_t label = sticks ? 2 : (slip > 0.0 ? 0 : 1);
      const double* form = &numbers[12 * static_cast<std::size_t>(i) + 4 * label];
      return c.dot(q) + form[0] * of[1 - i].normal.dot(q) +
             0.5 * (form[1] * x * x + 2.0 * form[2] * x * slip + form[3] * slip * slip);
    };
    const auto events = stance_trajectory(stance, {0, 0, 0},
                                          {random.between(-1, 1), 2.0, random.between(-1, 1)}, 60);
    double last = 0.0;
    bool known = false;
    for (std::size_t k = 1; k < events.size(); ++k) {
      const StanceEvent& e = events[k];
      if (e.contact < 0 || e.mode.size() != 2) break;
      const int i = e.contact;
      const char letter = e.mode[static_cast<std::size_t>(i)];
      const Vector3d q = vector(e.position), v = vector(e.velocity);
      const bool stuck = std::fabs(of[i].tangent.dot(v)) < 1e-9 * v.norm();
      if (letter == 'F' || (stuck && letter != 'S')) {  // between labels: the next event tells
        known = false;
        continue;
      }
      const double now = value(i, q, v, letter == 'S');
      if (known) {
        EXPECT_LE(now, last + 1e-6 * (1.0 + std::fabs(last))) << trial << " " << k;
      }
      const auto& before = events[k - 1];
      if (known && before.contact >= 0 && before.contact != i &&
          before.mode[static_cast<std::size_t>(before.contact)] == 'S') {
        ++from_stick;
      }
      last = now;
      known = true;
    }
  }
  EXPECT_GE(checked, 30);
  EXPECT_GT(from_stick, 30);
}

TEST(StabilityProofs, ProofsHoldInExactArithmetic) {
  RandomStances random(12);
  std::vector<Stance> stances;
  for (int i = 0; i < 300; ++i) stances.push_back(random.any());
  for (int i = 0; i < 200; ++i) {
    stances.push_back(of_figure2(random.between(0.02, 1.1), random.between(0.05, 1.2)));
  }
  const auto result = judged(stances, StabilityMethod::any);
  const auto exact = verify_certificates(stance_batch(stances), result);
  int proven = 0, labelled = 0, refuted = 0, ambiguous = 0, replayed = 0;
  for (std::size_t p = 0; p < stances.size(); ++p) {
    const StabilityVerdict verdict = result.verdict.host()[p];
    if (result.certificate.host()[p] != CertificateKind::none) {
      EXPECT_EQ(exact[p], 1) << p;
      ++proven;
      labelled += result.certificate.host()[p] == CertificateKind::labelled ? 1 : 0;
    }
    if (verdict == StabilityVerdict::unstable || verdict == StabilityVerdict::ambiguous) {
      for (const double s : {-0.2, 0.0, 0.5, 5.0}) {
        EXPECT_FALSE(proves_stable(stances[p], s, 1e-9)) << p;
      }
      ++refuted;
    }
    if (verdict == StabilityVerdict::ambiguous) {
      bool shown = false;
      for (std::size_t code = 0; code < 16; ++code) {
        if ((result.ambiguous_modes.host()[p] >> code & 1) == 0) continue;
        shown = shown || proves_ambiguous(stances[p], {"FSPN"[code >> 2], "FSPN"[code & 3]});
      }
      EXPECT_TRUE(shown) << p;
      ++ambiguous;
    }
    if (verdict == StabilityVerdict::unstable && replayed < 20) {
      std::array<double, 6> start{};
      for (std::size_t k = 0; k < 6; ++k) start[k] = result.start.host()[6 * p + k];
      EXPECT_GT(replayed_growth(stances[p], start, result.start_events.host()[p]),
                0.9 * result.start_growth.host()[p])
          << p;
      ++replayed;
    }
  }
  EXPECT_GT(proven, 200);
  EXPECT_GT(labelled, 30);
  EXPECT_GT(refuted, 20);
  EXPECT_GT(ambiguous, 10);
  EXPECT_GT(replayed, 5);
  // ... nor do labelled functions of another stance, a little nearer to chatter
  const Stance there = of_figure2(0.3, 0.5), near = of_figure2(0.26, 0.5);
  const auto of_there = judged({there}, StabilityMethod::labelled);
  std::array<double, 24> numbers{};
  std::copy_n(of_there.coefficients.data(), numbers.size(), numbers.begin());
  EXPECT_TRUE(proves_stable(there, numbers));
  EXPECT_FALSE(proves_stable(near, numbers));
  // a certificate that is moved out of its interval proves nothing
  const Stance stance = of_figure2(0.9, 0.5);
  const auto one = judged({stance}, StabilityMethod::paper);
  EXPECT_TRUE(proves_stable(stance, one.s.host()[0], one.kappa.host()[0]));
  EXPECT_FALSE(proves_stable(stance, -1.0, one.kappa.host()[0]));
  EXPECT_FALSE(proves_stable(stance, one.s.host()[0], -one.kappa.host()[0]));
  EXPECT_FALSE(proves_ambiguous(stance, "PF"));
  EXPECT_EQ(replayed_growth(stance, {0, 0, 0, 0, 0, 0}, 10), 1.0);
}

TEST(StabilityProofs, CounterexamplesReplay) {
  const Stance stance = of_figure2(0.3, 0.4);
  const auto result = judged({stance}, StabilityMethod::any);
  ASSERT_EQ(result.verdict.host()[0], StabilityVerdict::unstable);
  const auto start = result.start.host();
  const auto events =
      stance_trajectory(stance, {start[0], start[1], start[2]}, {start[3], start[4], start[5]}, 60);
  const double first = vector(events.front().velocity).norm();
  EXPECT_GT(vector(events.back().velocity).norm(), 5.0 * first);
  EXPECT_GT(result.growth.host()[0], 1.0);
}

TEST(StabilityProofs, LevelGroundIsStable) {
  Stance stance = biped(0.0, 1.0, 0.6, 0.6, 0.8, 0.2);
  EXPECT_EQ(verdict_of(stance), StabilityVerdict::stable);
}

// Stances that round to the same numbers take one another's functions, and it is always the same
// ones: alone, in any order and by any number of threads.
TEST(StabilityProofs, NeighboursDoNotMatter) {
  std::vector<Stance> stances;
  for (int i = 0; i < 40; ++i) stances.push_back(test::of_figure3(0.5 + 0.001 * i, 0.45));
  for (int i = 0; i < 40; ++i) stances.push_back(of_figure2(0.3, 0.5 + 0.001 * i));
  const auto together = judged(stances, StabilityMethod::labelled);
  std::vector<Stance> turned(stances.rbegin(), stances.rend());
  turned[3].contacts[0].friction = -1.0;
  StabilitySettings settings;
  settings.method = StabilityMethod::labelled;
  settings.threads = 1;
  const auto backwards = analyse_stability(stance_batch(turned), settings, Backend::cpu);
  int proven = 0, shared = 0;
  for (std::size_t p = 0; p < stances.size(); ++p) {
    const std::size_t back = stances.size() - 1 - p;
    if (back == 3) continue;
    ASSERT_EQ(together.verdict.host()[p], backwards.verdict.host()[back]) << p;
    if (together.verdict.host()[p] != StabilityVerdict::stable) continue;
    ++proven;
    const double* here = together.coefficients.data() + 24 * p;
    const double* there = backwards.coefficients.data() + 24 * back;
    const auto alone = judged({stances[p]}, StabilityMethod::labelled);
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    EXPECT_TRUE(std::equal(here, here + 24, there, same)) << p;
    EXPECT_TRUE(std::equal(here, here + 24, alone.coefficients.data(), same)) << p;
    EXPECT_EQ(together.margin.host()[p], alone.margin.host()[0]);
    shared += p > 0 && here[0] == here[-24] ? 1 : 0;
  }
  EXPECT_GT(proven, 40);
  EXPECT_GT(shared, 20);
  const auto exact = verify_certificates(stance_batch(stances), together);
  EXPECT_EQ(std::count(exact.begin(), exact.end(), 1), count(together, StabilityVerdict::stable));
}

// On mu_1 = 2 - 2 d of Figure 2 no forces belong to sliding downhill at both contacts; beside that
// line they pull at one of them, or press without bound.
TEST(StabilityProofs, SlidingWithoutForces) {
  int proven = 0;
  for (const double d : {0.25, 0.375, 0.5, 0.625}) {
    const Stance on = of_figure2(2.0 - 2.0 * d, d);
    const auto result = judged({on}, StabilityMethod::any);
    if (result.verdict.host()[0] != StabilityVerdict::stable) continue;
    ++proven;
    EXPECT_EQ(verify_certificates(stance_batch({&on, 1}), result)[0], 1) << d;
    EXPECT_EQ(verdict_of(of_figure2(2.0 - 2.0 * d + 1e-6, d)), StabilityVerdict::stable);
    EXPECT_EQ(verdict_of(on, StabilityMethod::simulate), StabilityVerdict::undecided);
  }
  EXPECT_GE(proven, 1);
}

TEST(StabilityProofs, PainleveIsFlagged) {
  // k of slip 2+ is (1 - L2)^2 in the family of Figure 2: zero at d = 1 - tan 30 deg, and < 0
  // around it where friction is larger.
  Stance stance = of_figure2(0.6, 1.0 - std::tan(std::numbers::pi / 6.0));
  stance.contacts[1].friction = 2.3;
  const auto result = judged({stance}, StabilityMethod::any);
  EXPECT_NE(result.paradox.host()[0] & 4, 0);
  EXPECT_NE(result.verdict.host()[0], StabilityVerdict::stable);
  EXPECT_EQ(result.certificate.host()[0], CertificateKind::none);
}

}  // namespace
}  // namespace carom
