// Own mechanisms drawn at random, thrown on slopes with all laws of restitution: none fails, and
// what is certified holds.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/motion_replay.hpp>
#include <carom/motion_tree.hpp>

namespace carom {
namespace {

/// Splitmix64.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
  }
  int below(int count) { return static_cast<int>(next() % static_cast<std::uint64_t>(count)); }
  double friction() { return below(4) == 0 ? 2.0 : between(0.0, 2.0); }
  double slope() { return below(2) == 0 ? 0.0 : between(-0.8, 0.8); }

 private:
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

/// A trunk with a leg on a hinge and one on a slide.
MotionProblem legged(Draws& draw) {
  MechanismTree tree;
  tree.name = "legged";
  const double slope = draw.slope();
  const double friction = draw.friction();
  TreeLink trunk;
  trunk.mass = draw.between(0.5, 3.0);
  trunk.inertia = draw.between(0.01, 0.1);
  TreeLink leg;
  leg.parent = 0;
  leg.hinge = {-0.2, -0.05};
  leg.mass = draw.between(0.1, 0.5);
  leg.inertia = draw.between(0.001, 0.01);
  leg.mass_centre = {0.0, -0.15};
  leg.stiffness = draw.between(0.0, 50.0);
  leg.damping = draw.between(0.0, 0.5);
  TreeLink slide = leg;
  slide.slides = true;
  slide.hinge = {0.2, -0.05};
  slide.axis = -0.5 * std::numbers::pi;
  slide.mass_centre = {};
  slide.stiffness = draw.between(50.0, 400.0);
  slide.rest = 0.2;
  tree.links = {trunk, leg, slide};
  const auto touch = [&](int link, double x, double y) {
    TreeContact contact;
    contact.link = link;
    contact.point = {x, y};
    contact.normal = {std::sin(slope), std::cos(slope)};
    contact.friction = friction;
    tree.contacts.push_back(contact);
  };
  touch(1, 0.0, -0.3);
  touch(2, 0.0, 0.0);
  for (const double x : {-0.25, 0.25}) touch(0, x, 0.05);
  for (const double x : {-0.25, 0.25}) touch(0, x, -0.05);
  const std::vector<double> q{0.0, draw.between(0.8, 1.2), draw.between(-0.5, 0.5),
                              draw.between(-0.3, 0.3), 0.2};
  const std::vector<double> v{draw.between(-1.0, 1.0), draw.between(-1.0, 1.0),
                              draw.between(-2.0, 2.0), 0.0, 0.0};
  return motion_problem(tree, q, v);
}

/// A body on three points, on eight corners, or on four with an arm on a hinge.
MotionProblem spatial(Draws& draw, int kind) {
  SpatialTree tree;
  tree.name = "spatial";
  const double slope = draw.slope();
  const double to = draw.between(-3.0, 3.0);
  const double friction = draw.friction();
  SpatialTreeLink body;
  body.mass = draw.between(0.3, 3.0);
  const double w = draw.between(0.05, 0.3);
  const double d = draw.between(0.05, 0.3);
  const double h = draw.between(0.05, 0.3);
  body.inertia = {body.mass * (d * d + h * h) / 3, body.mass * (w * w + h * h) / 3,
                  body.mass * (w * w + d * d) / 3};
  tree.links = {body};
  const auto touch = [&](int link, double x, double y, double z) {
    SpatialTreeContact contact;
    contact.link = link;
    contact.point = {x, y, z};
    contact.normal = {std::sin(slope) * std::cos(to), std::sin(slope) * std::sin(to),
                      std::cos(slope)};
    contact.friction = friction;
    tree.contacts.push_back(contact);
  };
  std::vector<double> q{0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0};
  std::vector<double> v(6, 0.0);
  if (kind == 0) {
    for (int k = 0; k < 3; ++k) {
      touch(0, w * std::cos(2.1 * k), w * std::sin(2.1 * k), -h);
    }
  } else {
    for (int k = 0; k < (kind == 1 ? 8 : 4); ++k) {
      const int corner = k % 4;
      touch(0, corner == 1 || corner == 2 ? w : -w, corner > 1 ? d : -d, k < 4 ? -h : h);
    }
  }
  if (kind == 2) {
    SpatialTreeLink arm;
    arm.parent = 0;
    arm.place = {w, 0.0, 0.0};
    arm.axis = {0.0, 0.6, 0.8};
    arm.mass = draw.between(0.1, 1.0);
    const double length = draw.between(0.1, 0.4);
    arm.mass_centre = {0.5 * length, 0.0, 0.0};
    arm.inertia = {1e-4, arm.mass * length * length / 12, arm.mass * length * length / 12};
    arm.damping = draw.between(0.0, 0.3);
    tree.links.push_back(arm);
    touch(1, length, 0.0, 0.02);
    touch(1, length, 0.0, -0.02);
    q.push_back(draw.between(-0.5, 0.5));
    v.push_back(draw.between(-3.0, 3.0));
  }
  double square = 0.0;
  for (std::size_t k = 3; k < 7; ++k) {
    if (k > 3) q[k] = draw.between(-1.0, 1.0);
    square += q[k] * q[k];
  }
  for (std::size_t k = 3; k < 7; ++k) q[k] /= std::sqrt(square);
  for (std::size_t k = 0; k < 6; ++k) v[k] = (k < 3 ? 1.0 : 5.0) * draw.between(-1.0, 1.0);
  return motion_problem(tree, q, v);
}

struct Tally {
  MotionSummary sum;
  std::int64_t pieces = 0, differing = 0, jumps = 0, differing_jumps = 0;
};

template <class Make>
Tally throw_all(int count, Make&& make) {
  Tally tally;
  for (int k = 0; k < count; ++k) {
    Draws draw(static_cast<std::uint64_t>(k) + 1);
    const MotionProblem problem = make(draw);
    MotionSettings settings;
    settings.duration = draw.between(0.5, 2.0);
    settings.samples = 2;
    settings.seed = static_cast<std::uint64_t>(k);
    settings.restitution = static_cast<Restitution>(draw.below(3));
    settings.coefficient = draw.below(2) == 0 ? 0.0 : draw.between(0.0, 0.9);
    settings.keep_samples = 1;
    settings.keep_events = 500;
    settings.threads = 1;
    const MotionResult result = simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
    const MotionSummary sum = summarise(result, 0);
    EXPECT_EQ(sum.ended_failed, 0) << k;
    EXPECT_LT(sum.max_energy_gain, 1e-9) << k;
    tally.sum.add(sum);
    if (k % 4 != 0 || result.ambiguous.host()[0] > 0) continue;
    ReplaySettings replay;
    replay.longest = 0.2;
    const MotionReplay judged = replay_motion(problem, result, 0, replay);
    tally.pieces += judged.pieces;
    tally.differing += judged.differing;
    tally.jumps += judged.jumps;
    tally.differing_jumps += judged.differing_jumps;
  }
  return tally;
}

void expect_tally_certified(const Tally& tally) {
  EXPECT_LT(tally.sum.max_residual, 1e-7);
  EXPECT_LT(tally.sum.max_gap_drift, 1.1e-10);
  EXPECT_LT(tally.sum.max_energy_error, 1e-8);
  EXPECT_GT(tally.pieces, 2);
  EXPECT_GT(tally.jumps, 2);
  EXPECT_EQ(tally.differing, 0);
  EXPECT_EQ(tally.differing_jumps, 0);
}

TEST(RandomTrees, LeggedOnes) {
  expect_tally_certified(throw_all(150, [](Draws& draw) { return legged(draw); }));
}

TEST(RandomTrees, Tripods) {
  const Tally tally = throw_all(80, [](Draws& draw) { return spatial(draw, 0); });
  expect_tally_certified(tally);
  EXPECT_EQ(tally.sum.ended_event_limit, 0);  // slow slip, stiff by its friction, is implicit
}

TEST(RandomTrees, Boxes) {
  expect_tally_certified(throw_all(60, [](Draws& draw) { return spatial(draw, 1); }));
}

TEST(RandomTrees, BodiesWithAnArm) {
  expect_tally_certified(throw_all(14, [](Draws& draw) { return spatial(draw, 2); }));
}

/// Slip that starts finds no direction, or two gaps hide each other's events.
TEST(RandomTrees, ThoseThatOnceFoundNoWayOn) {
  struct Run {
    int kind;
    std::uint64_t number;
  };
  for (const auto& [kind, number] :
       {Run{0, 263}, Run{1, 172}, Run{2, 85}, Run{2, 110}, Run{2, 116}, Run{2, 28}}) {
    SCOPED_TRACE(std::to_string(kind) + " " + std::to_string(number));
    Draws draw(number * 7919 + static_cast<std::uint64_t>(kind) * 104729 + 17);
    const MotionProblem problem = spatial(draw, kind);
    MotionSettings settings;
    settings.duration = draw.between(0.5, 2.0);
    settings.seed = number;
    settings.restitution = static_cast<Restitution>(draw.below(3));
    settings.coefficient = draw.below(4) == 0 ? 0.0 : draw.between(0.0, 0.9);
    settings.max_events = 3000;
    settings.step_size = 1.0;  // another one draws other motions than those that once failed
    const MotionResult result = simulate_motions(make_batch({&problem, 1}), settings, Backend::cpu);
    EXPECT_NE(result.end.host()[0], MotionEnd::failed);
    EXPECT_NE(result.end.host()[0], MotionEnd::event_limit);
    EXPECT_LT(result.residual.host()[0], 1e-6);
    EXPECT_LT(result.gap_drift.host()[0], 1.1e-10);
    EXPECT_LT(result.energy_gain.host()[0], 1e-9);
    EXPECT_LT(result.energy_error.host()[0], 1e-8);
  }
}

}  // namespace
}  // namespace carom
