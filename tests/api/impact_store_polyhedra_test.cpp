#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact_enclosure.hpp>
#include <carom/models/models.hpp>

#include "support/enclosures.hpp"
#include "support/from_environment.hpp"
#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// Poisson's and Newton's stores as coordinates of polyhedra.
namespace carom {
namespace {

using test::bounds_of;
using test::contact_speed;
using test::events;
using test::excess;
using test::followed;

EnclosureSettings poisson() {
  EnclosureSettings settings;
  settings.law = RestitutionLaw::poisson;
  settings.threads = 1;
  return settings;
}

EnclosureSettings newton() {
  EnclosureSettings settings = poisson();
  settings.law = RestitutionLaw::newton;
  return settings;
}

ImpactSettings poisson_events(std::int64_t samples) {
  ImpactSettings settings = events(samples);
  settings.law = RestitutionLaw::poisson;
  return settings;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string text_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + ' ';
  return text;
}

TEST(StorePolyhedra, OfTheRockingBlockEndWhereSamplesDo) {
  ImpactProblem problem = models::build("rocking_block");
  ImpactSettings sampling = poisson_events(1 << 20);
  sampling.epsilon = 0.0;
  for (const double e : {0.25, 0.5}) {
    test::set_restitution(problem, e, e);
    const ImpactEnclosure set = enclose_impact(problem, poisson());
    EXPECT_EQ(set.status, EnclosureStatus::outer);
    EXPECT_TRUE(proves_enclosure(problem, set));
    const ImpactResult run = followed(problem, sampling);
    EXPECT_EQ(compare_samples(problem, run.samples, 0, set).outside, 0);
    const ImpactSummary& reached = run.summary[0];
    for (std::size_t i = 0; i < 2; ++i) {
      const double least = reached.normal_velocity_min[i], most = reached.normal_velocity_max[i];
      EXPECT_GE(set.normal_velocity_max[i], most) << e;
      EXPECT_LE(set.normal_velocity_max[i], most * (1.0 + 1e-9)) << e;
      // Though the guard ends releases; data are rounded.
      EXPECT_LE(set.normal_velocity_min[i], least * (1.0 + 1e-11)) << e;
      EXPECT_GE(set.normal_velocity_min[i], least * (1.0 - 1e-9)) << e;
    }
    ASSERT_EQ(set.modes.size(), 1U) << e;
    EXPECT_EQ(set.impossible_modes.size(), 15U) << e;
  }
}

/// Where the guard ends no release at all, an outcome is near every corner.
TEST(StorePolyhedra, OfTheRockingBlockHaveOutcomesForCorners) {
  ImpactProblem problem = models::build("rocking_block");
  test::set_restitution(problem, 0.25, 0.25);
  ImpactSettings sampling = poisson_events(1 << 18);
  sampling.epsilon = 0.0;
  const ImpactEnclosure set = enclose_impact(problem, poisson());
  const ImpactResult run = followed(problem, sampling);
  EXPECT_EQ(run.summary[0].guarded, 0);
  ASSERT_EQ(set.modes.size(), 1U);
  const std::vector<double>& corners = set.modes[0].vertices;
  // The largest of all directions of (u_A, u_B): of the corners and of the samples.
  for (int k = 0; k < 64; ++k) {
    const double a = std::cos(0.1 * k), b = std::sin(0.1 * k);
    double enclosed = -1.0, reached = -1.0;
    for (std::size_t v = 0; v < corners.size(); v += 4) {
      enclosed = std::max(enclosed, a * corners[v] + b * corners[v + 1]);
    }
    for (std::int64_t s = 0; s < sampling.samples; ++s) {
      const double* v = run.samples.velocity.data() + 3 * s;  // x, y, theta
      reached = std::max(reached, a * (v[1] - 0.5 * v[2]) + b * (v[1] + 0.5 * v[2]));
    }
    EXPECT_GE(enclosed, reached - 1e-12) << k;
    EXPECT_LE(enclosed, reached + 1e-4 * contact_speed(problem)) << k;
  }
}

/// Newton's guard, which no coordinate knows, keeps samples within 6 % of Poisson's largest speed.
TEST(StorePolyhedra, OfTheRockingBlockByNewtonAreNearSamples) {
  ImpactProblem problem = models::build("rocking_block");
  ImpactSettings sampling = poisson_events(1 << 17);
  sampling.law = RestitutionLaw::newton;
  sampling.epsilon = 0.0;
  for (const double e : {0.25, 0.5}) {
    test::set_restitution(problem, e, e);
    const ImpactEnclosure set = enclose_impact(problem, newton());
    EXPECT_EQ(set.modes.size(), 4U) << e;
    EXPECT_TRUE(proves_enclosure(problem, set));
    const ImpactResult run = followed(problem, sampling);
    EXPECT_EQ(compare_samples(problem, run.samples, 0, set).outside, 0);
    for (std::size_t i = 0; i < 2; ++i) {
      const double most = run.summary[0].normal_velocity_max[i];
      EXPECT_GE(set.normal_velocity_max[i], most) << e;
      EXPECT_LE(set.normal_velocity_max[i], 1.07 * most) << e;
    }
    ImpactEnclosure wrong = set;
    wrong.law = RestitutionLaw::poisson;
    EXPECT_FALSE(proves_enclosure(problem, wrong));
    ImpactProblem livelier = problem;
    test::set_restitution(livelier, 1.1 * e, 1.1 * e);
    EXPECT_FALSE(proves_enclosure(livelier, set));
    std::vector<std::string> words = words_of(set.invariant);
    words[12] = words[13] = "1";  // a guard
    wrong = set;
    wrong.invariant = text_of(words);
    EXPECT_FALSE(proves_enclosure(problem, wrong));
  }
}

/// A contact alone gives back e of its speed by all laws.
TEST(StorePolyhedra, OfABallAreItsBounce) {
  ImpactProblem ball = test::cradle(2, 0.6);
  for (const EnclosureSettings& settings : {poisson(), newton()}) {
    const ImpactEnclosure set = enclose_impact(ball, settings);
    EXPECT_GE(set.normal_velocity_max[0], 0.6);
    EXPECT_LE(set.normal_velocity_max[0], 0.6 * (1.0 + 1e-9));
  }
}

/// 1 comes to rest against 2, which flies off: the recursion of single impacts.
TEST(StorePolyhedra, OfACradleHoldItsSequence) {
  const double e = 0.5;
  const ImpactProblem cradle = test::cradle(3, e);
  const ImpactEnclosure set = enclose_impact(cradle, poisson());
  ASSERT_FALSE(set.modes.empty());
  EXPECT_TRUE(proves_enclosure(cradle, set));
  const ImpactResult run = followed(cradle, poisson_events(4096));
  EXPECT_EQ(compare_samples(cradle, run.samples, 0, set).outside, 0);
}

TEST(StorePolyhedra, ProveWhatTheySayAndNothingElse) {
  ImpactProblem problem = models::build("rocking_block");
  test::set_restitution(problem, 0.5, 0.5);
  const ImpactEnclosure set = enclose_impact(problem, poisson());
  ImpactEnclosure wrong = set;
  wrong.normal_velocity_max[0] *= 0.999;
  EXPECT_FALSE(proves_enclosure(problem, wrong));
  wrong = set;
  wrong.status = EnclosureStatus::enclosed;
  EXPECT_FALSE(proves_enclosure(problem, wrong));
  wrong = set;
  wrong.law = RestitutionLaw::newton;
  EXPECT_FALSE(proves_enclosure(problem, wrong));
  for (const double e : {0.4, 0.6}) {
    ImpactProblem other = problem;
    test::set_restitution(other, e, e);
    EXPECT_FALSE(proves_enclosure(other, set)) << e;
  }
  ImpactProblem wider = problem;
  test::set_restitution(wider, 0.4, 0.5);
  EXPECT_FALSE(proves_enclosure(wider, set));
  ImpactProblem inelastic = problem;
  inelastic.restitution_low.clear();
  inelastic.restitution_high.clear();
  EXPECT_FALSE(proves_enclosure(inelastic, set));
  EXPECT_FALSE(proves_enclosure(problem, enclose_impact(inelastic)));
}

/// Every number of the problem in the text counts, and more than half of the polyhedra: others
/// belong to rows that do not hold a vertex alone.
TEST(StorePolyhedra, ChangedTextsAreRefused) {
  ImpactProblem problem = models::build("rocking_block");
  test::set_restitution(problem, 0.5, 0.5);
  const ImpactEnclosure set = enclose_impact(problem, poisson());
  const std::size_t end = set.invariant.find("carom-planes");
  const std::vector<std::string> words = words_of(set.invariant.substr(0, end));
  const std::string forms = end == std::string::npos ? "" : set.invariant.substr(end);
  const auto refused = [&](std::size_t i) {
    std::vector<std::string> changed = words;
    changed[i] = words[i] == "0" ? "1" : (words[i][0] == '-' ? words[i].substr(1) : "-" + words[i]);
    ImpactEnclosure damaged = set;
    damaged.invariant = text_of(changed) + forms;
    return !proves_enclosure(problem, damaged);
  };
  // rows with their scales, start, pushes, energy; 4 coordinates or the number, 2 stores
  constexpr std::size_t kNumbers = 6, kFirst = 24;
  constexpr std::size_t kPieces = kFirst + 4 * (1 + kNumbers) + (1 + 4 + 8) * kNumbers;
  ASSERT_EQ(words[3], "3");
  for (std::size_t i = 1; i < kPieces; ++i) {
    if (i == 17 || i == 23) continue;  // what the guards' rows have of slip, of which there is none
    EXPECT_TRUE(refused(i)) << i << " " << words[i];
  }
  int made = 0, seen = 0;
  for (std::size_t i = kPieces; i < words.size(); i += 1 + words.size() / 400) {
    ++made;
    seen += refused(i) ? 1 : 0;
  }
  EXPECT_GE(made, 100);
  EXPECT_GE(seen, made * 11 / 20);
}

/// The guard's bounds stand before the rows of J: upper, lower and the impulse's row of each store.
TEST(StorePolyhedra, GuardsMayNotClaimMore) {
  ImpactProblem problem = models::build("rocking_block");
  test::set_restitution(problem, 0.5, 0.5);
  const ImpactEnclosure set = enclose_impact(problem, poisson());
  const std::vector<std::string> words = words_of(set.invariant);
  // carom-enclosure 5 | 2 3 rows unit | 2 0 1 bits | upper lower 3 row | upper lower 3 row
  constexpr std::size_t kUpper = 12, kStore = 6;
  ASSERT_EQ(words[1], "5");
  ASSERT_EQ(words[8], "2");
  ASSERT_EQ(words[kUpper + 2], "3");
  for (const std::size_t at : {kUpper, kUpper + kStore}) {
    // Sixteen times what the store adds to the least speed at which it may end a release, or what
    // either normal velocity says of the impulse.
    for (const std::size_t more : {1, 3, 4}) {
      std::vector<std::string> changed = words;
      changed[at + more] += "0";
      ImpactEnclosure damaged = set;
      damaged.invariant = text_of(changed);
      EXPECT_FALSE(proves_enclosure(problem, damaged)) << at << " " << more;
    }
    std::vector<std::string> changed = words;
    changed[at + 2] = "0";  // no row: then the store alone would have to say it
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at) + 3,
                  changed.begin() + static_cast<std::ptrdiff_t>(at) + 6);
    ImpactEnclosure damaged = set;
    damaged.invariant = text_of(changed);
    EXPECT_FALSE(proves_enclosure(problem, damaged)) << at;
  }
}

TEST(StorePolyhedra, AnswerWhatNeverHappens) {
  ImpactProblem problem = models::build("rocking_block");
  test::set_restitution(problem, 0.5, 0.5);
  const std::vector<std::string> names = {"A", "B"};
  for (const char* text : {"A normal > 0.37", "A sticking", "B sliding-"}) {
    const ImpactDecision decision = decide_impact(problem, impact_event(text, names), poisson());
    EXPECT_EQ(decision.answer, ImpactAnswer::never) << text;
    EXPECT_TRUE(proves_enclosure(problem, decision.proof)) << text;
    EXPECT_TRUE(never_happens(decision.proof, impact_event(text, names))) << text;
  }
  EXPECT_EQ(decide_impact(problem, impact_event("A normal > 0.3", names), poisson()).answer,
            ImpactAnswer::open);
}

TEST(StorePolyhedra, NoSampleLeavesThem) {
  const int seed = test::from_environment("CAROM_TRUST_SEED", 31);
  const int count = test::from_environment("CAROM_TRUST_PROBLEMS", 200);
  test::Generator random(static_cast<std::uint64_t>(seed));
  int polyhedra = 0, close = 0, by_impulse = 0, by_store = 0;
  for (int k = 0; k < count; ++k) {
    const int contacts = 1 + k % 2;
    const auto flavour = test::kFlavours[static_cast<std::size_t>(random.integer(0, 4))];
    ImpactProblem problem = test::random_problem(random, flavour, 2, contacts);
    for (int i = 0; i < contacts; ++i) {
      const double high = random.unit() < 0.2 ? 1.0 : random.between(0.05, 1.0);
      problem.restitution_high.push_back(high);
      problem.restitution_low.push_back(random.unit() < 0.5 ? high : random.between(0.0, high));
    }
    if (k % 3 == 1) {
      problem.friction_high = problem.friction;
      for (double& mu : problem.friction_high) mu += random.unit();
    }
    EnclosureSettings settings = k % 5 < 3 ? poisson() : newton();
    ImpactSettings sampling = poisson_events(512);
    sampling.law = settings.law;
    sampling.seed = static_cast<std::uint64_t>(k);
    sampling.vary = k % 4 == 3;
    settings.closeness = 0;
    const ImpactEnclosure set = enclose_impact(problem, settings);
    ASSERT_EQ(set.status, EnclosureStatus::outer) << k;
    EXPECT_TRUE(proves_enclosure(problem, set)) << seed << " " << k;
    const ImpactResult run = followed(problem, sampling);
    const ImpactSummary& found = run.summary[0];
    if (found.terminated == 0) continue;
    const OutsideSamples outside = compare_samples(problem, run.samples, 0, set);
    const double far = std::max(outside.largest, excess(bounds_of(found), bounds_of(set)));
    EXPECT_LE(far, 1e-9 * contact_speed(problem)) << seed << " " << k;
    polyhedra += set.modes.empty() ? 0 : 1;
    const std::vector<std::string> words = words_of(set.invariant);
    by_impulse += words[1] == "5" || words[1] == "6";  // what its guards know
    by_store += contacts == 2 && (words[1] == "3" || words[1] == "4");
    close += !set.modes.empty() && found.normal_velocity_max[0] > 0.0 &&
             set.normal_velocity_max[0] <= 1.001 * found.normal_velocity_max[0];
  }
  EXPECT_GE(polyhedra, count / 2);
  EXPECT_GE(close, count / 4);
  EXPECT_GE(by_impulse, count / 10);
  EXPECT_GE(by_store, count / 10);
}

TEST(StorePolyhedra, AnIntervalsHoldThoseOfItsNumbers) {
  test::Generator random(8);
  int compared = 0;
  for (int k = 0; k < 60; ++k) {
    ImpactProblem problem = test::random_impact(random, 1 + k % 2, 3 + k % 2, 0.4);
    const auto m = static_cast<std::size_t>(problem.contacts);
    problem.restitution_low.assign(m, 0.3);
    problem.restitution_high.assign(m, 0.6);
    EnclosureSettings settings = k % 3 == 2 ? newton() : poisson();
    settings.closeness = 0;
    const ImpactEnclosure all = enclose_impact(problem, settings);
    if (all.modes.empty()) continue;
    for (const double e : {0.3, 0.45, 0.6}) {
      ImpactProblem one = problem;
      one.restitution_low.assign(m, e);
      one.restitution_high.assign(m, e);
      const ImpactEnclosure set = enclose_impact(one, settings);
      if (set.modes.empty()) continue;
      ++compared;
      // Guards of larger e may end releases sooner: only the fastest outcomes are compared.
      for (std::size_t i = 0; i < m; ++i) {
        EXPECT_LE(set.normal_velocity_max[i],
                  all.normal_velocity_max[i] + 1e-9 * contact_speed(problem))
            << k << " " << e;
      }
    }
  }
  EXPECT_GE(compared, 30);
}

TEST(FilledShare, NarrowRangesCountByTheLargestSpeed) {
  ImpactEnclosure set;
  set.normal_velocity_min = {0.0};
  set.normal_velocity_max = {1.0};
  set.tangent_velocity_min = {-0.001};
  set.tangent_velocity_max = {0.001};
  const std::vector<double> low = {0.1, 0.0}, high = {1.0, 0.0};
  EXPECT_DOUBLE_EQ(filled_share(set, low, high), 0.9);
  const std::vector<double> all = {0.0, 0.0};
  EXPECT_DOUBLE_EQ(filled_share(set, all, high), 1.0 - 0.002 / kNarrowRange);
  set.tangent_velocity_max = {0.5};  // no narrow one: nothing of 0.501 but a point
  EXPECT_DOUBLE_EQ(filled_share(set, all, high), 0.0);
}

}  // namespace
}  // namespace carom
