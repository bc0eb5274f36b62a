#pragma once

#include <cstdint>

#include <carom/device/numeric.hpp>

#include "impact/kernels/draw_limits.hpp"
#include "impact/kernels/table_lane.hpp"
#include "impact/mode_pilots.hpp"

namespace carom {

/// Pilot trajectories that try all combinations of modes in each step: one pilot per lane of the
/// pack, always eight pilots together. `Lanes` divide the combinations of a step among them; data
/// that is not in the job's arrays has a copy in each lane.
template <class Isa, int M, class Lanes = TableLane>
class EnumeratedPilots {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kTogether = 8;
  static constexpr int kRows = 2 * M;
  static constexpr int kColumns = kRows + M;
  static constexpr int kAtOnce = (M > 2 ? 3 : 8) * kColumns;
  static constexpr int kGroups = 16;  // distinct v' of a step at most
  static constexpr int kWords = outcome_words(M);

 public:
  CAROM_HOST_DEVICE explicit EnumeratedPilots(const EnumerationJob& job, Lanes shared = {})
      : job_(job), shared_(shared) {}

  CAROM_HOST_DEVICE void operator()() {
    if (!pilot_collides(*job_.run, job_.problem->contact_velocity)) return;
    for (int i = 0; i < kRows; ++i)
      inverse_scale_[i] = 1.0 / job_.problem->scale[i < M ? i : i - M];
    for (int first = job_.first_pilot; first < job_.pilots; first += kTogether) {
      const int count = job_.pilots - first < kTogether ? job_.pilots - first : kTogether;
      unsigned open = (1U << count) - 1U;
      for (int i = 0; i < kRows; ++i) {
        for (double& u : u_[i]) u = job_.problem->contact_velocity[i];
      }
      for (int step = 0; step < kPilotSteps && open != 0U; ++step) {
        for (int part = 0; part < kTogether; part += kWidth) {
          const unsigned lanes = open >> part & ((1U << kWidth) - 1U);
          if (lanes != 0U)
            open = (open & ~(lanes << part)) | advance(first, part, step, lanes) << part;
        }
      }
    }
  }

 private:
  /// One outcome of a lane's step: u', and the entries that lead there.
  struct Group {
    double after[kRows];
    std::uint64_t entries[kWords];
  };

  /// One step of pilots first + part + lane; the lanes that go on.
  CAROM_HOST_DEVICE unsigned advance(int first, int part, int step, unsigned lanes) {
    Pack z[kColumns];
    for (int i = 0; i < kRows; ++i) z[i] = Pack::load(u_[i] + part);
    alignas(64) std::uint64_t pilot[kWidth], steps[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      pilot[lane] = static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(part + lane);
      steps[lane] = static_cast<std::uint64_t>(step);
    }
    draw_limits<Isa>(kPilotSeed, 0, pilot, steps, M, job_.problem->step_size, z + kRows);
    const Pack lowest = kernels::mode_floor(kColumns, z);
    alignas(64) double distinct[kWidth];
    (lowest * Pack(-kDistinctOutcomes / kernels::kModeTolerance)).store(distinct);
    record(z, lanes);
    int groups[kWidth] = {};
    const auto solve = [&](int entry) {
      if (job_.counts[entry] == 0) return 0U;
      const double* condition = job_.conditions + static_cast<long>(entry) * job_.most * kColumns;
      Mask solves = Mask::from_bits(lanes);
      // As many conditions at once as cost less than a branch that nobody foresees.
      const double* const last = condition + job_.counts[entry] * kColumns;
      while (condition < last && any_of(solves)) {
        const double* const end = last - condition > kAtOnce ? condition + kAtOnce : last;
        for (; condition < end; condition += kColumns) {
          solves = solves & (kernels::mode_row(condition, kColumns, z) >= lowest);
        }
      }
      return solves.bits();
    };
    shared_.each_where(job_.entries, solve, [&](int entry, unsigned solved) {
      alignas(64) double after[kRows][kWidth];
      follow(entry, z, after);
      for (unsigned left = solved; left != 0U; left &= left - 1U) {
        const int lane = kernels::lowest_bit(left);
        join(entry, lane, after, distinct[lane], groups[lane]);
      }
    });
    unsigned on = 0;
    for (unsigned left = lanes; left != 0U; left &= left - 1U) {
      const int lane = kernels::lowest_bit(left);
      if (groups[lane] == 0) continue;
      for (int g = 0; g < groups[lane]; ++g) count(group_[lane][g].entries);
      int chosen = 0;
      if (groups[lane] > 1) {
        *job_.mixed = true;
        chosen =
            static_cast<int>(static_cast<double>(groups[lane]) *
                             uniform(kPilotSeed, 1, pilot[lane], static_cast<std::uint32_t>(step)));
      }
      const double* after = group_[lane][chosen].after;
      for (int i = 0; i < kRows; ++i) u_[i][part + lane] = after[i];
      on |= static_cast<unsigned>(pilot_collides(*job_.run, after)) << lane;
    }
    return on;
  }

  CAROM_HOST_DEVICE void record(const Pack* z, unsigned lanes) {
    alignas(64) double value[kColumns][kWidth];
    for (int j = 0; j < kColumns; ++j) z[j].store(value[j]);
    for (; lanes != 0U && *job_.count < job_.capacity; lanes &= lanes - 1U) {
      double* const to = job_.steps + static_cast<long>((*job_.count)++) * kColumns;
      const int lane = kernels::lowest_bit(lanes);
      shared_.for_each(kColumns, [&](int j) { to[j] = value[j][lane]; });
    }
  }

  /// u' = u + A map z.
  CAROM_HOST_DEVICE void follow(int entry, const Pack* z, double (*after)[kWidth]) const {
    const kernels::ImpactProblemView& problem = *job_.problem;
    const double* map = job_.maps + static_cast<long>(entry) * kRows * kColumns;
    Pack impulse[kRows];
    for (int i = 0; i < kRows; ++i) {
      impulse[i] = kernels::mode_row(map + i * kColumns, kColumns, z) * Pack(inverse_scale_[i]);
    }
    for (int i = 0; i < kRows; ++i) {
      Pack sum(0.0);
      for (int j = 0; j < kRows; ++j) {
        sum = fused(Pack(problem.delassus[i * kRows + j]), impulse[j], sum);
      }
      (z[i] + sum * Pack(inverse_scale_[i])).store(after[i]);
    }
  }

  CAROM_HOST_DEVICE void join(int entry, int lane, const double (*after)[kWidth], double distinct,
                              int& groups) {
    int g = 0;
    for (; g < groups; ++g) {
      bool same = true;
      for (int i = 0; i < kRows; ++i) {
        const double apart = after[i][lane] - group_[lane][g].after[i];
        same = same && !(apart > distinct || -apart > distinct);
      }
      if (same) break;
    }
    if (g == kGroups) return;
    Group& group = group_[lane][g];
    if (g == groups) {
      ++groups;
      for (int i = 0; i < kRows; ++i) group.after[i] = after[i][lane];
      for (auto& word : group.entries) word = 0;
    }
    group.entries[entry / 64] |= std::uint64_t{1} << (entry % 64);
  }

  /// One more step had an outcome that these entries lead to.
  CAROM_HOST_DEVICE void count(const std::uint64_t* entries) const {
    const int known = *job_.outcomes;
    const int o = shared_.first_where(known, [&](int at) {
      const std::uint64_t* own = job_.leading + static_cast<long>(at) * kWords;
      bool same = true;
      for (int w = 0; w < kWords; ++w) same = same && own[w] == entries[w];
      return same;
    });
    if (o == kMostOutcomes) return;
    shared_.for_each(1, [&](int) {
      if (o < known) {
        ++job_.uses[o];
        return;
      }
      job_.uses[o] = 1;
      for (int w = 0; w < kWords; ++w) {
        job_.leading[static_cast<long>(o) * kWords + w] = entries[w];
      }
    });
    if (o == known) ++*job_.outcomes;
  }

  const EnumerationJob& job_;
  Lanes shared_;
  double inverse_scale_[kRows];
  alignas(64) double u_[kRows][kTogether];
  Group group_[kWidth][kGroups];
};

}  // namespace carom
