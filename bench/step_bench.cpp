#include "measure.hpp"

// Single steps (75): carom in contact coordinates, everybody else on the assembled LCP.
namespace carom::bench {

namespace {

struct StepSolver {
  const char* name;
  Backend backend;
  Selection selection;
};

void add_carom(const std::string& prefix, int order, const Shared<StepSet>& set,
               const StepSolver& solver) {
  const auto solve = [set, solver] {
    StepSettings settings;
    settings.friction_directions = set->get().directions;
    settings.selection = solver.selection;
    settings.threads = 1;
    return solve_steps(set->get().batch, settings, solver.backend);
  };
  const auto verdict = share([set, solve] { return judge(set->get(), solve()); });
  add(prefix + "/" + solver.name, [=](benchmark::State& state) {
    const Verdict& known = verdict->get();
    for (auto _ : state) {
      StepResult result = solve();
      benchmark::DoNotOptimize(result.impulse.data());
    }
    report(state, set->get().lcp.count, order, known);
  });
}

void add_set(const std::string& prefix, int order, const Shared<StepSet>& set, bool reference) {
  add_carom(prefix, order, set, {"carom", Backend::cpu, Selection::any});
  add_carom(prefix, order, set, {"carom_lemke", Backend::cpu, Selection::lemke});
  if (reference) {
    add_carom(prefix, order, set, {"reference", Backend::reference, Selection::any});
  }
  add_peers(prefix, order, [set]() -> const DenseSet& { return set->get().lcp; });
}

void add_random(const std::string& family, test::Flavour flavour, int dimension, int contacts,
                int directions) {
  const int k = dimension == 2 ? 2 : directions;
  const auto set = share([=] { return random_steps(flavour, dimension, contacts, directions); });
  std::string name = dimension == 2 ? "planar_m" : "spatial_m";
  if (contacts < 10) name += '0';
  name += std::to_string(contacts);
  if (dimension == 3) name.append("_k").append(std::to_string(directions));
  if (flavour != test::Flavour::generic) name.append("_").append(test::to_string(flavour));
  add_set(family + "/" + name, contacts * (k + 3), set, family == "steps");
}

}  // namespace

void add_step_benchmarks() {
  constexpr int kDirections = 4;
  for (const models::Model& model : models::all()) {
    const int k = model.dimension == 2 ? 2 : kDirections;
    const auto contacts = static_cast<int>(model.contact_names.size());
    add_set("steps/" + model.name, contacts * (k + 3),
            share([&model] { return model_steps(model); }), true);
  }
  using test::Flavour;
  for (const int m : {2, 5}) add_random("steps", Flavour::generic, 2, m, kDirections);
  for (const int m : {1, 4, 8}) add_random("steps", Flavour::generic, 3, m, kDirections);

  for (const int m : {1, 2, 3, 4, 6, 8, 12, 16}) {
    add_random("contacts", Flavour::generic, 2, m, kDirections);
    add_random("contacts", Flavour::generic, 3, m, kDirections);
  }
  for (const int m : {2, 4, 8, 16}) {
    add_random("contacts", Flavour::duplicated, 2, m, kDirections);
    add_random("contacts", Flavour::duplicated, 3, m, kDirections);
  }
  for (const int k : {4, 6, 8, 12, 16}) add_random("directions", Flavour::generic, 3, 4, k);
}

}  // namespace carom::bench
