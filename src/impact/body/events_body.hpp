#pragma once

#include <cstdint>

#include "impact/body/event_table.hpp"
#include "impact/body/event_weights.hpp"

/// One solution of the inclusion (39), (40) of a planar impact, followed exactly from event to
/// event under weights that are drawn for stretches of impulse: no step size.
namespace carom::kernels {

template <class Isa, int M>
class EventTrajectory {
  using Table = EventTable<Isa, M>;
  static constexpr int kRows = 2 * M;

 public:
  CAROM_INLINE EventTrajectory(const ImpactRun& run, const ImpactProblemView& problem,
                               const ImpactScratch<2>& scratch, const Table& table)
      : run_(run), problem_(problem), s_(scratch), table_(table) {
    size_ = 0.0;
    for (int k = 0; k < kRows; ++k) size_ = larger(size_, magnitude(problem_.contact_velocity[k]));
    longest_ = 0.0;
    for (int i = 0; i < M; ++i) {
      const double own = table_.response(i, i);
      if (own > 0.0) longest_ = larger(longest_, size_ / own);
    }
    if (longest_ == 0.0) longest_ = 1.0;
  }

  /// Runs sample `sample` of problem `index`. Afterwards scratch.v, u and total hold v+, J v+ and
  /// the summed impulse. end.steps counts linear pieces, end.pivots series that were summed.
  /// `path`, if any: [max_steps + 1, nv] receives the first velocities at events, its last row v+.
  CAROM_INLINE TrajectoryEnd run(std::uint32_t index, std::uint64_t sample, double* path) {
    TrajectoryEnd end{};
    end.status = TrajectoryStatus::max_steps;
    for (int k = 0; k < kRows; ++k) {
      const double u = problem_.contact_velocity[k];
      u_[k] = magnitude(u) <= kZero * size_ ? 0.0 : u;
      total_[k] = 0.0;
    }
    redrawn_ = 0;
    if (path != nullptr) record(path, 0);
    bool collides = approaches();
    if (collides) weights_.begin(run_.seed, index, sample);
    while (collides && end.steps < kMostPieces) {
      if (!(weights_.left > 0.0)) begin_stretch();
      if (weights_.follows) weights_.choose(u_);
      if (!piece(end)) {
        if (end.status == TrajectoryStatus::failed) break;
        weights_.spoil();  // no mode under these weights: others are drawn
      }
      ++end.steps;
      if (path != nullptr) record(path, end.steps);
      collides = approaches();
    }
    if (!collides) end.status = TrajectoryStatus::terminated;
    finish(end);
    return end;
  }

 private:
  static constexpr int kMostPieces = 4096;
  static constexpr double kZero = 1e-13;      ///< of the largest contact speed
  static constexpr double kTogether = 1e-12;  ///< of a piece: events at once
  static constexpr double kSameShape = 1e-8;  ///< of a cycle that repeats itself smaller
  static constexpr double kSlowest = 0.999;   ///< ratio of cycles that are summed
  static constexpr double kSettled = 1e-11;   ///< of the largest contact speed: their limit is 0
  static constexpr int kCyclesFrom = 24;      ///< events before cycles are looked for, ...
  static constexpr int kPolicyCycles = 4;     ///< ... under a policy, which repeats itself
  static constexpr int kPolicyEvents = 32;
  static constexpr double kNothing = 1e-13;  ///< of the terms of a sum: rounding

  CAROM_INLINE bool approaches() const {
    bool some = false;
    for (int i = 0; i < M; ++i) some = some || u_[i] < 0.0;
    return some;
  }

  /// Row `at` of the path; the last one is that of the newest velocity.
  CAROM_INLINE void record(double* path, int at) const {
    velocity(path + static_cast<long>(at < run_.max_steps ? at : run_.max_steps) * run_.velocities);
  }

  /// v + M^-1 J' (impulses so far).
  CAROM_INLINE void velocity(double* v) const {
    for (int j = 0; j < run_.velocities; ++j) {
      double sum = problem_.velocity[j];
      for (int k = 0; k < kRows; ++k) {
        sum = fused(problem_.response[static_cast<long>(j) * kRows + k], total_[k], sum);
      }
      v[j] = sum;
    }
  }

  CAROM_INLINE void begin_stretch() {
    weights_.draw(u_, longest_);
    events_ = 0;
    cycle_ = 0;
  }

  /// Impulses and rates of the first mode from number `weights_.first` on, cyclically, that holds.
  CAROM_INLINE bool find() {
    constexpr signed char kOptions[7][7] = {
        {0}, {0, 1, 4}, {0, 2, 3, 1, 5, 6, 4}, {0, 3, 6}, {1}, {2, 3, 1}, {3}};
    constexpr signed char kCount[7] = {1, 3, 7, 3, 1, 3, 1};
    constexpr int kPower[4] = {1, 7, 49, 343};
    int state[M], digit[M];
    unsigned count = 1, pushing = 0;
    for (int i = 0; i < M; ++i) {
      state[i] = event_state(u_[i], u_[M + i]);
      count *= static_cast<unsigned>(kCount[state[i]]);
      pushing |= (weights_.weight[i] > 0.0 ? 1U : 0U) << i;
    }
    unsigned rest = count > 1 ? weights_.first % count : 0;
    for (int i = 0; i < M; ++i) {
      const auto own = static_cast<unsigned>(kCount[state[i]]);
      digit[i] = static_cast<int>(rest % own);
      rest /= own;
    }
    for (unsigned tried = 0; tried < count; ++tried) {
      int number = 0, choice[M];
      for (int i = 0; i < M; ++i) {
        choice[i] = kOptions[state[i]][digit[i]];
        number += kPower[i] * choice[i];
      }
      const double* mode = table_.mode(number, pushing);
      if (mode != nullptr) {
        for (int k = 0; k < kRows; ++k) {
          double impulse = 0.0, rate = 0.0;
          for (int j = 0; j < M; ++j) {
            impulse = fused(mode[2 * j * kRows + k], weights_.weight[j], impulse);
            rate = fused(mode[(2 * j + 1) * kRows + k], weights_.weight[j], rate);
          }
          impulse_[k] = impulse;
          rate_[k] = rate;
        }
        if (holds(state, choice)) return true;
      }
      for (int i = 0; i < M; ++i) {
        if (++digit[i] < kCount[state[i]]) break;
        digit[i] = 0;
      }
    }
    return false;
  }

  CAROM_INLINE bool holds(const int* state, const int* choice) {
    bool pushed = false;
    for (int i = 0; i < M; ++i) {
      double& normal = impulse_[i];
      double& tangent = impulse_[M + i];
      const bool touches = state[i] >= 1 && state[i] <= 3;
      if (choice[i] == 0) {
        if (touches && rate_[i] < 0.0) return false;
        continue;
      }
      if (event_held(choice[i])) {
        if (!(normal >= -kNothing * weights_.weight[i] &&
              normal <= weights_.weight[i] * (1.0 + kNothing))) {
          return false;
        }
        if (normal < 0.0) normal = tangent = 0.0;
      } else if (touches && rate_[i] > 0.0) {
        return false;
      }
      pushed = pushed || normal > 0.0;
      if (state[i] != 2 && state[i] != 5) continue;
      const int slip = event_slip(choice[i]);
      if (slip == 0) {
        const double most = problem_.friction[i] * normal;
        if (!(magnitude(tangent) <= most * (1.0 + kNothing))) return false;
        tangent = smaller(larger(tangent, -most), most);
      } else if (slip * rate_[M + i] < 0.0) {
        return false;
      }
    }
    return pushed;
  }

  /// One linear piece: to the next zero of a contact velocity or the stretch's end.
  CAROM_INLINE bool piece(TrajectoryEnd& end) {
    if (!find()) {
      if (++redrawn_ > kMostPieces / 8) end.status = TrajectoryStatus::failed;
      return false;
    }
    double until[kRows], next[kRows];
    for (int k = 0; k < kRows; ++k) {
      const double after = -u_[k] / rate_[k];
      // not of a contact that separates
      const bool counts = (k < M || !(u_[k < M ? k : k - M] > 0.0)) && u_[k] * rate_[k] < 0.0;
      until[k] = counts ? after : kInfinity;
    }
    double length = weights_.left;
    int key = -1;
    for (int k = 0; k < kRows; ++k) {
      if (until[k] < length) length = until[k], key = k;
    }
    const double together = key < 0 ? 0.0 : length * (1.0 + kTogether);
    std::uint32_t zeros = 0;
    double work = 0.0, worth = 0.0;
    for (int k = 0; k < kRows; ++k) {
      const double before = u_[k];
      double after = fused(length, rate_[k], before);
      if (until[k] < kInfinity && (until[k] <= together || before * after < 0.0 ||
                                   (key >= 0 && magnitude(after) <= kZero * magnitude(before)))) {
        after = 0.0;
      }
      next[k] = after;
      if (after == 0.0) zeros |= 1U << k;
      const double part = impulse_[k] * 0.5 * (before + after) * length;
      work += part;
      worth += magnitude(part);
    }
    certify(next, end);
    if (work > 1e-12 * worth + 1e-15 * problem_.energy) {
      end.residual = larger(end.residual, work / problem_.energy);
    }
    for (int k = 0; k < kRows; ++k) {
      u_[k] = next[k];
      total_[k] = fused(length, impulse_[k], total_[k]);
    }
    weights_.left = key < 0 ? 0.0 : weights_.left - length;
    since_mark_ += length;
    ++events_;
    const int cycles_from = weights_.follows ? kPolicyCycles : kCyclesFrom;
    if (key >= 0 && events_ > cycles_from) watch(key, zeros, end);
    if (weights_.follows && events_ >= kPolicyEvents) weights_.spoil();
    return true;
  }

  /// Coulomb's law and complementarity of push and gap velocity at both ends of a piece.
  CAROM_INLINE void certify(const double* next, TrajectoryEnd& end) const {
    double wrong = 0.0;
    bool impossible = false;
    for (int i = 0; i < M; ++i) {
      const double normal = impulse_[i], tangent = impulse_[M + i];
      const double most = problem_.friction[i] * normal;
      impossible = impossible || normal < 0.0 || magnitude(tangent) > most * (1.0 + 1e-12);
      if (!(normal > 0.0)) continue;
      wrong = larger(wrong, larger(u_[i], next[i]));
      for (int at = 0; at < 2; ++at) {  // where the piece begins and ends
        const double slip = at == 0 ? u_[M + i] : next[M + i];
        const double opposed = slip > 0.0 ? -most : most;
        if (slip != 0.0 && magnitude(tangent - opposed) > 1e-12 * most) {
          wrong = larger(wrong, magnitude(slip));
        }
      }
    }
    end.residual = larger(end.residual, impossible ? kInfinity : wrong / size_);
  }

  /// Events that alternate in cycles, each a copy of the one before it and smaller by one ratio,
  /// sum to a geometric series: the state behind all of them is taken at once.
  CAROM_INLINE void watch(int key, std::uint32_t zeros, TrajectoryEnd& end) {
    if (cycle_ == 0) key_ = key, zeros_ = 0, since_ = 0, since_mark_ = 0.0;
    zeros_ |= zeros;
    ++since_;
    if (key != key_) {
      if (since_ > kCyclesFrom) cycle_ = 0;
      return;
    }
    Mark& mark = mark_[cycle_ % 3];
    for (int k = 0; k < kRows; ++k) mark.u[k] = u_[k], mark.total[k] = total_[k];
    mark.length = since_mark_;
    mark.zeros = zeros_;
    mark.events = since_;
    since_mark_ = 0.0;
    zeros_ = 0;
    since_ = 0;
    if (++cycle_ < 3) return;
    const Mark& first = mark_[cycle_ % 3];
    const Mark& second = mark_[(cycle_ + 1) % 3];
    const double ratio = mark.length / second.length;
    if (mark.zeros != second.zeros || mark.events != second.events || !(ratio < kSlowest)) return;
    double largest = 0.0, wrong = 0.0;
    for (int k = 0; k < kRows; ++k) {
      const double step = second.u[k] - first.u[k], next = mark.u[k] - second.u[k];
      largest = larger(largest, magnitude(step));
      wrong = larger(wrong, magnitude(fused(-ratio, step, next)));
    }
    if (!(wrong <= kSameShape * largest)) return;
    const double times = ratio / (1.0 - ratio);
    const double spent = times * mark.length;
    if (!(spent < weights_.left)) return;
    double limit[kRows];
    for (int k = 0; k < kRows; ++k) {
      limit[k] = fused(times, mark.u[k] - second.u[k], u_[k]);
      if ((mark.zeros >> k & 1U) != 0) {
        if (!(magnitude(limit[k]) <= kSettled * size_)) return;
        limit[k] = 0.0;
      } else if (limit[k] * u_[k] < 0.0) {
        return;
      }
    }
    for (int k = 0; k < kRows; ++k) {
      total_[k] = fused(times, mark.total[k] - second.total[k], total_[k]);
      u_[k] = limit[k];
    }
    weights_.left -= spent;
    cycle_ = 0;
    ++end.pivots;
  }

  CAROM_INLINE void finish(TrajectoryEnd& end) {
    for (int k = 0; k < kRows; ++k) s_.u[k] = u_[k], s_.total[k] = total_[k];
    velocity(s_.v);
    double wrong = 0.0;
    for (int k = 0; k < kRows; ++k) {
      double sum = 0.0;
      for (int j = 0; j < run_.velocities; ++j) {
        sum = fused(problem_.jacobian[static_cast<long>(k) * run_.velocities + j], s_.v[j], sum);
      }
      wrong = larger(wrong, magnitude(sum - u_[k]));
    }
    if (size_ > 0.0) end.residual = larger(end.residual, wrong / size_);
    if (!certificate::within(end.residual, run_.residual_tolerance)) {
      end.status = TrajectoryStatus::failed;
    }
    if (end.status == TrajectoryStatus::failed) {
      end.residual = kInfinity;
      return;
    }
    end.modes = contact_modes<2>(M, u_, run_.mode_tolerance);
    end.energy_ratio = kernels::energy_ratio<double>(problem_, run_.velocities, s_.v);
    end.in_net = end.status == TrajectoryStatus::terminated;
    end.net_modes = end.modes;
  }

  struct Mark {
    double u[kRows], total[kRows];
    double length;  ///< of the cycle that ends here
    std::uint32_t zeros;
    int events;
  };

  const ImpactRun& run_;
  const ImpactProblemView& problem_;
  const ImpactScratch<2>& s_;
  const Table& table_;
  double size_;     ///< largest contact speed before the impact
  double longest_;  ///< a length that stops the fastest contact
  double u_[kRows], total_[kRows];
  double impulse_[kRows], rate_[kRows];
  EventWeights<M> weights_;
  double since_mark_ = 0.0;
  int events_ = 0;  ///< of the stretch
  int redrawn_ = 0;
  Mark mark_[3];
  int cycle_ = 0, key_ = -1, since_ = 0;
  std::uint32_t zeros_ = 0;
};

}  // namespace carom::kernels
