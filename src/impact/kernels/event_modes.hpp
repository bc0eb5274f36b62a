#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/event_memory.hpp"
#include "impact/kernels/event_piece.hpp"
#include "impact/kernels/event_system.hpp"

namespace carom::kernels {

/// The search for a mode that keeps the laws: one is guessed, solved, and what it breaks is put
/// right.
class EventSearchRules {
 public:
  CAROM_INLINE void begin(unsigned first) { first_ = first; }

  /// modes: has guess (all contacts, or one), solved, mend, take (what it mends), pushes.
  /// choosing: contacts whose push or friction is a choice.
  template <class Modes>
  CAROM_INLINE bool search(Modes& modes, int choosing) const {
    for (int tried = 0; tried < kMostTries; ++tried) {
      const int turn = tried % kTriesOfStart;
      if (turn == 0) modes.guess(static_cast<unsigned>(tried * Modes::kGuesses));
      const unsigned number = hash(0x10000U + static_cast<unsigned>(tried));
      if (!modes.solved()) {
        if (choosing == 0) return false;
        modes.guess_one(static_cast<int>(number % static_cast<unsigned>(choosing)),
                        0x20000U + static_cast<unsigned>(tried));
        continue;
      }
      const int broken = modes.mend(number);
      if (broken == 0) {
        if (modes.pushes()) return true;
        if (choosing == 0) return false;
        modes.guess(0x30000U + static_cast<unsigned>(tried * Modes::kGuesses));
        continue;
      }
      if (turn < kTriesAtOnce) {
        modes.take();
      } else {
        modes.take_one(static_cast<int>(number / 2 % static_cast<unsigned>(broken)));
      }
    }
    return false;
  }

  [[nodiscard]] CAROM_INLINE unsigned hash(unsigned salt) const {
    std::uint32_t x = (first_ ^ salt * kFirstFactor) * kSecondFactor;
    x ^= x >> 13;
    x *= kThirdFactor;
    return x ^ (x >> 16);
  }
  static constexpr std::uint32_t kFirstFactor = 0x9E3779B9U, kSecondFactor = 0x85EBCA6BU,
                                 kThirdFactor = 0xC2B2AE35U;
  [[nodiscard]] CAROM_INLINE unsigned first() const { return first_; }

 private:
  static constexpr int kMostTries = 96;
  static constexpr int kTriesAtOnce = 6;  ///< that put all right at once, then one contact
  static constexpr int kTriesOfStart = 24;
  unsigned first_ = 0;
};

/// The motion right after a velocity: a mode in which impulses and rates of contact velocities keep
/// the laws of the inclusion (39), (40). Modes are not tabled, there are too many (19 a spatial
/// contact with four friction directions), but searched for. Isa: whose code this is.
template <class Isa, int Dim, int Most>
class EventModes : public EventSystem<Isa, Dim, Most, false> {
  using Base = EventSystem<Isa, Dim, Most, false>;
  friend class EventSearchRules;

 public:
  using Base::kMaxRows;
  using Base::kTangents;
  using Base::tangent;

  EventMode<Dim, Most> mode;  ///< that was found

  using Base::Base;

  /// A stretch begins: with other weights, another `first`, other friction.
  CAROM_INLINE void begin() {
    memory_.begin();
    solved_.begin();
  }

  /// u: contact velocities, [rows]; slip: states of those contacts that do not separate; weight:
  /// [contacts], either the stretch's or that of one contact, 1; first: number that decides which
  /// mode is tried first. False where none was found.
  CAROM_INLINE bool find(const double* u, const int* slip, const double* weight, unsigned first) {
    if constexpr (!Base::kInRegisters) {
      return search(u, slip, weight, first);
    } else {
      const auto key =
          memory_.key(contacts_, [&](int i) { return event_face(u[i], slip[i], weight[i]); });
      memory_.look(key);
      if (memory_.known()) {
        mode = memory_.value();
        return true;
      }
      if (!search(u, slip, weight, first)) return false;
      memory_.value() = mode;
      memory_.keep(key);
      return true;
    }
  }

 private:
  using Base::choice_;
  using Base::contacts_;
  using Base::friction_;
  using Base::idle_;
  using Base::kNothing;
  using Base::push_;
  using Base::slip_;
  static constexpr int kGuesses =
      8 + (Most > 8 ? Most - 8 : 0);  ///< numbers between those of two tries

  CAROM_CALL bool search(const double* u, const int* slip, const double* weight, unsigned first);

  /// A contact whose push is a choice, or whose friction is.
  [[nodiscard]] CAROM_INLINE bool chooses(int i) const {
    return idle_[i] == 0 && (u_[i] == 0.0 || !slip_.is_sector(state_[i]));
  }
  /// Some part of contact i, by a number.
  CAROM_INLINE void guess_contact(int i, unsigned number) {
    if (idle_[i] != 0) {
      push_[i] = EventPush::none;
      return;
    }
    push_[i] = u_[i] < 0.0 ? EventPush::full : static_cast<EventPush>(number % 3);
    number /= 3;
    choice_[i] = state_[i];
    if (state_[i] == 0 && number % 2 == 1) {
      choice_[i] = 1 + static_cast<int>(number / 2 % static_cast<unsigned>(slip_.states() - 1));
    } else if (slip_.is_ray(state_[i]) && number % 2 == 1) {
      const int j = slip_.index(state_[i]);
      choice_[i] = slip_.sector(number / 2 % 2 == 0 ? j : slip_.after(j));
    }
  }
  // What the search asks for.
  CAROM_INLINE void guess(unsigned salt) {
    for (int i = 0; i < contacts_; ++i) {
      guess_contact(i, rules_.hash(salt + static_cast<unsigned>(i)));
    }
  }
  CAROM_INLINE void guess_one(int which, unsigned salt) {
    for (int i = 0; i < contacts_; ++i) {
      if (chooses(i) && which-- == 0) guess_contact(i, rules_.hash(salt));
    }
  }
  CAROM_INLINE bool solved();
  CAROM_INLINE int mend(unsigned number);
  CAROM_INLINE void take() {
    for (int i = 0; i < contacts_; ++i) push_[i] = next_push_[i], choice_[i] = next_choice_[i];
  }
  CAROM_INLINE void take_one(int which) {
    for (int i = 0; i < contacts_; ++i) {
      if (next_push_[i] == push_[i] && next_choice_[i] == choice_[i]) continue;
      if (which-- == 0) push_[i] = next_push_[i], choice_[i] = next_choice_[i];
    }
  }
  [[nodiscard]] CAROM_INLINE bool pushes() const {
    bool some = false;
    for (int i = 0; i < contacts_; ++i) some = some || mode.impulse[i] > 0.0;
    return some;
  }

  /// Where contact i's slip goes at the mode's rate.
  CAROM_INLINE void move(int i) {
    double nothing = 0.0;
    for (int c = 0; c < kTangents; ++c) nothing += this->term(tangent(i, c), all_);
    mode.moving[i] = slip_.moving(state_[i], mode.rate + tangent(i, 0), nothing * kNothing);
  }
  CAROM_INLINE void conclude();

  EventSearchRules rules_;
  EventMemory<EventMode<Dim, Most>, Most, kKeptModes<Isa>> memory_;
  EventMemory<SolvedMode<kMaxRows>, Most, kKeptModes<Isa>> solved_;
  const double *u_ = nullptr, *weight_ = nullptr;  ///< what is searched for
  const int* state_ = nullptr;
  EventPush next_push_[Most];
  int next_choice_[Most];
  double all_ = 0.0;  ///< EventSystem::solve
};

/// EventSystem::solve, or what is in memory where the stretch has met this mode.
template <class Isa, int Dim, int Most>
CAROM_INLINE bool EventModes<Isa, Dim, Most>::solved() {
  if constexpr (!Base::kInRegisters) {
    return this->solve(weight_, mode.impulse, mode.rate, all_);
  } else {
    const auto key = solved_.key(contacts_, [&](int i) {
      if (push_[i] == EventPush::none) return weight_[i] > 0.0 ? 1 : 0;
      return 2 * choice_[i] + (push_[i] == EventPush::full ? 3 : 2);
    });
    solved_.look(key);
    auto& known = solved_.value();
    if (!solved_.known()) {
      known.consistent = this->solve(weight_, known.impulse, known.rate, known.all);
      solved_.keep(key);
    }
    for (int k = 0; k < kMaxRows; ++k) mode.impulse[k] = known.impulse[k];
    for (int k = 0; k < kMaxRows; ++k) mode.rate[k] = known.rate[k];
    all_ = known.all;
    return known.consistent;
  }
}

/// How many contacts break a law; next_push_ and next_choice_ receive what they may do instead.
template <class Isa, int Dim, int Most>
CAROM_INLINE int EventModes<Isa, Dim, Most>::mend(unsigned number) {
  const double *const u = u_, *const weight = weight_;
  const int* const slip = state_;
  int broken = 0;
  for (int i = 0; i < contacts_; ++i) {
    next_push_[i] = push_[i];
    next_choice_[i] = choice_[i];
    if (u[i] > 0.0) continue;
    if (idle_[i] != 0) continue;
    move(i);
    double* const t = mode.impulse + tangent(i, 0);
    if (push_[i] == EventPush::none) {
      if (u[i] == 0.0 && mode.rate[i] < 0.0) {
        next_push_[i] = EventPush::held;
        next_choice_[i] = slip[i] == 0 && number % 2 == 0 ? mode.moving[i] : slip[i];
        ++broken;
      }
      continue;
    }
    if (push_[i] == EventPush::held) {
      double& normal = mode.impulse[i];
      if (!(normal >= -kNothing * weight[i])) {
        next_push_[i] = EventPush::none;
        ++broken;
        continue;
      }
      if (!(normal <= weight[i] * (1.0 + kNothing))) {
        next_push_[i] = EventPush::full;
        ++broken;
        continue;
      }
      if (normal <= kNothing * weight[i]) {  // no push: no friction either
        const double slight = kNothing * (1.0 + friction_[i]) * weight[i];
        bool rubs = false;
        for (int c = 0; c < kTangents; ++c) rubs = rubs || magnitude(t[c]) > slight;
        if (rubs) {
          next_push_[i] = EventPush::none;
          ++broken;
          continue;
        }
        normal = 0.0;
        for (int c = 0; c < kTangents; ++c) t[c] = 0.0;
      }
    } else if (u[i] == 0.0 && mode.rate[i] > 0.0) {
      next_push_[i] = EventPush::held;
      ++broken;
      continue;
    }
    if (slip_.is_sector(slip[i])) continue;
    const double limit = friction_[i] * mode.impulse[i];
    if (choice_[i] == 0) {
      const int place = slip_.nearest(t, limit, kNothing);
      if (place != 0) {
        next_choice_[i] = place;
        ++broken;
      }
    } else if (Dim == 3 && slip_.is_ray(choice_[i])) {
      const int j = slip_.index(choice_[i]);
      const double* const from = slip_.direction(j);
      const double past[2] = {fused(-limit, from[0], t[0]),
                              fused(-limit, from[1], t[kTangents - 1])};
      const double share = slip_.across(j, past), whole = limit * slip_.edge_length();
      if (!(share >= -kNothing * whole)) {
        next_choice_[i] = slip_.sector(j);
        ++broken;
      } else if (!(share <= whole * (1.0 + kNothing))) {
        next_choice_[i] = slip_.sector(slip_.after(j));
        ++broken;
      } else if (!slip_.opposes(choice_[i], mode.moving[i])) {
        next_choice_[i] = slip[i] == 0 ? 0 : slip[i];
        ++broken;
      }
    } else if (!slip_.opposes(choice_[i], mode.moving[i])) {
      ++broken;
      next_choice_[i] = slip[i];
      if (Dim == 3 && slip[i] == 0 && slip_.is_sector(mode.moving[i])) {
        const int j = slip_.index(choice_[i]), k = slip_.index(mode.moving[i]);
        if (slip_.after(j) == k) next_choice_[i] = slip_.ray(j);
        if (slip_.after(k) == j) next_choice_[i] = slip_.ray(k);
      }
    }
  }
  return broken;
}

/// What the piece needs of the mode that holds, once for all its recalls.
template <class Isa, int Dim, int Most>
CAROM_INLINE void EventModes<Isa, Dim, Most>::conclude() {
  mode.possible = true;
  for (int i = 0; i < contacts_; ++i) {
    if (u_[i] > 0.0) continue;
    if (idle_[i] != 0) {
      move(i);
    } else if (push_[i] != EventPush::none) {
      const double normal = mode.impulse[i], most = friction_[i] * normal;
      mode.possible =
          mode.possible && !(normal < 0.0) &&
          !(slip_.beyond(mode.impulse + tangent(i, 0), most) > EventRules::kCone * most);
    }
    slip_.project(mode.moving[i], mode.rate + tangent(i, 0));
  }
}

template <class Isa, int Dim, int Most>
CAROM_CALL bool EventModes<Isa, Dim, Most>::search(const double* u, const int* slip,
                                                   const double* weight, unsigned first) {
  rules_.begin(first);
  u_ = u, state_ = slip, weight_ = weight;
  int choosing = 0;
  bool able = false, approach = false;
  for (int i = 0; i < contacts_; ++i) {
    idle_[i] = u[i] > 0.0 || !(weight[i] > 0.0) ? 1 : 0;
    able = able || idle_[i] == 0;
    approach = approach || (idle_[i] == 0 && u[i] < 0.0);
    mode.moving[i] = 0;
  }
  if (!able || (!approach && (this->rest() || this->dissipates(slip)))) return false;
  for (int i = 0; i < contacts_; ++i) choice_[i] = 0;
  for (int i = 0; i < contacts_; ++i) choosing += chooses(i) ? 1 : 0;
  if (!rules_.search(*this, choosing)) return false;
  conclude();
  return true;
}

}  // namespace carom::kernels
