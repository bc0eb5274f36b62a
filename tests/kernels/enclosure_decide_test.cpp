#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "enclosure/attempts.hpp"
#include "enclosure/enclose.hpp"
#include "enclosure/event.hpp"
#include "enclosure/summary.hpp"
#include "support/enclosures.hpp"

namespace carom::enclosure {
namespace {

using test::Generator;
using test::random_impact;

struct Answer {
  ImpactAnswer answer = ImpactAnswer::open;
  std::int64_t made = 0;
};

/// The exact searches one after another, without rough searches, by the event's largest value in
/// doubles.
Answer without_rough_search(const ImpactProblem& problem, const ImpactEvent& event,
                            const EnclosureSettings& settings) {
  const RoundedImpact impact = round_impact(problem).value();
  Faces faces(impact);
  const auto question = [&](FaceCode code, const Piece& piece) {
    if (!has_modes(modes_of(code, impact.contacts), event)) return Met::no;
    if (event.direction.empty()) return Met::certainly;
    for (const Point* vertex : piece.vertices) {
      const std::vector<double> u = velocities_of(impact, code, vertex->exact);
      double value = 0.0;
      for (std::size_t k = 0; k < u.size(); ++k) value += event.direction[k] * u[k];
      if (value > event.bound) return Met::certainly;
    }
    return Met::no;
  };
  Answer result;
  for (const Attempt& attempt : kAttempts) {
    Reach reach(impact, faces, limits_of(settings, attempt, result.made, impact.length));
    const bool ended = reach.run(question);
    result.made += reach.made();
    if (ended) result.answer = ImpactAnswer::never;
    if (reach.met() == Met::certainly) result.answer = ImpactAnswer::happens;
    if (result.answer != ImpactAnswer::open || result.made >= settings.budget) break;
  }
  return result;
}

/// A contact that separates, both that stick or slip, and each velocity beyond half the largest
/// before the impact.
std::vector<ImpactEvent> events_of(const ImpactProblem& problem) {
  std::vector<ImpactEvent> events(3);
  events[0].modes = {{1, ContactMode::separating}};
  events[1].modes = {{0, ContactMode::sticking}, {1, ContactMode::separating}};
  events[2].modes = {{0, ContactMode::sliding_negative}};
  const RoundedImpact impact = round_impact(problem).value();
  for (std::size_t k = 0; k < 4; ++k) {
    ImpactEvent event;
    event.direction.assign(4, 0.0);
    event.direction[k] = 1.0;
    event.bound = 0.4 * impact.unit;
    events.push_back(event);
  }
  return events;
}

/// Whose exact searches take most of the 26 s that the first twenty problems take.
constexpr int kLongest = 14;

// The same answers as of searches without rough searches, with fewer polyhedra, within the budget.
TEST(EnclosureDecide, RoughSearchChangesNoAnswer) {
  Generator random(404);
  EnclosureSettings settings;
  settings.budget = 600;
  std::int64_t with_rough = 0, exact_only = 0;
  int never = 0, happens = 0, hard = 0;
  for (int p = 0; p < 20; ++p) {
    const ImpactProblem problem = random_impact(random, 2, 4, 1.0);
    if (p == kLongest) continue;
    for (const ImpactEvent& event : events_of(problem)) {
      const Answer expected = without_rough_search(problem, event, settings);
      const ImpactDecision decision = decide(problem, event, settings);
      if (expected.answer != ImpactAnswer::open) {
        EXPECT_EQ(decision.answer, expected.answer) << p;
      }
      EXPECT_LE(decision.made, settings.budget + 8) << p;
      if (decision.answer == ImpactAnswer::never) {
        ++never;
        EXPECT_TRUE(carom::never_happens(decision.proof, event)) << p;
        EXPECT_TRUE(proves(problem, decision.proof)) << p;
      }
      happens += decision.answer == ImpactAnswer::happens ? 1 : 0;
      hard += expected.made > kSmallAttempt.most ? 1 : 0;
      with_rough += decision.made;
      exact_only += expected.made;
    }
  }
  EXPECT_EQ(never, 103);
  EXPECT_EQ(happens, 29);
  EXPECT_GE(hard, 30);
  EXPECT_LE(with_rough, 3 * exact_only / 4);
}

// A question whose set is not enclosed with this budget: most of it stays unspent.
TEST(EnclosureDecide, SearchesThatWouldNotEndAreLeftOut) {
  Generator random(404);
  ImpactProblem problem;
  for (int p = 0; p <= kLongest; ++p) problem = random_impact(random, 2, 4, 1.0);
  ImpactEvent fast;
  fast.direction = {1.0, 0.0, 0.0, 0.0};
  fast.bound = 100.0;
  EnclosureSettings settings;
  settings.budget = 150;
  EXPECT_GE(without_rough_search(problem, fast, settings).made, settings.budget);
  const ImpactDecision decision = decide(problem, fast, settings);
  EXPECT_EQ(decision.answer, ImpactAnswer::open);
  EXPECT_LE(decision.made, 2 * kSmallAttempt.most);
  settings.budget = 20'000;
  EXPECT_EQ(decide(problem, fast, settings).answer, ImpactAnswer::never);
}

}  // namespace
}  // namespace carom::enclosure
