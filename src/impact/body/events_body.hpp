#pragma once

#include <cstdint>

#include "impact/body/event_search.hpp"
#include "impact/body/event_series.hpp"
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
  static constexpr int kMostRedrawn = kMostPieces / 8;  ///< stretches without a mode
  static constexpr int kPolicyEvents = 32;
  static constexpr double kZero = 1e-13;      ///< of the largest contact speed
  static constexpr double kTogether = 1e-12;  ///< of a piece: events at once
  static constexpr double kNothing = 1e-13;   ///< of the terms of a sum: rounding
  static constexpr double kCone = 1e-12;      ///< of the friction limit
  static constexpr double kGain = 1e-15;      ///< of the energy before: no gain

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
    series_.begin();
  }

  /// Impulses and rates of the first mode that holds.
  CAROM_INLINE bool find() {
    search_.begin(u_, weights_);
    while (const double* mode = search_.next(table_)) {
      for (int k = 0; k < kRows; ++k) {
        double impulse = 0.0, rate = 0.0;
        for (int j = 0; j < M; ++j) {
          impulse = fused(mode[2 * j * kRows + k], weights_.weight[j], impulse);
          rate = fused(mode[(2 * j + 1) * kRows + k], weights_.weight[j], rate);
        }
        impulse_[k] = impulse;
        rate_[k] = rate;
      }
      if (holds(search_.state, search_.choice)) return true;
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
      if (++redrawn_ > kMostRedrawn) end.status = TrajectoryStatus::failed;
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
    if (work > kCone * worth + kGain * problem_.energy) {
      end.residual = larger(end.residual, work / problem_.energy);
    }
    for (int k = 0; k < kRows; ++k) {
      u_[k] = next[k];
      total_[k] = fused(length, impulse_[k], total_[k]);
    }
    weights_.left = key < 0 ? 0.0 : weights_.left - length;
    series_.add(length);
    if (key >= 0 && series_.due(weights_.follows) &&
        series_.sum(key, zeros, size_, u_, total_, weights_.left)) {
      ++end.pivots;
    }
    if (weights_.follows && series_.events() >= kPolicyEvents) weights_.spoil();
    return true;
  }

  /// Coulomb's law and complementarity of push and gap velocity at both ends of a piece.
  CAROM_INLINE void certify(const double* next, TrajectoryEnd& end) const {
    double wrong = 0.0;
    bool impossible = false;
    for (int i = 0; i < M; ++i) {
      const double normal = impulse_[i], tangent = impulse_[M + i];
      const double most = problem_.friction[i] * normal;
      impossible = impossible || normal < 0.0 || magnitude(tangent) > most * (1.0 + kCone);
      if (!(normal > 0.0)) continue;
      wrong = larger(wrong, larger(u_[i], next[i]));
      for (int at = 0; at < 2; ++at) {  // where the piece begins and ends
        const double slip = at == 0 ? u_[M + i] : next[M + i];
        const double opposed = slip > 0.0 ? -most : most;
        if (slip != 0.0 && magnitude(tangent - opposed) > kCone * most) {
          wrong = larger(wrong, magnitude(slip));
        }
      }
    }
    end.residual = larger(end.residual, impossible ? kInfinity : wrong / size_);
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

  const ImpactRun& run_;
  const ImpactProblemView& problem_;
  const ImpactScratch<2>& s_;
  const Table& table_;
  double size_;     ///< largest contact speed before the impact
  double longest_;  ///< a length that stops the fastest contact
  double u_[kRows], total_[kRows];
  double impulse_[kRows], rate_[kRows];
  EventWeights<M> weights_;
  EventSearch<M> search_;
  EventSeries<M> series_;
  int redrawn_ = 0;
};

}  // namespace carom::kernels
