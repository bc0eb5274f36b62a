#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/event_modes.hpp"
#include "impact/kernels/event_slip_packs.hpp"
#include "impact/kernels/event_system.hpp"

namespace carom::kernels {

/// EventMode of contacts in lanes: rows are split, states whole numbers.
template <int Most>
struct PackedEventMode {
  alignas(64) double impulse[3 * Most];
  alignas(64) double rate[3 * Most];
  alignas(64) double moving[Most];
  bool possible;
};

/// EventModes (event_modes.hpp) of spatial contacts in the lanes of Isa's registers: the same modes
/// with the same bits.
template <class Isa, int Most>
class PackedEventModes : public EventSystem<Isa, 3, Most, true> {
  using Base = EventSystem<Isa, 3, Most, true>;
  using Registers = ContactRegisters<Isa>;
  using Pack = typename Registers::Pack;
  using Mask = typename Registers::Mask;
  using Words = typename Registers::Words;
  using Slips = PackedSlips<Isa>;
  using Vectors = typename Slips::Vectors;
  using Mode = PackedEventMode<Most>;
  using Packs = typename Base::Packs;
  friend class EventSearchRules;

 public:
  using Base::Base;
  using Base::kMaxRows;

  /// That was found.
  [[nodiscard]] CAROM_INLINE const Mode& mode() { return memory_.value(); }
  [[nodiscard]] CAROM_INLINE const auto& packs() const { return packs_; }

  CAROM_INLINE void begin() {
    memory_.begin();
    solved_.begin();
  }

  /// EventModes::find. slip: whole numbers; all arrays: [Most] or, of rows, split.
  CAROM_INLINE bool find(const double* u, const double* slip, const double* weight,
                         unsigned first) {
    EventKey<Most> key{};
    Packs::for_registers([&](int at) {
      const Pack normal = Pack::load(u + at), none(0.0), one(1.0);
      const Pack moves = select(normal < none, Pack(2.0), none);
      const Pack face = select(normal > none, Pack(254.0), fused(Pack(4.0), load(slip, at), moves));
      put(key, at, face + select(load(weight, at) > none, one, none));
    });
    memory_.look(key);
    if (memory_.known()) return true;
    memory_.forget();
    if (!search(u, slip, weight, first)) return false;
    memory_.keep(key);
    return true;
  }

 private:
  using Base::able_;
  using Base::choice_;
  using Base::kNothing;
  using Base::packs_;
  using Base::push_;
  using Base::root_;
  using Memory = EventMemory<Mode, Most, kKeptModes<Isa>>;
  static constexpr int kGuesses = 8 + (Most > 8 ? Most - 8 : 0);  ///< EventModes::kGuesses
  static constexpr int kKeptOfOne = 256;
  static constexpr double kFull = 1.0, kHeld = 2.0;  ///< EventPush

  [[nodiscard]] CAROM_INLINE static Pack load(const double* from, int at) {
    return Pack::load(from + at);
  }
  /// Bytes of the key for the contacts from `at` on.
  template <class Key>
  CAROM_INLINE static void put(Key& key, int at, Pack code) {
    key.word[at / 8] |= Registers::bytes(code) << (8 * (at % 8));
  }
  [[nodiscard]] CAROM_INLINE static Mask of_bits(unsigned bits, int at) {
    return Mask::from_bits(bits >> at & ((1U << Registers::kWidth) - 1U));
  }
  /// The bit of bits that has `which` lower ones.
  [[nodiscard]] CAROM_INLINE static int nth(unsigned bits, int which) {
    while (which-- > 0) bits &= bits - 1;
    return lowest_bit(bits);
  }

  CAROM_CALL bool search(const double* u, const double* slip, const double* weight, unsigned first);

  /// Some part of each contact, by a number.
  CAROM_INLINE void guess_parts(int at, Pack number, Pack& push, Pack& choice) const {
    const Pack none(0.0), half(0.5), two(2.0);
    const Pack state = load(state_, at);
    const Mask able = of_bits(able_, at);
    const Pack third = rounded_down(number / Pack(3.0));
    const Pack kind = number - third * Pack(3.0);
    push = select(able, select(load(u_, at) < none, Pack(kFull), kind), none);
    const Pack rest = rounded_down(third * half);
    const Mask odd = third - rest * two > none;
    const Pack others(2.0 * packs_.slips.sectors());
    const Pack another = rest - others * rounded_down(rest / others) + Pack(1.0);
    const Mask even = rest - two * rounded_down(rest * half) <= none;
    const Pack j = packs_.slips.index(state);
    const Pack neighbour = packs_.slips.sector(select(even, j, packs_.slips.after(j)));
    const Mask rays = packs_.slips.is_ray(state), still = packs_.slips.is_none(state);
    const Pack chosen = select(odd & still, another, select(odd & rays, neighbour, state));
    choice = select(able, chosen, choice);
  }
  /// EventSearchRules::hash.
  [[nodiscard]] CAROM_INLINE Pack hash(Pack salt) const {
    const Words first(Pack(static_cast<double>(rules_.first())));
    Words x =
        (first ^ Words(salt) * EventSearchRules::kFirstFactor) * EventSearchRules::kSecondFactor;
    x = (x ^ (x >> 13)) * EventSearchRules::kThirdFactor;
    return (x ^ (x >> 16)).number();
  }

  // What the search asks for.
  CAROM_INLINE void guess(unsigned salt) {
    Packs::for_registers([&](int at) {
      Pack push, choice = load(choice_, at);
      const Pack contact =
          Pack(static_cast<double>(salt) + static_cast<double>(at)) + Pack::load(kLanes);
      guess_parts(at, hash(contact), push, choice);
      push.store(push_ + at);
      choice.store(choice_ + at);
    });
  }
  CAROM_INLINE void guess_one(int which, unsigned salt) {
    const int i = nth(choosing_, which);
    const Pack number(static_cast<double>(rules_.hash(salt)));
    Packs::for_registers([&](int at) {
      Pack push, choice = load(choice_, at);
      guess_parts(at, number, push, choice);
      const Mask one = of_bits(1U << i, at);
      select(one, push, load(push_, at)).store(push_ + at);
      select(one, choice, load(choice_, at)).store(choice_ + at);
    });
  }
  CAROM_INLINE bool solved() {
    EventKey<Most> key{};
    if (alone_) {
      const int i = lowest_bit(able_);
      key.word[0] = static_cast<std::uint64_t>((choice_[i] * 4.0 + push_[i]) * Most + i);
      return recall(solved_alone_, key);
    }
    Packs::for_registers([&](int at) {
      const Pack push = load(push_, at), none(0.0), one(1.0);
      const Pack full = select(Slips::same(push, one), Pack(3.0), Pack(2.0));
      const Pack code = fused(Pack(2.0), load(choice_, at), full);
      put(key, at, select(push > none, code, select(load(weight_, at) > none, one, none)));
    });
    return recall(solved_, key);
  }
  template <class Memory>
  CAROM_INLINE bool recall(Memory& memory, const EventKey<Most>& key) {
    memory.look(key);
    SolvedMode<kMaxRows>& known = memory.value();
    if (!memory.known()) {
      known.consistent = this->solve(weight_, known.impulse, known.rate, known.all);
      memory.keep(key);
    }
    known_ = &known;
    return known.consistent;
  }
  CAROM_INLINE int mend(unsigned number);
  CAROM_INLINE void take() {
    Packs::for_registers([&](int at) {
      load(next_push_, at).store(push_ + at);
      load(next_choice_, at).store(choice_ + at);
    });
  }
  CAROM_INLINE void take_one(int which) {
    const unsigned changed = Packs::bits([&](int at) {
      return (load(next_push_, at) != load(push_, at)) |
             (load(next_choice_, at) != load(choice_, at));
    });
    if (which >= __builtin_popcount(changed)) return;
    const int i = nth(changed, which);
    push_[i] = next_push_[i];
    choice_[i] = next_choice_[i];
  }
  [[nodiscard]] CAROM_INLINE bool pushes() const { return pushes_; }
  CAROM_INLINE void conclude();

  EventSearchRules rules_;
  Memory memory_;
  EventMemory<SolvedMode<kMaxRows>, Most, kKeptModes<Isa>> solved_;
  EventMemory<SolvedMode<kMaxRows>, Most, kKeptOfOne> solved_alone_;  ///< of all samples
  const SolvedMode<kMaxRows>* known_ = nullptr;                       ///< the mode that is tried
  const double *u_ = nullptr, *weight_ = nullptr, *state_ = nullptr;  ///< what is searched for
  unsigned choosing_ = 0;
  bool alone_ = false;  ///< one contact may push, with a weight of 1
  bool pushes_ = false;
  alignas(64) double next_push_[Most];
  alignas(64) double next_choice_[Most];
  static constexpr double kLanes[8] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};
};

/// EventModes::mend; impulses as they are mended and where slips go are those of the mode.
template <class Isa, int Most>
CAROM_INLINE int PackedEventModes<Isa, Most>::mend(unsigned number) {
  const SolvedMode<kMaxRows>& known = *known_;
  Mode& mode = memory_.value();
  const Slips& slips = packs_.slips;
  int broken = 0;
  pushes_ = false;
  Packs::for_registers([&](int at) {
    const Pack none(0.0), nothing(kNothing);
    const Pack u = load(u_, at), weight = load(weight_, at), state = load(state_, at);
    const Pack push = load(push_, at), choice = load(choice_, at), mu = packs_.friction(at);
    const Pack rate = load(known.rate, at);
    Pack normal = load(known.impulse, at);
    Vectors t = Packs::tangents(known.impulse, at);
    const Mask able = of_bits(able_, at), touches = u <= none, still = touches & (u >= none);

    const Vectors roots = Packs::tangents(root_, at);
    const Pack slight = (roots.x * Pack(known.all) + roots.y * Pack(known.all)) * nothing;
    const Pack rested = select(touches, state, Pack(1.0));  // nothing is computed of the others
    const Pack moving =
        select(touches, slips.moving(rested, Packs::tangents(known.rate, at), slight), none);
    moving.store(mode.moving + at);
    if (!any_of(able)) {
      normal.store(mode.impulse + at);
      Packs::store_tangents(t, mode.impulse, at);
      push.store(next_push_ + at);
      choice.store(next_choice_ + at);
      return;
    }

    Pack next_push = push, next_choice = choice;
    const Mask unpushed = able & (push <= none);
    const Mask falls = unpushed & still & (rate < none);
    const Mask follows = slips.is_none(state) & Mask::from_bits(number % 2 == 0 ? ~0U : 0U);
    next_push = select(falls, Pack(kHeld), next_push);
    next_choice = select(falls, select(follows, moving, state), next_choice);

    const Mask held = able & (push > Pack(kFull));
    const Mask pulls = held & !(normal >= Pack(-kNothing) * weight);
    const Mask strains = held & !pulls & !(normal <= weight * Pack(1.0 + kNothing));
    const Mask loose = held & !pulls & !strains & (normal <= nothing * weight);
    Mask rubs = loose;
    if (any_of(loose)) {
      const Pack most = nothing * (Pack(1.0) + mu) * weight;
      rubs = loose & ((magnitude(t.x) > most) | (magnitude(t.y) > most));
      const Mask idles = loose & !rubs;  // no push: no friction either
      normal = select(idles, none, normal);
      t = Slips::select_vectors(idles, {none, none}, t);
    }
    const Mask lifts = able & Slips::same(push, Pack(kFull)) & still & (rate > none);
    next_push = select(pulls | rubs, none, select(strains, Pack(kFull), next_push));
    next_push = select(lifts, Pack(kHeld), next_push);
    Mask wrong = falls | pulls | strains | rubs | lifts;
    normal.store(mode.impulse + at);
    Packs::store_tangents(t, mode.impulse, at);
    pushes_ = pushes_ || any_of(normal > none);

    const Mask rest = able & !(unpushed | wrong) & !slips.is_sector(state);
    if (any_of(rest)) {
      const Pack limit = mu * normal;
      const Mask sticks = rest & slips.is_none(choice), edges = rest & slips.is_ray(choice);
      if (any_of(sticks)) {
        const Pack place = slips.nearest(t, limit, kNothing);
        const Mask leaves = sticks & (place != none);
        next_choice = select(leaves, place, next_choice);
        wrong = wrong | leaves;
      }
      const Mask against = rest & !slips.opposes(choice, moving);
      const Pack j = slips.index(choice);
      if (any_of(edges)) {
        const Vectors from = slips.direction(j);
        const Vectors past{fused(-limit, from.x, t.x), fused(-limit, from.y, t.y)};
        const Pack share = Slips::across(slips.edge(j), past);
        const Pack whole = limit * Pack(slips.edge_length());
        const Mask before = edges & !(share >= Pack(-kNothing) * whole);
        const Mask after = edges & !before & !(share <= whole * Pack(1.0 + kNothing));
        const Mask turns = edges & !before & !after & against;
        next_choice = select(before, slips.sector(j), next_choice);
        next_choice = select(after, slips.sector(slips.after(j)), next_choice);
        next_choice = select(turns, state, next_choice);
        wrong = wrong | before | after | turns;
      }
      const Mask ends = against & slips.is_sector(choice);
      if (any_of(ends)) {
        const Pack k = slips.index(moving);
        const Mask between = ends & slips.is_none(state) & slips.is_sector(moving);
        next_choice = select(ends, state, next_choice);
        const Mask first = between & Slips::same(slips.after(j), k);
        const Mask second = between & Slips::same(slips.after(k), j);
        next_choice = select(first, slips.ray(j), next_choice);
        next_choice = select(second, slips.ray(k), next_choice);
        wrong = wrong | ends;
      }
    }
    next_push.store(next_push_ + at);
    next_choice.store(next_choice_ + at);
    broken += __builtin_popcount(wrong.bits());
  });
  return broken;
}

/// EventModes::conclude.
template <class Isa, int Most>
CAROM_INLINE void PackedEventModes<Isa, Most>::conclude() {
  const SolvedMode<kMaxRows>& known = *known_;
  Mode& mode = memory_.value();
  const Slips& slips = packs_.slips;
  mode.possible = true;
  Packs::for_registers([&](int at) {
    const Pack none(0.0);
    const Mask touches = load(u_, at) <= none;
    const Mask pushed = of_bits(able_, at) & (load(push_, at) > none);
    if (any_of(pushed)) {
      const Pack normal = load(mode.impulse, at), most = packs_.friction(at) * normal;
      const Pack beyond = slips.beyond(Packs::tangents(mode.impulse, at), most);
      const Mask outside = (normal < none) | (beyond > Pack(EventRules::kCone) * most);
      mode.possible = mode.possible && !any_of(pushed & outside);
    }
    const Pack moving = load(mode.moving, at);
    const Vectors rate = Packs::tangents(known.rate, at);
    const Vectors projected = slips.project(moving, slips.edge(slips.index(moving)), rate);
    load(known.rate, at).store(mode.rate + at);
    Packs::store_tangents(Slips::select_vectors(touches, projected, rate), mode.rate, at);
  });
}

template <class Isa, int Most>
CAROM_CALL bool PackedEventModes<Isa, Most>::search(const double* u, const double* slip,
                                                    const double* weight, unsigned first) {
  rules_.begin(first);
  u_ = u, state_ = slip, weight_ = weight;
  const Pack none(0.0);
  able_ = Packs::bits([&](int at) { return (load(u, at) <= none) & (load(weight, at) > none); });
  const unsigned approach = Packs::bits([&](int at) { return load(u, at) < none; });
  if (able_ == 0) return false;
  alone_ = (able_ & (able_ - 1)) == 0 && weight[lowest_bit(able_)] == 1.0;
  if ((able_ & approach) == 0 && (this->rest() || this->dissipates(slip))) return false;
  Packs::for_registers([&](int at) { none.store(choice_ + at); });
  choosing_ = able_ & Packs::bits([&](int at) {
                return Slips::same(load(u, at), none) | !packs_.slips.is_sector(load(slip, at));
              });
  if (!rules_.search(*this, __builtin_popcount(choosing_))) return false;
  conclude();
  return true;
}

}  // namespace carom::kernels
