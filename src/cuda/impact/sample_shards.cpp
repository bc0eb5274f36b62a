#include "cuda/impact/sample_shards.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <utility>

#include "core/arrays.hpp"
#include "cuda/shard_rows.hpp"
#include "impact/prepare.hpp"

namespace carom::cuda {

namespace {

/// What all shards have done so far; the caller hears of it from the first one, on its own thread.
class SharedProgress {
 public:
  SharedProgress(const ImpactBatch& batch, const ImpactSettings& settings, std::size_t shards)
      : call_(settings.progress), total_(batch.problems * settings.samples), done_(shards) {}

  void watch(ImpactSettings& shard, std::size_t place) {
    shard.progress = [this, place](const ImpactProgress& own) {
      done_[place] = own.samples_done;
      if (place == 0 && call_ && !stopped_) {
        ImpactProgress all;
        for (const auto& done : done_) all.samples_done += done;
        all.samples_total = total_;
        if (!call_(all)) stopped_ = true;
      }
      return !stopped_;
    };
  }

 private:
  const std::function<bool(const ImpactProgress&)>& call_;
  std::int64_t total_;
  std::vector<std::atomic<std::int64_t>> done_;
  std::atomic<bool> stopped_{false};
};

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

ImpactResult by_problems(const ImpactBatch& batch, const ImpactSettings& settings,
                         WorkspaceState* workspace, const SolveShard& solve) {
  std::vector<ImpactResult> parts(chosen_devices().size());
  std::vector<std::int64_t> begins(parts.size(), 0);
  SharedProgress progress(batch, settings, parts.size());
  on_each_device(batch.problems, workspace, [&](const Share& share, WorkspaceState* own) {
    ImpactSettings of_share = part_of(settings, share.begin, share.end);
    of_share.first_problem += share.begin;
    progress.watch(of_share, share.place);
    begins[share.place] = share.begin;
    parts[share.place] =
        solve(arrays::slice(batch, share.begin, share.end), of_share, own, nullptr);
  });
  ImpactResult whole;
  static_cast<ImpactSampleSizes&>(whole.samples) = parts.front().samples;
  whole.samples.problems = batch.problems;
  for (std::size_t d = 0; d < parts.size(); ++d) {
    arrays::place_part(whole.samples, whole.samples, begins[d], parts[d].samples);
    whole.cancelled = whole.cancelled || parts[d].cancelled;
    append(whole.summary, std::move(parts[d].summary));
    append(whole.net, std::move(parts[d].net));
    append(whole.paths, std::move(parts[d].paths));
  }
  return whole;
}

ImpactResult by_samples(const ImpactBatch& batch, const ImpactSettings& settings,
                        WorkspaceState* workspace, const SolveShard& solve) {
  std::vector<ImpactResult> parts(chosen_devices().size());
  std::vector<SampleShard> shards(parts.size());
  std::vector<std::int64_t> begins(parts.size(), 0);
  SharedProgress progress(batch, settings, parts.size());
  on_each_device(settings.samples, workspace, [&](const Share& share, WorkspaceState* own) {
    ImpactSettings of_share = settings;
    of_share.first_sample += share.begin;
    of_share.samples = share.end - share.begin;
    const auto kept = [&](std::int64_t all) {
      return std::clamp<std::int64_t>(all - share.begin, 0, of_share.samples);
    };
    of_share.keep_samples = kept(rows_kept(settings));
    of_share.keep_paths = kept(settings.keep_paths);
    progress.watch(of_share, share.place);
    begins[share.place] = share.begin;
    parts[share.place] = solve(batch, of_share, own, &shards[share.place]);
  });
  ImpactResult whole;
  whole.samples = allocate_samples(batch, settings, MemorySpace::host);
  for (std::size_t d = 0; d < parts.size(); ++d) {
    whole.cancelled = whole.cancelled || parts[d].cancelled;
    place_rows(whole.samples, 0, begins[d], parts[d].samples);
  }
  for (std::size_t p = 0; p < static_cast<std::size_t>(batch.problems); ++p) {
    const double epsilon = epsilon_of(settings, static_cast<std::int64_t>(p));
    ImpactAccumulator sum(batch.dimension, batch.velocities, batch.contacts, settings, epsilon);
    std::vector<std::vector<double>> paths;
    kernels::PathRow row{batch.velocities, 0, 0};
    for (SampleShard& shard : shards) {
      if (shard.sums.empty()) continue;  // fewer samples than devices
      sum.merge(shard.sums[p]);
      row = shard.rows[p];
      append(paths, std::move(shard.paths[p]));
    }
    whole.summary.push_back(sum.summary());
    ImpactSummary& summary = whole.summary.back();
    if (parts.front().summary[p].status == Status::invalid_input) {
      summary.status = Status::invalid_input;
    } else if (summary.samples < settings.samples) {
      summary.status = Status::cancelled;
    }
    const ImpactSummary& first = parts.front().summary[p];
    state_facts(summary, {first.step_size, first.contact_speed}, settings, epsilon);
    if (wants_net(settings)) whole.net.push_back(sum.finish_net(settings));
    if (settings.keep_paths > 0) whole.paths.push_back(join_paths(paths, row));
  }
  return whole;
}

}  // namespace

ImpactResult sample_divided(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace, const SolveShard& solve) {
  const auto start = std::chrono::steady_clock::now();
  const bool enough = batch.problems >= static_cast<std::int64_t>(chosen_devices().size());
  ImpactResult result = (enough ? by_problems : by_samples)(batch, settings, workspace, solve);
  result.backend = Backend::cuda;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace carom::cuda
