#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <type_traits>

#include "cuda/device_scratch.hpp"
#include "cuda/impact/host_problems.hpp"
#include "cuda/impact/sample_policy.hpp"
#include "cuda/impact/sample_scratch.hpp"
#include "cuda/impact/sample_shards.hpp"
#include "impact/accumulate.hpp"
#include "impact/backends.hpp"
#include "impact/kernels/event_table.hpp"
#include "impact/mode_table.hpp"
#include "impact/prepare.hpp"

namespace carom::cuda {

namespace {

/// One call of sample_impacts, or a device's shard of it. Chunks are run one after another; a chunk
/// holds a stretch of one problem's samples, or all samples of several problems.
class Sampling {
 public:
  /// `shard`: of some samples, which leaves there what its result cannot be joined from.
  Sampling(const ImpactBatch& batch, const ImpactSettings& settings, const SamplePolicy& policy,
           SampleScratch& scratch, SampleShard* shard = nullptr)
      : shard_(shard),
        batch_(batch),
        settings_(settings),
        policy_(policy),
        scratch_(scratch),
        stream_(scratch.stream.get()),
        nv_(batch.velocities),
        m_(batch.contacts),
        rows_(batch.contact_rows()),
        net_(wants_net(settings)),
        stored_(has_stores(batch) ? m_ : 0),
        paths_(std::min(settings.keep_paths, settings.samples)),
        sobol_(run_directions(batch, settings)),
        tabled_(wants_mode_table(batch.dimension, batch.contacts, settings)) {
    launch_.run = impact_run(batch, settings, sobol_);
    host_run_ = launch_.run;
    launch_.law = settings.law;
    launch_.vary = settings.vary;
    if (!sobol_.empty()) {
      launch_.run.sobol_directions = scratch_.sobol.upload(sobol_.data(), sobol_.size(), stream_);
    }
    result_.backend = Backend::cuda;
    result_.samples = allocate_samples(batch, settings, settings.result_space);
    if (settings.result_space == MemorySpace::device) clear_device_samples();
    progress_.samples_total = batch.problems * settings.samples;
  }

  ImpactResult run() {
    const std::int64_t most_problems = problems_of_a_chunk();
    const std::int64_t piece = problems_of_a_piece(most_problems);
    std::optional<ProblemFeed> feed;
    if (batch_.mass_matrix.space() == MemorySpace::host) {
      feed.emplace(batch_, settings_, host_run_, piece);
    }
    if (!feed && settings_.bad_problem == BadProblem::refuse && piece < batch_.problems) {
      // Before anything is computed.
      for (std::int64_t p = 0; p < batch_.problems; p += piece) {
        scratch_.problems.screen(batch_, settings_, host_run_, p,
                                 std::min(batch_.problems, p + piece), stream_);
      }
    }
    std::int64_t end = 0;  // of the piece on the device
    for (std::int64_t p = 0; p < batch_.problems;) {
      if (p == end && !result_.cancelled) {
        if (feed) {
          scratch_.problems.take(feed->next(p), stream_);
        } else {
          scratch_.problems.prepare(batch_, settings_, host_run_, p,
                                    std::min(batch_.problems, p + piece), stream_);
        }
        prepared_end_ = end = scratch_.problems.end();
      }
      if (p < end && !scratch_.problems.valid(p)) {
        refuse(p);
        ++p;
        continue;
      }
      const std::int64_t most = p < end ? std::min(most_problems, end - p) : 1;
      std::int64_t count = 1;
      while (count < most && scratch_.problems.valid(p + count) && stores(p + count) == stores(p)) {
        ++count;
      }
      run_problems(p, static_cast<int>(count));
      p += count;
    }
    scratch_.stream.synchronize();
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return std::move(result_);
  }

 private:
  [[nodiscard]] ImpactAccumulator accumulator(std::int64_t p) const {
    return ImpactAccumulator(batch_.dimension, nv_, m_, settings_, epsilon_of(settings_, p));
  }

  /// Slots whose arrays fit the policy.
  [[nodiscard]] std::int64_t slots_of_a_chunk() const {
    const std::size_t fitting =
        policy_.chunk_bytes / ChunkArrays::bytes_per_slot(nv_, rows_, net_, stored_);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), 1, policy_.chunk);
  }

  [[nodiscard]] std::int64_t problems_of_a_chunk() const {
    if (paths_ > 0 || table_end(0) < settings_.samples) return 1;
    std::size_t bytes = ChunkSummary::bytes_per_problem(nv_, rows_);
    if (tables_events()) bytes += event_bytes();
    const std::size_t fitting = policy_.chunk_bytes / bytes;
    return std::clamp<std::int64_t>(slots_of_a_chunk() / settings_.samples, 1,
                                    std::max<std::int64_t>(1, static_cast<std::int64_t>(fitting)));
  }

  /// Problems that are prepared at once: a chunk's, and enough of them for all of the host's
  /// threads.
  [[nodiscard]] std::int64_t problems_of_a_piece(std::int64_t of_a_chunk) const {
    constexpr std::int64_t kEnough = 256;
    const auto fitting =
        static_cast<std::int64_t>(policy_.problem_bytes / bytes_per_problem(batch_, settings_));
    return std::clamp<std::int64_t>(std::max(of_a_chunk, kEnough), 1,
                                    std::max<std::int64_t>(1, fitting));
  }

  [[nodiscard]] TableStretch stretch(std::int64_t position) const {
    return table_stretch(batch_.dimension, m_, settings_.first_sample + position);
  }
  /// Position where the samples end that share the table of `position`.
  [[nodiscard]] std::int64_t table_end(std::int64_t position) const {
    if (!tabled_) return settings_.samples;
    return std::min(settings_.samples, stretch(position).end - settings_.first_sample);
  }

  [[nodiscard]] bool follows_events() const {
    return settings_.method == ImpactMethod::events && m_ > 0;
  }
  [[nodiscard]] bool tables_events() const {
    return follows_events() && batch_.dimension == 2 && m_ <= kernels::kMaxEventContacts;
  }
  [[nodiscard]] std::size_t event_bytes() const {
    return static_cast<std::size_t>(kernels::event_reals(m_)) * sizeof(double) +
           static_cast<std::size_t>(kernels::event_modes(m_));
  }

  /// A problem whose numbers are refused under BadProblem::isolate.
  void refuse(std::int64_t p) {
    ImpactSummary refused = accumulator(p).summary();
    refused.status = Status::invalid_input;
    state_facts(refused, {}, settings_, epsilon_of(settings_, p));
    result_.summary.push_back(std::move(refused));
    if (net_) result_.net.push_back(accumulator(p).finish_net(settings_));
    if (settings_.keep_paths > 0) {
      result_.paths.push_back(join_paths(PathsOf(static_cast<std::size_t>(paths_)), nv_));
    }
    if (shard_ != nullptr) {
      shard_->sums.push_back(accumulator(p));
      shard_->paths.emplace_back(static_cast<std::size_t>(paths_));
      shard_->rows.push_back(path_row(StoreKind::none));
    }
    progress_.samples_done += settings_.samples;
  }

  using PathsOf = std::vector<std::vector<double>>;  // one per kept sample

  /// None of problems that were never prepared; likewise below.
  [[nodiscard]] StoreKind stores(std::int64_t p) const {
    return p < prepared_end_ ? scratch_.problems.stores(p) : StoreKind::none;
  }
  [[nodiscard]] kernels::PathRow path_row(StoreKind kind) const {
    return kind == StoreKind::none ? kernels::PathRow{nv_, 0, 0} : kernels::PathRow{nv_, rows_, m_};
  }
  [[nodiscard]] ProblemFacts facts_of(std::int64_t p) const {
    return p < prepared_end_ ? scratch_.problems.facts(p) : ProblemFacts{};
  }

  /// All chunks of `count` consecutive problems.
  void run_problems(std::int64_t first, int count) {
    std::vector<ImpactAccumulator> sums;
    for (int p = 0; p < count; ++p) sums.push_back(accumulator(first + p));
    PathsOf path_of(static_cast<std::size_t>(paths_));
    stores_ = stores(first);
    const kernels::PathRow row = path_row(stores_);
    path_width_ = row.size();
    std::int64_t tabled = 0;
    launch_.problems = scratch_.problems.arrays(TableBreadth::narrow);
    for (std::int64_t position = 0; position < settings_.samples && !result_.cancelled;) {
      if (tabled_ && position == tabled) {
        tabled = table_end(position);
        launch_.problems = scratch_.problems.arrays(stretch(position).breadth);
      }
      const std::int64_t samples = std::min(slots_at(position), table_end(position) - position);
      run_chunk({first, settings_.first_sample + position, count, static_cast<int>(samples)},
                position, sums, path_of);
      position += samples;
      progress_.samples_done += samples * count;
      if (settings_.progress && !settings_.progress(progress_)) result_.cancelled = true;
    }
    for (std::int64_t p = first; p < first + count; ++p) {
      const ImpactAccumulator& sum = sums[static_cast<std::size_t>(p - first)];
      result_.summary.push_back(sum.summary());
      state_facts(result_.summary.back(), facts_of(p), settings_, epsilon_of(settings_, p));
      if (result_.summary.back().samples < settings_.samples) {
        result_.summary.back().status = Status::cancelled;
      }
      if (net_) result_.net.push_back(sum.finish_net(settings_));
    }
    if (settings_.keep_paths > 0) result_.paths.push_back(join_paths(path_of, row));
    if (shard_ == nullptr) return;
    std::move(sums.begin(), sums.end(), std::back_inserter(shard_->sums));
    shard_->rows.insert(shard_->rows.end(), sums.size(), row);
    shard_->paths.insert(shard_->paths.end(), sums.size(), {});
    shard_->paths.back() = std::move(path_of);  // paths are kept of one problem at a time
  }

  [[nodiscard]] std::size_t path_reals() const {
    return static_cast<std::size_t>(settings_.max_steps + 1) *
           static_cast<std::size_t>(path_width_);
  }

  /// Samples of the chunk that begins at `position`: fewer where whole paths are kept.
  [[nodiscard]] std::int64_t slots_at(std::int64_t position) const {
    const std::int64_t slots = slots_of_a_chunk();
    const std::int64_t kept = std::min(paths_ - position, slots);
    const auto affordable = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(policy_.chunk_bytes / (path_reals() * sizeof(double))));
    return kept > affordable ? affordable : slots;
  }

  void run_chunk(const Chunk& chunk, std::int64_t position, std::vector<ImpactAccumulator>& sums,
                 PathsOf& path_of) {
    launch_.chunk = chunk;
    launch_.out = scratch_.chunk.reserve(chunk.slots(), nv_, rows_, net_, stored_);
    launch_.out.path_row = path_width_;
    launch_.out.paths =
        static_cast<int>(std::clamp<std::int64_t>(paths_ - position, 0, chunk.samples));
    if (launch_.out.paths > 0) {
      launch_.out.path =
          scratch_.chunk.reserve_paths(static_cast<std::size_t>(launch_.out.paths) * path_reals());
    }
    launch_trajectories();
    const std::vector<ProblemTotals> totals =
        scratch_.summary.run(batch_.dimension, launch_, stores_, stream_);
    if (stored_ > 0 && stores_ == StoreKind::none) fill_inelastic_books(launch_, stream_);
    std::int64_t in_net = 0;
    for (std::size_t p = 0; p < sums.size(); ++p) {
      sums[p].merge(totals[p].summary, totals[p].books);
      if (net_) sums[p].net().count_dropped(totals[p].dropped);
      in_net += totals[p].in_net();
    }
    if (net_) {
      std::vector<NetCells> cells;
      for (ImpactAccumulator& sum : sums) cells.push_back({sum.net().edge(), sum.net().level()});
      scratch_.net.run(
          batch_.dimension, launch_, cells, in_net, stream_, [&](const NetPoint& point) {
            sums[static_cast<std::size_t>(point.problem)].net().add(
                point.sample, point.velocity, point.impulse, point.modes, point.multiplicity);
          });
    }
    keep_rows(position);
    take_paths(position, path_of);
  }

  void launch_trajectories() {
    launch_.work = SlotList{};
    launch_.unfinished = SlotList{};
    if (follows_events() && !(tables_events() && stores_ != StoreKind::any)) {
      follow_any_events(batch_.dimension, launch_, stores_, stream_);
      return;
    }
    if (follows_events()) {
      const auto problems = static_cast<std::size_t>(launch_.chunk.problems);
      launch_.events = {scratch_.event_modes.reserve(
                            problems * static_cast<std::size_t>(kernels::event_reals(m_))),
                        scratch_.event_known.reserve(
                            problems * static_cast<std::size_t>(kernels::event_modes(m_)))};
      follow_events(launch_, stores_, stream_);
      return;
    }
    if (stores_ != StoreKind::none) {
      follow_releases(batch_.dimension, launch_, policy_, scratch_.fallback_reals,
                      scratch_.fallback_ints, stream_);
      return;
    }
    if (settings_.selection == Selection::random) {
      sample_by_enumeration(batch_.dimension, launch_, policy_, scratch_.fallback_reals,
                            scratch_.fallback_ints, stream_);
      return;
    }
    if (settings_.selection == Selection::any) {
      // Each pass leaves a list to the next; the slots are there once, the lists take turns.
      const auto slots = static_cast<std::size_t>(launch_.chunk.slots());
      int* const counts = scratch_.unfinished_count.reserve(2);
      int* const lists = scratch_.unfinished.reserve(2 * slots);
      check(cudaMemsetAsync(counts, 0, 2 * sizeof(int), stream_), "cudaMemsetAsync");
      launch_.unfinished = {lists, counts};
      const bool small = rows_ <= policy_.thread_rows && nv_ <= policy_.thread_velocities;
      if (small && policy_.tables && sample_by_tables(batch_.dimension, launch_, stream_)) {
        launch_.work = launch_.unfinished;
        launch_.unfinished = {lists + slots, counts + 1};
      }
      if (!small) {
        sample_by_warps(batch_.dimension, launch_, stream_);
      } else if (batch_.dimension == 2) {
        sample_by_threads_planar(launch_, stream_);
      } else {
        sample_by_threads_spatial(launch_, stream_);
      }
      launch_.work = launch_.unfinished;
    }
    finish_by_warps(batch_.dimension, launch_, policy_, scratch_.fallback_reals,
                    scratch_.fallback_ints, stream_);
  }

  /// Copies `width` values of each kept slot into the result.
  template <class T>
  void keep(Buffer<T>& to, const T* from, int width, std::int64_t position, std::int64_t kept) {
    const Chunk& chunk = launch_.chunk;
    const std::size_t bytes = static_cast<std::size_t>(width) * sizeof(T);
    if (bytes == 0) return;
    const auto rows = static_cast<std::size_t>(result_.samples.count);
    T* begin = to.data() + (static_cast<std::size_t>(chunk.first_problem) * rows +
                            static_cast<std::size_t>(position)) *
                               static_cast<std::size_t>(width);
    const cudaMemcpyKind kind = settings_.result_space == MemorySpace::host
                                    ? cudaMemcpyDeviceToHost
                                    : cudaMemcpyDeviceToDevice;
    const std::size_t row_bytes = static_cast<std::size_t>(kept) * bytes;
    if (chunk.problems == 1) {
      check(cudaMemcpyAsync(begin, from, row_bytes, kind, stream_), "cudaMemcpyAsync of samples");
    } else {
      check(cudaMemcpy2DAsync(begin, rows * bytes, from,
                              static_cast<std::size_t>(chunk.samples) * bytes, row_bytes,
                              static_cast<std::size_t>(chunk.problems), kind, stream_),
            "cudaMemcpy2DAsync of samples");
    }
  }

  void keep_rows(std::int64_t position) {
    ImpactSamples& samples = result_.samples;
    const std::int64_t kept =
        std::min<std::int64_t>(samples.count - position, launch_.chunk.samples);
    if (kept <= 0) return;
    ImpactSamples::each_array(
        samples,
        [&](const char*, const Extents& extents, auto& to, const auto& from) {
          if (to.empty()) return;
          keep(to, from, static_cast<int>(extents.stride() / samples.count), position, kept);
        },
        samples, launch_.out);
  }

  void take_paths(std::int64_t position, PathsOf& path_of) {
    const auto count = static_cast<std::size_t>(launch_.out.paths);
    if (count == 0) return;
    std::vector<double> velocity(count * path_reals());
    std::vector<std::int32_t> steps(count);
    download(velocity.data(), launch_.out.path, velocity.size(), stream_);
    download(steps.data(), launch_.out.steps, steps.size(), stream_);
    scratch_.stream.synchronize();
    for (std::size_t s = 0; s < count; ++s) {
      const double* path = velocity.data() + s * path_reals();
      const int rows = std::min(steps[s], settings_.max_steps) + 1;  // events may be more
      path_of[static_cast<std::size_t>(position) + s].assign(path, path + rows * path_width_);
    }
  }

  /// Rows that are never computed read NaN, zero and cancelled, as on the host.
  void clear_device_samples() {
    static_assert(sizeof(TrajectoryStatus) == 1);
    ImpactSamples::each_array(
        result_.samples,
        [this](const char*, const Extents&, auto& values) {
          using Value = std::remove_reference_t<decltype(*values.data())>;
          if (values.empty()) return;
          const int byte = std::is_same_v<Value, double> ? 0xff  // eight of them are a quiet NaN
                           : std::is_same_v<Value, TrajectoryStatus>
                               ? static_cast<int>(TrajectoryStatus::cancelled)
                               : 0;
          check(cudaMemsetAsync(values.data(), byte, values.size() * sizeof(Value), stream_),
                "cudaMemsetAsync");
        },
        result_.samples);
  }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  SampleShard* shard_;
  const ImpactBatch& batch_;
  const ImpactSettings& settings_;
  const SamplePolicy& policy_;
  SampleScratch& scratch_;
  cudaStream_t stream_;
  int nv_;
  int m_;
  int rows_;
  bool net_;
  int stored_;                          ///< contacts with books; 0: none
  StoreKind stores_ = StoreKind::none;  ///< of the problems at hand ...
  int path_width_ = 0;                  ///< ... and a row of their paths
  std::int64_t paths_;
  std::vector<std::uint64_t> sobol_;
  bool tabled_;
  kernels::ImpactRun host_run_{};  // as launch_.run, but for pointers
  SampleLaunch launch_{};
  ImpactResult result_;
  ImpactProgress progress_;
  std::int64_t prepared_end_ = 0;
};

}  // namespace

ImpactResult sample_impacts_with(const ImpactBatch& batch, const ImpactSettings& settings,
                                 const SamplePolicy& policy, WorkspaceState* workspace) {
  const auto solve = [&policy](const ImpactBatch& part, const ImpactSettings& of_part,
                               WorkspaceState* own, SampleShard* shard) {
    const DeviceScratch<SampleScratch> scratch(own);
    return Sampling(part, of_part, policy, *scratch, shard).run();
  };
  if (chosen_devices().size() > 1 && batch.mass_matrix.space() == MemorySpace::host &&
      settings.result_space == MemorySpace::host) {
    return sample_divided(batch, settings, workspace, solve);
  }
  return on_first([&] { return solve(batch, settings, workspace, nullptr); });
}

ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* workspace) {
  return sample_impacts_with(batch, settings, SamplePolicy{}, workspace);
}

}  // namespace carom::cuda
