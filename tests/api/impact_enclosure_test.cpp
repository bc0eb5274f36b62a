#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/impact_enclosure.hpp>
#include <carom/models/models.hpp>

#include "support/enclosures.hpp"

namespace carom {
namespace {

using test::Bounds;
using test::bounds_of;
using test::excess;
using test::Generator;
using test::random_impact;

ImpactEnclosure of_model(const char* name) { return enclose_impact(models::build(name)); }

// Figures of a prototype in exact rationals with double description, in another language.
TEST(ImpactEnclosure, EnclosesThePapersModels) {
  const ImpactEnclosure block = of_model("rocking_block");
  EXPECT_EQ(block.status, EnclosureStatus::enclosed);
  EXPECT_TRUE(block.exact);
  for (const double n : block.normal_velocity_max) EXPECT_NEAR(n, 0.093009, 1e-6);

  const ImpactEnclosure gait = of_model("compass_gait");
  EXPECT_EQ(gait.status, EnclosureStatus::enclosed);
  EXPECT_TRUE(gait.exact);
  EXPECT_NEAR(gait.normal_velocity_max[0], 0.0374505, 1e-7);
  EXPECT_NEAR(gait.tangent_velocity_min[0], -0.0744906, 1e-7);
  EXPECT_NEAR(gait.normal_velocity_max[1], 0.0995552, 1e-7);
  EXPECT_NEAR(gait.tangent_velocity_max[1], 0.1980196, 1e-7);

  const ImpactEnclosure wall = of_model("box_wall");
  EXPECT_EQ(wall.status, EnclosureStatus::enclosed);
  EXPECT_NEAR(wall.normal_velocity_max[1], 0.1056423, 1e-7);
  EXPECT_NEAR(wall.tangent_velocity_max[0], 0.3720978, 1e-7);
  EXPECT_NEAR(wall.tangent_velocity_max[1], 0.0725422, 1e-7);
  EXPECT_EQ(wall.normal_velocity_max[0], 0.0);

  const ImpactEnclosure ramone = of_model("ramone");
  EXPECT_EQ(ramone.status, EnclosureStatus::enclosed);
  EXPECT_NEAR(ramone.normal_velocity_max[1], 0.000319, 1e-6);
  EXPECT_NEAR(ramone.tangent_velocity_min[1], -0.027353, 1e-6);
}

TEST(ImpactEnclosure, IsProvenAnewFromItsInvariant) {
  for (const char* name : {"rocking_block", "compass_gait", "box_wall", "ramone"}) {
    const ImpactProblem problem = models::build(name);
    ImpactEnclosure enclosure = enclose_impact(problem);
    EXPECT_TRUE(proves_enclosure(problem, enclosure)) << name;

    ImpactEnclosure narrowed = enclosure;
    double& widest = narrowed.normal_velocity_max[1];
    widest -= 1e-9 + 1e-6 * widest;
    EXPECT_FALSE(proves_enclosure(problem, narrowed)) << name;
    ImpactEnclosure denied = enclosure;
    denied.impossible_modes.push_back(denied.modes.front().modes);
    EXPECT_FALSE(proves_enclosure(problem, denied)) << name;
    ImpactProblem other = problem;
    other.friction[0] *= 0.999;
    EXPECT_FALSE(proves_enclosure(other, enclosure)) << name;
    other = problem;
    for (double& v : other.velocity) v *= 1.0 + 1e-9;
    EXPECT_FALSE(proves_enclosure(other, enclosure)) << name;
  }
}

// Any row of any polyhedron moved inwards, or one polyhedron less, is no invariant any more.
TEST(ImpactEnclosure, ADamagedInvariantProvesNothing) {
  const ImpactProblem problem = models::build("rocking_block");
  const ImpactEnclosure enclosure = enclose_impact(problem);
  std::vector<std::string> lines;
  std::string line;
  for (const char c : enclosure.invariant) {
    line += c;
    if (c == '\n') lines.push_back(std::move(line)), line.clear();
  }
  const auto judged = [&](const std::vector<std::string>& changed) {
    ImpactEnclosure damaged = enclosure;
    damaged.invariant.clear();
    for (const std::string& l : changed) damaged.invariant += l;
    return proves_enclosure(problem, damaged);
  };
  EXPECT_TRUE(judged(lines));
  int kept = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> changed = lines;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(judged(changed)) << "without line " << i;
    if (lines[i][0] != ' ') continue;
    changed = lines;
    const std::size_t end = changed[i].find_first_of(" \n", 1);
    changed[i] = " -7fffffffffffffffffff" + changed[i].substr(end);  // the row's offset
    kept += judged(changed) ? 1 : 0;
  }
  EXPECT_LE(kept, 8);  // rows of the energy's bound, which this one has no need of
  EXPECT_FALSE(judged({}));
  EXPECT_FALSE(judged({"carom-enclosure 1\n2 99\n"}));
}

// Algorithm 1 follows the inclusion with an error that h bounds; with a small one its samples lie
// where the enclosure says.
TEST(ImpactEnclosure, HoldsTheSamplesOfAlgorithmOne) {
  Generator random(2024);
  for (int trial = 0; trial < 30; ++trial) {
    const ImpactProblem problem = random_impact(random, 2, 4, 1.0);
    const ImpactEnclosure enclosure = enclose_impact(problem);
    ASSERT_TRUE(enclosure.status == EnclosureStatus::enclosed ||
                enclosure.status == EnclosureStatus::outer)
        << trial;
    ImpactSettings settings;
    settings.samples = 512;
    settings.step_size = 0.05;
    settings.max_steps = 4000;
    settings.keep_samples = -1;
    settings.seed = 7;
    const ImpactResult result = sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
    const Bounds outer = bounds_of(enclosure);
    double size = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      size = std::max({size, std::abs(outer.low[k]), std::abs(outer.high[k])});
    }
    if (result.summary[0].terminated == 0) continue;
    EXPECT_LE(excess(bounds_of(result.summary[0]), outer), 0.02 * size) << trial;
  }
}

TEST(ImpactEnclosure, DoesNotDependOnOrderScaleOrCoordinates) {
  Generator random(5);
  int compared = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const ImpactProblem problem = random_impact(random, 2, 4, 0.8);
    const ImpactEnclosure enclosure = enclose_impact(problem);
    if (!enclosure.exact) continue;
    ++compared;
    const Bounds b = bounds_of(enclosure);

    const Bounds t = bounds_of(enclose_impact(test::swapped(problem)));
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(t.low[k ^ 1U], b.low[k], 1e-9) << trial;
      EXPECT_NEAR(t.high[k ^ 1U], b.high[k], 1e-9) << trial;
    }

    ImpactProblem scaled = problem;  // heavier and faster
    for (double& entry : scaled.mass_matrix) entry *= 3.7;
    for (double& entry : scaled.velocity) entry *= 5.0;
    const Bounds s = bounds_of(enclose_impact(scaled));

    ImpactProblem moved = problem;  // v = T w with T of unit determinant
    for (int row = 0; row < 2; ++row) {
      moved.normal_jacobian[static_cast<std::size_t>(4 * row + 1)] +=
          0.5 * moved.normal_jacobian[static_cast<std::size_t>(4 * row)];
      moved.tangent_jacobian[static_cast<std::size_t>(4 * row + 1)] +=
          0.5 * moved.tangent_jacobian[static_cast<std::size_t>(4 * row)];
    }
    test::Matrix shear = test::Matrix::Identity(4, 4);
    shear(0, 1) = 0.5;
    const Eigen::Map<const test::Matrix> mass(problem.mass_matrix.data(), 4, 4);
    const test::Matrix sheared = shear.transpose() * mass * shear;
    moved.mass_matrix.assign(sheared.data(), sheared.data() + 16);
    moved.velocity[0] -= 0.5 * moved.velocity[1];
    const Bounds c = bounds_of(enclose_impact(moved));
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(s.low[k], 5.0 * b.low[k], 1e-8) << trial;
      EXPECT_NEAR(s.high[k], 5.0 * b.high[k], 1e-8) << trial;
      EXPECT_NEAR(c.low[k], b.low[k], 1e-9) << trial;
      EXPECT_NEAR(c.high[k], b.high[k], 1e-9) << trial;
    }
  }
  EXPECT_GE(compared, 6);
}

TEST(ImpactEnclosure, TakesHardProblems) {
  Generator random(11);
  for (const double mu : {0.0, 0.3, 1e5}) {
    ImpactProblem problem = random_impact(random, 2, 3, 0.0);  // more rows than velocities
    problem.friction.assign(2, mu);
    ImpactEnclosure enclosure = enclose_impact(problem);
    EXPECT_NE(enclosure.status, EnclosureStatus::budget) << mu;
    EXPECT_TRUE(proves_enclosure(problem, enclosure)) << mu;
    // contact 1 repeats contact 0: its velocities are the same
    std::copy_n(problem.normal_jacobian.begin(), 3, problem.normal_jacobian.begin() + 3);
    std::copy_n(problem.tangent_jacobian.begin(), 3, problem.tangent_jacobian.begin() + 3);
    enclosure = enclose_impact(problem);
    EXPECT_EQ(enclosure.status, EnclosureStatus::enclosed) << mu;
    const Bounds b = bounds_of(enclosure);
    EXPECT_EQ(b.low[0], b.low[1]);
    EXPECT_EQ(b.high[0], b.high[1]);
    EXPECT_NEAR(b.high[0], 0.0, 1e-12);
  }
  // Nothing approaches: the velocity stays.
  ImpactProblem rest = models::build("rocking_block");
  rest.velocity.assign(3, 0.0);
  rest.velocity[1] = 1.0;
  const ImpactEnclosure stays = enclose_impact(rest);
  ASSERT_EQ(stays.modes.size(), 1U);
  EXPECT_EQ(stays.modes[0].modes, 0U);
  EXPECT_NEAR(stays.normal_velocity_min[0], 1.0, 1e-12);
  EXPECT_TRUE(proves_enclosure(rest, stays));
}

// Hulls that feed on themselves: without rough searches the first search makes 96 polyhedra in
// vain, and 150 are not enough.
TEST(ImpactEnclosure, MakesFewPolyhedraWhereARoughSearchKnowsTheEnd) {
  Generator random(404);
  ImpactProblem problem;
  for (int p = 0; p <= 13; ++p) problem = random_impact(random, 2, 4, 1.0);
  EnclosureSettings settings;
  settings.budget = 150;
  const ImpactEnclosure enclosure = enclose_impact(problem, settings);
  EXPECT_EQ(enclosure.status, EnclosureStatus::enclosed);
  EXPECT_TRUE(enclosure.exact);
  EXPECT_LE(enclosure.made, 96);
  EXPECT_TRUE(proves_enclosure(problem, enclosure));
}

// A body on four contacts: half of these problems do not close with eight polyhedra a face.
TEST(ImpactEnclosure, EnclosesFourContactsOfOneBody) {
  Generator random(43);
  for (int trial = 0; trial < 12; ++trial) {
    const ImpactProblem problem = random_impact(random, 4, 3, 1.0);
    const ImpactEnclosure enclosure = enclose_impact(problem);
    EXPECT_EQ(enclosure.status, EnclosureStatus::enclosed) << trial;
    EXPECT_TRUE(proves_enclosure(problem, enclosure)) << trial;
  }
}

// A coarser run may only say less.
TEST(ImpactEnclosure, AFinerRunLiesWithin) {
  Generator random(42);
  for (int trial = 0; trial < 10; ++trial) {
    const ImpactProblem problem = random_impact(random, 2, 4, 1.0);
    EnclosureSettings fine;
    fine.tolerance = 1e-8;
    EnclosureSettings coarse;
    coarse.tolerance = 1e-3;
    const ImpactEnclosure a = enclose_impact(problem, fine), b = enclose_impact(problem, coarse);
    if (a.status != EnclosureStatus::enclosed) continue;
    EXPECT_LE(excess(bounds_of(a), bounds_of(b)), 1e-12) << trial;
  }
}

TEST(ImpactEnclosure, AnswersWhatNeverHappens) {
  const ImpactProblem problem = models::build("compass_gait");
  const std::vector<std::string> names = models::find("compass_gait").contact_names;
  const ImpactEnclosure enclosure = enclose_impact(problem);
  const auto never = [&](const std::string& text) {
    return never_happens(enclosure, impact_event(text, names));
  };
  const std::string a = names[0], b = names[1];
  EXPECT_TRUE(never(b + " normal > 0.0996"));
  EXPECT_FALSE(never(b + " normal > 0.0995"));
  EXPECT_TRUE(never(a + " tangent < -0.0745"));
  EXPECT_FALSE(never(a + " tangent < -0.0744"));
  EXPECT_TRUE(never(a + " separating, " + b + " separating"));
  EXPECT_FALSE(never(b + " separating"));
  EXPECT_FALSE(never_happens(ImpactEnclosure{}, impact_event(a + " separating", names)));

  ImpactSettings settings;
  settings.samples = 4096;
  settings.step_size = 0.1;
  settings.max_steps = 1000;
  settings.keep_samples = -1;
  const ImpactResult result = sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
  EXPECT_GE(first_happening(problem, result.samples, 0, impact_event(b + " separating", names),
                            settings.mode_tolerance),
            0);
  EXPECT_EQ(first_happening(problem, result.samples, 0, impact_event(b + " normal > 9", names),
                            settings.mode_tolerance),
            -1);
  for (const std::string& wrong :
       std::vector<std::string>{"", "Q separating", a + " flying", a + " normal", a + " normal > x",
                                a + " normal = 3", a + " normal > 1, " + b + " normal > 1"}) {
    EXPECT_THROW(impact_event(wrong, names), InvalidInput) << wrong;
  }
}

// A fixed point that was moved far outward is a bound, not the set.
TEST(ImpactEnclosure, IsOuterWhereItWasMovedFar) {
  Generator random(404);
  int moved = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const ImpactProblem problem = random_impact(random, 2, 4, 1.0);
    if (trial != 19 && trial > 8) continue;  // 19: its hulls feed on themselves
    EnclosureSettings settings;
    settings.budget = 700;
    const ImpactEnclosure enclosure = enclose_impact(problem, settings);
    const Bounds b = bounds_of(enclosure);
    double extent = 0.0;
    for (std::size_t k = 0; k < 4; ++k) extent = std::max(extent, b.high[k] - b.low[k]);
    if (enclosure.status == EnclosureStatus::enclosed) {
      EXPECT_LE(enclosure.rounding, 1e-6 * extent) << trial;
    }
    if (enclosure.status == EnclosureStatus::outer && enclosure.rounding > 1e-6 * extent) {
      ++moved;
      EXPECT_TRUE(proves_enclosure(problem, enclosure)) << trial;
      settings.largest_rounding = 1e9;
      EXPECT_EQ(bounds_of(enclose_impact(problem, settings)).high, b.high);
    }
  }
  EXPECT_GE(moved, 1);
}

// Also where a mode's outcomes were kept in several polyhedra.
TEST(ImpactEnclosure, EveryModeHasConstraintsThatHoldItsVertices) {
  Generator random(15);
  for (int trial = 0; trial < 24; ++trial) {
    const ImpactProblem problem =
        trial == 0 ? models::build("ramone") : random_impact(random, 2, 4, 1.0);
    EnclosureSettings settings;
    settings.budget = 100;
    for (const EnclosedMode& mode : enclose_impact(problem, settings).modes) {
      ASSERT_FALSE(mode.constraints.empty()) << trial;
      for (std::size_t v = 0; v < mode.vertices.size(); v += 4) {
        for (std::size_t c = 0; c < mode.constraints.size(); c += 5) {
          double value = -mode.constraints[c + 4];
          double size = std::abs(value);
          for (std::size_t k = 0; k < 4; ++k) {
            value += mode.constraints[c + k] * mode.vertices[v + k];
            size += std::abs(mode.constraints[c + k] * mode.vertices[v + k]);
          }
          EXPECT_LE(value, 1e-12 * size) << trial << " " << mode.modes;
        }
      }
    }
  }
}

// More polyhedra of one face are hulled less: the set is never wider.
TEST(ImpactEnclosure, MorePolyhedraSayNoLess) {
  Generator random(404);
  for (int trial = 0; trial < 12; ++trial) {
    const ImpactProblem problem = random_impact(random, 2, 4, 1.0);
    EnclosureSettings settings;
    settings.budget = 100;
    const ImpactEnclosure four = enclose_impact(problem, settings);
    settings.polyhedra = 1;
    const ImpactEnclosure one = enclose_impact(problem, settings);
    if (one.status != EnclosureStatus::enclosed || !four.exact) continue;
    const Bounds narrow = bounds_of(four), wide = bounds_of(one);
    EXPECT_LE(excess(narrow, wide), 1e-12) << trial;
  }
}

// The same answers as of a whole enclosure and of samples, with fewer polyhedra.
TEST(ImpactEnclosure, DecidesWithoutTheWholeSet) {
  const ImpactProblem gait = models::build("compass_gait");
  const std::vector<std::string> names = models::find("compass_gait").contact_names;
  const auto decided = [&](const std::string& text) {
    return decide_impact(gait, impact_event(text, names));
  };
  const std::string a = names[0], b = names[1];
  const std::int64_t whole = enclose_impact(gait).made;
  EXPECT_LT(decided(b + " separating").made, whole);
  for (const std::string& text :
       {b + " separating", b + " normal > 0.0995", a + " tangent < -0.0744", a + " sticking"}) {
    const ImpactDecision decision = decided(text);
    EXPECT_EQ(decision.answer, ImpactAnswer::happens) << text;
    EXPECT_LE(decision.made, 2 * whole) << text;  // hulls may hold more than is reached
    EXPECT_TRUE(decision.proof.invariant.empty());
  }
  for (const std::string& text : {b + " normal > 0.0996", a + " tangent < -0.0745",
                                  a + " separating, " + b + " separating"}) {
    const ImpactDecision decision = decided(text);
    EXPECT_EQ(decision.answer, ImpactAnswer::never) << text;
    EXPECT_TRUE(proves_enclosure(gait, decision.proof));
    EXPECT_TRUE(never_happens(decision.proof, impact_event(text, names)));
  }

  Generator random(66);
  std::vector<ImpactProblem> problems;
  for (int p = 0; p < 12; ++p) problems.push_back(random_impact(random, 2, 4, 0.8));
  ImpactBatch batch = make_batch(problems);
  EnclosureSettings settings;
  settings.budget = 60;
  int answered = 0;
  const std::vector<std::string> letters = {"A", "B"};
  for (const char* text : {"A separating", "A sticking, B separating", "B sliding-"}) {
    const ImpactEvent event = impact_event(text, letters);
    const std::vector<ImpactDecision> decisions = decide_impacts(batch, event, settings);
    for (std::size_t p = 0; p < problems.size(); ++p) {
      const ImpactEnclosure set = enclose_impact(problems[p], settings);
      if (decisions[p].answer == ImpactAnswer::open) continue;
      ++answered;
      const bool never = decisions[p].answer == ImpactAnswer::never;
      if (set.exact && set.status == EnclosureStatus::enclosed) {
        EXPECT_EQ(never_happens(set, event), never) << text << " " << p;
      }
      ImpactSettings events;
      events.method = ImpactMethod::events;
      events.samples = events.keep_samples = 512;
      const ImpactResult samples = sample_impacts(make_batch({&problems[p], 1}), events);
      if (never) {
        EXPECT_EQ(first_happening(problems[p], samples.samples, 0, event, 1e-9), -1);
      }
    }
  }
  EXPECT_GE(answered, 24);
  batch.friction.host()[3] = -1.0;
  EXPECT_EQ(decide_impacts(batch, impact_event("A separating", letters), settings)[1].answer,
            ImpactAnswer::invalid_input);
  EXPECT_THROW(decide_impact(gait, ImpactEvent{}), InvalidInput);
  ImpactEvent other;
  other.modes = {{2, ContactMode::separating}};
  EXPECT_THROW(decide_impact(gait, other), InvalidInput);
}

TEST(ImpactEnclosure, BatchesAreTheSameForAnyThreads) {
  Generator random(77);
  std::vector<ImpactProblem> problems;
  for (int p = 0; p < 12; ++p) problems.push_back(random_impact(random, 2, 4, 0.5));
  ImpactBatch batch = make_batch(problems);
  batch.friction.host()[7] = -1.0;
  EnclosureSettings settings;
  settings.budget = 200;
  settings.threads = 1;
  const std::vector<ImpactEnclosure> one = enclose_impacts(batch, settings);
  settings.threads = 2;
  const std::vector<ImpactEnclosure> two = enclose_impacts(batch, settings);
  for (std::size_t p = 0; p < one.size(); ++p) {
    EXPECT_EQ(one[p].invariant, two[p].invariant);
    EXPECT_EQ(one[p].status == EnclosureStatus::invalid_input, p == 3) << p;
  }
}

TEST(ImpactEnclosure, RefusesSettingsAndSaysWhatItDidNotFinish) {
  EnclosureSettings settings;
  settings.tolerance = 0.0;
  EXPECT_THROW(settings.validate(), InvalidInput);
  settings = {};
  settings.budget = 3;
  const ImpactEnclosure unfinished = enclose_impact(models::build("compass_gait"), settings);
  EXPECT_EQ(unfinished.status, EnclosureStatus::budget);
  EXPECT_TRUE(unfinished.modes.empty());
  EXPECT_TRUE(std::isnan(unfinished.normal_velocity_max[0]));
}

}  // namespace
}  // namespace carom
