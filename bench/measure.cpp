#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <carom/certificate.hpp>
#include <carom/certificate_lcp.hpp>

namespace carom::bench {

namespace {

constexpr double kTolerance = 1e-9;

class Judge {
 public:
  explicit Judge(const DenseSet& set) : set_(set) {}

  void add(long p, const double* z, bool claimed) {
    const auto judged = set_.step ? certificate::lcp_natural_residual : certificate::lcp_residual;
    const double residual = judged(set_.order, set_.matrix_of(p), set_.vector_of(p), z);
    const bool right = certificate::within(residual, kTolerance);
    solved_ += right && claimed ? 1 : 0;
    claimed_ += claimed ? 1 : 0;
    if (!claimed) return;
    wrong_ += right ? 0 : 1;
    worst_ = std::isnan(residual) ? INFINITY : std::max(worst_, residual);
  }

  [[nodiscard]] Verdict verdict() const {
    const auto count = static_cast<double>(set_.count);
    Verdict verdict;
    verdict.solved = static_cast<double>(solved_) / count;
    verdict.claimed = static_cast<double>(claimed_) / count;
    verdict.false_success = static_cast<double>(wrong_) / count;
    verdict.worst_residual = worst_;
    return verdict;
  }

 private:
  const DenseSet& set_;
  long solved_ = 0;
  long claimed_ = 0;
  long wrong_ = 0;
  double worst_ = 0.0;
};

}  // namespace

Verdict judge(const DenseSet& set, const std::function<bool(long, double*)>& z_of) {
  Judge judge(set);
  std::vector<double> z(static_cast<std::size_t>(set.order));
  for (long p = 0; p < set.count; ++p) {
    const bool claimed = z_of(p, z.data());
    judge.add(p, z.data(), claimed);
  }
  return judge.verdict();
}

Verdict judge(const StepSet& set, const StepResult& result) {
  Judge judge(set.lcp);
  long fallbacks = 0;
  for (long p = 0; p < set.lcp.count; ++p) {
    const test::StepProblem& step = set.steps[static_cast<std::size_t>(p)];
    const bool claimed = result.status.data()[p] == Status::solved;
    const test::Vector impulse =
        Eigen::Map<const test::Vector>(result.impulse.data() + p * step.rows(), step.rows());
    judge.add(p, test::lift(step, impulse).eval().data(), claimed);
    fallbacks += result.fallback.data()[p];
  }
  Verdict verdict = judge.verdict();
  verdict.fallback = static_cast<double>(fallbacks) / static_cast<double>(set.lcp.count);
  return verdict;
}

Verdict judge(const DenseSet& set, const LcpResult& result) {
  Judge judge(set);
  for (long p = 0; p < set.count; ++p) {
    judge.add(p, result.solution.data() + p * set.order, result.status.data()[p] == Status::solved);
  }
  return judge.verdict();
}

void report(benchmark::State& state, long items, int order, const Verdict& verdict) {
  state.SetItemsProcessed(state.iterations() * items);
  state.counters["problems"] = static_cast<double>(items);
  state.counters["order"] = order;
  state.counters["solved"] = verdict.solved;
  state.counters["claimed"] = verdict.claimed;
  state.counters["false_success"] = verdict.false_success;
  state.counters["worst_residual"] = verdict.worst_residual;
  state.counters["fallback"] = verdict.fallback;
}

benchmark::internal::Benchmark* add(const std::string& name,
                                    std::function<void(benchmark::State&)> body) {
  return benchmark::RegisterBenchmark(
             name.c_str(), [body = std::move(body)](benchmark::State& state) { body(state); })
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_peers(const std::string& prefix, int order, const std::function<const DenseSet&()>& set) {
  for (const Peer& peer : peers()) {
    if (!peer.takes(order)) continue;
    const auto solver = share([&peer, set] { return peer.prepare(set()); });
    const auto verdict = share([solver, set] {
      return judge(set(), [&](long p, double* z) { return solver->get()->solve(p, z); });
    });
    add(prefix + "/" + peer.name, [=](benchmark::State& state) {
      DenseSolver& solve = *solver->get();
      const Verdict& known = verdict->get();
      const long count = set().count;
      std::vector<double> z(static_cast<std::size_t>(order));
      for (auto _ : state) {
        for (long p = 0; p < count; ++p) {
          solve.solve(p, z.data());
          benchmark::DoNotOptimize(z.data());
        }
      }
      report(state, count, order, known);
    });
  }
}

}  // namespace carom::bench
