#pragma once

#include <cstdint>

#include "impact/kernels/event_missed.hpp"
#include "impact/kernels/event_search.hpp"
#include "impact/kernels/event_series.hpp"
#include "impact/kernels/event_table.hpp"
#include "impact/kernels/event_weights.hpp"

/// One solution of the inclusion (39), (40) of a planar impact, followed exactly from event to
/// event under weights that are drawn for stretches of impulse: no step size.
namespace carom::kernels {

template <class Isa, int M>
class EventTrajectory {
  using Table = EventTable<Isa, M>;
  using Rules = EventRules;
  static constexpr int kRows = 2 * M;

 public:
  CAROM_INLINE EventTrajectory(const ImpactRun& run, const ImpactProblemView& problem,
                               const ImpactScratch<2>& scratch, const Table& table)
      : run_(run),
        problem_(problem),
        s_(scratch),
        table_(table),
        sizes_(event_sizes<M>(problem, table)) {}

  /// Runs sample `sample` of problem `index`. Afterwards scratch.v, u and total hold v+, J v+ and
  /// the summed impulse. end.steps counts linear pieces, end.pivots series that were summed.
  /// `path`, if any: [max_steps + 1, nv] receives the first velocities at events, its last row v+.
  CAROM_INLINE TrajectoryEnd run(std::uint32_t index, std::uint64_t sample, double* path) {
    TrajectoryEnd end{};
    end.status = TrajectoryStatus::max_steps;
    for (int k = 0; k < kRows; ++k) {
      u_[k] = event_start(problem_, sizes_.speed, k);
      total_[k] = 0.0;
    }
    redrawn_ = 0;
    wrong_ = gained_ = 0.0;
    if (path != nullptr) record(path, 0);
    bool collides = approaches();
    if (collides) weights_.begin(M, run_.seed, index, sample);
    while (collides && end.steps < Rules::kMostPieces) {
      if (!(weights_.left > 0.0)) begin_stretch();
      if (weights_.follows) {
        weights_.choose(u_, [&](int i) { return event_state(u_[i], u_[M + i]); });
      }
      if (!follow_piece(end)) {
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
    weights_.draw(u_, sizes_.length);
    series_.begin();
  }

  /// Impulses and rates of the first mode that holds.
  CAROM_INLINE bool find() {
    search_.begin(u_, weights_);
    while (const double* mode = search_.next(table_)) {
      event_motion<M>(mode, weights_.weight, impulse_, rate_);
      if (event_holds<M>(search_.state, search_.choice, problem_.friction, weights_.weight, rate_,
                         impulse_)) {
        return true;
      }
    }
    return false;
  }

  /// One linear piece.
  CAROM_INLINE bool follow_piece(TrajectoryEnd& end) {
    if (!find()) {
      if (++redrawn_ > Rules::kMostRedrawn) end.status = TrajectoryStatus::failed;
      return false;
    }
    const EventPiece<double, M> piece =
        event_piece<double, M>(problem_, u_, impulse_, rate_, weights_.left);
    const int key = static_cast<int>(piece.key);
    std::uint32_t zeros = 0;
    for (int k = 0; k < kRows; ++k) {
      u_[k] = piece.next[k];
      if (u_[k] == 0.0) zeros |= 1U << k;
      total_[k] = fused(piece.length, impulse_[k], total_[k]);
    }
    wrong_ = larger(wrong_, piece.wrong);
    gained_ = larger(gained_, piece.gained);
    weights_.left = key < 0 ? 0.0 : weights_.left - piece.length;
    series_.add(piece.length);
    if (key >= 0 && series_.due(weights_.follows) &&
        series_.sum(key, zeros, sizes_.speed, u_, total_, weights_.left)) {
      ++end.pivots;
    }
    if (weights_.follows && series_.events() >= Rules::kPolicyEvents) weights_.spoil();
    return true;
  }

  CAROM_INLINE void finish(TrajectoryEnd& end) {
    for (int k = 0; k < kRows; ++k) s_.u[k] = u_[k], s_.total[k] = total_[k];
    velocity(s_.v);
    if (sizes_.speed > 0.0) {
      const double missed = event_missed(problem_, run_, kRows, sizes_.speed, u_, total_, s_.v);
      end.residual = event_residual(larger(wrong_, missed), gained_, sizes_.speed, problem_.energy);
    }
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
  EventSizes sizes_;
  double u_[kRows], total_[kRows];
  double impulse_[kRows], rate_[kRows];
  EventWeights<M> weights_;
  EventSearch<M> search_;
  EventSeries<M> series_;
  int redrawn_ = 0;
  double wrong_ = 0.0, gained_ = 0.0;  ///< the largest of a sample's pieces
};

}  // namespace carom::kernels
