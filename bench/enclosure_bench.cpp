#include <algorithm>
#include <string>
#include <vector>

#include <carom/impact_enclosure.hpp>

#include "measure.hpp"
#include "support/enclosures.hpp"

// How fast the post-impact set is known from both sides: enclosures a second, and what share of
// their extents 4,096 samples fill, by events and by Algorithm 1 with several step sizes. Of what
// has bounds alone: what share of the widest one event samples fill.
namespace carom::bench {

namespace {

constexpr std::int64_t kSamples = 4096;
constexpr int kRandomProblems = 64;
constexpr const char* kBounded[] = {"ball_in_corner", "tripod", "cube_drop", "disk_stack"};
constexpr const char* kModels[] = {"rocking_block", "compass_gait", "box_wall", "ramone"};

struct Case {
  std::string name;
  std::vector<ImpactProblem> problems;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* name : kModels) all.push_back({name, {models::build(name)}});
  test::Generator random(404);
  Case two{"random_2_contacts", {}};
  for (int p = 0; p < kRandomProblems; ++p) {
    two.problems.push_back(test::random_impact(random, 2, 4, 1.0));
  }
  all.push_back(std::move(two));
  return all;
}

EnclosureSettings enclosure_settings() {
  EnclosureSettings settings;
  settings.threads = 1;
  settings.budget = 150;  // what needs more is left out of `filled`
  return settings;
}

/// Least share of an enclosed extent that the samples of a problem fill; the mean over problems.
double filled(const std::vector<ImpactEnclosure>& sets, const ImpactResult& result) {
  double sum = 0.0;
  int count = 0;
  for (std::size_t p = 0; p < sets.size(); ++p) {
    if (sets[p].status != EnclosureStatus::enclosed) continue;
    const test::Bounds inner = test::bounds_of(result.summary[p]);
    sum += std::min(1.0, filled_share(sets[p], inner.low, inner.high));
    ++count;
  }
  return count > 0 ? sum / count : 0.0;
}

void add_enclosures(const Case& given) {
  add("enclosures/" + given.name + "/carom", [given](benchmark::State& state) {
    const ImpactBatch batch = make_batch(given.problems);
    std::vector<ImpactEnclosure> sets;
    for (auto _ : state) sets = enclose_impacts(batch, enclosure_settings());
    const auto known = std::count_if(sets.begin(), sets.end(), [](const ImpactEnclosure& set) {
      return set.status == EnclosureStatus::enclosed;
    });
    state.SetItemsProcessed(state.iterations() * batch.problems);
    state.counters["problems"] = static_cast<double>(batch.problems);
    state.counters["threads"] = 1;
    state.counters["solved"] = static_cast<double>(known) / static_cast<double>(batch.problems);
  });
}

void add_filling(const Case& given, const std::string& method, const ImpactSettings& settings) {
  add("filled/" + given.name + "/" + method, [given, settings](benchmark::State& state) {
    const ImpactBatch batch = make_batch(given.problems);
    const std::vector<ImpactEnclosure> sets = enclose_impacts(batch, enclosure_settings());
    ImpactWorkspace workspace;
    ImpactResult result;
    for (auto _ : state) result = sample_impacts(batch, settings, Backend::cpu, &workspace);
    state.SetItemsProcessed(state.iterations() * batch.problems * settings.samples);
    state.counters["problems"] = static_cast<double>(batch.problems * settings.samples);
    state.counters["threads"] = 1;
    state.counters["filled"] = filled(sets, result);
  });
}

/// Extent of the fastest velocity that samples come to, over the bound of the same.
double reached(const ImpactEnclosure& set, const test::Bounds& inner) {
  const test::Bounds outer = test::bounds_of(set);
  double most = 0.0, bound = 0.0;
  for (std::size_t k = 0; k < inner.high.size(); ++k) {
    most = std::max(most, inner.high[k] - inner.low[k]);
    bound = std::max(bound, outer.high[k] - outer.low[k]);
  }
  return most / bound;
}

void add_bounds(const std::string& model, int closeness) {
  add("bounds/" + model + "/carom_closeness_" + std::to_string(closeness),
      [model, closeness](benchmark::State& state) {
        const ImpactProblem problem = models::build(model);
        const EnclosureSettings settings{.closeness = closeness, .threads = 1};
        ImpactEnclosure set;
        for (auto _ : state) set = enclose_impact(problem, settings);
        state.SetItemsProcessed(state.iterations());
        state.counters["problems"] = 1;
        state.counters["threads"] = 1;
        state.counters["solved"] = proves_enclosure(problem, set) ? 1.0 : 0.0;
        state.counters["filled"] = reached(
            set, test::bounds_of(test::followed(problem, test::events(kSamples)).summary[0]));
      });
}

}  // namespace

void add_enclosure_benchmarks() {
  for (const char* model : kBounded) {
    for (const int closeness : {0, 1}) add_bounds(model, closeness);
  }
  for (const Case& given : cases()) {
    add_enclosures(given);
    ImpactSettings settings;
    settings.samples = kSamples;
    settings.threads = 1;
    settings.max_steps = 4000;
    for (const char* step : {"0.02", "0.1", "1"}) {
      settings.step_size = std::stod(step);
      add_filling(given, "carom_h_" + std::string(step), settings);
    }
    settings.method = ImpactMethod::events;
    add_filling(given, "carom_events", settings);
  }
}

}  // namespace carom::bench
