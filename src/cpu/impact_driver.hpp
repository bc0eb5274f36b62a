#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include <carom/impact.hpp>
#include <carom/kernels/impact_body.hpp>

#include "cpu/parallel.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/pack_trajectories.hpp"
#include "impact_accumulate.hpp"
#include "impact_prepare.hpp"
#include "mode_table.hpp"

namespace carom::cpu {

/// Memory of one trajectory at a time, kept by a thread for all of its samples.
template <int Dim>
class TrajectoryMemory {
 public:
  TrajectoryMemory(int nv, int m, int directions, Selection selection)
      : order_(kernels::step_lcp_order<Dim>(m, directions)),
        reals_(static_cast<std::size_t>(
            kernels::ImpactScratch<Dim>::real_count(nv, m) + order_ +
            kernels::lemke_real_workspace(order_) +
            (selection == Selection::random ? kernels::enumeration_workspace(Dim * m) : 0))),
        ints_(static_cast<std::size_t>(kernels::ImpactScratch<Dim>::int_count(m) +
                                       kernels::lemke_int_workspace(order_))),
        scratch_(kernels::ImpactScratch<Dim>::carve(nv, m, reals_.data(), ints_.data())) {
    scratch_.fallback_reals = reals_.data() + kernels::ImpactScratch<Dim>::real_count(nv, m);
    scratch_.fallback_ints = ints_.data() + kernels::ImpactScratch<Dim>::int_count(m);
    if (selection == Selection::random) {
      scratch_.outcomes = scratch_.fallback_reals + order_ + kernels::lemke_real_workspace(order_);
    }
  }
  TrajectoryMemory(const TrajectoryMemory&) = delete;
  TrajectoryMemory& operator=(const TrajectoryMemory&) = delete;

  [[nodiscard]] const kernels::ImpactScratch<Dim>& scratch() const { return scratch_; }

 private:
  int order_;
  std::vector<double> reals_;
  std::vector<int> ints_;
  kernels::ImpactScratch<Dim> scratch_;
};

/// Describes a finished trajectory whose numbers lie in `scratch`.
template <int Dim>
TrajectoryRow describe(const kernels::TrajectoryEnd& end,
                       const kernels::ImpactScratch<Dim>& scratch, std::int64_t sample) {
  TrajectoryRow row;
  row.sample = sample;
  row.status = end.status;
  row.steps = end.steps;
  row.fallback = end.fallback;
  row.pivots = end.pivots;
  row.nonunique = end.nonunique;
  row.examined = end.examined;
  row.residual = end.residual;
  row.energy_ratio = end.energy_ratio;
  row.modes = end.modes;
  row.velocity = scratch.v;
  row.contact_velocity = scratch.u;
  row.impulse = scratch.total;
  if (end.in_net) {
    const bool closed = end.status != TrajectoryStatus::terminated;
    row.net_velocity = closed ? scratch.next_v : scratch.v;
    row.net_impulse = closed ? scratch.impulse : scratch.total;
    row.net_modes = end.net_modes;
  }
  return row;
}

/// Outputs of a pack job, and the memory of the trajectories that it leaves unfinished.
class PackMemory {
 public:
  PackMemory(int nv, int rows, std::int64_t grain)
      : nv_(nv),
        rows_(rows),
        velocity_(static_cast<std::size_t>(grain * nv)),
        contact_velocity_(static_cast<std::size_t>(grain * rows)),
        impulse_(contact_velocity_.size()),
        residual_(static_cast<std::size_t>(grain)),
        steps_(residual_.size()),
        status_(residual_.size()) {}

  void run(const kernels::ImpactProblemView& view, const kernels::ImpactRun& run,
           std::uint32_t index, std::uint64_t first, int count) {
    simd::run_packs({&view, &run, index, first, count, velocity_.data(), contact_velocity_.data(),
                     impulse_.data(), residual_.data(), steps_.data(), status_.data()});
  }

  /// The finished trajectory at `position`; false where the pack left it to the scalar body.
  bool describe(const kernels::ImpactProblemView& view, const kernels::ImpactRun& run,
                std::int64_t sample, int position, TrajectoryRow& row) const {
    const auto at = static_cast<std::size_t>(position);
    if (status_[at] == simd::kUnfinished) return false;
    row = {};
    row.sample = sample;
    row.status = static_cast<TrajectoryStatus>(status_[at]);
    const bool terminated = row.status == TrajectoryStatus::terminated;
    if (!terminated && view.closing_impulse > 0.0) return false;  // wants a closing step
    row.steps = steps_[at];
    row.residual = residual_[at];
    row.velocity = velocity_.data() + position * nv_;
    row.contact_velocity = contact_velocity_.data() + position * rows_;
    row.impulse = impulse_.data() + position * rows_;
    row.energy_ratio = kernels::energy_ratio(view, nv_, row.velocity);
    row.modes = kernels::contact_modes<2>(run.contacts, row.contact_velocity, run.mode_tolerance);
    if (terminated) {
      row.net_velocity = row.velocity;
      row.net_impulse = row.impulse;
      row.net_modes = row.modes;
    }
    return true;
  }

 private:
  int nv_;
  int rows_;
  std::vector<double> velocity_, contact_velocity_, impulse_, residual_;
  std::vector<std::int32_t> steps_;
  std::vector<std::uint8_t> status_;
};

/// Sampling on host lanes. Chunks of all problems are run one after another, between which progress
/// is reported and a wish to stop is heard; the samples of a chunk are shared among the threads.
template <int Dim, class Lanes>
ImpactResult drive_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                           const Lanes& lanes) {
  const auto start = std::chrono::steady_clock::now();
  const int nv = batch.velocities;
  const int m = batch.contacts;
  const int rows = Dim * m;
  const PreparedImpacts prepared(batch, settings);
  const std::vector<std::uint64_t> sobol = run_directions(batch, settings);
  const kernels::ImpactRun run = impact_run(batch, settings, sobol);

  constexpr std::int64_t kGrain = 1024;

  struct Worker {
    TrajectoryMemory<Dim> memory;
    std::vector<double> path;
    ImpactAccumulator sums;
    PackMemory packs;
  };
  const auto make_worker = [&] {
    return Worker{TrajectoryMemory<Dim>(nv, m, settings.friction_directions, settings.selection),
                  std::vector<double>(settings.keep_paths > 0
                                          ? static_cast<std::size_t>(settings.max_steps + 1) *
                                                static_cast<std::size_t>(nv)
                                          : 0),
                  ImpactAccumulator(Dim, nv, m, settings), PackMemory(nv, rows, kGrain)};
  };

  ImpactResult result;
  result.backend = Backend::cpu;
  const std::int64_t kept = rows_kept(settings);
  result.samples = allocate_samples(batch.problems, nv, rows, kept, MemorySpace::host);
  const std::int64_t paths = std::min(settings.keep_paths, settings.samples);
  constexpr std::int64_t kChunk = 1 << 18;
  ImpactProgress progress{0, batch.problems * settings.samples};

  for (std::int64_t p = 0; p < batch.problems; ++p) {
    tbb::enumerable_thread_specific<Worker> workers(make_worker);
    std::vector<std::vector<double>> path_of(static_cast<std::size_t>(paths));
    if (!prepared.valid(p)) {
      ImpactSummary refused = ImpactAccumulator(Dim, nv, m, settings).summary();
      refused.status = Status::invalid_input;
      result.summary.push_back(std::move(refused));
      if (settings.epsilon > 0.0) {
        result.net.push_back(ImpactAccumulator(Dim, nv, m, settings).finish_net(settings));
      }
      if (settings.keep_paths > 0) result.paths.push_back({{0}, {}});
      progress.samples_done += settings.samples;
      continue;
    }
    kernels::ImpactProblemView view = prepared.view(p);
    std::optional<ModeTable> table;
    if (wants_mode_table(Dim, m, settings)) view.table = table.emplace(view, run).view();
    // Host emulation keeps to the body alone: that is what it is there to check.
    const bool packed = std::is_same_v<Lanes, kernels::SingleLane> && view.table.count > 0 &&
                        nv <= simd::kMaxPackVelocities;
    for (std::int64_t chunk = 0; chunk < settings.samples && !result.cancelled; chunk += kChunk) {
      const std::int64_t count = std::min(kChunk, settings.samples - chunk);
      parallel_for(count, kGrain, settings.threads, [&](std::int64_t begin, std::int64_t end) {
        Worker& worker = workers.local();
        kernels::ImpactTrajectory<Dim, Lanes> trajectory(lanes, run, view, worker.memory.scratch());
        if (packed) {
          worker.packs.run(view, run, static_cast<std::uint32_t>(p),
                           static_cast<std::uint64_t>(settings.first_sample + chunk + begin),
                           static_cast<int>(end - begin));
        }
        for (std::int64_t s = chunk + begin; s < chunk + end; ++s) {
          const std::int64_t sample = settings.first_sample + s;
          double* path = s < paths ? worker.path.data() : nullptr;
          if (TrajectoryRow row;
              packed && path == nullptr &&
              worker.packs.describe(view, run, sample, static_cast<int>(s - chunk - begin), row)) {
            worker.sums.add(row);
            if (s < kept) store_row(result.samples, nv, rows, p, s, row);
            continue;
          }
          const kernels::TrajectoryEnd done = trajectory.run(
              static_cast<std::uint32_t>(p), static_cast<std::uint64_t>(sample), path);
          const TrajectoryRow row = describe<Dim>(done, worker.memory.scratch(), sample);
          worker.sums.add(row);
          if (s < kept) store_row(result.samples, nv, rows, p, s, row);
          if (path != nullptr) {
            path_of[static_cast<std::size_t>(s)].assign(path, path + (done.steps + 1) * nv);
          }
        }
      });
      progress.samples_done += count;
      if (settings.progress && !settings.progress(progress)) result.cancelled = true;
    }
    ImpactAccumulator sums(Dim, nv, m, settings);
    for (const Worker& worker : workers) sums.merge(worker.sums);
    result.summary.push_back(sums.summary());
    if (result.summary.back().samples < settings.samples) {
      result.summary.back().status = Status::cancelled;
    }
    if (settings.epsilon > 0.0) result.net.push_back(sums.finish_net(settings));
    if (settings.keep_paths > 0) {
      ImpactPaths gathered;
      gathered.offset.push_back(0);
      for (const auto& path : path_of) {
        gathered.velocity.insert(gathered.velocity.end(), path.begin(), path.end());
        gathered.offset.push_back(static_cast<std::int64_t>(gathered.velocity.size()) / nv);
      }
      result.paths.push_back(std::move(gathered));
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace carom::cpu
