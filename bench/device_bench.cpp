#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <carom/compliant.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/lp.hpp>
#include <carom/qp.hpp>
#include <carom/stability.hpp>

#include "contact_qps.hpp"
#include "measure.hpp"
#include "picked.hpp"
#include "support/stances.hpp"
#include "support_lps.hpp"

// Each family where its batch lies in a GPU's memory and the results stay there ("cuda"), where
// both lie in the host's ("cuda_host"), and on all cores of its machine ("cpu"): whole
// calls of the library, wall time, 2^10 to 2^22 problems. "bytes" are those of the batch read once
// and of the results written once.
namespace carom::bench {

namespace {

constexpr int kSmallest = 10;
constexpr int kLargestOnCpu = 16;

template <class Table>
double bytes_of(const Table& table) {
  double bytes = 0.0;
  Table::each_array(
      {},
      [&](const char*, const Extents&, const auto& values) {
        bytes += static_cast<double>(values.size() * sizeof(*values.data()));
      },
      table);
  return bytes;
}

double solved_share(const Buffer<Status>& status) {
  const Buffer<Status> copy = status.to(MemorySpace::host);
  const auto values = copy.host();
  const auto solved = std::count(values.begin(), values.end(), Status::solved);
  return values.empty() ? 1.0 : static_cast<double>(solved) / static_cast<double>(values.size());
}

/// Of stances: the share that is decided.
double decided_share(const Buffer<StabilityVerdict>& verdict) {
  const Buffer<StabilityVerdict> copy = verdict.to(MemorySpace::host);
  const auto values = copy.host();
  const auto open = std::count(values.begin(), values.end(), StabilityVerdict::undecided);
  return 1.0 - static_cast<double>(open) / static_cast<double>(values.size());
}
template <class Result>
double share_of(const Result& result) {
  return solved_share(result.status);
}
double share_of(const StabilityResult& result) { return decided_share(result.verdict); }

struct Outcome {
  double solved = 0.0;
  double bytes = 0.0;
};

/// One benchmark; run(first) solves everything once and says how, the first time.
void add_timed(const std::string& name, std::int64_t answers,
               const std::function<Outcome(bool first)>& run) {
  add(name, [=](benchmark::State& state) {
    const Outcome known = run(true);
    for (auto _ : state) run(false);
    state.SetItemsProcessed(state.iterations() * answers);
    state.counters["problems"] = static_cast<double>(answers);
    state.counters["solved"] = known.solved;
    state.counters["bytes"] = known.bytes;
  })->UseRealTime();
}

/// each: answers a problem. solve(batch, backend) gives a result that share_of takes.
template <class Batch, class Solve>
void add_family(const std::string& name, int largest, int each, const Shared<Batch>& some,
                const Solve& solve) {
  for (int power = kSmallest; power <= largest; power += 4) {
    const std::int64_t problems = std::int64_t{1} << power;
    const auto many = share([=] { return tiled(some->get(), problems); });
    const auto add_one = [&](const char* who, Backend backend, MemorySpace space) {
      const auto batch = share([=] { return copy_to(many->get(), space); });
      add_timed("device/" + name + "_2^" + std::to_string(power) + "/" + who, problems * each,
                [=](bool first) {
                  const auto result = solve(batch->get(), backend);
                  if (!first) return Outcome{};
                  return Outcome{share_of(result), bytes_of(batch->get()) + bytes_of(result)};
                });
    };
    add_one("cuda", Backend::cuda, MemorySpace::device);
    add_one("cuda_host", Backend::cuda, MemorySpace::host);
    if (power <= kLargestOnCpu) add_one("cpu", Backend::cpu, MemorySpace::host);
  }
}

void add_trajectories(const std::string& name, int largest) {
  for (int power = kSmallest + 4; power <= largest; power += 4) {
    const auto add_one = [&](const char* who, Backend backend) {
      const std::int64_t samples = std::int64_t{1} << power;
      const auto workspace = share([] { return ImpactWorkspace(); });
      const auto batch =
          share([=] { return make_batch(std::vector<ImpactProblem>{models::build(name, {})}); });
      add_timed("device/" + name + "_2^" + std::to_string(power) + "/" + who, samples, [=](bool) {
        const models::Model& model = models::find(name);
        ImpactSettings settings;
        settings.samples = samples;
        settings.step_size = model.step_size;
        settings.max_steps = model.max_steps;
        const ImpactResult result =
            sample_impacts(batch->get(), settings, backend, &workspace->get());
        const ImpactSummary& summary = result.summary.front();
        return Outcome{
            1.0 - static_cast<double>(summary.failed) / static_cast<double>(summary.samples), 0.0};
      });
    };
    add_one("cuda", Backend::cuda);
    if (power <= kLargestOnCpu + 4) add_one("cpu", Backend::cpu);
  }
}

/// Many problems with few samples each, whose mode tables the host makes.
void add_different_impacts(const std::string& name, int contacts) {
  constexpr std::int64_t kSamples = 256;
  for (int power = kSmallest; power <= 14; power += 4) {
    const std::int64_t problems = std::int64_t{1} << power;
    const auto batch = share([=] { return random_impacts(problems, 2, contacts); });
    for (const Backend backend : {Backend::cuda, Backend::cpu}) {
      const auto workspace = share([] { return ImpactWorkspace(); });
      const std::string who = backend == Backend::cuda ? "cuda" : "cpu";
      add_timed("device/" + name + "_2^" + std::to_string(power) + "/" + who, problems * kSamples,
                [=](bool) {
                  ImpactSettings settings;
                  settings.samples = kSamples;
                  settings.epsilon = 0.0;
                  const ImpactResult result =
                      sample_impacts(batch->get(), settings, backend, &workspace->get());
                  std::int64_t failed = 0;
                  for (const ImpactSummary& summary : result.summary) failed += summary.failed;
                  const auto all = static_cast<double>(problems * kSamples);
                  return Outcome{1.0 - static_cast<double>(failed) / all, 0.0};
                });
    }
  }
}

}  // namespace

void add_device_benchmarks() {
  if (cuda_devices().empty()) return;
  add_trajectories("rocking_block", 26);
  add_trajectories("compass_gait", 22);
  add_trajectories("cube_drop", 22);
  add_different_impacts("different_planar_2", 2);
  add_different_impacts("different_planar_3", 3);
  add_family(
      "steps_n028", 22, 1,
      share([] { return random_steps(test::Flavour::generic, 3, 4, 4).batch; }),
      [](const StepBatch& batch, Backend backend) { return solve_steps(batch, {}, backend); });
  for (const int n : {10, 28, 56}) {
    add_family(
        "lcps_n" + std::to_string(n), n > 28 ? 14 : 18, 1,
        share([n] { return lcp_batch(random_lcps(n)); }),
        [](const LcpBatch& batch, Backend backend) { return solve_lcp(batch, {}, backend); });
  }
  for (const bool cones : {false, true}) {
    add_family(cones ? "contact_cones_n12" : "contact_pyramids_n12", 18, 1,
               share([cones] { return contact_qps(256, cones); }),
               [](const QpBatch& batch, Backend backend) { return solve_qp(batch, {}, backend); });
  }
  add_family("compliant_four_contacts", 18, 1, share([] { return contact_steps(256); }),
             [](const CompliantBatch& batch, Backend backend) {
               return solve_compliant(batch, {}, backend);
             });
  add_family("support_lps_6x34", 14, 1, share([] { return support_lps(random_supports(), true); }),
             [](const LpBatch& batch, Backend backend) { return solve_lp(batch, {}, backend); });
  add_family("stances", 18, 1, share([] {
               std::vector<Stance> stances;
               test::RandomStances random(11);
               while (stances.size() < 1024) {
                 stances.push_back(
                     test::of_figure2(random.between(0.02, 1.12), random.between(0.08, 1.18)));
               }
               return stance_batch(stances);
             }),
             [](const StanceBatch& batch, Backend backend) {
               return analyse_stability(batch, {}, backend);
             });
  constexpr int kDirections = 64;
  add_family(
      "support_four_contacts", 18, kDirections,
      share([] { return make_batch(four_contact_postures(64)); }),
      [directions = equal_directions(kDirections)](const PostureBatch& batch, Backend backend) {
        return support(batch, directions, {}, backend);
      });
}

}  // namespace carom::bench
