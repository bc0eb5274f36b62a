#include <algorithm>
#include <cmath>

#include <carom/lp.hpp>

#include "lp_peers.hpp"
#include "measure.hpp"
#include "support_lps.hpp"

// Support LPs, cold and warm, compared with other codes.
namespace carom::bench {

namespace {

constexpr int kPostures = SupportSet::kPostures;
constexpr int kDirections = SupportSet::kDirections;
constexpr int kRows = SupportSet::kRows;
constexpr int kColumns = SupportSet::kColumns;

/// answer(posture, direction, x, y) fills both and returns the solver's claim.
template <class Answer>
Verdict judge_support(const SupportSet& set, Answer&& answer) {
  const kernels::SingleLane lane;
  std::vector<double> memory(
      static_cast<std::size_t>(certificate::lp_certificate_workspace(kRows, kColumns)));
  certificate::LpCertificate<kernels::SingleLane> judge(lane, kRows, kColumns, memory.data());
  Verdict verdict;
  constexpr double kShare = 1.0 / (kPostures * kDirections);
  for (int p = 0; p < kPostures; ++p) {
    for (int k = 0; k < kDirections; ++k) {
      double x[kColumns], y[kRows];
      const bool claimed = answer(p, k, x, y);
      const certificate::LpData lp = set.lp(p, k);
      const bool usable = judge.load(lp) && judge.load_cost(lp.cost);
      const double residual = usable && claimed ? judge.residual(x, y) : INFINITY;
      const bool right = certificate::within(residual, 1e-9);
      verdict.solved += right ? kShare : 0.0;
      if (!claimed) continue;
      verdict.claimed += kShare;
      verdict.false_success += right ? 0.0 : kShare;
      verdict.worst_residual =
          std::isnan(residual) ? INFINITY : std::max(verdict.worst_residual, residual);
    }
  }
  return verdict;
}

void add_support(bool cold, const Shared<SupportSet>& set) {
  const std::string prefix = cold ? "lps/support_cold/" : "lps/support_warm/";
  const auto batch = share([set, cold] { return support_lps(set->get(), cold); });
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    if (backend == Backend::reference && !cold) continue;  // it starts cold in any case
    const auto solve = [batch, backend] {
      LpSettings settings;
      settings.threads = 1;
      return solve_lp(batch->get(), settings, backend);
    };
    add(prefix + (backend == Backend::cpu ? "carom" : "reference"), [=](benchmark::State& state) {
      const LpResult judged = solve();
      const Verdict verdict = judge_support(set->get(), [&](int p, int k, double* x, double* y) {
        const int answer = p * kDirections + k;
        std::copy_n(judged.solution.data() + answer * kColumns, kColumns, x);
        std::copy_n(judged.dual.data() + answer * kRows, kRows, y);
        return judged.status.data()[answer] == Status::solved;
      });
      for (auto _ : state) {
        LpResult result = solve();
        benchmark::DoNotOptimize(result.solution.data());
      }
      report(state, kPostures * kDirections, kColumns, verdict);
      double pivots = 0.0;
      for (const std::int32_t count : judged.pivots.host()) pivots += count;
      state.counters["pivots"] = pivots / (kPostures * kDirections);
    });
  }
  for (const LpPeerKind& kind : lp_peers()) {
    add(prefix + kind.name, [=](benchmark::State& state) {
      const SupportSet& support = set->get();
      std::vector<std::unique_ptr<LpPeer>> solvers;
      for (int p = 0; p < kPostures; ++p) {
        solvers.push_back(kind.load(support.lp(p, 0)));
        solvers.back()->solve(support.lp(p, 0).cost, true);
      }
      const auto solve = [&](int p, int k) {
        return solvers[static_cast<std::size_t>(p)]->solve(support.lp(p, k).cost, cold);
      };
      const Verdict verdict = judge_support(support, [&](int p, int k, double* x, double* y) {
        const bool claimed = solve(p, k);
        solvers[static_cast<std::size_t>(p)]->answer(x, y);
        return claimed;
      });
      for (auto _ : state) {
        for (int p = 0; p < kPostures; ++p) {
          for (int k = 0; k < kDirections; ++k) benchmark::DoNotOptimize(solve(p, k));
        }
      }
      report(state, kPostures * kDirections, kColumns, verdict);
    });
  }
}

}  // namespace

void add_lp_benchmarks() {
  const auto set = share(random_supports);
  add_support(true, set);
  add_support(false, set);
}

}  // namespace carom::bench
