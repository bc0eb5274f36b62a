#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/event_modes_packs.hpp"
#include "impact/kernels/event_piece.hpp"
#include "impact/kernels/event_slip_packs.hpp"

namespace carom::kernels {

/// One linear piece of spatial contacts in lanes, as AnyEventTrajectory::piece (any_events.hpp)
/// follows it: the same bits.
template <class Isa, int Most>
class PackedPiece {
  using Registers = ContactRegisters<Isa>;
  using Pack = typename Registers::Pack;
  using Mask = typename Registers::Mask;
  using Packs = EventSystemPacks<Isa, Most, true>;
  using Slips = PackedSlips<Isa>;
  using Vectors = typename Slips::Vectors;
  using Mode = PackedEventMode<Most>;
  using Rules = EventRules;

 public:
  double length;
  int key;            ///< of the first of the boundaries that are met; -1: the stretch ends
  unsigned arriving;  ///< contacts that separated before, a bit each
  double wrong;       ///< velocity by which Coulomb's law and complementarity are missed
  double gained;      ///< work that is more than rounding, or 0

  /// Of u and slip, which go to the piece's end, as total does. met: speeds that count as zero.
  CAROM_INLINE PackedPiece(const Packs& packs, const Mode& mode, double left, double met,
                           double energy, double* u, double* slip, double* total) {
    const Slips& slips = packs.slips;
    const Pack none(0.0), never(kInfinity);
    constexpr int kParts = Most / Registers::kWidth;
    Pack reach[kParts], turn[kParts];  // of normals and of slips
    Vectors here[kParts], there[kParts];
    Mask other[kParts];  // what ends a sector is its ray there
    Pack least(left);
    for (int part = 0; part < kParts; ++part) {
      const int at = part * Registers::kWidth;
      const Pack normal = Pack::load(u + at), rate = Pack::load(mode.rate + at);
      const Mask nears = ((normal < none) & (rate > none)) | ((normal > none) & (rate < none));
      reach[part] = select(nears, -normal / rate, never);
      until(slips, Pack::load(mode.moving + at), Packs::tangents(u, at),
            Packs::tangents(mode.rate, at), here[part], there[part], turn[part], other[part]);
      turn[part] = select(normal > none, never, turn[part]);
      least = smaller(least, smaller(reach[part], turn[part]));
    }
    length = least_of(least);
    const bool event = length < left;
    const Pack together(event ? length * (1.0 + Rules::kTogether) : 0.0);
    const Pack far(length), nothing(met);
    key = -1;
    arriving = 0;
    unsigned normals = 0, states = 0;
    Pack worst(0.0);
    bool certain = true;  // that no energy is gained
    alignas(64) double before[3 * Most];
    for (int part = 0; part < kParts; ++part) {
      const int at = part * Registers::kWidth;
      const Pack normal = Pack::load(u + at), rate = Pack::load(mode.rate + at);
      const Pack push = Pack::load(mode.impulse + at), moving = Pack::load(mode.moving + at);
      const Vectors t = Packs::tangents(u, at), turns = Packs::tangents(mode.rate, at);
      const Vectors friction = Packs::tangents(mode.impulse, at);
      const Mask leaves = normal > none;
      Pack next = fused(far, rate, normal);
      const Mask crossed = ((normal < none) & (next > none)) | ((normal > none) & (next < none));
      const Mask met_now = ((reach[part] < never) & ((reach[part] <= together) | crossed)) |
                           (magnitude(next) <= nothing);
      next = select(met_now, none, next);
      Vectors after{fused(far, turns.x, t.x), fused(far, turns.y, t.y)};
      const Pack old = Pack::load(slip + at);
      Vectors edge = here[part];
      const Pack followed = follow(slips, moving, turn[part], turn[part] <= together, there[part],
                                   other[part], after, edge);
      const Pack state =
          select(leaves, old, meet(slips, followed, after, nothing, here[part], there[part], edge));
      after = Slips::select_vectors(leaves, after, slips.project(state, edge, after));

      const unsigned lanes = static_cast<unsigned>(at);
      arriving |= (leaves & !(next > none)).bits() << lanes;
      normals |= ((next <= none) & (next >= none) & (normal != none)).bits() << lanes;
      states |= ((state != moving) & !leaves).bits() << lanes;

      if (any_of((push != none) | (friction.x != none) | (friction.y != none))) {
        const Pack half(0.5);
        const Pack first = push * half * (normal + next) * far;
        const Pack second = friction.x * half * (t.x + after.x) * far;
        const Pack third = friction.y * half * (t.y + after.y) * far;
        // Sums in another order differ by less than the half of what is no gain.
        const Pack worth = magnitude(first) + magnitude(second) + magnitude(third);
        certain = certain && all_of(first + second + third <= Pack(0.5 * Rules::kCone) * worth);
        worst = larger(worst,
                       misses(slips, packs.friction(at), push, friction, normal, next, t, after));
        fused(far, push, Pack::load(total + at)).store(total + at);
        const Vectors sum = Packs::tangents(total, at);
        Packs::store_tangents({fused(far, friction.x, sum.x), fused(far, friction.y, sum.y)}, total,
                              at);
      }

      normal.store(before + at);
      Packs::store_tangents(t, before, at);
      next.store(u + at);
      Packs::store_tangents(after, u, at);
      state.store(slip + at);
    }
    if (event && normals != 0) {
      key = lowest_bit(normals);
    } else if (event && states != 0) {
      const int i = lowest_bit(states);
      key = Most * (1 + static_cast<int>(slip[i])) + i;
    }
    wrong = 0.0;
    if (any_of(worst > none)) wrong = -least_of(-worst);
    gained = certain ? 0.0 : gain(mode.impulse, before, u, length, energy);
  }

 private:
  /// EventSlip::until. here, there: edges of the state and, of a sector, of the ray before it.
  CAROM_INLINE static void until(const Slips& slips, Pack state, const Vectors& t,
                                 const Vectors& rate, Vectors& here, Vectors& there, Pack& reach,
                                 Mask& other) {
    const Pack none(0.0), never(kInfinity);
    const Pack j = slips.index(state);
    here = slips.edge(j);
    there = slips.edge(slips.before(j));
    const Mask rays = slips.is_ray(state), sectors = slips.is_sector(state);
    const Pack place = select(rays, slips.along(here, t), slips.across(here, t));
    const Pack change = select(rays, slips.along(here, rate), slips.across(here, rate));
    reach = select((rays | sectors) & (change < none), larger(-place / change, none), never);
    const Pack back = slips.across(there, rate);
    const Pack second = larger(-slips.across(there, t) / back, none);
    other = sectors & (back > none) & (second < reach);
    reach = select(other, second, reach);
  }

  /// The state of slips `after` that moved in `state`, and its edge; reached: their end, unless it
  /// is passed by rounding.
  CAROM_INLINE static Pack follow(const Slips& slips, Pack state, Pack reach, Mask reached,
                                  const Vectors& there, Mask other, const Vectors& after,
                                  Vectors& edge) {
    const Pack none(0.0);
    const Mask rays = slips.is_ray(state);
    const Vectors end = Slips::select_vectors(other, there, edge);
    const Pack side = slips.across(end, after), length = slips.along(end, after);
    const Mask passed = select(rays, length, select(other, -side, side)) <= none;
    const Mask ends = (reach < Pack(kInfinity)) & (reached | passed);
    const Pack j = slips.index(state);
    const Pack arrival = slips.ray(select(other, slips.before(j), j));
    const Pack on = select((length > none) & !rays, arrival, none);
    edge = Slips::select_vectors(ends, end, edge);
    return select(ends, on, state);
  }

  /// EventSlip::met; here, there: edges of a state that is a sector.
  CAROM_INLINE static Pack meet(const Slips& slips, Pack state, const Vectors& t, Pack nothing,
                                const Vectors& here, const Vectors& there, Vectors& edge) {
    const Pack j = slips.index(state);
    const Mask sectors = slips.is_sector(state);
    const Mask first = sectors & (magnitude(slips.across(here, t)) <= nothing);
    const Mask second = sectors & !first & (magnitude(slips.across(there, t)) <= nothing);
    edge = Slips::select_vectors(second, there, edge);
    const Pack met = select(first, slips.ray(j), select(second, slips.ray(slips.before(j)), state));
    const Mask stops = larger(magnitude(t.x), magnitude(t.y)) <= nothing;
    return select(stops, Pack(0.0), met);
  }

  /// AnyEventTrajectory::certify.
  CAROM_INLINE static Pack misses(const Slips& slips, Pack mu, Pack push, const Vectors& friction,
                                  Pack normal, Pack next, const Vectors& t, const Vectors& after) {
    const Pack none(0.0);
    const Mask pushes = push > none;
    const Pack most = mu * push;
    Pack wrong = select(pushes, larger(larger(normal, next), none), none);
    for (int end = 0; end < 2; ++end) {
      const Vectors& slip = end == 0 ? t : after;
      const Pack taken = fused(friction.y, slip.y, fused(friction.x, slip.x, none));
      const Pack size = magnitude(slip.x) + magnitude(slip.y);
      const Pack lacks = fused(-most, slips.most_opposed(slip), taken);
      const Mask less = pushes & (lacks > Pack(Rules::kCone) * most * size);
      if (any_of(less)) wrong = select(less, larger(wrong, lacks / most), wrong);
    }
    return wrong;
  }

  /// Work of the piece if it is more than rounding: sums in the order of rows.
  CAROM_CALL static double gain(const double* impulse, const double* before, const double* after,
                                double length, double energy) {
    double work = 0.0, worth = 0.0;
    const auto add = [&](int k) {
      const double part = impulse[k] * 0.5 * (before[k] + after[k]) * length;
      work += part;
      worth += magnitude(part);
    };
    for (int i = 0; i < Most; ++i) add(i);
    for (int i = 0; i < Most; ++i) add(Most + i), add(2 * Most + i);
    return work > Rules::kCone * worth + Rules::kGain * energy ? work : 0.0;
  }
};

}  // namespace carom::kernels
