#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include "peers.hpp"
#include "problem_sets.hpp"

/// One benchmark per (set, solver); a pass over the set is one iteration. Rates are per second of
/// the process's own CPU time: on a machine shared with others that is what a core delivers.
namespace carom::bench {

/// Made when first asked for, so that a filter does not pay for the other sets.
template <class T>
class Lazy {
 public:
  explicit Lazy(std::function<T()> make) : make_(std::move(make)) {}
  T& get() {
    if (!value_) value_.emplace(make_());
    return *value_;
  }

 private:
  std::function<T()> make_;
  std::optional<T> value_;
};

template <class T>
using Shared = std::shared_ptr<Lazy<T>>;

template <class Make>
auto share(Make make) {
  using T = decltype(make());
  return std::make_shared<Lazy<T>>(std::function<T()>(std::move(make)));
}

/// How a solver did on a set, every answer judged on the dense LCP: steps (75) by
/// certificate::lcp_natural_residual, other LCPs by certificate::lcp_residual.
struct Verdict {
  double solved = 0.0;          ///< share with a residual of at most 1e-9
  double claimed = 0.0;         ///< share that the solver itself calls solved
  double false_success = 0.0;   ///< share claimed though the residual is above 1e-9
  double worst_residual = 0.0;  ///< among the claimed
  double fallback = 0.0;        ///< share that carom left to Lemke
};

/// z_of(p, z) fills z and returns the solver's own claim.
Verdict judge(const DenseSet& set, const std::function<bool(long, double*)>& z_of);
/// The same for a result in contact coordinates, lifted to the unknowns of (75).
Verdict judge(const StepSet& set, const StepResult& result);
Verdict judge(const DenseSet& set, const LcpResult& result);

/// Rate, order and verdict of a finished benchmark with `items` problems an iteration.
void report(benchmark::State& state, long items, int order, const Verdict& verdict);

/// Adds a benchmark with this file's way of measuring.
benchmark::internal::Benchmark* add(const std::string& name,
                                    std::function<void(benchmark::State&)> body);

/// "<family>/<set>/<peer>" for every peer on the dense LCPs of `set`.
void add_peers(const std::string& prefix, int order, const std::function<const DenseSet&()>& set);

// One file per family.
void add_step_benchmarks();
void add_lcp_benchmarks();
void add_boxed_benchmarks();
void add_lp_benchmarks();
void add_equilibrium_benchmarks();
void add_trajectory_benchmarks(bool full);
void add_enclosure_benchmarks();
void add_problems_benchmarks();
void add_part_benchmarks();
void add_qp_benchmarks();
void add_warm_qp_benchmarks();
void add_derivative_benchmarks();
void add_sdp_benchmarks();
void add_stability_benchmarks();
void add_world_benchmarks();
/// Nothing where there is no GPU.
void add_device_benchmarks();

}  // namespace carom::bench
