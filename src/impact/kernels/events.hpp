#pragma once

#include <cstdint>

#include "impact/kernels/event_missed.hpp"
#include "impact/kernels/event_search.hpp"
#include "impact/kernels/event_series.hpp"
#include "impact/kernels/event_table.hpp"
#include "impact/kernels/event_weights.hpp"
#include "impact/kernels/planar_stores.hpp"

/// One solution of the inclusion (39), (40) of a planar impact, followed exactly from event to
/// event under weights that are drawn for stretches of impulse: no step size.
namespace carom::kernels {

/// The stores of one trajectory at a time, with its numbers and energy balance.
template <int M>
class OnePlanarStores : public PlanarStores<double, bool, M, kMaxVelocities> {
  using Base = PlanarStores<double, bool, M, kMaxVelocities>;

 public:
  CAROM_INLINE OnePlanarStores(const ImpactRun& run, const ImpactProblemView& problem,
                               const RestitutionView& view, StoreBooks& books)
      : Base(run, problem), run_(run), problem_(problem), view_(view), books_(books) {}

  CAROM_INLINE void begin(std::uint32_t index, std::uint64_t sample) {
    const MaterialNumbers numbers{run_.seed, index, sample};
    for (int i = 0; i < M; ++i) {
      books_.restitution[i] = planar_draw(view_.restitution_low[i], view_.restitution_high[i],
                                          numbers.restitution(i, M, 0));
      books_.friction[i] = problem_.friction[i];
    }
    for (int k = 0; k < 2 * M; ++k) piece_[k] = 0.0;
    Base::begin(true, books_.restitution);
  }
  CAROM_INLINE void follow(const double* u, const double* next, const double* impulse) {
    Base::follow(true, u, next, impulse);
    for (int k = 0; k < 2 * M; ++k) piece_[k] = impulse[k];
  }
  /// ContactStores::record.
  CAROM_INLINE void record(double* path, int at, const double* v) {
    const PathRow row{run_.velocities, 2 * M, M};
    row.write(path + static_cast<long>(at) * row.size(), v, piece_, books_.restitution,
              books_.friction);
    for (int k = 0; k < 2 * M; ++k) piece_[k] = 0.0;
  }
  /// What an impact that ends with u, [rows], and v misses of the largest contact speed; infinite
  /// if the energy does not balance. Completes the energy balance.
  CAROM_INLINE double finish(const double* u, const double* v) {
    double lost = 0.0;
    for (int i = 0; i < M; ++i) {
      books_.stored[i] = this->stored(i);
      books_.released[i] = this->released(i);
      books_.lost_compression[i] = this->lost_compression(i);
      books_.lost_friction[i] = this->lost_friction(i);
      lost = lost + (books_.lost_compression[i] + books_.lost_friction[i]);
    }
    books_.guarded = books_.trimmed = false;
    const double ratio = energy_ratio<double>(problem_, run_.velocities, v);
    return certificate::energies_balance(problem_.energy, ratio, lost) ? this->missed(u)
                                                                       : kInfinity;
  }

 private:
  const ImpactRun& run_;
  const ImpactProblemView& problem_;
  const RestitutionView& view_;
  StoreBooks& books_;
  double piece_[2 * M];
};

/// Stores: NoStores, or what contacts with restitution have put by.
template <class Isa, int M, class Stores = NoStores>
class EventTrajectory {
  using Table = EventTable<Isa, M>;
  using Rules = EventRules;
  using Weights = EventWeights<M>;
  static constexpr int kRows = 2 * M;

 public:
  CAROM_INLINE EventTrajectory(const ImpactRun& run, const ImpactProblemView& problem,
                               const ImpactScratch<2>& scratch, const Table& table,
                               Stores* stores = nullptr)
      : run_(run),
        problem_(problem),
        s_(scratch),
        table_(table),
        stores_(stores),
        sizes_(event_sizes(problem, M, kRows, table)) {}

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
    if constexpr (Stores::kAny) stores_->begin(index, sample);
    if (path != nullptr) record(path, 0);
    bool collides = unfinished();
    if (collides) weights_.begin(M, run_.seed, index, sample);
    constexpr int kMost = Stores::kAny ? Rules::kMostBounces : Rules::kMostPieces;
    while (collides && end.steps < kMost) {
      if (!(weights_.left > 0.0)) begin_stretch(end.steps);
      if (weights_.follows) weights_.choose(pushers(false), [&](int i) { return state(i); });
      if (!follow_piece(end)) {
        if (end.status == TrajectoryStatus::failed) break;
        weights_.spoil();  // nothing moves under these weights: others are drawn
      }
      ++end.steps;
      if (path != nullptr) record(path, end.steps);
      collides = unfinished();
    }
    if (!collides) end.status = TrajectoryStatus::terminated;
    finish(end);
    return end;
  }

 private:
  /// Whether a contact approaches, or is to give back what it has put by.
  CAROM_INLINE bool unfinished() const {
    bool some = false;
    for (int i = 0; i < M; ++i) some = some || u_[i] < 0.0 || filled(i);
    return some;
  }
  [[nodiscard]] CAROM_INLINE bool filled(int i) const {
    if constexpr (Stores::kAny) return stores_->filled(i);
    return false;
  }
  /// u, but as EventWeights::find_pushers has it for contacts with stores.
  CAROM_INLINE const double* pushers(bool held) {
    if constexpr (Stores::kAny) {
      weights_.find_pushers(
          u_, held, sizes_.speed, [this](int i) { return filled(i); }, able_);
      return able_;
    }
    return u_;
  }
  /// What a policy knows contact i by: event_state, or states of contacts with a store.
  [[nodiscard]] CAROM_INLINE int state(int i) const {
    const int slip = event_state(-1.0, u_[M + i]) - 4;
    return filled(i) ? (u_[i] > 0.0 ? 10 : 7) + slip : event_state(u_[i], u_[M + i]);
  }

  /// Row `at` of the path; the last one is that of the newest velocity.
  CAROM_INLINE void record(double* path, int at) const {
    if constexpr (Stores::kAny) {
      velocity(s_.v);
      return stores_->record(path, at < run_.max_steps ? at : run_.max_steps, s_.v);
    }
    velocity(path + static_cast<long>(at < run_.max_steps ? at : run_.max_steps) * run_.velocities);
  }

  /// v + M^-1 J' (impulses so far).
  CAROM_INLINE void velocity(double* v) const {
    event_velocity(problem_, run_.velocities, kRows, total_, v);
  }

  CAROM_INLINE void begin_stretch(int pieces) {
    double longest = sizes_.length;
    // Heavy bodies behind light ones take more impulse than any contact by itself.
    if constexpr (Stores::kAny) longest *= 1U << Rules::doublings(pieces);
    weights_.draw(pushers(false), longest,
                  Stores::kAny ? Weights::kHalvingsOfStores : Weights::kHalvings);
    series_.begin();
  }

  /// Impulses and rates of the first mode that holds.
  CAROM_INLINE bool find() {
    search_.begin(pushers(true), u_ + M, weights_);
    while (const double* mode = search_.next(table_)) {
      event_motion<M>(mode, weights_.weight, impulse_, rate_);
      if (event_holds<M>(search_.state, search_.choice, problem_.friction, weights_.weight, rate_,
                         impulse_)) {
        return true;
      }
    }
    return false;
  }

  /// One linear piece; false where there is none.
  CAROM_INLINE bool follow_piece(TrajectoryEnd& end) {
    if (!find()) {
      if (++redrawn_ > Rules::kMostRedrawn) end.status = TrajectoryStatus::failed;
      return false;
    }
    const EventPiece<double, M> piece =
        event_piece<double, M>(problem_, u_, impulse_, rate_, weights_.left, sizes_.speed, stores_);
    if constexpr (Stores::kAny) {
      if (stores_->idles(u_, impulse_, rate_, piece.length)) return false;
    }
    const int key = static_cast<int>(piece.key);
    std::uint32_t zeros = 0;
    if constexpr (Stores::kAny) {
      double impulse[kRows];
      for (int k = 0; k < kRows; ++k) impulse[k] = piece.length * impulse_[k];
      stores_->follow(u_, piece.next, impulse);
    }
    for (int k = 0; k < kRows; ++k) {
      u_[k] = piece.next[k];
      if (u_[k] == 0.0) zeros |= 1U << k;
      total_[k] = fused(piece.length, impulse_[k], total_[k]);
    }
    wrong_ = larger(wrong_, piece.wrong);
    gained_ = larger(gained_, piece.gained);
    weights_.left = key < 0 ? 0.0 : weights_.left - piece.length;
    series_.add(piece.length);
    if constexpr (Stores::kAny) {
      for (int k = 0; k < kRows; ++k) u_[k] = stores_->rounded(k, u_[k]);
      bool able = false;
      for (int i = 0; i < M; ++i) {
        able = able || (weights_.weight[i] > 0.0 && (u_[i] <= 0.0 || filled(i)));
      }
      if (!able && !weights_.follows) weights_.left = 0.0;
      if (series_.events() >= 2 * Rules::kPolicyEvents) weights_.spoil();
      return true;
    }
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
    if constexpr (Stores::kAny) {
      const double missed = stores_->finish(u_, s_.v);
      if (end.status == TrajectoryStatus::terminated) end.residual = larger(end.residual, missed);
    }
    judge_end<2>(problem_, run_, u_, s_.v, end);
  }

  const ImpactRun& run_;
  const ImpactProblemView& problem_;
  const ImpactScratch<2>& s_;
  const Table& table_;
  Stores* stores_;
  EventSizes sizes_;
  double u_[kRows], total_[kRows];
  double able_[1 + (Stores::kAny ? M - 1 : 0)];
  double impulse_[kRows], rate_[kRows];
  Weights weights_;
  EventSearch<M> search_;
  EventSeries<M> series_;
  int redrawn_ = 0;
  double wrong_ = 0.0, gained_ = 0.0;  ///< the largest of a sample's pieces
};

}  // namespace carom::kernels
