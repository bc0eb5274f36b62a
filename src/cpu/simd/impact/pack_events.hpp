#pragma once

#include "cpu/simd/impact/event_lanes.hpp"

namespace carom::cpu::simd {

/// Packs side by side: what one waits for another fills. Stored: with restitution.
template <class Isa, int M, bool Stored>
class PackEvents {
  using Pack = typename Isa::Pack;
  using Table = kernels::EventTable<Isa, M>;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kRows = 2 * M;

 public:
  /// Positions [first, job.count), where `starts()`.
  PackEvents(const PackJob& job, int first, const Table& table, EventFace* faces,
             const StoreRows& rows)
      : job_(job),
        problem_(*job.problem),
        run_(*job.run),
        table_(table),
        faces_(faces),
        rows_(rows),
        sizes_(kernels::event_sizes(*job.problem, M, kRows, table)),
        nv_(job.run->velocities),
        first_(first) {}

  /// Whether some contact approaches before the impact.
  [[nodiscard]] bool starts() const {
    bool some = false;
    for (int i = 0; i < M; ++i) {
      some = some || kernels::event_start(problem_, sizes_.speed, i) < 0.0;
    }
    return some;
  }

  void operator()() {
    EventSupply<Isa, Stored ? M : 0> supply(job_, first_, rows_.view);
    using Lanes = EventLanes<Isa, M, Stored>;
    Lanes packs[] = {Lanes(job_, table_, faces_, sizes_, supply, rows_),
                     Lanes(job_, table_, faces_, sizes_, supply, rows_)};
    while (packs[0].active() || packs[1].active()) {
#pragma GCC unroll 1
      for (Lanes& lanes : packs) lanes.states(), lanes.draw(), lanes.choose(), lanes.hold();
#pragma GCC unroll 1
      for (Lanes& lanes : packs) lanes.find();
#pragma GCC unroll 1
      for (Lanes& lanes : packs) lanes.follow(), lanes.finish();
    }
    for (int position = first_; position < job_.count; position += kWidth) summarise(position);
  }

 private:
  /// EventTrajectory::finish of the trajectories from `position` on.
  void summarise(int position) {
    const int last = job_.count - 1;
    const double* from[kWidth];
    alignas(64) double columns[kRows][kWidth], residual[kWidth];
    const auto place = [&](int lane) {
      return static_cast<long>(position + lane < last ? position + lane : last);
    };
    const auto load = [&](const double* rows, Pack* to) {
      for (int lane = 0; lane < kWidth; ++lane) from[lane] = rows + place(lane) * kRows;
      spread<kWidth>(from, kRows, columns[0]);
      for (int k = 0; k < kRows; ++k) to[k] = Pack::load(columns[k]);
    };
    Pack u[kRows], total[kRows], v[kMaxPackVelocities];
    load(job_.contact_velocity, u);
    load(job_.impulse, total);
    for (int lane = 0; lane < kWidth; ++lane) residual[lane] = job_.residual[place(lane)];
    kernels::event_velocity(problem_, nv_, kRows, total, v);
    Pack wrong(0.0);
    for (int k = 0; k < kRows; ++k) {
      Pack sum(0.0);
      for (int j = 0; j < nv_; ++j) {
        sum = fused(Pack(problem_.jacobian[static_cast<long>(k) * nv_ + j]), v[j], sum);
      }
      wrong = larger(wrong, magnitude(sum - u[k]));
    }
    alignas(64) double ratio[kWidth], modes[kWidth], speed[kMaxPackVelocities][kWidth];
    const Pack all = larger(Pack::load(residual), wrong / Pack(sizes_.speed));
    all.store(residual);
    unsigned good = (all <= Pack(run_.residual_tolerance)).bits();
    const Pack left = kernels::energy_ratio<Pack>(problem_, nv_, v);
    left.store(ratio);
    if constexpr (Stored) {
      alignas(64) double lost[kWidth] = {};
      for (int lane = 0; lane < kWidth; ++lane) {
        for (int i = 0; i < M; ++i) {
          const long at = place(lane) * M + i;
          lost[lane] = lost[lane] + (rows_.lost_compression[at] + rows_.lost_friction[at]);
        }
      }
      good &= certificate::energies_balance(problem_.energy, left, Pack::load(lost)).bits();
    }
    pack_modes<Isa, 2, M>(u, run_.mode_tolerance).store(modes);
    for (int j = 0; j < nv_; ++j) v[j].store(speed[j]);
    for (int lane = 0; lane < kWidth && position + lane <= last; ++lane) {
      const long at = position + lane;
      for (int j = 0; j < nv_; ++j) job_.velocity[at * nv_ + j] = speed[j][lane];
      job_.residual[at] = residual[lane];
      job_.energy_ratio[at] = ratio[lane];
      job_.modes[at] = static_cast<std::uint64_t>(modes[lane]);
      if ((good >> lane & 1U) == 0U) job_.status[at] = kUnfinished;
    }
  }

  const PackJob& job_;
  const kernels::ImpactProblemView& problem_;
  const kernels::ImpactRun& run_;
  const Table& table_;
  EventFace* faces_;
  const StoreRows& rows_;
  kernels::EventSizes sizes_;
  int nv_;
  int first_;
};

}  // namespace carom::cpu::simd
