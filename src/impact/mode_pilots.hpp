#pragma once

#include <bit>
#include <cstdint>

#include "core/random.hpp"
#include "impact/kernels/contact_path.hpp"
#include "impact/kernels/impact.hpp"
#include "impact/kernels/mode_table.hpp"
#include "impact/mode_entry.hpp"

/// The loops that set up a mode table, compiled once for each instruction set.
namespace carom {

inline constexpr std::uint64_t kPilotSeed = 0x6361726f6d;
/// Steps of one pilot at most, whatever the run's max_steps: more of them change no sample that had
/// ended.
inline constexpr int kPilotSteps = 64;

/// Pilot trajectories along the contact path.
struct PilotJob {
  int dimension;
  const kernels::ImpactProblemView* problem;
  const kernels::ImpactRun* run;
  int pilots;
  int capacity;         ///< largest number of steps
  double* steps;        ///< [capacity, rows + m]: z
  std::uint8_t* codes;  ///< [capacity, m]: see ModeCodes
  int* count;           ///< steps that were followed
  double* reals;        ///< path_real_workspace + 3 rows + m
  int* ints;            ///< path_int_workspace
};

/// Combinations of modes to be made functions of z.
struct EntryJob {
  int dimension;
  const kernels::ImpactProblemView* problem;
  const kernels::ImpactRun* run;
  int count;
  const ModeCodes* codes;  ///< [count]
  int most;                ///< conditions that `conditions` has room for: most_conditions
  double* maps;            ///< [count, rows, rows + m]: impulse
  double* conditions;      ///< [count, most, rows + m]: not negative where the combination holds
  int* counts;             ///< [count]: conditions; 0 where the combination's system is singular
};

/// Planar contacts of a problem whose combinations are all tried, and what that makes of them.
inline constexpr int kEnumeratedContacts = 3;
inline constexpr int kEnumeratedWords = 6;         // of 64 entries: 7^3 combinations
inline constexpr int kMostOutcomes = 1024;         // told apart
inline constexpr double kDistinctOutcomes = 1e-7;  // two v' differ by more, relative to max|z|

/// Words that hold a bit for each combination.
CAROM_HOST_DEVICE constexpr int outcome_words(int contacts) {
  return contacts > 2 ? kEnumeratedWords : 1;
}

/// Pilot trajectories that try every combination of planar modes in each step.
struct EnumerationJob {
  const kernels::ImpactProblemView* problem;
  const kernels::ImpactRun* run;
  int first_pilot, pilots;  ///< [first_pilot, pilots), first_pilot divides by eight
  int entries, most;        ///< as in EntryJob, likewise the three arrays
  const double* maps;
  const double* conditions;
  const int* counts;
  int capacity;   ///< steps that are kept
  double* steps;  ///< [capacity, rows + m]: z
  int* count;
  std::uint64_t* leading;  ///< [kMostOutcomes, outcome_words]: entries that lead to an outcome
  long* uses;              ///< [kMostOutcomes]: steps that had it
  int* outcomes;
  bool* mixed;  ///< set where a step has several v'
};

/// Conditions of one entry, the one that most steps fail first, then the one that most of the rest
/// fail.
struct OrderJob {
  static constexpr int kWord = 64;
  static constexpr int kWords = 4;        ///< words at most
  static constexpr int kConditions = 72;  ///< conditions at most
  int columns;
  int conditions;
  const double* rows;     ///< [conditions, columns]
  int words;              ///< steps / kWord
  const double* steps;    ///< [columns, words * kWord]
  const double* lowest;   ///< [words * kWord]: what a condition may miss zero by
  int* order;             ///< [conditions]
  std::uint64_t* solved;  ///< [words]: steps that fail none
};

/// lambda_max of a pilot's step, [m].
CAROM_INLINE void draw_pilot(double step_size, int contacts, int pilot, int step, double* limit) {
  for (int i = 0; i < contacts; ++i) {
    limit[i] = step_size * uniform(kPilotSeed, 0, static_cast<std::uint64_t>(pilot),
                                   static_cast<std::uint32_t>(step * contacts + i));
  }
}

CAROM_INLINE bool pilot_collides(const kernels::ImpactRun& run, const double* u) {
  for (int i = 0; i < run.contacts; ++i) {
    if (u[i] < -run.velocity_tolerance) return true;
  }
  return false;
}

template <int Dim, class Lane>
void follow_pilots_in(const PilotJob& job) {
  const kernels::ImpactProblemView& problem = *job.problem;
  const kernels::ImpactRun& run = *job.run;
  const int m = run.contacts;
  const int rows = Dim * m;
  const Lane lane;
  kernels::ContactPath<Dim, double, Lane> path(lane, m, run.polygon, problem.friction, job.reals,
                                               job.ints);
  double* const u = job.reals + kernels::path_real_workspace(Dim, m, kernels::row_padding<Lane>());
  double* const scaled = u + rows;
  double* const impulse = scaled + rows;
  double* const limit = impulse + rows;
  const auto scale = [&](int row) { return problem.scale[row < m ? row : (row - m) / (Dim - 1)]; };
  int& count = *job.count;
  count = 0;
  for (int pilot = 0; pilot < job.pilots; ++pilot) {
    for (int i = 0; i < rows; ++i) u[i] = problem.contact_velocity[i];
    for (int step = 0; step < kPilotSteps && pilot_collides(run, u); ++step) {
      if (count == job.capacity) return;
      double* const z = job.steps + static_cast<long>(count) * (rows + m);
      draw_pilot(problem.step_size, m, pilot, step, z + rows);
      for (int i = 0; i < rows; ++i) {
        z[i] = u[i];
        scaled[i] = u[i] * scale(i);
      }
      for (int i = 0; i < m; ++i) limit[i] = z[rows + i] / scale(i);
      if (!path.run(problem.delassus, scaled, limit, 12 * rows + 20, impulse).found) break;
      for (int i = 0; i < m; ++i) {
        job.codes[static_cast<long>(count) * m + i] = static_cast<std::uint8_t>(path.mode_code(i));
      }
      ++count;
      for (int i = 0; i < rows; ++i) {
        double sum = scaled[i];
        for (int j = 0; j < rows; ++j) {
          sum = kernels::fused(problem.delassus[i * rows + j], impulse[j], sum);
        }
        u[i] = sum / scale(i);
      }
    }
  }
}

/// A step a lane, of `Width` in a pack.
template <class Pack, int Width>
CAROM_HOST_DEVICE void order_conditions(const OrderJob& job) {
  constexpr int kWord = OrderJob::kWord;
  const long stride = static_cast<long>(job.words) * kWord;
  std::uint64_t failed[OrderJob::kConditions][OrderJob::kWords];
  std::uint64_t open[OrderJob::kWords];
  for (int word = 0; word < job.words; ++word) {
    open[word] = ~std::uint64_t{0};
    std::uint64_t any = 0;
    for (int c = 0; c < job.conditions; ++c) {
      const double* row = job.rows + static_cast<long>(c) * job.columns;
      std::uint64_t holds = 0;
      for (int s = 0; s < kWord; s += Width) {
        const long step = static_cast<long>(word) * kWord + s;
        Pack value(0.0);
        for (int j = 0; j < job.columns; ++j) {
          value = fused(Pack(row[j]), Pack::load(job.steps + j * stride + step), value);
        }
        holds |= std::uint64_t{(value >= Pack::load(job.lowest + step)).bits()} << s;
      }
      failed[c][word] = ~holds;
      any |= ~holds;
    }
    job.solved[word] = ~any;
  }
  for (int c = 0; c < job.conditions; ++c) job.order[c] = c;
  for (int place = 0; place < job.conditions; ++place) {
    int best = place;
    int most = 0;
    for (int at = place; at < job.conditions; ++at) {
      int fails = 0;
      for (int word = 0; word < job.words; ++word) {
        fails += std::popcount(failed[job.order[at]][word] & open[word]);
      }
      if (fails > most) {
        most = fails;
        best = at;
      }
    }
    if (most == 0) break;
    const int first = job.order[best];
    for (int at = best; at > place; --at) job.order[at] = job.order[at - 1];
    job.order[place] = first;
    for (int word = 0; word < job.words; ++word) open[word] &= ~failed[first][word];
  }
}

template <class Lane>
void follow_pilots(const PilotJob& job) {
  job.dimension == 2 ? follow_pilots_in<2, Lane>(job) : follow_pilots_in<3, Lane>(job);
}

}  // namespace carom
