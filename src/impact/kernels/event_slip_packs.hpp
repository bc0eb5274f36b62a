#pragma once

#include <cstdint>

#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// Registers whose lanes are contacts of one impact. Specialised where an instruction set has them.
template <class Isa>
struct ContactRegisters {
  static constexpr bool kAny = false;
};

/// EventSlip (event_slip.hpp) of spatial contacts, one in each lane: the same operations in the
/// same order. States, and indices of sectors, are whole numbers in lanes.
template <class Isa>
class PackedSlips {
  using Registers = ContactRegisters<Isa>;
  using Pack = typename Registers::Pack;
  using Mask = typename Registers::Mask;

 public:
  struct Vectors {
    Pack x, y;
  };

  CAROM_INLINE explicit PackedSlips(const FrictionPolygon& polygon)
      : polygon_(polygon), sectors_(static_cast<double>(polygon.count)) {
    for (int j = 0; j < polygon.count; ++j) {
      edge_.set(j, polygon.along[j][0], polygon.along[j][1]);
      direction_.set(j, polygon.direction[j][0], polygon.direction[j][1]);
    }
  }

  [[nodiscard]] CAROM_INLINE Mask is_none(Pack state) const { return state <= Pack(0.0); }
  [[nodiscard]] CAROM_INLINE Mask is_sector(Pack state) const {
    return (state > Pack(0.0)) & (state <= Pack(sectors_));
  }
  [[nodiscard]] CAROM_INLINE Mask is_ray(Pack state) const { return state > Pack(sectors_); }
  [[nodiscard]] CAROM_INLINE Pack sector(Pack j) const { return j + Pack(1.0); }
  [[nodiscard]] CAROM_INLINE Pack ray(Pack j) const { return j + Pack(1.0 + sectors_); }
  /// EventSlip::index, 0 of no slip.
  [[nodiscard]] CAROM_INLINE Pack index(Pack state) const {
    return larger(select(is_ray(state), state - Pack(sectors_), state) - Pack(1.0), Pack(0.0));
  }
  [[nodiscard]] CAROM_INLINE Pack after(Pack j) const {
    const Pack next = j + Pack(1.0);
    return select(next < Pack(sectors_), next, Pack(0.0));
  }
  [[nodiscard]] CAROM_INLINE Pack before(Pack j) const {
    return select(j > Pack(0.0), j, Pack(sectors_)) - Pack(1.0);
  }
  [[nodiscard]] CAROM_INLINE Vectors edge(Pack j) const { return looked_up(edge_, j); }
  [[nodiscard]] CAROM_INLINE Vectors direction(Pack j) const { return looked_up(direction_, j); }
  [[nodiscard]] CAROM_INLINE static Pack across(const Vectors& e, const Vectors& t) {
    return fused(e.x, t.x, e.y * t.y);
  }
  [[nodiscard]] CAROM_INLINE static Pack along(const Vectors& e, const Vectors& t) {
    return fused(e.x, t.y, -(e.y * t.x));
  }
  [[nodiscard]] CAROM_INLINE static Vectors select_vectors(Mask mask, const Vectors& a,
                                                           const Vectors& b) {
    return {select(mask, a.x, b.x), select(mask, a.y, b.y)};
  }

  /// EventSlip::project; e: the edge of a ray.
  [[nodiscard]] CAROM_INLINE Vectors project(Pack state, const Vectors& e, const Vectors& t) const {
    const Mask rays = is_ray(state);
    const Pack length = along(e, t);
    const Vectors on{-e.y * length, e.x * length};
    const Vectors some = select_vectors(rays, on, t);
    return select_vectors(is_none(state), {Pack(0.0), Pack(0.0)}, some);
  }

  /// nearest_direction of spatial contacts.
  [[nodiscard]] CAROM_INLINE Pack nearest_direction(const Vectors& t) const {
    Pack best(0.0), most = towards(0, t);
    for (int j = 1; j < polygon_.count; ++j) {
      const Pack component = towards(j, t);
      const Mask more = component > most;
      most = select(more, component, most);
      best = select(more, Pack(static_cast<double>(j)), best);
    }
    return best;
  }

  /// EventSlip::of.
  [[nodiscard]] CAROM_INLINE Pack of(const Vectors& t, Pack nothing) const {
    const Mask none = (magnitude(t.x) <= nothing) & (magnitude(t.y) <= nothing);
    if (all_of(none)) return Pack(0.0);
    const Pack j = nearest_direction({-t.x, -t.y}), previous = before(j);
    const Mask here = magnitude(across(edge(j), t)) <= nothing;
    const Mask there = magnitude(across(edge(previous), t)) <= nothing;
    const Pack some = select(here, ray(j), select(there, ray(previous), sector(j)));
    return select(none, Pack(0.0), some);
  }

  /// EventSlip::moving.
  [[nodiscard]] CAROM_INLINE Pack moving(Pack state, const Vectors& rate, Pack nothing) const {
    Pack next = state;
    const Mask rays = is_ray(state);
    if (any_of(rays)) {
      const Pack j = index(state);
      const Pack turns = across(edge(j), rate);
      const Mask turned = rays & !(magnitude(turns) <= nothing);
      next = select(turned, select(turns > Pack(0.0), sector(j), sector(after(j))), next);
    }
    const Mask none = is_none(state);
    if (any_of(none)) next = select(none, of(rate, nothing), next);
    return next;
  }

  /// EventSlip::opposes.
  [[nodiscard]] CAROM_INLINE Mask opposes(Pack choice, Pack state) const {
    const Pack j = index(state), k = index(choice);
    const Mask end = is_sector(choice) & is_ray(state) & (same(j, k) | same(after(j), k));
    return is_none(state) | same(state, choice) | end;
  }

  /// EventSlip::nearest.
  [[nodiscard]] CAROM_INLINE Pack nearest(const Vectors& t, Pack limit, double slack) const {
    const Pack j = nearest_direction(t), previous = before(j);
    const Vectors here = edge(j), there = edge(previous);
    const Pack reach = limit * Pack(1.0 + slack) * Pack(apothem());
    const Pack out = -along(here, t), back = -along(there, t);
    const Pack half = Pack(0.5) * limit * Pack(polygon_.edge);
    const Mask first = (out > reach) & (magnitude(across(here, t)) < half);
    const Mask second = (back > reach) & (magnitude(across(there, t)) < half);
    const Pack some = select(first, ray(j), select(second, ray(previous), sector(j)));
    return select((out <= reach) & (back <= reach), Pack(0.0), some);
  }

  /// EventSlip::beyond.
  [[nodiscard]] CAROM_INLINE Pack beyond(const Vectors& t, Pack limit) const {
    Pack most(-kInfinity);
    for (int j = 0; j < polygon_.count; ++j) {
      const Vectors e{Pack(polygon_.along[j][0]), Pack(polygon_.along[j][1])};
      most = larger(most, -along(e, t));
    }
    return most - limit * Pack(apothem());
  }
  /// EventSlip::most_opposed.
  [[nodiscard]] CAROM_INLINE Pack most_opposed(const Vectors& t) const {
    const Vectors opposed{-t.x, -t.y};
    Pack most(-kInfinity);
    for (int j = 0; j < polygon_.count; ++j) most = larger(most, towards(j, opposed));
    return -most;
  }
  [[nodiscard]] CAROM_INLINE static Mask same(Pack a, Pack b) { return !(a != b); }
  [[nodiscard]] CAROM_INLINE double sectors() const { return sectors_; }
  [[nodiscard]] CAROM_INLINE double edge_length() const { return polygon_.edge; }

 private:
  using Pairs = typename Registers::Pairs;

  [[nodiscard]] CAROM_INLINE static Vectors looked_up(const Pairs& pairs, Pack j) {
    Vectors at;
    pairs.look_up(j, at.x, at.y);
    return at;
  }
  [[nodiscard]] CAROM_INLINE Pack towards(int j, const Vectors& t) const {
    return fused(Pack(polygon_.direction[j][0]), t.x, Pack(polygon_.direction[j][1]) * t.y);
  }
  [[nodiscard]] CAROM_INLINE double apothem() const {
    return fused(polygon_.direction[0][0], polygon_.along[0][1],
                 -(polygon_.direction[0][1] * polygon_.along[0][0]));
  }

  const FrictionPolygon& polygon_;
  double sectors_;
  Pairs edge_, direction_;
};

}  // namespace carom::kernels
