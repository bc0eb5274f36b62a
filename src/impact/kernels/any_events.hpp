#pragma once

#include <cstdint>

#include "impact/kernels/contact_stores.hpp"
#include "impact/kernels/event_cycles.hpp"
#include "impact/kernels/event_missed.hpp"
#include "impact/kernels/event_modes.hpp"
#include "impact/kernels/event_modes_packs.hpp"
#include "impact/kernels/event_piece.hpp"
#include "impact/kernels/event_piece_packs.hpp"
#include "impact/kernels/event_slip.hpp"
#include "impact/kernels/event_weights.hpp"

/// One solution of the inclusion (39), (40) of an impact, planar or with the polygonal friction
/// cone of spatial contacts, followed exactly from event to event as EventTrajectory
/// (events.hpp) follows planar ones of few contacts. Stores: NoStores, or what contacts with
/// restitution have put by (contact_stores.hpp). Where Isa has registers, inelastic spatial
/// contacts are their lanes.
namespace carom::kernels {

template <class Isa, int Dim, int Most, class Stores = NoStores>
class AnyEventTrajectory {
  static constexpr bool kPacks = Dim == 3 && !Stores::kAny && ContactRegisters<Isa>::kAny;
  using Modes = std::conditional_t<kPacks, PackedEventModes<Isa, Most>, EventModes<Isa, Dim, Most>>;
  using Rows = EventRows<Dim, Most, kPacks>;
  using State = typename Modes::State;
  using Rules = EventRules;
  using Weights = EventWeights<Most, true>;
  static constexpr int kMaxRows = Dim * Most;
  static constexpr int kTangents = Dim - 1;

 public:
  CAROM_INLINE AnyEventTrajectory(const ImpactRun& run, const ImpactProblemView& problem,
                                  const ImpactScratch<Dim>& scratch, Stores* stores = nullptr)
      : run_(run),
        problem_(problem),
        s_(scratch),
        stores_(stores),
        contacts_(run.contacts),
        at_{run.contacts},
        slips_(run.polygon),
        modes_(run, problem) {
    const EventSizes sizes = event_sizes(problem_, contacts_, Dim * contacts_, modes_);
    size_ = sizes.speed;
    longest_ = sizes.length;
    if constexpr (kPacks) {  // lanes without a contact
      for (int k = 0; k < kMaxRows; ++k) u_[k] = total_[k] = 0.0;
      for (int i = 0; i < Most; ++i) slip_[i] = weights_.weight[i] = 0.0;
    }
  }

  /// As EventTrajectory::run.
  CAROM_CALL TrajectoryEnd run(std::uint32_t index, std::uint64_t sample, double* path) {
    TrajectoryEnd end{};
    end.status = TrajectoryStatus::max_steps;
    for (int k = 0; k < Dim * contacts_; ++k) {
      const double u = problem_.contact_velocity[k];
      u_[at_.of(k)] = magnitude(u) <= Rules::kZero * size_ ? 0.0 : u;
      total_[at_.of(k)] = 0.0;
    }
    for (int i = 0; i < contacts_; ++i) arrive(i);
    if constexpr (Stores::kAny) stores_->begin(index, sample);
    redrawn_ = 0;
    if (path != nullptr) record(path, 0);
    bool collides = unfinished();
    if (collides) weights_.begin(contacts_, run_.seed, index, sample);
    constexpr int kMost = Stores::kAny ? Rules::kMostBounces : Rules::kMostPieces;
    while (collides && end.steps < kMost) {
      if (!(weights_.left > 0.0)) {
        // Heavy bodies behind light ones take more impulse than any contact by itself.
        if constexpr (Stores::kAny) {
          if (end.steps > 0) stores_->vary();
        }
        weights_.draw(pushers(false), longest_ * (1U << Rules::doublings(end.steps)),
                      Stores::kAny ? Weights::kHalvingsOfStores : Weights::kHalvings);
        cycles_.begin();
        modes_.begin();
      }
      if (weights_.follows) weights_.choose(pushers(false), [&](int i) { return state(i); });
      if (modes_.find(pushers(true), slip_, weights_.weight, weights_.first)) {
        if (!piece(end)) weights_.spoil();
      } else if (++redrawn_ > Rules::kMostRedrawn) {
        end.status = TrajectoryStatus::failed;
        break;
      } else {
        weights_.spoil();  // no mode under these weights: others are drawn
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
  /// Speeds that count as zero; work stored at such a speed would be missed in the energy balance.
  static constexpr double kMet = Stores::kAny ? 0.01 * Rules::kMet : Rules::kMet;

  /// Whether a contact approaches, or is to give back what it has put by.
  CAROM_INLINE bool unfinished() const {
    bool some = false;
    for (int i = 0; i < contacts_; ++i) some = some || u_[i] < 0.0 || filled(i);
    return some;
  }
  [[nodiscard]] CAROM_INLINE bool filled(int i) const {
    if constexpr (Stores::kAny) return stores_->filled(i);
    return false;
  }
  /// Whether contact i separates and may not push.
  [[nodiscard]] CAROM_INLINE bool leaves(int i) const { return u_[i] > 0.0 && !filled(i); }
  /// u, but as EventWeights::find_pushers has it for contacts with stores.
  CAROM_INLINE const double* pushers(bool held) {
    if constexpr (Stores::kAny) {
      for (int k = contacts_; k < at_.end(); ++k) able_[k] = u_[k];
      weights_.find_pushers(
          u_, held, size_, [this](int i) { return filled(i); }, able_);
      return able_;
    }
    return u_;
  }
  [[nodiscard]] CAROM_INLINE int tangent(int i, int c = 0) const { return at_.tangent(i, c); }

  /// Contact i does not separate, or no longer: where its slip is.
  CAROM_INLINE void arrive(int i) {
    double t[2] = {u_[tangent(i)], u_[tangent(i, kTangents - 1)]};
    const int state = slips_.of(t, kMet * size_);
    slips_.project(state, t);
    slip_[i] = state;
    for (int c = 0; c < kTangents; ++c) u_[tangent(i, c)] = t[c];
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
    double total[kPacks ? kMaxRows : 1];
    if constexpr (kPacks) {
      for (int k = 0; k < Dim * contacts_; ++k) total[k] = total_[at_.of(k)];
    }
    event_velocity(problem_, run_.velocities, Dim * contacts_, kPacks ? total : total_, v);
  }

  /// event_state of contact i.
  [[nodiscard]] CAROM_INLINE int state(int i) const {
    const int slip = slips_.code(static_cast<int>(slip_[i]));
    if (filled(i)) return 1 + (u_[i] > 0.0 ? 3 : 2) * slips_.states() + slip;
    return u_[i] > 0.0 ? 0 : (u_[i] < 0.0 ? 1 + slips_.states() : 1) + slip;
  }

  /// One linear piece: to the next zero of a normal velocity, the end of a slip's sector or ray, or
  /// the stretch's end; false where it is left out.
  CAROM_INLINE bool piece(TrajectoryEnd& end) {
    if constexpr (kPacks) {
      const PackedPiece<Isa, Most> piece(modes_.packs(), modes_.mode(), weights_.left, kMet * size_,
                                         problem_.energy, u_, slip_, total_);
      for (unsigned some = piece.arriving; some != 0; some &= some - 1) arrive(lowest_bit(some));
      end.residual = larger(end.residual, modes_.mode().possible ? piece.wrong / size_ : kInfinity);
      if (piece.gained > 0.0) end.residual = larger(end.residual, piece.gained / problem_.energy);
      weights_.left = piece.key < 0 ? 0.0 : weights_.left - piece.length;
      cycles_.add(piece.length);
      sum_cycles(piece.key, end);
      return true;
    } else {
      return plain_piece(end);
    }
  }

  /// Where events repeat themselves in cycles, all that would follow.
  CAROM_INLINE void sum_cycles(int key, TrajectoryEnd& end) {
    if (key >= 0 && cycles_.due(weights_.follows) &&
        cycles_.sum(slips_, at_, key, size_, u_, slip_, total_, weights_.left)) {
      ++end.pivots;
    }
    if (weights_.follows && cycles_.events() >= Rules::kPolicyEvents) weights_.spoil();
  }

  CAROM_INLINE bool plain_piece(TrajectoryEnd& end) {
    const double* const rate = modes_.mode.rate;
    double reach[2 * Most];  // of normals, then of slips
    int arrival[Most];
    double spent[Most];  // until stores are empty
    double length = weights_.left;
    for (int i = 0; i < contacts_; ++i) {
      const int t = tangent(i);
      reach[i] = nears(u_[i], rate[i]) ? -u_[i] / rate[i] : kInfinity;
      reach[Most + i] = kInfinity;
      arrival[i] = 0;
      if (!leaves(i)) {
        reach[Most + i] = slips_.until(modes_.mode.moving[i], u_ + t, rate + t, arrival[i]);
      }
      length = smaller(length, smaller(reach[i], reach[Most + i]));
      if constexpr (Stores::kAny) {
        spent[i] = stores_->until(i, u_[i], rate[i], modes_.mode.impulse[i]);
        length = smaller(length, spent[i]);
      }
    }
    if constexpr (Stores::kAny) {
      if (stores_->idles(u_, modes_.mode.impulse, rate, length)) return false;
    }
    const bool event = length < weights_.left;
    const double together = event ? length * (1.0 + Rules::kTogether) : 0.0;
    double next[kMaxRows];
    double work = 0.0, worth = 0.0;
    for (int k = 0; k < at_.end(); ++k) {
      next[k] = fused(length, rate[k], u_[k]);
    }
    int state[Most];
    for (int i = 0; i < contacts_; ++i) {
      double* const t = next + tangent(i);
      if ((reach[i] < kInfinity && (reach[i] <= together || nears(u_[i], next[i]))) ||
          magnitude(next[i]) <= kMet * size_) {
        next[i] = 0.0;
      }
      state[i] = slip_[i];
      if (leaves(i)) continue;
      state[i] = modes_.mode.moving[i];
      if (reach[Most + i] < kInfinity)
        state[i] = follow_slip(i, reach[Most + i] <= together, arrival[i], t);
      state[i] = slips_.met(state[i], t, kMet * size_);
      slips_.project(state[i], t);
    }
    for (int k = 0; k < at_.end(); ++k) {
      const double part = modes_.mode.impulse[k] * 0.5 * (u_[k] + next[k]) * length;
      work += part;
      worth += magnitude(part);
    }
    int key = -1;  // the first of the boundaries that are met, normals before slips
    for (int i = contacts_; event && i-- > 0;) {
      if (!leaves(i) && state[i] != modes_.mode.moving[i]) key = Most * (1 + state[i]) + i;
    }
    for (int i = contacts_; event && i-- > 0;) {
      if (next[i] == 0.0 && u_[i] != 0.0) key = i;
    }
    bool left[Most];
    for (int i = 0; i < contacts_; ++i) left[i] = leaves(i);
    if constexpr (Stores::kAny) {
      for (int i = contacts_; event && i-- > 0;) {
        if (spent[i] <= together) key = i;
      }
      use_stores(spent, together, next, length);
    } else {
      certify(next, end);
      if (work > Rules::kCone * worth + Rules::kGain * problem_.energy) {
        end.residual = larger(end.residual, work / problem_.energy);
      }
    }
    for (int k = 0; k < at_.end(); ++k) {
      total_[k] = fused(length, modes_.mode.impulse[k], total_[k]);
    }
    for (int i = 0; i < contacts_; ++i) {
      u_[i] = next[i];
      for (int c = 0; c < kTangents; ++c) u_[tangent(i) + c] = next[tangent(i) + c];
      slip_[i] = state[i];
      if (left[i] && !leaves(i)) arrive(i);
    }
    weights_.left = key < 0 ? 0.0 : weights_.left - length;
    cycles_.add(length);
    if constexpr (Stores::kAny) {
      for (int k = 0; k < at_.end(); ++k) u_[k] = stores_->rounded(k, u_[k]);
      for (int i = 0; i < contacts_; ++i) {
        if (!leaves(i)) slips_.project(slip_[i], u_ + tangent(i));
      }
      bool able = false;
      for (int i = 0; i < contacts_; ++i) able = able || (weights_.weight[i] > 0.0 && !leaves(i));
      if (!able) weights_.left = weights_.follows ? weights_.left : 0.0;
      if (cycles_.events() >= 2 * Rules::kPolicyEvents) weights_.spoil();
      return true;
    }
    sum_cycles(key, end);
    return true;
  }

  /// The stores and the certificate after a piece that ends with contact velocities `next`.
  CAROM_INLINE void use_stores(const double* spent, double together, const double* next,
                               double length) {
    double impulse[kMaxRows];
    for (int k = 0; k < at_.end(); ++k) impulse[k] = length * modes_.mode.impulse[k];
    for (int i = 0; i < contacts_; ++i) {
      double rubbed = 0.0;
      for (int k = tangent(i); k < tangent(i) + kTangents; ++k) {
        rubbed = fused(0.5 * impulse[k], u_[k] + next[k], rubbed);
      }
      stores_->follow(i, u_[i], next[i], impulse[i], rubbed, spent[i] <= together);
    }
    stores_->certify(impulse);
  }

  /// State of contact i's slip t after a piece, which went towards `arrival` and got there, or
  /// beyond it by rounding.
  CAROM_INLINE int follow_slip(int i, bool reached, int arrival, const double* t) const {
    const int state = modes_.mode.moving[i];
    const double* const before = u_ + tangent(i);
    if (!reached && !slips_.passed(state, arrival, before, t)) return state;
    if (arrival == 0) return 0;
    return slips_.along(slips_.index(arrival), t) > 0.0 ? arrival : 0;
  }

  /// Coulomb's law and complementarity of push and gap velocity at both ends of a piece.
  CAROM_INLINE void certify(const double* next, TrajectoryEnd& end) const {
    double wrong = 0.0;
    for (int i = 0; i < contacts_; ++i) {
      const double normal = modes_.mode.impulse[i];
      const double* const friction = modes_.mode.impulse + tangent(i);
      const double most = problem_.friction[i] * normal;
      if (!(normal > 0.0)) continue;
      wrong = larger(wrong, larger(u_[i], next[i]));
      for (int at = 0; at < 2; ++at) {  // where the piece begins and ends
        const double* const slip = (at == 0 ? u_ : next) + tangent(i);
        double taken = 0.0, size = 0.0;
        for (int c = 0; c < kTangents; ++c) {
          taken = fused(friction[c], slip[c], taken);
          size += magnitude(slip[c]);
        }
        // Friction takes as much as it can.
        const double lacks = fused(-most, slips_.most_opposed(slip), taken);
        if (lacks > Rules::kCone * most * size) wrong = larger(wrong, lacks / most);
      }
    }
    end.residual = larger(end.residual, modes_.mode.possible ? wrong / size_ : kInfinity);
  }

  CAROM_INLINE void finish(TrajectoryEnd& end) {
    const int rows = Dim * contacts_;
    for (int k = 0; k < rows; ++k) s_.u[k] = u_[at_.of(k)], s_.total[k] = total_[at_.of(k)];
    event_velocity(problem_, run_.velocities, rows, s_.total, s_.v);
    if constexpr (Stores::kAny) {
      const double missed = stores_->finish(s_.v);
      if (end.status == TrajectoryStatus::terminated) end.residual = larger(end.residual, missed);
    }
    if (size_ > 0.0) {
      const double missed = event_missed(problem_, run_, rows, size_, s_.u, s_.total, s_.v);
      end.residual = larger(end.residual, missed / size_);
    }
    judge_end<Dim>(problem_, run_, s_.u, s_.v, end);
  }

  const ImpactRun& run_;
  const ImpactProblemView& problem_;
  const ImpactScratch<Dim>& s_;
  Stores* stores_;
  int contacts_;
  Rows at_;
  EventSlip<Dim> slips_;
  Modes modes_;
  double size_;     ///< largest contact speed before the impact
  double longest_;  ///< a length that stops the fastest contact
  static constexpr int kAligned = kPacks ? 64 : alignof(double);
  alignas(kAligned) double u_[kMaxRows];
  alignas(kAligned) double total_[kMaxRows];
  double able_[Stores::kAny ? kMaxRows : 1];
  alignas(kAligned) State slip_[Most];
  Weights weights_;
  EventCycles<Dim, Most> cycles_;
  int redrawn_ = 0;
};

}  // namespace carom::kernels
