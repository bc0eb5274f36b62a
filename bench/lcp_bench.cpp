#include "measure.hpp"

// Dense LCPs given as M and q: random ones, and the assembled steps (75).
namespace carom::bench {

namespace {

void add_set(const std::string& prefix, int order, const std::function<const DenseSet&()>& set) {
  const auto batch = share([set] { return lcp_batch(set()); });
  const auto add_carom = [&](const char* name, Backend backend) {
    const auto solve = [batch, backend] {
      LcpSettings settings;
      settings.threads = 1;
      return solve_lcp(batch->get(), settings, backend);
    };
    const auto verdict = share([set, solve] { return judge(set(), solve()); });
    add(prefix + "/" + name, [=](benchmark::State& state) {
      const Verdict& known = verdict->get();
      for (auto _ : state) {
        LcpResult result = solve();
        benchmark::DoNotOptimize(result.solution.data());
      }
      report(state, set().count, order, known);
    });
  };
  add_carom("carom", Backend::cpu);
  add_carom("reference", Backend::reference);
  add_peers(prefix, order, set);
}

void add_steps(const std::string& name, int order, std::function<StepSet()> make) {
  const auto set = std::make_shared<Lazy<StepSet>>(std::move(make));
  add_set("lcps/" + name, order, [set]() -> const DenseSet& { return set->get().lcp; });
}

}  // namespace

void add_lcp_benchmarks() {
  for (const int n : {4, 8, 10, 16, 28, 32, 56, 64, 96, 128}) {
    const auto set = share([n] { return random_lcps(n); });
    const std::string digits = std::to_string(n);
    add_set("lcps/random_n" + std::string(3 - digits.size(), '0') + digits, n,
            [set]() -> const DenseSet& { return set->get(); });
  }
  using test::Flavour;
  add_steps("block_steps_n010", 10, [] { return model_steps(models::find("rocking_block")); });
  add_steps("spatial_steps_n028", 28, [] { return random_steps(Flavour::generic, 3, 4, 4); });
  add_steps("spatial_steps_n056", 56, [] { return random_steps(Flavour::generic, 3, 8, 4); });
}

}  // namespace carom::bench
