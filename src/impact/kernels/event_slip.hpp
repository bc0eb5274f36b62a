#pragma once

#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// Whether a number goes to 0 at this rate; their product may be too small for its sign.
CAROM_INLINE bool nears(double x, double rate) {
  return (x < 0.0 && rate > 0.0) || (x > 0.0 && rate < 0.0);
}

/// Slip of one contact in the normal fan of its friction polygon. State 0: none; 1 + j: within
/// sector j, which friction d_j opposes; 1 + k + j: on the ray between sectors j and j + 1, which
/// the polygon's edge from d_j to d_(j+1) opposes. Planar contacts have two sectors, slip - and +,
/// and no rays.
template <int Dim>
class EventSlip {
 public:
  static constexpr int kTangents = Dim - 1;

  CAROM_INLINE explicit EventSlip(const FrictionPolygon& polygon)
      : polygon_(polygon), sectors_(Dim == 2 ? 2 : polygon.count) {}

  [[nodiscard]] CAROM_INLINE int sectors() const { return sectors_; }
  [[nodiscard]] CAROM_INLINE int states() const { return Dim == 2 ? 3 : 1 + 2 * sectors_; }
  /// What a policy knows a state by.
  [[nodiscard]] CAROM_INLINE int code(int state) const {
    return Dim == 2 && state < 2 ? 1 - state : state;  // -, none, + as planar ones
  }
  [[nodiscard]] CAROM_INLINE bool is_sector(int state) const {
    return state > 0 && state <= sectors_;
  }
  [[nodiscard]] CAROM_INLINE bool is_ray(int state) const { return state > sectors_; }
  [[nodiscard]] CAROM_INLINE int sector(int j) const { return 1 + j; }
  [[nodiscard]] CAROM_INLINE int ray(int j) const { return 1 + sectors_ + j; }
  /// The sector of a state that is one, or the one before a ray.
  [[nodiscard]] CAROM_INLINE int index(int state) const { return (state - 1) % sectors_; }
  [[nodiscard]] CAROM_INLINE int after(int j) const { return j + 1 < sectors_ ? j + 1 : 0; }
  [[nodiscard]] CAROM_INLINE int before(int j) const { return j > 0 ? j - 1 : sectors_ - 1; }

  /// d_j, the friction that opposes sector j.
  [[nodiscard]] CAROM_INLINE const double* direction(int j) const { return polygon_.direction[j]; }
  /// Unit vector along the edge from d_j to d_(j+1), and its length.
  [[nodiscard]] CAROM_INLINE const double* edge(int j) const { return polygon_.along[j]; }
  [[nodiscard]] CAROM_INLINE double edge_length() const { return polygon_.edge; }

  /// d_j . t
  [[nodiscard]] CAROM_INLINE double towards(int j, const double* t) const {
    return direction_dot<Dim>(polygon_, j, t);
  }
  /// e_j . t, positive on sector j's side of ray j.
  [[nodiscard]] CAROM_INLINE double across(int j, const double* t) const {
    return fused(polygon_.along[j][0], t[0], polygon_.along[j][1] * t[1]);
  }
  /// Component of t along ray j.
  [[nodiscard]] CAROM_INLINE double along(int j, const double* t) const {
    return fused(polygon_.along[j][0], t[1], -(polygon_.along[j][1] * t[0]));
  }
  /// The part of t on ray j, or none.
  CAROM_INLINE void project(int state, double* t) const {
    if (state == 0) {
      for (int c = 0; c < kTangents; ++c) t[c] = 0.0;
    } else if (Dim == 3 && is_ray(state)) {
      const int j = index(state);
      const double length = along(j, t);
      t[0] = -polygon_.along[j][1] * length;
      t[1] = polygon_.along[j][0] * length;
    }
  }

  /// The state of slip t; up to `nothing` a component is 0.
  [[nodiscard]] CAROM_INLINE int of(const double* t, double nothing) const {
    if constexpr (Dim == 2) {
      if (magnitude(t[0]) <= nothing) return 0;
      return t[0] < 0.0 ? 1 : 2;
    } else {
      if (magnitude(t[0]) <= nothing && magnitude(t[1]) <= nothing) return 0;
      const double opposed[2] = {-t[0], -t[1]};
      const int j = nearest_direction<3>(polygon_, opposed);
      if (magnitude(across(j, t)) <= nothing) return ray(j);
      const int previous = before(j);
      return magnitude(across(previous, t)) <= nothing ? ray(previous) : sector(j);
    }
  }

  /// The state right after `state` at this rate.
  [[nodiscard]] CAROM_INLINE int moving(int state, const double* rate, double nothing) const {
    if (state == 0) return of(rate, nothing);
    if (Dim == 2 || !is_ray(state)) return state;
    const int j = index(state);
    const double turns = across(j, rate);
    if (magnitude(turns) <= nothing) return state;
    return turns > 0.0 ? sector(j) : sector(after(j));
  }

  /// Whether friction `choice` may oppose a slip that moves in `state`.
  [[nodiscard]] CAROM_INLINE bool opposes(int choice, int state) const {
    if (state == 0 || state == choice) return true;
    if (Dim == 2 || !is_sector(choice) || !is_ray(state)) return false;
    return index(state) == index(choice) || after(index(state)) == index(choice);
  }

  /// Impulse until slip t in a sector or on a ray comes to that state's end, infinite where it does
  /// not; `end` receives the state there.
  CAROM_INLINE double until(int state, const double* t, const double* rate, int& end) const {
    if (state == 0) return kInfinity;
    const int j = index(state);
    if constexpr (Dim == 2) {
      end = 0;
      return nears(t[0], rate[0]) ? -t[0] / rate[0] : kInfinity;
    } else if (is_ray(state)) {
      const double length = along(j, t), change = along(j, rate);
      end = 0;
      return change < 0.0 ? at_least_zero(-length / change) : kInfinity;
    } else {
      double first = kInfinity;
      const int previous = before(j);
      const double here = across(j, t), turns = across(j, rate);
      // at the boundary already where another event came with it
      if (turns < 0.0) first = at_least_zero(-here / turns), end = ray(j);
      const double there = across(previous, t), back = across(previous, rate);
      if (back > 0.0 && at_least_zero(-there / back) < first) {
        first = at_least_zero(-there / back);
        end = ray(previous);
      }
      return first;
    }
  }

  /// Whether t, come from `before` in a sector or on a ray, lies at that state's end `end` or
  /// beyond.
  [[nodiscard]] CAROM_INLINE bool passed(int state, int end, const double* before,
                                         const double* t) const {
    if constexpr (Dim == 2) {
      return nears(before[0], t[0]);
    } else {
      if (end == 0) return along(index(state), t) <= 0.0;
      const double side = across(index(end), t);
      return index(end) == index(state) ? side <= 0.0 : side >= 0.0;
    }
  }

  /// Whether state `end` is `state` or an end of it.
  [[nodiscard]] CAROM_INLINE bool ends(int state, int end) const {
    if (end == 0 || end == state) return true;
    if (Dim == 2 || !is_sector(state) || !is_ray(end)) return false;
    return index(end) == index(state) || after(index(end)) == index(state);
  }

  /// The state of slip t, which is in `state` but where within `nothing` of an end of it: that end.
  [[nodiscard]] CAROM_INLINE int met(int state, const double* t, double nothing) const {
    double size = magnitude(t[0]);
    if (Dim == 3) size = larger(size, magnitude(t[kTangents - 1]));
    if (size <= nothing) return 0;
    if (Dim == 2 || !is_sector(state)) return state;
    const int j = index(state), previous = before(j);
    if (magnitude(across(j, t)) <= nothing) return ray(j);
    return magnitude(across(previous, t)) <= nothing ? ray(previous) : state;
  }

  /// Where friction t of a contact with this limit lies: 0 within the polygon, else the sector or
  /// ray whose vertex or edge is nearest.
  [[nodiscard]] CAROM_INLINE int nearest(const double* t, double limit, double slack) const {
    if constexpr (Dim == 2) {
      if (magnitude(t[0]) <= limit * (1.0 + slack)) return 0;
      return t[0] > 0.0 ? 1 : 2;
    } else {
      const int j = nearest_direction<3>(polygon_, t);
      const int previous = before(j);
      const double reach = limit * (1.0 + slack);
      // Component along the outward normal of an edge is that against the ray.
      if (-along(j, t) <= reach * apothem() && -along(previous, t) <= reach * apothem()) return 0;
      const double half = 0.5 * limit * polygon_.edge;
      if (-along(j, t) > reach * apothem() && magnitude(across(j, t)) < half) return ray(j);
      if (-along(previous, t) > reach * apothem() && magnitude(across(previous, t)) < half) {
        return ray(previous);
      }
      return sector(j);
    }
  }
  /// By how much t leaves limit times the polygon.
  [[nodiscard]] CAROM_INLINE double beyond(const double* t, double limit) const {
    if constexpr (Dim == 2) {
      return magnitude(t[0]) - limit;
    } else {
      return largest([&](int j) { return -along(j, t); }) - limit * apothem();
    }
  }
  /// min over friction directions of d_j . t: what full friction takes from slip t, negative.
  [[nodiscard]] CAROM_INLINE double most_opposed(const double* t) const {
    const double opposed[2] = {-t[0], Dim == 2 ? 0.0 : -t[kTangents - 1]};
    return -largest([&](int j) { return direction_dot<Dim>(polygon_, j, opposed); });
  }

 private:
  /// max of of(j) over the sectors; a few at once, each of which would wait for the one before it.
  template <class Of>
  [[nodiscard]] CAROM_INLINE double largest(Of&& of) const {
    constexpr int kAtOnce = 4;
    double most[kAtOnce] = {-kInfinity, -kInfinity, -kInfinity, -kInfinity};
    int j = 0;
    for (; j + kAtOnce <= sectors_; j += kAtOnce) {
      for (int k = 0; k < kAtOnce; ++k) most[k] = larger(most[k], of(j + k));
    }
    for (; j < sectors_; ++j) most[0] = larger(most[0], of(j));
    return larger(larger(most[0], most[1]), larger(most[2], most[3]));
  }

  /// Distance of an edge from the middle.
  [[nodiscard]] CAROM_INLINE double apothem() const {
    return fused(polygon_.direction[0][0], polygon_.along[0][1],
                 -(polygon_.direction[0][1] * polygon_.along[0][0]));
  }

  const FrictionPolygon& polygon_;
  int sectors_;
};

}  // namespace carom::kernels
