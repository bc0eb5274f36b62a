#include <algorithm>
#include <cstdint>
#include <string>

#include "measure.hpp"
#include "plain_impacts.hpp"

// sample_impacts on the built-in models.
namespace carom::bench {

namespace {

constexpr std::int64_t kSlowSamples = 1 << 10;  // of the solvers that need milliseconds for it
constexpr std::int64_t kSamples = 1 << 16;

ImpactSettings settings_of(const models::Model& model) {
  ImpactSettings settings;
  settings.step_size = model.step_size;
  settings.max_steps = model.max_steps;
  settings.threads = 1;
  return settings;
}

struct Run {
  ImpactSettings settings;
  Backend backend = Backend::cpu;
};

benchmark::internal::Benchmark* add_run(const std::string& name, const models::Model& model,
                                        const Run& run) {
  const auto batch = share([&model] {
    const std::vector<ImpactProblem> problems{models::build(model.name)};
    return make_batch(problems);
  });
  return add(name, [batch, run](benchmark::State& state) {
    ImpactWorkspace workspace;
    ImpactSettings settings = run.settings;
    ImpactSummary summary;
    for (auto _ : state) {
      ImpactResult result = sample_impacts(batch->get(), settings, run.backend, &workspace);
      summary = std::move(result.summary.front());
      settings.first_sample += settings.samples;  // every pass draws numbers of its own
    }
    const auto samples = static_cast<double>(summary.samples);
    const auto solves = static_cast<double>(std::max<std::int64_t>(1, summary.lcp_solves));
    state.SetItemsProcessed(state.iterations() * settings.samples);
    state.counters["problems"] = samples;
    state.counters["threads"] = settings.threads;
    state.counters["lcps_per_sample"] = static_cast<double>(summary.lcp_solves) / samples;
    state.counters["solved"] = static_cast<double>(summary.samples - summary.failed) / samples;
    state.counters["fallback"] = static_cast<double>(summary.fallback_solves) / solves;
    state.counters["worst_residual"] = summary.max_residual;
  });
}

void add_plain(const models::Model& model) {
  const auto plain = share([&model] {
    return PlainImpacts(models::build(model.name), model.step_size, model.max_steps, 4);
  });
  add("trajectories/" + model.name + "/plain_eigen", [plain](benchmark::State& state) {
    PlainImpacts& impacts = plain->get();
    std::int64_t solves = 0;
    std::uint64_t seed = 0;
    for (auto _ : state) solves += impacts.run(kSlowSamples, ++seed);
    benchmark::DoNotOptimize(impacts.sum());
    const std::int64_t samples = state.iterations() * kSlowSamples;
    state.SetItemsProcessed(samples);
    state.counters["problems"] = static_cast<double>(kSlowSamples);
    state.counters["threads"] = 1;
    state.counters["lcps_per_sample"] = static_cast<double>(solves) / static_cast<double>(samples);
  });
}

}  // namespace

void add_trajectory_benchmarks(bool full) {
  const bool device = !cuda_devices().empty();
  for (const models::Model& model : models::all()) {
    const std::string prefix = "trajectories/" + model.name + "/";
    Run run{settings_of(model)};
    run.settings.samples = kSamples;
    add_run(prefix + "carom", model, run);
    Run other = run;
    if (run.settings.mode_table) {
      other.settings.mode_table = false;
      add_run(prefix + "carom_path", model, other);
    }
    other = run;
    other.settings.samples = kSlowSamples;
    other.settings.selection = Selection::lemke;
    add_run(prefix + "carom_lemke", model, other);
    other.settings.selection = Selection::any;
    other.backend = Backend::reference;
    add_run(prefix + "reference", model, other);
    add_plain(model);
    if (device) {
      other = run;
      other.backend = Backend::cuda;
      other.settings.samples = 1 << 22;
      add_run(prefix + "carom_cuda", model, other)->UseRealTime();
    }

    const int all = std::max(2, hardware_threads());
    for (const int threads : {1, all}) {
      Run threaded = run;
      threaded.settings.threads = threads;
      threaded.settings.samples = run.settings.samples * 4;
      add_run("threads/" + model.name + "/carom_t" + std::to_string(threads), model, threaded);
    }
    const int largest = model.name == "rocking_block" ? (full ? 24 : 22) : (full ? 22 : 16);
    for (int power = 10; power <= largest; power += power < 16 ? 3 : 2) {
      Run sized = run;
      sized.settings.samples = std::int64_t{1} << power;
      add_run("samples/" + model.name + "_2^" + std::to_string(power) + "/carom", model, sized);
    }
  }
}

}  // namespace carom::bench
