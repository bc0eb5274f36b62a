#pragma once

#include <cstdint>

#include <carom/certificate.hpp>
#include <carom/kernels/impact_body.hpp>
#include <carom/kernels/lanes.hpp>
#include <carom/kernels/mode_table.hpp>

/// Packs of trajectories of one planar problem with a mode table: each lane of a register follows a
/// sample of its own and takes the next one as soon as it is done.
namespace carom::cpu::simd {

inline constexpr int kMaxPackVelocities = 16;

/// Per sample, what the pack leaves to others: a step that the table did not solve.
inline constexpr std::uint8_t kUnfinished = 255;

/// Samples [first, first + count) of problem `index`; outputs are indexed by position.
struct PackJob {
  const kernels::ImpactProblemView* problem;
  const kernels::ImpactRun* run;
  std::uint32_t index;
  std::uint64_t first;
  int count;
  double* velocity;          // [count, nv]
  double* contact_velocity;  // [count, 2m]
  double* impulse;           // [count, 2m]
  double* residual;          // [count]
  double* energy_ratio;      // [count]
  std::uint64_t* modes;      // [count]
  std::int32_t* steps;       // [count]
  std::uint8_t* status;      // [count] TrajectoryStatus or kUnfinished
};

template <class Isa, int M>
class PackTrajectories {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kRows = 2 * M;

 public:
  explicit PackTrajectories(const PackJob& job)
      : job_(job), problem_(*job.problem), run_(*job.run), nv_(job.run->velocities) {}

  void operator()() {
    for (int lane = 0; lane < kWidth; ++lane) start(lane);
    const kernels::SingleLane one;
    while (active_ != 0U) {
      finish_lanes();
      if (active_ == 0U) break;
      Pack limit[M];
      draw(limit);
      Pack u[kRows];
      Pack v[kMaxPackVelocities];
      for (int i = 0; i < kRows; ++i) u[i] = Pack::load(u_[i]);
      for (int i = 0; i < nv_; ++i) v[i] = Pack::load(v_[i]);
      Pack impulse[kRows];
      const Mask found =
          kernels::find_mode<Pack>(problem_.table, M, problem_.friction, u, limit, impulse);
      Pack next_u[kRows];
      Pack next_v[kMaxPackVelocities];
      const auto c = certificate::certify_step<2, Pack>(
          one, nv_, M, run_.polygon, problem_.jacobian, problem_.response, problem_.friction, v, u,
          limit, impulse, next_v, next_u);
      const Mask good = found & c.advances & (c.residual <= Pack(run_.residual_tolerance)) &
                        (c.energy_change <= Pack(1e-9 * problem_.energy));
      for (int i = 0; i < kRows; ++i) {
        next_u[i].store(u_[i]);
        (Pack::load(total_[i]) + impulse[i]).store(total_[i]);
      }
      for (int i = 0; i < nv_; ++i) next_v[i].store(v_[i]);
      larger(Pack::load(residual_), c.residual).store(residual_);
      for (int lane = 0; lane < kWidth; ++lane) ++step_[lane];
      // A lane without a certified step is left to the scalar path, from its beginning.
      const unsigned bad = active_ & ~good.bits();
      for (int lane = 0; bad >> lane != 0U; ++lane) {
        if (((bad >> lane) & 1U) == 0U) continue;
        job_.status[position_[lane]] = kUnfinished;
        start(lane);
      }
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
    residual_[lane] = 0.0;
    for (int i = 0; i < kRows; ++i) {
      u_[i][lane] = problem_.contact_velocity[i];
      total_[i][lane] = 0.0;
    }
    for (int i = 0; i < nv_; ++i) v_[i][lane] = problem_.velocity[i];
  }

  /// Writes out the lanes whose trajectory has ended and starts their next ones.
  void finish_lanes() {
    const Pack bound(-run_.velocity_tolerance);
    Mask approaching = Pack::load(u_[0]) < bound;
    for (int i = 1; i < M; ++i) approaching = approaching | (Pack::load(u_[i]) < bound);
    const unsigned collides = approaching.bits();
    for (int lane = 0; lane < kWidth; ++lane) {
      if (((active_ >> lane) & 1U) == 0U) continue;
      const bool ended = ((collides >> lane) & 1U) == 0U;
      if (!ended && step_[lane] < static_cast<std::uint64_t>(run_.max_steps)) continue;
      const auto position = static_cast<long>(position_[lane]);
      for (int i = 0; i < nv_; ++i) job_.velocity[position * nv_ + i] = v_[i][lane];
      for (int i = 0; i < kRows; ++i) {
        job_.contact_velocity[position * kRows + i] = u_[i][lane];
        job_.impulse[position * kRows + i] = total_[i][lane];
      }
      job_.residual[position] = residual_[lane];
      job_.energy_ratio[position] =
          kernels::energy_ratio(problem_, nv_, job_.velocity + position * nv_);
      job_.modes[position] = kernels::contact_modes<2>(M, job_.contact_velocity + position * kRows,
                                                       run_.mode_tolerance);
      job_.steps[position] = static_cast<std::int32_t>(step_[lane]);
      job_.status[position] = static_cast<std::uint8_t>(ended ? TrajectoryStatus::terminated
                                                              : TrajectoryStatus::max_steps);
      start(lane);
    }
  }

  void draw(Pack (&limit)[M]) {
    const Pack h(run_.step_size);
    if (run_.sampler == Sampler::sobol) {
      for (int i = 0; i < M; ++i) {
        double value[kWidth];
        for (int lane = 0; lane < kWidth; ++lane) {
          value[lane] = sobol(
              run_.sobol_directions, run_.seed, job_.index, sample_[lane],
              static_cast<std::uint32_t>(bounded_step(lane) * M) + static_cast<std::uint32_t>(i));
        }
        limit[i] = h * Pack::load(value);
      }
      return;
    }
    constexpr int kBlocks = (M + 1) / 2;
    Pack drawn[2 * kBlocks];
    std::uint64_t block[kWidth];
    for (int b = 0; b < kBlocks; ++b) {
      for (int lane = 0; lane < kWidth; ++lane) {
        block[lane] = (step_[lane] * M >> 1) + static_cast<std::uint64_t>(b);
      }
      Isa::uniform_pairs(run_.seed, job_.index, sample_, block, drawn[2 * b], drawn[2 * b + 1]);
    }
    if constexpr (M % 2 == 0) {
      for (int i = 0; i < M; ++i) limit[i] = h * drawn[i];
    } else {
      unsigned odd = 0;
      for (int lane = 0; lane < kWidth; ++lane) {
        odd |= static_cast<unsigned>(step_[lane] & 1U) << lane;
      }
      for (int i = 0; i < M; ++i) {
        limit[i] = h * select(Mask::from_bits(odd), drawn[i + 1], drawn[i]);
      }
    }
  }

  /// Step of a lane for addressing tables: a retired lane goes on counting.
  [[nodiscard]] std::uint64_t bounded_step(int lane) const {
    const auto last = static_cast<std::uint64_t>(run_.max_steps - 1);
    return step_[lane] < last ? step_[lane] : last;
  }

  const PackJob& job_;
  const kernels::ImpactProblemView& problem_;
  const kernels::ImpactRun& run_;
  int nv_;
  int next_ = 0;
  unsigned active_ = 0;
  alignas(64) double v_[kMaxPackVelocities][kWidth] = {};
  alignas(64) double u_[kRows][kWidth] = {};
  alignas(64) double total_[kRows][kWidth] = {};
  alignas(64) double residual_[kWidth] = {};
  alignas(64) std::uint64_t sample_[kWidth] = {};
  alignas(64) std::uint64_t step_[kWidth] = {};
  int position_[kWidth] = {};
};

template <class Isa>
void run_pack_job(const PackJob& job) {
  switch (job.run->contacts) {
    case 1:
      PackTrajectories<Isa, 1>{job}();
      break;
    case 2:
      PackTrajectories<Isa, 2>{job}();
      break;
    default:
      PackTrajectories<Isa, 3>{job}();
      break;
  }
}

}  // namespace carom::cpu::simd
