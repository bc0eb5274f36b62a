#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include <carom/types/error.hpp>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "impact/backends.hpp"
#include "reference/impact/events.hpp"
#include "reference/impact/releases.hpp"
#include "reference/impact/trajectory.hpp"

namespace carom::reference {
namespace {

constexpr std::int64_t kChunk = 4096;

// A trajectory and, for the net, the state after the closing step.
struct Sample {
  Trajectory trajectory;
  std::optional<Trajectory> closed;
};

class Run {
 public:
  Run(const ImpactBatch& batch, const ImpactSettings& settings);
  ImpactResult operator()();

 private:
  void sample_problem(std::int64_t index);
  void record(std::int64_t index, const Mechanism& mechanism, std::int64_t position,
              const Sample& sample, ImpactAccumulator& accumulator);
  // Reports progress; true when the caller asked to stop.
  bool stopped();

  const ImpactBatch& batch_;
  const ImpactSettings& settings_;
  std::vector<std::uint64_t> sobol_;
  bool wants_net_;
  ImpactResult result_;
  std::int64_t done_ = 0;
};

kernels::StoreBooks books_of(const Bounces& bounces) {
  kernels::StoreBooks books{};
  const auto copy = [](const Vector& from, double* to) { std::copy(from.begin(), from.end(), to); };
  copy(bounces.restitution, books.restitution);
  copy(bounces.friction, books.friction);
  copy(bounces.stored, books.stored);
  copy(bounces.released, books.released);
  copy(bounces.lost_compression, books.lost_compression);
  copy(bounces.lost_friction, books.lost_friction);
  books.guarded = bounces.guarded;
  books.trimmed = bounces.trimmed;
  return books;
}

// Of a sample without stores, whose losses are not booked.
Bounces inelastic(const Mechanism& mechanism) {
  const Vector none = Vector::Zero(mechanism.contacts());
  const Vector unknown = Vector::Constant(mechanism.contacts(), kNan);
  return {none, mechanism.friction, none, none, unknown, unknown};
}

// The impulse that stops the contact that takes most, each by itself; any h where none approaches.
double step_size_of(const Mechanism& mechanism, const Vector& before,
                    const ImpactSettings& settings) {
  double most = 0.0;
  for (int i = 0; i < mechanism.contacts(); ++i) {
    if (before[i] >= -settings.velocity_tolerance) continue;
    const double impulse = -before[i] / mechanism.delassus(i, i);
    if (std::isfinite(impulse)) most = std::max(most, impulse);
  }
  return most > 0.0 ? most : 1.0;
}

Run::Run(const ImpactBatch& batch, const ImpactSettings& settings)
    : batch_(batch),
      settings_(settings),
      wants_net_(settings.epsilon > 0.0 || !settings.problem_epsilon.empty()) {
  if (settings.sampler == Sampler::sobol && batch.contacts > 0) {
    sobol_ = sobol_directions(batch.contacts * settings.max_steps);
  }
  result_.backend = Backend::reference;
  result_.samples = allocate_samples(batch, settings, MemorySpace::host);
}

bool Run::stopped() {
  if (!result_.cancelled && settings_.progress) {
    result_.cancelled = !settings_.progress({done_, settings_.samples * batch_.problems});
  }
  return result_.cancelled;
}

void Run::record(std::int64_t index, const Mechanism& mechanism, std::int64_t position,
                 const Sample& sample, ImpactAccumulator& accumulator) {
  const Trajectory& trajectory = sample.trajectory;
  const double energy_before = mechanism.kinetic_energy(mechanism.velocity);
  TrajectoryRow row;
  row.sample = settings_.first_sample + position;
  row.status = trajectory.status;
  row.steps = trajectory.steps;
  row.pivots = trajectory.pivots;
  row.nonunique = trajectory.nonunique;
  row.examined = trajectory.examined;
  row.residual = trajectory.residual;
  row.energy_ratio =
      energy_before > 0.0 ? mechanism.kinetic_energy(trajectory.velocity) / energy_before : 1.0;
  row.modes = mechanism.modes(trajectory.contact_velocity, settings_.mode_tolerance);
  row.velocity = trajectory.velocity.data();
  row.contact_velocity = trajectory.contact_velocity.data();
  row.impulse = trajectory.impulse.data();
  if (trajectory.status == TrajectoryStatus::terminated) {
    row.net_velocity = row.velocity;
    row.net_impulse = row.impulse;
    row.net_modes = row.modes;
  } else if (sample.closed) {
    row.net_velocity = sample.closed->velocity.data();
    row.net_impulse = sample.closed->impulse.data();
    row.net_modes = mechanism.modes(sample.closed->contact_velocity, settings_.mode_tolerance);
  }
  kernels::StoreBooks books{};
  if (trajectory.bounces) {
    books = books_of(*trajectory.bounces);
    row.books = &books;
    row.energy = energy_before;
  }
  accumulator.add(row);
  if (!trajectory.bounces && has_stores(batch_)) {
    books = books_of(inelastic(mechanism));
    row.books = &books;
  }
  if (position < result_.samples.count) {
    store_row(result_.samples, index, position, row);
  }
  if (position < settings_.keep_paths) {
    ImpactPaths& paths = result_.paths[static_cast<std::size_t>(index)];
    for (const Vector& v : trajectory.path) {
      paths.velocity.insert(paths.velocity.end(), v.begin(), v.end());
    }
    for (const PathPiece& piece : trajectory.pieces) {
      const auto append = [](std::vector<double>& to, const Vector& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(paths.impulse, piece.impulse);
      append(paths.restitution, piece.restitution);
      append(paths.friction, piece.friction);
    }
    paths.offset.push_back(paths.offset.back() + static_cast<std::int64_t>(trajectory.path.size()));
  }
}

void Run::sample_problem(std::int64_t index) {
  const double epsilon = settings_.problem_epsilon.empty()
                             ? std::max(0.0, settings_.epsilon)
                             : settings_.problem_epsilon[static_cast<std::size_t>(index)];
  ImpactAccumulator accumulator(batch_.dimension, batch_.velocities, batch_.contacts, settings_,
                                epsilon);
  ProblemFacts facts;
  if (settings_.keep_paths > 0) result_.paths.push_back({{0}, {}, {}, {}, {}});
  Status status = Status::solved;
  if (settings_.bad_problem == BadProblem::isolate && problem_refusal(batch_, index)) {
    status = Status::invalid_input;
  }
  if (status == Status::solved) {
    const Mechanism mechanism = make_mechanism(problem_of(batch_, index));
    const auto number_of_problem = static_cast<std::uint32_t>(settings_.first_problem + index);
    const Vector before = mechanism.jacobian * mechanism.velocity;
    facts.contact_speed = before.size() > 0 ? before.cwiseAbs().maxCoeff() : 0.0;
    facts.step_size = settings_.step_size > 0.0 ? settings_.step_size
                                                : step_size_of(mechanism, before, settings_);
    const Simulator simulator(mechanism, settings_, facts.step_size, epsilon, number_of_problem,
                              sobol_.empty() ? nullptr : sobol_.data());
    const bool bounces = has_stores(mechanism.problem);
    const bool few = batch_.dimension == 2 && batch_.contacts <= 4 &&
                     !(bounces && (settings_.law != RestitutionLaw::stronge || settings_.vary ||
                                   friction_varies(mechanism.problem)));
    const ReleaseSimulator releases(mechanism, settings_, facts.step_size, number_of_problem);
    const bool follows_events = settings_.method == ImpactMethod::events;
    std::vector<Sample> chunk;
    for (std::int64_t begin = 0; begin < settings_.samples; begin += kChunk) {
      if (stopped()) {
        status = Status::cancelled;
        break;
      }
      const std::int64_t size = std::min(kChunk, settings_.samples - begin);
      chunk.assign(static_cast<std::size_t>(size), {});
      parallel_for_each(size, settings_.threads, [&](std::int64_t i) {
        Sample& sample = chunk[static_cast<std::size_t>(i)];
        const std::int64_t number = settings_.first_sample + begin + i;
        const bool keep_path = begin + i < settings_.keep_paths;
        if (follows_events) {
          const auto follow = few ? follow_planar_events : follow_polygon_events;
          sample.trajectory = follow(mechanism, settings_, number_of_problem, number, keep_path);
        } else if (bounces) {
          sample.trajectory = releases.run(number, keep_path);
        } else {
          sample.trajectory = simulator.run(number, keep_path);
        }
        if (!follows_events && !bounces && epsilon > 0.0 &&
            sample.trajectory.status == TrajectoryStatus::max_steps) {
          Trajectory closed = sample.trajectory;
          if (simulator.close(number, closed)) sample.closed = std::move(closed);
        }
      });
      for (std::int64_t i = 0; i < size; ++i) {
        record(index, mechanism, begin + i, chunk[static_cast<std::size_t>(i)], accumulator);
      }
      done_ += size;
    }
  } else {
    done_ += settings_.samples;
  }
  ImpactSummary summary = accumulator.summary();
  if (status != Status::solved) summary.status = status;
  state_facts(summary, facts, settings_, epsilon);
  result_.summary.push_back(std::move(summary));
  if (wants_net_) result_.net.push_back(accumulator.finish_net(settings_));
}

ImpactResult Run::operator()() {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t p = 0; p < batch_.problems; ++p) sample_problem(p);
  if (!result_.cancelled && settings_.progress) {
    settings_.progress({done_, settings_.samples * batch_.problems});  // nothing left to stop
  }
  result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(result_);
}

}  // namespace

ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            WorkspaceState* /*workspace*/) {
  return Run(batch, settings)();
}

template <>
const ImpactEntries& entries() {
  static constexpr ImpactEntries kEntries{solve_steps, sample_impacts};
  return kEntries;
}

}  // namespace carom::reference
