#include <cstdint>
#include <string>
#include <vector>

#include <carom/stability.hpp>

#include "measure.hpp"
#include "plain_stance.hpp"
#include "support/stances.hpp"

// Stances: events of motions a second, compared with a plain simulation of the same motions, and
// points of the paper's charts a second with all proofs, the share decided being what is called
// solved.
namespace carom::bench {

namespace {

using test::of_figure2;
using test::of_figure3;

std::vector<Stance> grid(Stance (*stance)(double, double), double low, double high, int side) {
  std::vector<Stance> all;
  for (int i = 0; i < side; ++i) {
    for (int k = 0; k < side; ++k) {
      const auto at = [side](double from, double to, int step) {
        return from + (to - from) * step / (side - 1);
      };
      all.push_back(stance(at(low, high, i), at(0.08, 1.18, k)));
    }
  }
  return all;
}

/// Stances of Figure 2 that are held, unambiguous, without paradox and not near the boundary.
std::vector<Stance> moving() {
  std::vector<Stance> chosen;
  test::RandomStances random(7);
  while (chosen.size() < 64) {
    const Stance stance = of_figure2(random.between(0.1, 1.1), random.between(0.1, 0.4));
    const auto result = test::judged({stance}, StabilityMethod::paper);
    const double growth = result.growth.host()[0];
    const bool plain =
        result.verdict.host()[0] != StabilityVerdict::ambiguous && result.paradox.host()[0] == 0;
    if (plain && (growth < 0.8 || growth > 1.2)) chosen.push_back(stance);
  }
  return chosen;
}

StabilitySettings settings_of(StabilityMethod method) {
  StabilitySettings settings;
  settings.method = method;
  settings.threads = 1;
  return settings;
}

void add_motions() {
  const auto stances = share([] { return moving(); });
  const auto verdicts = share([stances] {
    return analyse_stability(stance_batch(stances->get()), settings_of(StabilityMethod::simulate),
                             Backend::cpu);
  });
  add("stability/figure2_events/carom", [=](benchmark::State& state) {
    const StanceBatch batch = stance_batch(stances->get());
    std::int64_t events = 0;
    for (const std::int64_t n : verdicts->get().events.host()) events += n;
    for (auto _ : state) {
      const auto result =
          analyse_stability(batch, settings_of(StabilityMethod::simulate), Backend::cpu);
      benchmark::DoNotOptimize(result.verdict.data());
    }
    Verdict known;
    known.solved = known.claimed = 1.0;
    report(state, events, 0, known);
  });
  add("stability/figure2_events/plain", [=](benchmark::State& state) {
    std::int64_t events = 0;
    Verdict known;
    for (auto _ : state) {
      events = 0;
      known = {};
      for (std::size_t p = 0; p < stances->get().size(); ++p) {
        PlainStance plain(stances->get()[p]);
        const bool escapes = plain.scan(150, 20000) == PlainStance::End::escaped;
        const bool falsified = verdicts->get().verdict.host()[p] == StabilityVerdict::unstable;
        events += plain.events();
        known.claimed += 1.0 / static_cast<double>(stances->get().size());
        known.solved +=
            (escapes == falsified ? 1.0 : 0.0) / static_cast<double>(stances->get().size());
      }
    }
    report(state, events, 0, known);
  });
}

void add_chart(const std::string& name, Stance (*stance)(double, double), double low, double high) {
  const auto batch = share([=] { return stance_batch(grid(stance, low, high, 60)); });
  add("stability/" + name + "/carom", [=](benchmark::State& state) {
    Verdict known;
    for (auto _ : state) {
      const auto result =
          analyse_stability(batch->get(), settings_of(StabilityMethod::any), Backend::cpu);
      const auto proven = verify_certificates(batch->get(), result, 1);
      known = {};
      const double share = 1.0 / static_cast<double>(proven.size());
      for (std::size_t p = 0; p < proven.size(); ++p) {
        const bool stable = result.verdict.host()[p] == StabilityVerdict::stable;
        const bool decided = result.verdict.host()[p] != StabilityVerdict::undecided;
        known.claimed += decided ? share : 0.0;
        known.solved += decided && (!stable || proven[p] != 0) ? share : 0.0;
        known.false_success += stable && proven[p] == 0 ? share : 0.0;
      }
    }
    report(state, 3600, 0, known);
  });
}

}  // namespace

void add_stability_benchmarks() {
  add_motions();
  add_chart("figure2_chart", of_figure2, 0.02, 1.12);
  add_chart("figure3_chart", of_figure3, 0.38, 1.48);
}

}  // namespace carom::bench
