#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <carom/sdp.hpp>
#include <carom/stability.hpp>

#include "measure.hpp"
#include "stability/labelled.hpp"
#include "stability/prepare.hpp"
#include "support/random_sdps.hpp"
#include "support/stances.hpp"

// Small semidefinite programmes: random ones with planted answers, and those of labelled
// certificates. The peers live in Python (sdp_peers.py), which asks for the same programmes by
// CAROM_SDP_PROBLEMS=FOLDER.
namespace carom::bench {

namespace {

constexpr int kProgrammes = 32;

using test::Planted;

std::vector<SdpProblem> random_programmes(Status truth, int size, int variables) {
  std::vector<SdpProblem> all;
  for (int k = 0; k < kProgrammes; ++k) {
    Planted p(static_cast<std::uint64_t>(1000 * size + k), {size, 1, 1}, variables);
    if (truth == Status::solved) {
      p.feasible(p.numbers(), p.matrices(0));
      p.bounded(p.matrices(0));
    } else {
      for (double& b : p.problem.objective) b = p.number();
      p.problem.constant = p.matrices(0);
      if (truth == Status::infeasible) p.refute(p.matrices(0), 0.5);
      if (truth == Status::unbounded) p.ascend(p.matrices(0), 1.0);
    }
    all.push_back(p.problem);
  }
  return all;
}

/// Of stances that the paper's class does not decide.
std::vector<SdpProblem> labelled_programmes(bool elastic) {
  std::vector<SdpProblem> all;
  test::RandomStances random(elastic ? 2 : 1);
  while (static_cast<int>(all.size()) < kProgrammes) {
    const Stance stance =
        elastic ? test::of_figure3(random.between(0.38, 0.9), random.between(0.1, 1.2))
                : test::of_figure2(random.between(0.2, 0.6), random.between(0.1, 0.9));
    if (test::verdict_of(stance, StabilityMethod::paper) != StabilityVerdict::undecided) continue;
    if (test::verdict_of(stance, StabilityMethod::labelled) != StabilityVerdict::stable) continue;
    all.push_back(*stability::labelled_programme(stability::form_of(stance)));
  }
  return all;
}

/// SDPA's sparse format: min c'x over sum F_i x_i - F_0 semidefinite, so that F = -A, c = -b.
void write_sdpa(const SdpProblem& p, const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  std::fprintf(file, "%zu\n%zu\n", p.objective.size(), p.blocks.size());
  for (const int n : p.blocks) std::fprintf(file, "%d ", n);
  std::fprintf(file, "\n");
  for (const double b : p.objective) std::fprintf(file, "%.17g ", -b);
  std::fprintf(file, "\n");
  for (std::size_t matrix = 0; matrix <= p.objective.size(); ++matrix) {
    const double* at =
        matrix == 0 ? p.constant.data() : p.coefficients.data() + (matrix - 1) * p.constant.size();
    for (std::size_t block = 0; block < p.blocks.size(); ++block) {
      const int n = p.blocks[block];
      for (int i = 0; i < n; ++i) {
        for (int j = i; j < n; ++j) {
          if (at[i * n + j] == 0.0) continue;
          std::fprintf(file, "%zu %zu %d %d %.17g\n", matrix, block + 1, i + 1, j + 1,
                       -at[i * n + j]);
        }
      }
      at += n * n;
    }
  }
  std::fclose(file);
}

void add_set(const std::string& name, Status truth,
             const std::function<std::vector<SdpProblem>()>& make) {
  const auto set = share([name, make] {
    std::vector<SdpProblem> all = make();
    if (const char* folder = std::getenv("CAROM_SDP_PROBLEMS")) {
      const std::filesystem::path to = std::filesystem::path(folder) / name;
      std::filesystem::create_directories(to);
      for (std::size_t k = 0; k < all.size(); ++k) {
        write_sdpa(all[k], to / (std::to_string(k) + ".dat-s"));
      }
    }
    return all;
  });
  const auto solve = [set] {
    SdpSettings settings;
    settings.threads = 1;
    return solve_sdps(set->get(), settings);
  };
  const auto verdict = share([solve, truth] {
    Verdict known;
    const std::vector<SdpResult> results = solve();
    const double share = 1.0 / static_cast<double>(results.size());
    for (const SdpResult& r : results) {
      const bool claims = r.status == Status::solved || r.status == Status::infeasible ||
                          r.status == Status::unbounded;
      known.claimed += claims ? share : 0.0;
      known.solved += r.status == truth ? share : 0.0;
      known.false_success += claims && r.status != truth ? share : 0.0;
      if (r.status == truth) known.worst_residual = std::max(known.worst_residual, r.residual);
    }
    return known;
  });
  add("sdps/" + name + "/carom", [=](benchmark::State& state) {
    const Verdict& known = verdict->get();
    int order = 0;
    for (const int n : set->get().front().blocks) order = std::max(order, n);
    for (auto _ : state) {
      const std::vector<SdpResult> results = solve();
      benchmark::DoNotOptimize(results.data());
    }
    report(state, kProgrammes, order, known);
  });
}

}  // namespace

void add_sdp_benchmarks() {
  const auto random = [](Status truth, int size, int variables) {
    return [=] { return random_programmes(truth, size, variables); };
  };
  add_set("feasible_n08", Status::solved, random(Status::solved, 8, 12));
  add_set("feasible_n16", Status::solved, random(Status::solved, 16, 30));
  add_set("feasible_n32", Status::solved, random(Status::solved, 32, 60));
  add_set("infeasible_n08", Status::infeasible, random(Status::infeasible, 8, 12));
  add_set("infeasible_n32", Status::infeasible, random(Status::infeasible, 32, 60));
  add_set("unbounded_n08", Status::unbounded, random(Status::unbounded, 8, 12));
  add_set("unbounded_n32", Status::unbounded, random(Status::unbounded, 32, 60));
  add_set("labelled_e0", Status::solved, [] { return labelled_programmes(false); });
  add_set("labelled_e01", Status::solved, [] { return labelled_programmes(true); });
}

}  // namespace carom::bench
