#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/event_slip_packs.hpp"
#include "impact/kernels/impact.hpp"

namespace carom::kernels {

/// What EventSystem (event_system.hpp) does in registers whose lanes are contacts. Rows are split;
/// pushes and choices are whole numbers in lanes. Contacts beyond the problem's are zeros.
template <class Isa, int Most, bool Split>
class EventSystemPacks {
 public:
  struct Doing {};
  CAROM_INLINE EventSystemPacks(const ImpactRun&, const ImpactProblemView&) {}
};

template <class Isa, int Most>
class EventSystemPacks<Isa, Most, true> {
  using Registers = ContactRegisters<Isa>;
  using Pack = typename Registers::Pack;
  using Mask = typename Registers::Mask;
  using Vectors = typename PackedSlips<Isa>::Vectors;
  static constexpr int kWidth = Registers::kWidth;
  static constexpr int kRows = 3 * Most;
  static_assert(Most % kWidth == 0 && Most <= 32);

 public:
  CAROM_INLINE EventSystemPacks(const ImpactRun& run, const ImpactProblemView& problem)
      : slips(run.polygon) {
    for (int i = 0; i < Most; ++i) friction_[i] = i < run.contacts ? problem.friction[i] : 0.0;
  }

  PackedSlips<Isa> slips;

  [[nodiscard]] CAROM_INLINE Pack friction(int first) const {
    return Pack::load(friction_ + first);
  }
  /// Two components of contacts from `first` on, of split rows.
  [[nodiscard]] CAROM_INLINE static Vectors tangents(const double* rows, int first) {
    return {Pack::load(rows + Most + first), Pack::load(rows + 2 * Most + first)};
  }
  CAROM_INLINE static void store_tangents(const Vectors& t, double* rows, int first) {
    t.x.store(rows + Most + first);
    t.y.store(rows + 2 * Most + first);
  }
  /// Calls part(first) for the first contact of each register.
  template <class Part>
  CAROM_INLINE static void for_registers(Part&& part) {
    for (int first = 0; first < Most; first += kWidth) part(first);
  }
  /// A bit for each contact, of mask(first).
  template <class Of>
  [[nodiscard]] CAROM_INLINE static unsigned bits(Of&& mask) {
    unsigned all = 0;
    for_registers([&](int first) { all |= mask(first).bits() << first; });
    return all;
  }

  /// Contacts of a mode, a bit each: what they do.
  struct Doing {
    unsigned pushes;  ///< at all
    unsigned full;    ///< with their weights
    unsigned rubs;    ///< likewise, with a friction that is no choice
    unsigned open;    ///< their push or friction is unknown
    int most;         ///< the number of unknowns
  };
  /// Equations that are lanes of a register; 0: none.
  static constexpr int kLanes = kRows <= Registers::kMostRows ? kWidth : 0;

  /// EventSystem::push_in_full.
  CAROM_INLINE Doing push_in_full(const double* weight, const double* push, const double* choice,
                                  double* impulse) const {
    Doing doing{0, 0, 0, 0, 0};
    for_registers([&](int first) {
      const Pack pushed = Pack::load(push + first), chosen = Pack::load(choice + first);
      const Pack none(0.0);
      const Mask some = pushed > none, held = pushed > Pack(1.0);
      const Mask full = some & !held, rubs = full & (chosen != none);
      const Pack normal = select(full, Pack::load(weight + first), none);
      normal.store(impulse + first);
      Vectors t{none, none};
      if (any_of(rubs)) {
        const Vectors d = slips.direction(slips.index(chosen));
        const Pack mu = friction(first);
        t.x = select(rubs, mu * d.x * normal, none);
        t.y = select(rubs, mu * d.y * normal, none);
      }
      store_tangents(t, impulse, first);
      doing.pushes |= some.bits() << first;
      doing.full |= full.bits() << first;
      doing.rubs |= rubs.bits() << first;
      const unsigned kept = held.bits(), sticks = (some & slips.is_none(chosen)).bits();
      const unsigned edges = (some & slips.is_ray(chosen)).bits();
      doing.open |= (kept | sticks | edges) << first;
      doing.most +=
          __builtin_popcount(kept) + 2 * __builtin_popcount(sticks) + __builtin_popcount(edges);
    });
    return doing;
  }

  /// EventSystem::respond; normal, tangent: the contacts whose impulses may be more than 0.
  CAROM_INLINE double respond(const double (*response)[kRows], const double* root,
                              const double* impulse, unsigned normal, unsigned tangent,
                              double* rate) const {
    constexpr int kParts = kRows / kWidth;
    Pack sum[kParts];
    for (Pack& part : sum) part = Pack(0.0);
    double all = 0.0;
    const auto add = [&](int k) {
      const double one = impulse[k];
      all = fused(root[k], magnitude(one), all);
      for (int part = 0; part < kParts; ++part) {
        sum[part] = fused(Pack::load(response[k] + part * kWidth), Pack(one), sum[part]);
      }
    };
    for (; normal != 0; normal &= normal - 1) add(lowest_bit(normal));
    for (; tangent != 0; tangent &= tangent - 1) {
      const int i = lowest_bit(tangent);
      add(Most + i);
      add(2 * Most + i);
    }
    for (int part = 0; part < kParts; ++part) sum[part].store(rate + part * kWidth);
    return all;
  }

  /// Rates that are rounding become 0; false where those that a mode holds are more, which become 0
  /// exactly. all: of EventSystem::solve.
  CAROM_INLINE bool settle(const double* push, const double* choice, const double* root, double all,
                           double rounding, double residual, double* rate) const {
    bool consistent = true;
    for_registers([&](int first) {
      const Pack pushed = Pack::load(push + first), chosen = Pack::load(choice + first);
      const Pack none(0.0), of_all(all), nothing(rounding), most(residual);
      const Mask some = pushed > none, held = pushed > Pack(1.0);
      const Mask sticks = some & slips.is_none(chosen), edges = some & slips.is_ray(chosen);
      const auto settled = [&](Pack value, Pack term) {
        return select(magnitude(value) <= nothing * term, none, value);
      };
      const Pack term = Pack::load(root + first) * of_all;
      const Vectors roots = tangents(root, first), terms{roots.x * of_all, roots.y * of_all};
      const Vectors found = tangents(rate, first);
      const Pack normal = settled(Pack::load(rate + first), term);
      Vectors t{settled(found.x, terms.x), settled(found.y, terms.y)};
      const Pack limit = most * (terms.x + terms.y);
      Mask wrong = (held & !(magnitude(normal) <= most * term)) |
                   (sticks & !((magnitude(t.x) <= limit) & (magnitude(t.y) <= limit)));
      const Vectors still{none, none};
      if (any_of(edges)) {
        const Vectors edge = slips.edge(slips.index(chosen));
        wrong = wrong | (edges & !(magnitude(slips.across(edge, t)) <= limit));
        t = slips.select_vectors(edges, slips.project(chosen, edge, t), t);
      }
      t = slips.select_vectors(sticks, still, t);
      select(held, none, normal).store(rate + first);
      store_tangents(t, rate, first);
      consistent = consistent && !any_of(wrong);
    });
    return consistent;
  }

 private:
  alignas(64) double friction_[Most];
};

}  // namespace carom::kernels
