#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <carom/types/impact.hpp>

#include "impact/epsilon_net.hpp"
#include "impact/kernels/contact_stores.hpp"

namespace carom {

/// What one trajectory gave.
struct TrajectoryRow {
  std::int64_t sample = 0;  ///< absolute index: settings.first_sample + position
  TrajectoryStatus status = TrajectoryStatus::cancelled;
  int steps = 0;
  int fallback = 0;
  int pivots = 0;
  int nonunique = 0;
  int examined = 0;
  double residual = 0.0;
  double energy_ratio = 0.0;
  std::uint64_t modes = 0;
  const double* velocity = nullptr;          ///< v+, [nv]
  const double* contact_velocity = nullptr;  ///< J v+, [d m], normals first
  const double* impulse = nullptr;           ///< [d m]
  /// v+ after the closing step of Algorithm 2; `velocity` itself for a terminated trajectory, null
  /// where it still collides.
  const double* net_velocity = nullptr;
  const double* net_impulse = nullptr;
  std::uint64_t net_modes = 0;
  const kernels::StoreBooks* books = nullptr;  ///< null where the trajectory had no stores
  double energy = 0.0;                         ///< with books: before the impact [J]
};

/// Losses of the trajectories that had stores, summed over samples in units of 2^-40 of the energy
/// before: in integers, so that the order does not matter.
struct SummedBooks {
  static constexpr double kUnit = 1099511627776.0;  // 2^40
  std::int64_t samples = 0, lost_compression = 0, lost_friction = 0;
};

/// Sums up trajectories of one problem. Any split of the samples among accumulators that are merged
/// afterwards gives the same summary and the same net.
class ImpactAccumulator {
 public:
  ImpactAccumulator() = default;
  /// `epsilon`: radius of the problem's net, 0 for none.
  ImpactAccumulator(int dimension, int velocities, int contacts, const ImpactSettings& settings,
                    double epsilon);
  ImpactAccumulator(ImpactAccumulator&&) = default;
  ImpactAccumulator& operator=(ImpactAccumulator&&) = default;

  void add(const TrajectoryRow& row);
  void merge(const ImpactAccumulator& other);
  /// Adds what a backend summed up itself; its ranges are infinite where no sample terminated. The
  /// net points of those samples go to net() one by one.
  void merge(const ImpactSummary& part, const SummedBooks& books = {});
  NetBuilder& net() { return net_; }

  [[nodiscard]] ImpactSummary summary() const;
  [[nodiscard]] EpsilonNet finish_net(const ImpactSettings& settings) const {
    return net_.finish(settings.first_sample, totals_.samples);
  }

 private:
  void book(const TrajectoryRow& row);
  void merge_totals(const ImpactSummary& part, const SummedBooks& books);

  int nv_ = 0;
  int contacts_ = 0;
  int rows_ = 0;
  ImpactSummary totals_;
  SummedBooks books_;
  std::vector<double> contact_min_, contact_max_;  ///< of samples added, normals first
  std::unordered_map<std::uint64_t, std::int64_t> modes_;
  struct Counter {
    std::uint64_t modes = 0;
    std::int64_t* count = nullptr;  ///< in modes_
  };
  /// Where the counts of frequent modes are: neighbouring samples rarely have the same.
  std::array<Counter, 16> frequent_;
  NetBuilder net_;
};

/// What a problem's samples share, in its summary.
struct ProblemFacts {
  double step_size = 0.0;
  double contact_speed = 0.0;
};
void state_facts(ImpactSummary& summary, const ProblemFacts& facts, const ImpactSettings& settings,
                 double epsilon);

/// The rows that a call keeps; in host memory as cancelled ones.
ImpactSamples allocate_samples(const ImpactBatch& batch, const ImpactSettings& settings,
                               MemorySpace space);

/// Whether a batch asks for restitution or intervals of friction, and its samples have the arrays
/// that belong to them.
inline bool has_stores(const ImpactBatch& batch) {
  return !batch.restitution_high.empty() || !batch.friction_high.empty();
}

/// Stores a row at (problem, position) of host samples.
void store_row(ImpactSamples& samples, std::int64_t problem, std::int64_t position,
               const TrajectoryRow& row);

/// The paths of one problem, velocities after velocities of each, as one list.
ImpactPaths join_paths(const std::vector<std::vector<double>>& paths, int velocities);
/// Likewise of rows with what belongs to restitution.
ImpactPaths join_paths(const std::vector<std::vector<double>>& paths, const kernels::PathRow& row);

/// Number of rows kept per problem: keep_samples with -1 resolved.
std::int64_t rows_kept(const ImpactSettings& settings);

}  // namespace carom
