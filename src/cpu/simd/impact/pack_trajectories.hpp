#pragma once

#include <cstdint>

#include <carom/certificate.hpp>
#include <carom/device/lanes.hpp>

#include "cpu/simd/isa_lane.hpp"
#include "impact/kernels/draw_limits.hpp"
#include "impact/kernels/impact.hpp"
#include "impact/kernels/mode_table.hpp"

/// Packs of trajectories of one problem with a mode table: each lane of a register follows a
/// sample of its own and takes the next one as soon as it is done.
namespace carom::cpu::simd {

inline constexpr int kMaxPackVelocities = 16;

/// Per sample: the pack leaves its whole trajectory to others, a step failed.
inline constexpr std::uint8_t kUnfinished = 255;

/// Samples [first, first + count) of problem `index`; outputs are indexed by position.
struct PackJob {
  const kernels::ImpactProblemView* problem;
  const kernels::ImpactRun* run;
  std::uint32_t index;
  std::uint64_t first;
  int count;
  double* velocity;          // [count, nv]
  double* contact_velocity;  // [count, rows]
  double* impulse;           // [count, rows]
  double* residual;          // [count]
  double* energy_ratio;      // [count]
  std::uint64_t* modes;      // [count]
  std::int32_t* steps;       // [count]
  std::int32_t* fallback;    // [count]
  std::int32_t* pivots;      // [count]
  std::uint8_t* status;      // [count] TrajectoryStatus or kUnfinished
};

/// contact_modes of every lane, as a number.
template <class Isa, int Dim, int M, class Pack = typename Isa::Pack>
CAROM_INLINE Pack pack_modes(const Pack* u, double mode_tolerance) {
  const Pack tolerance(mode_tolerance);
  const auto word = [](ContactMode mode) { return Pack(static_cast<double>(mode)); };
  Pack modes(0.0);
  for (int i = M - 1; i >= 0; --i) {
    Pack mode = word(ContactMode::sticking);
    if constexpr (Dim == 2) {
      mode = select(u[M + i] > tolerance, word(ContactMode::sliding), mode);
      mode = select(u[M + i] < -tolerance, word(ContactMode::sliding_negative), mode);
    } else {
      const Pack* t = u + M + 2 * i;
      mode = select(t[0] * t[0] + t[1] * t[1] > tolerance * tolerance, word(ContactMode::sliding),
                    mode);
    }
    mode = select(u[i] > tolerance, word(ContactMode::separating), mode);
    modes = Pack(4.0) * modes + mode;
  }
  return modes;
}

template <class Isa, int Dim, int M>
class PackTrajectories {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kRows = Dim * M;
  using Trajectory = kernels::ImpactTrajectory<Dim, IsaLane<Isa>>;

 public:
  /// `alone` takes the steps that the table does not solve, one lane at a time; `scratch` is its.
  PackTrajectories(const PackJob& job, Trajectory& alone,
                   const kernels::ImpactScratch<Dim>& scratch)
      : job_(job),
        problem_(*job.problem),
        run_(*job.run),
        alone_(alone),
        scratch_(scratch),
        nv_(job.run->velocities),
        least_speed_(kernels::least_speed(nv_, kRows, problem_.jacobian, problem_.velocity,
                                          problem_.contact_velocity)) {}

  void operator()() {
    for (int lane = 0; lane < kWidth; ++lane) start(lane);
    const kernels::SingleLane one;
    while (active_ != 0U) {
      finish_lanes();
      if (active_ == 0U) break;
      Pack z[kRows + M];
      Pack* const u = z;
      Pack* const limit = z + kRows;
      draw(limit);
      Pack v[kMaxPackVelocities];
      for (int i = 0; i < kRows; ++i) u[i] = Pack::load(u_[i]);
      for (int i = 0; i < nv_; ++i) v[i] = Pack::load(v_[i]);
      Pack impulse[kRows];
      const Mask found = kernels::find_mode<Pack>(problem_.table, kRows, M, z, impulse);
      Pack next_u[kRows];
      Pack next_v[kMaxPackVelocities];
      auto c = certificate::certify_step<Dim, Pack>(
          one, nv_, M, run_.polygon, problem_.jacobian, problem_.response, problem_.scale,
          problem_.friction, least_speed_, v, u, limit, impulse, next_v, next_u);
      const Mask good = found & c.advances & (c.residual <= Pack(run_.residual_tolerance)) &
                        (c.energy_change <= Pack(1e-9 * problem_.energy));
      unsigned bad = active_ & ~good.bits();
      alignas(64) double limit_of[M][kWidth];
      if (bad != 0U) {  // these lanes stay where they are until they have been seen to
        const Pack none(0.0);
        for (int i = 0; i < kRows; ++i) {
          next_u[i] = select(good, next_u[i], u[i]);
          impulse[i] = select(good, impulse[i], none);
        }
        for (int i = 0; i < nv_; ++i) next_v[i] = select(good, next_v[i], v[i]);
        for (int i = 0; i < M; ++i) limit[i].store(limit_of[i]);
        c.residual = select(good, c.residual, none);
      }
      for (int i = 0; i < kRows; ++i) {
        next_u[i].store(u_[i]);
        (Pack::load(total_[i]) + impulse[i]).store(total_[i]);
      }
      for (int i = 0; i < nv_; ++i) next_v[i].store(v_[i]);
      larger(Pack::load(residual_), c.residual).store(residual_);
      for (; bad != 0U; bad &= bad - 1U) step_alone(kernels::lowest_bit(bad), limit_of);
      for (int lane = 0; lane < kWidth; ++lane) ++step_[lane];
    }
  }

 private:
  /// Gives the lane the next sample, or retires it.
  void start(int lane) {
    if (next_ == job_.count) {
      active_ &= ~(1U << lane);
      return;
    }
    active_ |= 1U << lane;
    position_[lane] = next_;
    sample_[lane] = job_.first + static_cast<std::uint64_t>(next_);
    ++next_;
    step_[lane] = 0;
    fallback_[lane] = 0;
    pivots_[lane] = 0;
    residual_[lane] = 0.0;
    for (int i = 0; i < kRows; ++i) {
      u_[i][lane] = problem_.contact_velocity[i];
      total_[i][lane] = 0.0;
    }
    for (int i = 0; i < nv_; ++i) v_[i][lane] = problem_.velocity[i];
  }

  /// The step that the table left open; a lane that fails is left to others from its beginning.
  void step_alone(int lane, const double (&limit)[M][kWidth]) {
    for (int i = 0; i < kRows; ++i) scratch_.u[i] = u_[i][lane];
    for (int i = 0; i < nv_; ++i) scratch_.v[i] = v_[i][lane];
    for (int i = 0; i < M; ++i) scratch_.limit[i] = limit[i][lane];
    kernels::TrajectoryEnd end{};
    end.steps = static_cast<int>(step_[lane]);
    if (!alone_.step_without_table(job_.index, sample_[lane], end)) {
      job_.status[position_[lane]] = kUnfinished;
      start(lane);
      step_[lane] = ~std::uint64_t{0};  // the step that ends now is not its
      return;
    }
    for (int i = 0; i < kRows; ++i) {
      u_[i][lane] = scratch_.next_u[i];
      total_[i][lane] += scratch_.impulse[i];
    }
    for (int i = 0; i < nv_; ++i) v_[i][lane] = scratch_.next_v[i];
    residual_[lane] = kernels::larger(residual_[lane], end.residual);
    fallback_[lane] += end.fallback;
    pivots_[lane] += end.pivots;
  }

  /// Writes out the lanes whose trajectory has ended and starts their next ones.
  void finish_lanes() {
    Pack u[kRows];
    for (int i = 0; i < kRows; ++i) u[i] = Pack::load(u_[i]);
    const Pack bound(-run_.velocity_tolerance);
    Mask approaching = u[0] < bound;
    for (int i = 1; i < M; ++i) approaching = approaching | (u[i] < bound);
    const unsigned collides = approaching.bits();
    unsigned last = 0;
    for (int lane = 0; lane < kWidth; ++lane) {
      const bool reached = step_[lane] >= static_cast<std::uint64_t>(run_.max_steps);
      last |= static_cast<unsigned>(reached) << lane;
    }
    unsigned ended = active_ & (~collides | last);
    if (ended == 0U) return;
    Pack v[kMaxPackVelocities];
    for (int i = 0; i < nv_; ++i) v[i] = Pack::load(v_[i]);
    alignas(64) double ratio[kWidth], modes[kWidth];
    kernels::energy_ratio<Pack>(problem_, nv_, v).store(ratio);
    pack_modes<Isa, Dim, M>(u, run_.mode_tolerance).store(modes);
    for (; ended != 0U; ended &= ended - 1U) {
      const int lane = kernels::lowest_bit(ended);
      const auto position = static_cast<long>(position_[lane]);
      for (int i = 0; i < nv_; ++i) job_.velocity[position * nv_ + i] = v_[i][lane];
      for (int i = 0; i < kRows; ++i) {
        job_.contact_velocity[position * kRows + i] = u_[i][lane];
        job_.impulse[position * kRows + i] = total_[i][lane];
      }
      job_.residual[position] = residual_[lane];
      job_.energy_ratio[position] = ratio[lane];
      job_.modes[position] = static_cast<std::uint64_t>(modes[lane]);
      job_.steps[position] = static_cast<std::int32_t>(step_[lane]);
      job_.fallback[position] = fallback_[lane];
      job_.pivots[position] = pivots_[lane];
      const bool terminated = ((collides >> lane) & 1U) == 0U;
      job_.status[position] = static_cast<std::uint8_t>(terminated ? TrajectoryStatus::terminated
                                                                   : TrajectoryStatus::max_steps);
      start(lane);
    }
  }

  void draw(Pack* limit) {
    if (run_.sampler == Sampler::sobol) {
      for (int i = 0; i < M; ++i) {
        double value[kWidth];
        for (int lane = 0; lane < kWidth; ++lane) {
          value[lane] = sobol(
              run_.sobol_directions, run_.seed, job_.index, sample_[lane],
              static_cast<std::uint32_t>(bounded_step(lane) * M) + static_cast<std::uint32_t>(i));
        }
        limit[i] = Pack(problem_.step_size) * Pack::load(value);
      }
      return;
    }
    draw_limits<Isa>(run_.seed, job_.index, sample_, step_, M, problem_.step_size, limit);
  }

  /// Step of a lane for addressing tables: a retired lane goes on counting.
  [[nodiscard]] std::uint64_t bounded_step(int lane) const {
    const auto last = static_cast<std::uint64_t>(run_.max_steps - 1);
    return step_[lane] < last ? step_[lane] : last;
  }

  const PackJob& job_;
  const kernels::ImpactProblemView& problem_;
  const kernels::ImpactRun& run_;
  Trajectory& alone_;
  const kernels::ImpactScratch<Dim>& scratch_;
  int nv_;
  double least_speed_;
  int next_ = 0;
  unsigned active_ = 0;
  alignas(64) double v_[kMaxPackVelocities][kWidth] = {};
  alignas(64) double u_[kRows][kWidth] = {};
  alignas(64) double total_[kRows][kWidth] = {};
  alignas(64) double residual_[kWidth] = {};
  alignas(64) std::uint64_t sample_[kWidth] = {};
  alignas(64) std::uint64_t step_[kWidth] = {};
  int position_[kWidth] = {};
  std::int32_t fallback_[kWidth] = {};
  std::int32_t pivots_[kWidth] = {};
};

template <class Isa, int Dim>
void run_pack_job(const PackJob& job, kernels::ImpactTrajectory<Dim, IsaLane<Isa>>& alone,
                  const kernels::ImpactScratch<Dim>& scratch) {
  static_assert(kernels::kMaxPlanarTableContacts == 6 && kernels::kMaxSpatialTableContacts == 4);
  switch (job.run->contacts) {
    case 1:
      return PackTrajectories<Isa, Dim, 1>{job, alone, scratch}();
    case 2:
      return PackTrajectories<Isa, Dim, 2>{job, alone, scratch}();
    case 3:
      return PackTrajectories<Isa, Dim, 3>{job, alone, scratch}();
    case 4:
      return PackTrajectories<Isa, Dim, 4>{job, alone, scratch}();
    case 5:
      if constexpr (Dim == 2) PackTrajectories<Isa, Dim, 5>{job, alone, scratch}();
      return;
    default:
      if constexpr (Dim == 2) PackTrajectories<Isa, Dim, 6>{job, alone, scratch}();
  }
}

}  // namespace carom::cpu::simd
