#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include <carom/types/impact.hpp>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/impact/block_memory.hpp"
#include "cpu/simd/impact/any_event_block.hpp"
#include "cpu/simd/impact/block.hpp"
#include "cpu/simd/impact/event_block.hpp"
#include "cpu/simd/padding.hpp"
#include "impact/accumulate.hpp"
#include "impact/kernels/impact.hpp"
#include "impact/mode_table.hpp"
#include "impact/prepare.hpp"

namespace carom::cpu {

/// Memory of one trajectory at a time, kept by a thread for all of its samples.
template <int Dim>
class TrajectoryMemory {
 public:
  TrajectoryMemory(int nv, int m, int directions, Selection selection)
      : order_(kernels::step_lcp_order<Dim>(m, directions)),
        reals_(static_cast<std::size_t>(kernels::ImpactScratch<Dim>::real_count(nv, m))),
        path_(
            static_cast<std::size_t>(kernels::path_real_workspace(Dim, m, simd::kLargestPadding))),
        fallback_(static_cast<std::size_t>(
            order_ + kernels::lemke_real_workspace(order_, simd::kLargestPadding))),
        outcomes_(selection == Selection::random
                      ? static_cast<std::size_t>(kernels::enumeration_workspace(Dim * m))
                      : 0),
        ints_(static_cast<std::size_t>(
            kernels::ImpactScratch<Dim>::int_count(m, simd::kLargestPadding) +
            kernels::lemke_int_workspace(order_))),
        scratch_(kernels::ImpactScratch<Dim>::carve(nv, m, reals_.data(), ints_.data())) {
    scratch_.reals = path_.data();  // on a cache line, as padded rows want it
    scratch_.fallback_reals = fallback_.data();
    scratch_.fallback_ints =
        ints_.data() + kernels::ImpactScratch<Dim>::int_count(m, simd::kLargestPadding);
    if (!outcomes_.empty()) scratch_.outcomes = outcomes_.data();
  }
  TrajectoryMemory(const TrajectoryMemory&) = delete;
  TrajectoryMemory& operator=(const TrajectoryMemory&) = delete;

  [[nodiscard]] const kernels::ImpactScratch<Dim>& scratch() const { return scratch_; }

 private:
  int order_;
  Buffer<double> reals_, path_, fallback_;
  std::vector<double> outcomes_;
  std::vector<int> ints_;
  kernels::ImpactScratch<Dim> scratch_;
};

/// Describes a finished trajectory whose numbers lie in `scratch`.
template <int Dim>
TrajectoryRow describe(const kernels::TrajectoryEnd& end,
                       const kernels::ImpactScratch<Dim>& scratch, std::int64_t sample) {
  const bool closed = end.status != TrajectoryStatus::terminated;
  return {.sample = sample,
          .status = end.status,
          .steps = end.steps,
          .fallback = end.fallback,
          .pivots = end.pivots,
          .nonunique = end.nonunique,
          .examined = end.examined,
          .residual = end.residual,
          .energy_ratio = end.energy_ratio,
          .modes = end.modes,
          .velocity = scratch.v,
          .contact_velocity = scratch.u,
          .impulse = scratch.total,
          .net_velocity = !end.in_net ? nullptr : (closed ? scratch.next_v : scratch.v),
          .net_impulse = !end.in_net ? nullptr : (closed ? scratch.impulse : scratch.total),
          .net_modes = end.in_net ? end.net_modes : 0};
}

/// The loops over a block's samples, compiled for one instruction set.
struct ImpactCode {
  void (*run_block)(const simd::BlockJob&);
  /// ImpactMethod::events: of few planar contacts, and of any; null where it is not asked for.
  void (*follow_events)(const simd::EventBlock&);
  void (*follow_any_events)(const simd::AnyEventBlock&);

  ImpactCode(void (*block)(const simd::BlockJob&),
             void (*events)(const simd::EventBlock&) = nullptr,
             void (*any_events)(const simd::AnyEventBlock&) = nullptr)
      : run_block(block), follow_events(events), follow_any_events(any_events) {}
};

/// What a thread keeps of a call for the next one of the same shape.
template <int Dim>
class WorkerMemory {
 public:
  void fit(int nv, int m, const ImpactSettings& settings, std::int64_t grain, bool stores) {
    const std::array<int, 6> shape = {nv,
                                      m,
                                      settings.friction_directions,
                                      static_cast<int>(settings.selection),
                                      static_cast<int>(settings.method),
                                      stores ? 1 : 0};
    if (trajectory_ && shape == shape_) return;
    trajectory_.emplace(nv, m, settings.friction_directions, settings.selection);
    packs_.emplace(nv, Dim * m, grain);
    if (settings.method == ImpactMethod::events && tables_events<Dim>(m)) {
      events_.fit(m, stores ? grain : 0);
    }
    shape_ = shape;
  }
  [[nodiscard]] const kernels::ImpactScratch<Dim>& scratch() const {
    return trajectory_->scratch();
  }
  [[nodiscard]] PackMemory& packs() { return *packs_; }
  [[nodiscard]] EventMemory& events() { return events_; }
  [[nodiscard]] ModeTableBuilder& builder() { return builder_; }

 private:
  std::array<int, 6> shape_{};
  std::optional<TrajectoryMemory<Dim>> trajectory_;
  std::optional<PackMemory> packs_;
  EventMemory events_;
  ModeTableBuilder builder_{host_pilot_code()};
};

/// One run of drive_impacts: what its threads share.
template <int Dim>
class ImpactDriver {
  static constexpr std::int64_t kGrain = 1024;  // samples a thread takes at a time
  static constexpr std::int64_t kLargestChunk = std::int64_t{1} << 30;
  static constexpr std::chrono::milliseconds kReportInterval{100};  // chunks grow towards this

 public:
  ImpactDriver(const ImpactBatch& batch, const ImpactSettings& settings, bool packs,
               const ImpactCode& code, WorkspaceState* workspace)
      : batch_(batch),
        settings_(settings),
        packs_(packs && batch.velocities <= simd::kMaxPackVelocities),
        code_(code),
        nv_(batch.velocities),
        m_(batch.contacts),
        kept_(rows_kept(settings)),
        paths_(std::min(settings.keep_paths, settings.samples)),
        prepared_(batch, settings),
        sobol_(run_directions(batch, settings)),
        run_(impact_run(batch, settings, sobol_)),
        tabled_(wants_mode_table(Dim, batch.contacts, settings)),
        memories_(workspace) {}

  ImpactResult operator()() {
    const auto start = std::chrono::steady_clock::now();
    result_.backend = Backend::cpu;
    result_.samples = allocate_samples(batch_, settings_, MemorySpace::host);
    const auto problems = static_cast<std::size_t>(batch_.problems);
    result_.summary.resize(problems);
    if (wants_net(settings_)) result_.net.resize(problems);
    if (settings_.keep_paths > 0) result_.paths.resize(problems);
    if (batch_.problems > 1 && settings_.samples <= kGrain) {
      sample_side_by_side();
    } else {
      for (std::int64_t p = 0; p < batch_.problems; ++p) sample_problem(p);
    }
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  /// One problem as its blocks read it.
  struct Prepared {
    kernels::ImpactProblemView view;
    std::optional<kernels::RestitutionView> restitution;
    ModeTable table;
    bool packed = false;
  };

  struct Worker {
    WorkerMemory<Dim>* memory;
    std::vector<double> path;
    ImpactAccumulator sums;
    Prepared problem;
    kernels::StoreBooks books{};
    std::int64_t events_of = -1;  ///< problem of the memory's modes
  };

  /// What a finished trajectory needs to be put in its place.
  struct Context {
    ImpactDriver* driver;
    Worker* worker;
    std::int64_t problem;
    std::int64_t first;  // position of the block among the problem's samples
    std::vector<std::vector<double>>* path_of;
    double energy = -1.0;  ///< before, of samples with stores
  };

  [[nodiscard]] ImpactAccumulator new_sums(std::int64_t p) const {
    return ImpactAccumulator(Dim, nv_, m_, settings_, epsilon_of(settings_, p));
  }

  [[nodiscard]] Worker new_worker(std::int64_t p) const {
    WorkerMemory<Dim>& memory = memories_->local();
    memory.fit(nv_, m_, settings_, kGrain, has_stores(batch_));
    const auto path = paths_ > 0 ? static_cast<std::size_t>(settings_.max_steps + 1) *
                                       static_cast<std::size_t>(widest_row())
                                 : 0;
    return Worker{&memory, std::vector<double>(path), new_sums(p), {}, {}, -1};
  }

  using PathsOf = std::vector<std::vector<double>>;  // one per kept sample

  /// Of the paths of samples with or without stores.
  [[nodiscard]] kernels::PathRow path_row(bool stores) const {
    return stores ? kernels::PathRow{nv_, Dim * m_, m_} : kernels::PathRow{nv_, 0, 0};
  }
  [[nodiscard]] int widest_row() const { return path_row(has_stores(batch_)).size(); }

  /// For the samples from position `first` on; returns the position where they end that share it.
  std::int64_t prepare(std::int64_t p, std::int64_t first, ModeTableBuilder& builder,
                       Prepared& problem) const {
    problem.view = prepared_.view(p);
    const double* u = problem.view.contact_velocity;
    problem.restitution = prepared_.restitution(p);
    if (settings_.method == ImpactMethod::events) {
      problem.packed = packs_ && m_ > 0 && m_ <= simd::kMaxPackEventContacts;
      return settings_.samples;
    }
    std::int64_t end = settings_.samples;
    // The entries of a table belong to one friction.
    if (tabled_ && !(problem.restitution && kernels::friction_varies(*problem.restitution, m_))) {
      const TableStretch stretch = table_stretch(Dim, m_, settings_.first_sample + first);
      builder.build(Dim, problem.view, run_, problem.table, stretch.breadth);
      problem.view.table = problem.table.view();
      end = std::min(end, stretch.end - settings_.first_sample);
    }
    // A pack starts its lanes on steps: a problem at rest has none.
    problem.packed =
        packs_ && problem.view.table.count > 0 && std::any_of(u, u + m_, [&](double normal) {
          return normal < -settings_.velocity_tolerance;
        });
    return end;
  }

  /// Samples [first, first + count) of problem p on this thread.
  void sample_block(Worker& worker, std::int64_t p, const Prepared& problem, std::int64_t first,
                    std::int64_t count, PathsOf& path_of) {
    Context context{this, &worker, p, first, &path_of};
    if (m_ > 0 && (settings_.method == ImpactMethod::events || problem.restitution)) {
      return follow_events(context, problem, count);
    }
    simd::BlockJob job{};
    job.packs = worker.memory->packs().job(
        problem.view, run_, run_.index_of(p),
        static_cast<std::uint64_t>(settings_.first_sample + first), static_cast<int>(count));
    job.packed = problem.packed;
    job.dimension = Dim;
    job.scratch = &worker.memory->scratch();
    job.path = worker.path.data();
    job.paths = paths_from(first);
    job.finished = hand_over;
    job.context = &context;
    code_.run_block(job);
  }

  /// Trajectories of the block at sample `first` whose paths are kept.
  [[nodiscard]] int paths_from(std::int64_t first) const {
    return static_cast<int>(std::clamp<std::int64_t>(paths_ - first, 0, kGrain));
  }

  static void hand_over(void* context, int position, const kernels::TrajectoryEnd* end) {
    Context& to = *static_cast<Context*>(context);
    to.driver->finish(to, position, end);
  }

  void follow_events(Context& context, const Prepared& problem, std::int64_t count) {
    if constexpr (Dim == 2) {
      if (tables_events<Dim>(m_) &&
          (!problem.restitution || kernels::has_planar_stores(*problem.restitution, m_)) &&
          settings_.method == ImpactMethod::events) {
        return follow_tabled_events(context, problem, count);
      }
    }
    simd::AnyEventBlock block{};
    block.problem = &problem.view;
    block.run = &run_;
    block.index = run_.index_of(context.problem);
    block.first = static_cast<std::uint64_t>(settings_.first_sample + context.first);
    block.count = static_cast<int>(count);
    block.restitution = problem.restitution ? &*problem.restitution : nullptr;
    block.by_steps = settings_.method == ImpactMethod::lcp;
    block.books = &context.worker->books;
    if (problem.restitution) context.energy = problem.view.energy;
    if constexpr (Dim == 2) {
      block.planar = &context.worker->memory->scratch();
    } else {
      block.spatial = &context.worker->memory->scratch();
    }
    block.path = context.worker->path.data();
    block.paths = paths_from(context.first);
    block.finished = hand_over;
    block.context = &context;
    code_.follow_any_events(block);
  }

  void follow_tabled_events(Context& context, const Prepared& problem, std::int64_t count) {
    Worker& worker = *context.worker;
    EventMemory& memory = worker.memory->events();
    if (worker.events_of != context.problem) memory.forget();
    worker.events_of = context.problem;
    simd::EventBlock block{};
    block.packs = worker.memory->packs().job(
        problem.view, run_, run_.index_of(context.problem),
        static_cast<std::uint64_t>(settings_.first_sample + context.first),
        static_cast<int>(count));
    block.packed = problem.packed;
    block.scratch = &worker.memory->scratch();
    block.modes = memory.modes();
    block.known = memory.known();
    block.faces = memory.faces();
    if (problem.restitution) {
      block.stores = memory.stores(*problem.restitution);
      block.books = &worker.books;
      context.energy = problem.view.energy;
    }
    block.path = worker.path.data();
    block.paths = paths_from(context.first);
    block.finished = hand_over;
    block.context = &context;
    code_.follow_events(block);
  }

  void store_result(std::int64_t p, const ImpactAccumulator& sums, const PathsOf& path_of) {
    const auto at = static_cast<std::size_t>(p);
    ImpactSummary summary = sums.summary();
    if (!prepared_.valid(p)) {
      summary.status = Status::invalid_input;
    } else if (summary.samples < settings_.samples) {
      summary.status = Status::cancelled;
    }
    state_facts(summary, {prepared_.step_size()[at], prepared_.contact_speed()[at]}, settings_,
                epsilon_of(settings_, p));
    result_.summary[at] = std::move(summary);
    if (wants_net(settings_)) result_.net[at] = sums.finish_net(settings_);
    if (settings_.keep_paths > 0) {
      const bool stores = prepared_.valid(p) && prepared_.restitution(p).has_value();
      result_.paths[at] = join_paths(path_of, path_row(stores));
    }
  }

  void report(std::int64_t samples) {
    done_ += samples;
    if (settings_.progress && !settings_.progress({done_, batch_.problems * settings_.samples})) {
      result_.cancelled = true;
    }
  }

  /// Many samples of one problem, shared among the threads.
  void sample_problem(std::int64_t p) {
    PathsOf path_of(static_cast<std::size_t>(paths_));
    ImpactAccumulator sums = new_sums(p);
    if (prepared_.valid(p)) {
      sample_valid(p, sums, path_of);
    } else {
      done_ += settings_.samples;
    }
    store_result(p, sums, path_of);
  }

  /// Small pieces where a sample is an enumeration of modes.
  [[nodiscard]] std::int64_t grain() const {
    return settings_.selection == Selection::random ? 16 : kGrain;
  }

  void sample_valid(std::int64_t p, ImpactAccumulator& sums, PathsOf& path_of) {
    Prepared problem;
    std::int64_t prepared = 0;
    tbb::enumerable_thread_specific<Worker> workers([this, p] { return new_worker(p); });
    std::int64_t count = 0;
    for (std::int64_t chunk = 0; chunk < settings_.samples && !result_.cancelled; chunk += count) {
      if (chunk == prepared) prepared = prepare(p, chunk, memories_->local().builder(), problem);
      count = std::min(chunk_, prepared - chunk);
      const auto start = std::chrono::steady_clock::now();
      parallel_for(count, grain(), settings_.threads, [&](std::int64_t begin, std::int64_t end) {
        sample_block(workers.local(), p, problem, chunk + begin, end - begin, path_of);
      });
      if (std::chrono::steady_clock::now() - start < kReportInterval) {
        chunk_ = std::min(2 * chunk_, kLargestChunk);
      }
      report(count);
    }
    for (const Worker& worker : workers) sums.merge(worker.sums);
  }

  /// Few samples of many problems: each thread takes whole problems.
  void sample_side_by_side() {
    tbb::enumerable_thread_specific<Worker> workers([this] { return new_worker(0); });
    std::int64_t group = 64;
    std::int64_t first = 0;
    while (first < batch_.problems && !result_.cancelled) {
      const std::int64_t count = std::min(group, batch_.problems - first);
      const auto start = std::chrono::steady_clock::now();
      parallel_for(count, 4, settings_.threads, [&](std::int64_t begin, std::int64_t end) {
        Worker& worker = workers.local();
        for (std::int64_t p = first + begin; p < first + end; ++p) {
          PathsOf path_of(static_cast<std::size_t>(paths_));
          worker.sums = new_sums(p);
          if (prepared_.valid(p)) {
            Prepared& problem = worker.problem;
            for (std::int64_t sample = 0; sample < settings_.samples;) {
              const std::int64_t next = prepare(p, sample, worker.memory->builder(), problem);
              sample_block(worker, p, problem, sample, next - sample, path_of);
              sample = next;
            }
          }
          store_result(p, worker.sums, path_of);
        }
      });
      first += count;
      if (std::chrono::steady_clock::now() - start < kReportInterval) group *= 2;
      report(count * settings_.samples);
    }
    for (; first < batch_.problems; ++first) {
      store_result(first, new_sums(first), PathsOf(static_cast<std::size_t>(paths_)));
    }
  }

  void finish(const Context& context, int position, const kernels::TrajectoryEnd* end) {
    Worker& worker = *context.worker;
    const std::int64_t s = context.first + position;
    const std::int64_t sample = settings_.first_sample + s;
    TrajectoryRow row = end != nullptr ? describe<Dim>(*end, worker.memory->scratch(), sample)
                                       : worker.memory->packs().describe(sample, position);
    if (context.energy >= 0.0) {
      row.books = &worker.books;
      row.energy = context.energy;
    }
    worker.sums.add(row);
    if (s < kept_ && row.books == nullptr && has_stores(batch_)) {
      worker.books = inelastic_books(context.problem);
      row.books = &worker.books;
    }
    if (s < kept_) store_row(result_.samples, context.problem, s, row);
    if (s < paths_) {
      const int steps = std::min(row.steps, settings_.max_steps);  // events may be more
      const auto length = std::ptrdiff_t{steps + 1} * path_row(context.energy >= 0.0).size();
      (*context.path_of)[static_cast<std::size_t>(s)].assign(worker.path.begin(),
                                                             worker.path.begin() + length);
    }
  }

  /// Of a sample without stores, whose losses are not booked.
  [[nodiscard]] kernels::StoreBooks inelastic_books(std::int64_t p) const {
    kernels::StoreBooks books{};
    for (int i = 0; i < m_ && i < kMaxFollowedContacts; ++i) {
      books.friction[i] = prepared_.view(p).friction[i];
      books.lost_compression[i] = books.lost_friction[i] = kNan;
    }
    return books;
  }

  const ImpactBatch& batch_;
  const ImpactSettings& settings_;
  bool packs_;
  ImpactCode code_;
  int nv_;
  int m_;
  std::int64_t kept_;
  std::int64_t paths_;
  PreparedImpacts prepared_;
  std::vector<std::uint64_t> sobol_;
  kernels::ImpactRun run_;
  bool tabled_;
  Scratch<ThreadScratch<WorkerMemory<Dim>>> memories_;
  ImpactResult result_;
  std::int64_t done_ = 0;
  std::int64_t chunk_ = 256;  // samples between two reports; no result depends on it
};

/// Sampling on the host: chunks of a problem's samples one after another, between which progress is
/// reported and a wish to stop is heard; the samples of a chunk are shared among the threads.
template <int Dim>
ImpactResult drive_impacts(const ImpactBatch& batch, const ImpactSettings& settings, bool packs,
                           const ImpactCode& code, WorkspaceState* workspace = nullptr) {
  return ImpactDriver<Dim>(batch, settings, packs, code, workspace)();
}

}  // namespace carom::cpu
