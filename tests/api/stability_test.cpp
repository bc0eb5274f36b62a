#include <carom/stability.hpp>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/message.hpp"
#include "support/stances.hpp"

namespace carom {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using test::biped;
using test::certified;
using test::count;
using test::gradients;
using test::judged;
using test::mode;
using test::of_figure2;
using test::of_figure3;
using test::RandomStances;
using test::vector;
using test::verdict_of;
using test::wrench;

// The friction at which `holds` begins, which it does once between the two.
double boundary(double low, double high, const std::function<bool(double)>& holds, int steps = 40) {
  for (int step = 0; step < steps; ++step) {
    const double middle = 0.5 * (low + high);
    (holds(middle) ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

std::vector<Stance> grid(const std::function<Stance(double, double)>& of, double low, double high) {
  std::vector<Stance> stances;
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      stances.push_back(of(low + (high - low) * i / 11.0, 0.08 + 1.1 * j / 11.0));
    }
  }
  return stances;
}

TEST(Stability, ChartsOfThePaper) {
  const auto second = judged(grid(of_figure2, 0.02, 1.12), StabilityMethod::any);
  EXPECT_EQ(count(second, StabilityVerdict::ambiguous), 15);
  EXPECT_EQ(count(second, StabilityVerdict::unstable), 11);
  EXPECT_EQ(count(second, StabilityVerdict::stable), 116);
  EXPECT_EQ(count(second, StabilityVerdict::undecided), 2);
  const auto third = judged(grid(of_figure3, 0.38, 1.48), StabilityMethod::any);
  EXPECT_EQ(count(third, StabilityVerdict::ambiguous), 0);
  EXPECT_EQ(count(third, StabilityVerdict::unstable), 0);
  EXPECT_EQ(count(third, StabilityVerdict::stable), 139);
  EXPECT_EQ(count(third, StabilityVerdict::undecided), 5);
  const auto paper = StabilityMethod::paper;
  EXPECT_EQ(count(judged(grid(of_figure2, 0.02, 1.12), paper), StabilityVerdict::stable), 102);
  EXPECT_EQ(count(judged(grid(of_figure3, 0.38, 1.48), paper), StabilityVerdict::stable), 83);
}

TEST(Stability, BoundariesOfFigure2) {
  const double d[] = {0.3, 0.5, 0.7};
  const double unstable[] = {0.40645, 0.2751, 0.111};
  const double chatter[] = {0.40663, 0.2754, 0.1113};
  const double paper[] = {0.41623, 0.3219, 0.240};
  const double labelled[] = {0.40664, 0.2822, 0.149};
  for (int i = 0; i < 3; ++i) {
    const auto moves = [&](double mu) {
      return verdict_of(of_figure2(mu, d[i]), StabilityMethod::simulate) !=
             StabilityVerdict::unstable;
    };
    const auto shrinks = [&](double mu) {
      return judged({of_figure2(mu, d[i])}, StabilityMethod::paper).growth.host()[0] < 1.0;
    };
    const double start = std::tan(std::numbers::pi / 6.0) - d[i] + 0.03;  // unambiguous
    EXPECT_NEAR(boundary(unstable[i] - 0.02, unstable[i] + 0.02, moves, 9), unstable[i], 5e-4)
        << d[i];
    EXPECT_NEAR(boundary(std::max(start, 0.01), 0.6, shrinks), chatter[i], 5e-5) << d[i];
    const double found = boundary(std::max(start, 0.01), 0.6,
                                  [&](double mu) { return certified(of_figure2(mu, d[i])); });
    EXPECT_NEAR(found, paper[i], 3e-4) << d[i];
    const auto by_labels = [&](double mu) {
      return verdict_of(of_figure2(mu, d[i]), StabilityMethod::labelled) ==
             StabilityVerdict::stable;
    };
    EXPECT_NEAR(boundary(std::max(start, 0.01), 0.6, by_labels, 14), labelled[i], 6e-4) << d[i];
    // ... which is where slip 1+ comes to rest: derived in docs/explanation/stability.md
    const double tangent = std::tan(std::numbers::pi / 6.0), l = tangent - d[i];
    const double exact = (tangent * (1 + l * l) + l) / (2.0 + l * tangent);
    EXPECT_NEAR(found, exact, 3e-6) << d[i];
  }
}

TEST(Stability, AmbiguityIs39And40WithTheRearContactFirst) {
  RandomStances random(1);
  int ambiguous = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const double alpha = random.between(0.1, 0.9), h = random.between(0.3, 2.0);
    const double d = random.between(0.02, 1.3) * h * std::tan(alpha);
    const double mu1 = random.between(0.02, 1.2) * std::tan(alpha);
    const double mu2 = std::max(2.0 * std::tan(alpha) - mu1, 0.0) + random.between(0.01, 1.0);
    const Stance stance = biped(alpha, h, mu1, mu2, d, 0.0);
    const auto result = judged({stance}, StabilityMethod::paper);
    const double t = std::tan(alpha);
    if (std::fabs(mu1 - (t - d / h)) < 1e-6 || (result.paradox.host()[0] & 15) != 0) continue;
    const bool expected = d < h * t && mu1 < t - d / h;
    const int modes = result.ambiguous_modes.host()[0];
    EXPECT_EQ(modes != 0, expected) << trial;
    if (!expected) continue;
    ++ambiguous;
    EXPECT_EQ(modes, 1 << (4 * 2 + 0) | 1 << (4 * 2 + 2)) << "PF and PP";
    // As the captions have it, with the front contact first, no point is.
    Stance printed = stance;
    printed.contacts[0].l = h * t + d;
    printed.contacts[1].l = h * t - d;
    for (const StanceMode& m : contact_modes(printed)) {
      if (m.word == "PF") {
        EXPECT_FALSE(m.consistent);
      }
    }
  }
  EXPECT_GT(ambiguous, 300);
}

TEST(Stability, EquilibriumIsTheSumOfFrictions) {
  RandomStances random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const double alpha = random.between(0.05, 1.0), d = random.between(0.05, 2.0);
    const double mu1 = random.between(0.0, 1.5), mu2 = random.between(0.0, 1.5);
    if (std::fabs(mu1 + mu2 - 2.0 * std::tan(alpha)) < 1e-9) continue;
    const Stance stance = biped(alpha, random.between(0.2, 2.0), mu1, mu2, d, 0.0);
    EXPECT_EQ(verdict_of(stance, StabilityMethod::paper) != StabilityVerdict::no_equilibrium,
              mu1 + mu2 > 2.0 * std::tan(alpha));
  }
  // "mu2 > tan a is equilibrium for all mu1" is false
  EXPECT_GT(0.6, std::tan(std::numbers::pi / 6.0));
  EXPECT_EQ(verdict_of(biped(std::numbers::pi / 6.0, 1.0, 0.1, 0.6, 0.5, 0.0)),
            StabilityVerdict::no_equilibrium);
}

TEST(Stability, ModesSolveTheirEquations) {
  RandomStances random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const Stance stance = random.any();
    const auto modes = contact_modes(stance);
    ASSERT_EQ(modes.size(), 16U);
    for (const StanceMode& m : modes) {
      if (!m.solvable) continue;
      Vector3d sum = wrench(stance);
      for (std::size_t i = 0; i < 2; ++i) {
        const auto [normal, tangent] = gradients(stance.contacts[i]);
        sum += m.normal_force[i] * normal + m.tangential_force[i] * tangent;
        const Vector3d a = vector(m.acceleration);
        if (m.word[i] == 'F') {
          EXPECT_EQ(m.normal_force[i], 0.0);
        }
        if (m.word[i] != 'F') {
          EXPECT_NEAR(normal.dot(a), 0.0, 1e-8) << m.word;
        }
        if (m.word[i] == 'S') {
          EXPECT_NEAR(tangent.dot(a), 0.0, 1e-8) << m.word;
        }
        const double sign = m.word[i] == 'P' ? -1.0 : 1.0;
        if (m.word[i] == 'P' || m.word[i] == 'N') {
          EXPECT_NEAR(m.tangential_force[i], sign * stance.contacts[i].friction * m.normal_force[i],
                      1e-9 * (1 + std::fabs(m.normal_force[i])));
        }
      }
      EXPECT_LT((sum - vector(m.acceleration)).norm(), 1e-7 * (1 + sum.norm())) << m.word;
    }
    // the batch finds the same ambiguity and the same margin at rest
    const auto result = judged({stance}, StabilityMethod::paper);
    const double margin = mode(modes, "SS").margin, found = result.force_margin.host()[0];
    if (std::isfinite(margin) || std::isfinite(found)) {
      EXPECT_NEAR(found, margin, 1e-8);
    }
    if (!(margin >= 0.0)) continue;
    int bits = 0;
    for (std::size_t k = 0; k < modes.size(); ++k) {
      if (modes[k].word != "SS" && modes[k].admissible && modes[k].consistent) bits |= 1 << k;
    }
    EXPECT_EQ(result.ambiguous_modes.host()[0], bits) << trial;
  }
}

TEST(Stability, ThreeContacts) {
  Stance stance;
  stance.angle = 0.1;
  stance.contacts = {
      {-1.0, 1.0, 0.0, 0.5, 0.0}, {0.2, 1.0, 0.0, 0.5, 0.0}, {1.0, 1.0, 0.0, 0.5, 0.0}};
  const auto modes = contact_modes(stance);
  ASSERT_EQ(modes.size(), 64U);
  const StanceMode& rest = mode(modes, "SSS");
  EXPECT_TRUE(rest.solvable && rest.consistent && rest.admissible);
  EXPECT_LT(vector(rest.acceleration).norm(), 1e-12);
  // Normal forces at least t each, and more at the outer ones to balance: hand-made bound.
  double sum = 0.0;
  for (const double f : rest.normal_force) {
    EXPECT_GE(f, rest.margin - 1e-12);
    sum += f;
  }
  EXPECT_NEAR(sum, std::cos(0.1), 1e-12);
  EXPECT_TRUE(mode(modes, "PPP").admissible);
  EXPECT_FALSE(mode(modes, "PNP").admissible);
  EXPECT_FALSE(mode(modes, "SPF").admissible);
  EXPECT_TRUE(mode(modes, "FPP").admissible);
}

TEST(Stability, ExactlyOneImpactIsConsistent) {
  RandomStances random(4);
  int slips = 0;
  for (int trial = 0; trial < 100000; ++trial) {
    Stance stance = random.any();
    stance.contacts[0].friction = random.between(0.0, 5.0);
    stance.contacts[0].restitution = random.between(0.0, 0.99);
    const auto [normal, tangent] = gradients(stance.contacts[0]);
    std::array<double, 3> v = random.velocity();
    if (normal.dot(vector(v)) > 0.0) v = {-v[0], -v[1], -v[2]};
    const StanceImpact impact = stance_impact(stance, 0, v);
    ASSERT_EQ(impact.consistent, 1) << trial;
    const Vector3d after = vector(impact.velocity);
    const double gap = normal.dot(vector(v)), e = stance.contacts[0].restitution;
    EXPECT_NEAR(normal.dot(after), -e * gap, 1e-9);
    const Vector3d expected =
        vector(v) + impact.normal_impulse * normal + impact.tangential_impulse * tangent;
    EXPECT_LT((after - expected).norm(), 1e-9 * (1 + after.norm()));
    EXPECT_GE(impact.normal_impulse, 0.0);
    EXPECT_LE(std::fabs(impact.tangential_impulse),
              stance.contacts[0].friction * impact.normal_impulse * (1 + 1e-12));
    const double slip = tangent.dot(after);
    if (impact.kind == ImpactKind::stick) {
      EXPECT_NEAR(slip, 0.0, 1e-8 * (1 + after.norm()));
    }
    if (impact.kind == ImpactKind::stick) continue;
    ++slips;
    EXPECT_EQ(impact.kind == ImpactKind::slip_positive, slip > 0.0);
  }
  EXPECT_GT(slips, 10000);
}

TEST(Stability, EnergyTestIsExact) {
  RandomStances random(5);
  int creating = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Stance stance = random.any();
    stance.contacts.resize(1);
    StanceContact& c = stance.contacts[0];
    c.l = random.between(-3, 3), c.h = random.between(-3, 3);
    c.friction = random.between(0.0, 3.0), c.restitution = random.between(0.0, 0.95);
    const auto [normal, tangent] = gradients(c);
    double worst = -1.0;
    for (int sample = 0; sample < 400; ++sample) {
      // the rotation about the contact takes no part
      const double slip = std::tan(random.between(-1.57, 1.57));
      Matrix2d w;
      w << normal.dot(normal), normal.dot(tangent), normal.dot(tangent), tangent.dot(tangent);
      const Vector2d parts = w.inverse() * Vector2d(-1.0, slip);
      const Vector3d v = parts(0) * normal + parts(1) * tangent;
      const Vector3d after = vector(stance_impact(stance, 0, {v(0), v(1), v(2)}).velocity);
      worst = std::max(worst, after.squaredNorm() / v.squaredNorm() - 1.0);
    }
    if (impacts_dissipate(stance)) {
      EXPECT_LE(worst, 1e-12) << trial;
    }
    if (worst > 1e-9) ++creating;
  }
  EXPECT_GT(creating, 3);  // "kinetic energy is known to decrease at every impact" is false
}

TEST(Stability, TrajectoriesFollowTheirModes) {
  RandomStances random(8);
  int impacts = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Stance stance = random.any();
    if (judged({stance}, StabilityMethod::paper).paradox.host()[0] != 0) continue;
    std::array<double, 3> v = random.velocity();
    for (const StanceContact& c : stance.contacts) {
      if (gradients(c).normal.dot(vector(v)) < 0.0) v[1] += 4.0;
    }
    const auto events = stance_trajectory(stance, {0, 0, 0}, v, 30);
    const auto modes = contact_modes(stance);
    for (std::size_t k = 1; k < events.size(); ++k) {
      const StanceEvent& before = events[k - 1];
      const StanceEvent& after = events[k];
      const Vector3d q = vector(after.position);
      for (const StanceContact& c : stance.contacts) {
        EXPECT_GE(gradients(c).normal.dot(q), -1e-9 * (1 + q.norm()));
      }
      const double time = after.time - before.time;
      if (after.kind == StanceEventKind::impact) ++impacts;
      if (time == 0.0) continue;
      const Vector3d a = vector(mode(modes, before.mode).acceleration);
      const Vector3d expected =
          vector(before.position) + time * (vector(before.velocity) + 0.5 * time * a);
      EXPECT_LT((q - expected).norm(), 1e-9 * (1 + q.norm())) << k << before.mode;
      if (after.kind != StanceEventKind::impact) continue;
      const Vector3d arriving = vector(before.velocity) + time * a;
      const StanceImpact impact =
          stance_impact(stance, after.contact, {arriving(0), arriving(1), arriving(2)});
      EXPECT_LT((vector(after.velocity) - vector(impact.velocity)).norm(),
                1e-7 * (1 + arriving.norm()))
          << trial << " " << k;
    }
  }
  EXPECT_GT(impacts, 500);
}

TEST(Stability, ScalingIsASymmetry) {
  const Stance stance = of_figure3(0.7, 0.6);
  const auto base = stance_trajectory(stance, {0, 0, 0}, {0.3, 1.0, -0.4}, 40);
  const double s = 0.37;
  const auto scaled = stance_trajectory(stance, {0, 0, 0}, {0.3 * s, s, -0.4 * s}, 40);
  ASSERT_EQ(base.size(), scaled.size());
  for (std::size_t k = 0; k < base.size(); ++k) {
    EXPECT_EQ(base[k].mode, scaled[k].mode);
    EXPECT_NEAR(base[k].time * s, scaled[k].time, 1e-10);
    EXPECT_LT((s * s * vector(base[k].position) - vector(scaled[k].position)).norm(), 1e-10);
    EXPECT_LT((s * vector(base[k].velocity) - vector(scaled[k].velocity)).norm(), 1e-10);
  }
}

// What the paper prints where this library has something else.
TEST(Stability, PrintedFormulasFail) {
  RandomStances random(10);
  for (int trial = 0; trial < 20; ++trial) {
    const Stance stance = random.any();
    const StanceContact& c = stance.contacts[0];
    const auto [normal, tangent] = gradients(c);
    // (26): the third row is xi = -h cos - l sin, the slip of a turning body is the opposite
    const double xi = -c.h * std::cos(c.slope) - c.l * std::sin(c.slope);
    EXPECT_NEAR(tangent(2), -xi, 1e-12);
    EXPECT_GT(std::fabs(tangent(2) - xi), 1e-3);
    // (6): C on the left would send a free body uphill
    const auto modes = contact_modes(stance);
    EXPECT_LT((vector(mode(modes, "FF").acceleration) - wrench(stance)).norm(), 1e-12);
    EXPECT_GT((vector(mode(modes, "FF").acceleration) + wrench(stance)).norm(), 0.5);
    // (18), (19): A and B as printed leave a slip after a sticking impact
    const Vector3d v(0.3, -1.0, 0.1);
    const double nn = normal.dot(normal), nt = normal.dot(tangent), tt = tangent.dot(tangent);
    const auto slip_left = [&, normal = normal, tangent = tangent](double sign) {
      const double a = sign * tangent.dot(v) / tt, b = sign * nt / tt;
      const double pressed = (-(1 + c.restitution) * normal.dot(v) - nt * a) / (nn + nt * b);
      return tangent.dot(v + pressed * normal + (a + b * pressed) * tangent);
    };
    EXPECT_NEAR(slip_left(-1.0), 0.0, 1e-10);
    EXPECT_GT(std::fabs(slip_left(1.0)), 1e-4);
  }
  const Stance stance = of_figure2(0.9, 0.5);
  const Vector3d g = wrench(stance);
  const auto [n1, t1] = gradients(stance.contacts[0]);
  const auto modes = contact_modes(stance);
  // Appendix B: SF with -P instead of its inverse's negative
  Matrix2d p;
  p << n1.dot(n1), n1.dot(t1), n1.dot(t1), t1.dot(t1);
  const Vector2d load(n1.dot(g), t1.dot(g)), exact = -(p.inverse() * load), printed = -(p * load);
  const StanceMode& stick = mode(modes, "SF");
  EXPECT_NEAR(stick.normal_force[0], exact(0), 1e-12);
  EXPECT_NEAR(stick.tangential_force[0], exact(1), 1e-12);
  EXPECT_GT((printed - exact).norm(), 0.1);
  // Appendix B: PP, whose sign is wrong: both contacts would pull
  const auto [n2, t2] = gradients(stance.contacts[1]);
  Matrix2d k;
  k << n1.dot(n1 - 0.9 * t1), n1.dot(n2 - 2.0 * t2), n2.dot(n1 - 0.9 * t1), n2.dot(n2 - 2.0 * t2);
  const Vector2d pressed = k.inverse() * Vector2d(std::cos(stance.angle), std::cos(stance.angle));
  EXPECT_NEAR(mode(modes, "PP").normal_force[0], pressed(0), 1e-10);
  EXPECT_NEAR(mode(modes, "PP").normal_force[1], pressed(1), 1e-10);
  // (34): 1/2 on all of it is not conserved in flight
  const Vector3d v(0.2, 1.0, 0.3), q = 0.5 * v + 0.125 * g, later = v + 0.5 * g;
  const auto corrected = [&](const Vector3d& x, const Vector3d& u) {
    return 0.5 * u.squaredNorm() - g.dot(x);
  };
  const auto as_printed = [&](const Vector3d& x, const Vector3d& u) {
    return 0.5 * (u.squaredNorm() + x(1) * std::cos(stance.angle) - x(0) * std::sin(stance.angle));
  };
  EXPECT_NEAR(corrected(q, later), corrected(Vector3d::Zero(), v), 1e-12);
  EXPECT_GT(std::fabs(as_printed(q, later) - as_printed(Vector3d::Zero(), v)), 0.1);
  // (38) excludes d < h tan a, where certificates exist
  EXPECT_TRUE(certified(of_figure2(0.9, 0.3)));
  const double tangent = std::tan(std::numbers::pi / 6.0);
  EXPECT_GT((tangent - 0.3) * (tangent + 0.3), 0.0);
  // Impact block: with + h l LT the contact does not come to rest
  const double lt = 0.3, l = stance.contacts[0].l, h = 1.0;
  const Vector3d before(0.1, -1.0, 0.2);
  const double wanted = -(before(1) + l * before(2));
  for (const double sign : {-1.0, 1.0}) {
    const double ln = (wanted + sign * lt * h * l) / (1 + l * l);
    const double gap = n1.dot(before + ln * n1 + lt * t1);
    if (sign < 0.0) {
      EXPECT_NEAR(gap, 0.0, 1e-12);
    }
    if (sign > 0.0) {
      EXPECT_GT(std::fabs(gap), 1e-3);
    }
  }
  // (16) without mu: a larger friction would change no slipping impact
  Stance rough = stance, smooth = stance;
  rough.contacts[0].friction = 0.5;
  smooth.contacts[0].friction = 0.2;
  const std::array<double, 3> fast{5.0, -1.0, 0.0};
  EXPECT_EQ(stance_impact(rough, 0, fast).kind, ImpactKind::slip_positive);
  EXPECT_NEAR(stance_impact(rough, 0, fast).tangential_impulse /
                  stance_impact(rough, 0, fast).normal_impulse,
              -0.5, 1e-12);
  EXPECT_NEAR(stance_impact(smooth, 0, fast).tangential_impulse /
                  stance_impact(smooth, 0, fast).normal_impulse,
              -0.2, 1e-12);
}

// Random states are addressed by the place of a stance among all of the run's.
TEST(Stability, ShardsAreTheWhole) {
  RandomStances random(5);
  std::vector<Stance> stances;
  while (stances.size() < 60) {
    stances.push_back(random.any());
    for (StanceContact& contact : stances.back().contacts) contact.restitution = 0.4;
  }
  StabilitySettings settings;
  settings.method = StabilityMethod::simulate;
  settings.states = 5;
  settings.events = 200;
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    settings.first_problem = 0;
    const StabilityResult whole = analyse_stability(stance_batch(stances), settings, backend);
    const std::vector<Stance> rest(stances.begin() + 23, stances.end());
    const auto differing = [&](std::int64_t first) {
      settings.first_problem = first;
      const StabilityResult shard = analyse_stability(stance_batch(rest), settings, backend);
      std::ptrdiff_t count = 0;
      for (std::size_t i = 0; i < rest.size(); ++i) {
        count += shard.events.host()[i] != whole.events.host()[i + 23] ||
                 shard.verdict.host()[i] != whole.verdict.host()[i + 23];
      }
      return count;
    };
    EXPECT_EQ(differing(23), 0);
    EXPECT_GT(differing(0), 0);
  }
}

TEST(Stability, RefusesByName) {
  const auto refusal = [](const std::function<void(Stance&)>& spoil) {
    Stance stance = of_figure2(0.5, 0.5);
    stance.name = "walker";
    spoil(stance);
    return test::refusal([&] { validate(stance); });
  };
  EXPECT_NO_THROW(validate(of_figure2(0.5, 0.5)));
  EXPECT_EQ(refusal([](Stance& s) { s.contacts[1].friction = -0.5; }),
            "friction[1] of stance \"walker\" is -0.5: must be >= 0 and finite");
  EXPECT_EQ(refusal([](Stance& s) { s.contacts[0].restitution = 1.0; }),
            "restitution[0] of stance \"walker\" is 1: must be in [0, 1)");
  EXPECT_NE(refusal([](Stance& s) { s.contacts[0] = s.contacts[1]; }).find("different points"),
            std::string::npos);
  EXPECT_NE(refusal([](Stance& s) { s.contacts[0].l = NAN; }).find("l[0]"), std::string::npos);
  EXPECT_NE(refusal([](Stance& s) { s.force = 0.0; }).find("force"), std::string::npos);
  EXPECT_NE(refusal([](Stance& s) { s.contacts.clear(); }).find("contacts"), std::string::npos);
  // one bad stance leaves its neighbours as they are
  std::vector<Stance> stances(3, of_figure2(0.9, 0.5));
  stances[1].contacts[0].friction = NAN;
  const auto result = judged(stances, StabilityMethod::any);
  EXPECT_EQ(result.verdict.host()[0], StabilityVerdict::stable);
  EXPECT_EQ(result.verdict.host()[1], StabilityVerdict::invalid_input);
  EXPECT_EQ(result.verdict.host()[2], StabilityVerdict::stable);
  const StanceBatch batch = stance_batch(stances);
  EXPECT_FALSE(stance_refusal(batch, 0));
  ASSERT_TRUE(stance_refusal(batch, 1));
  EXPECT_EQ(stance_refusal(batch, 1)->text(),
            "friction[0] of stance 1 is nan: must be >= 0 and finite");
  EXPECT_THROW(static_cast<void>(stance_refusal(batch, 3)), InvalidInput);
  EXPECT_THROW(stance_impact(stances[0], 0, {0.0, 1.0, 0.0}), InvalidInput);
  EXPECT_THROW(stance_trajectory(stances[0], {0.0, -1.0, 0.0}, {0.0, 0.0, 0.0}, 5), InvalidInput);
}

}  // namespace
}  // namespace carom
