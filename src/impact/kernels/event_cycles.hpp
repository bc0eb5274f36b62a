#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/event_series.hpp"
#include "impact/kernels/event_slip.hpp"

namespace carom::kernels {

/// EventSeries (event_series.hpp) of contacts whose slip has sectors: cycles of events, each a copy
/// of the one before it and smaller by one ratio, sum to a geometric series.
template <int Dim, int Most>
class EventCycles : EventCycleRules {
  static constexpr int kRows = Dim * Most;
  static constexpr int kTangents = Dim - 1;

 public:
  CAROM_INLINE void begin() {
    events_ = 0;
    cycle_ = 0;
  }
  /// Pieces of the stretch.
  [[nodiscard]] CAROM_INLINE int events() const { return events_; }
  /// A piece of this length has been followed.
  CAROM_INLINE void add(double length) {
    since_mark_ += length;
    ++events_;
  }
  /// Whether cycles are looked for after the newest piece.
  [[nodiscard]] CAROM_INLINE bool due(bool follows) const { return events_ > cycles_from(follows); }

  /// The newest piece ended at event `key`. Where a series is found u, its slip states and total go
  /// to its limit, `left` to what remains of the stretch. size: of velocities.
  template <class Rows, class State>
  CAROM_INLINE bool sum(const EventSlip<Dim>& slips, const Rows& at, int key, double size,
                        double* u, State* slip, double* total, double& left) {
    const int contacts = at.contacts, rows = at.end();
    if (cycle_ == 0) {
      key_ = key, since_ = 0, since_mark_ = 0.0;
      for (int i = 0; i < contacts; ++i) seen_[i] = 0;
    }
    for (int i = 0; i < contacts; ++i) seen_[i] |= seen(slips, u[i], static_cast<int>(slip[i]));
    ++since_;
    if (key != key_) {
      if (since_ > kCyclesFrom) cycle_ = 0;
      return false;
    }
    Mark& mark = mark_[cycle_ % 3];
    for (int k = 0; k < rows; ++k) mark.u[k] = u[k], mark.total[k] = total[k];
    for (int i = 0; i < contacts; ++i) mark.seen[i] = seen_[i], seen_[i] = 0;
    mark.length = since_mark_;
    mark.events = since_;
    since_mark_ = 0.0;
    since_ = 0;
    if (++cycle_ < 3) return false;
    const Mark& first = mark_[cycle_ % 3];
    const Mark& second = mark_[(cycle_ + 1) % 3];
    const double ratio = mark.length / second.length;
    if (mark.events != second.events || !(ratio < kSlowest)) return false;
    for (int i = 0; i < contacts; ++i) {
      if (mark.seen[i] != second.seen[i]) return false;
    }
    double largest = 0.0, wrong = 0.0;
    for (int k = 0; k < rows; ++k) {
      const double step = second.u[k] - first.u[k], next = mark.u[k] - second.u[k];
      largest = larger(largest, magnitude(step));
      wrong = larger(wrong, magnitude(fused(-ratio, step, next)));
    }
    const double rounding = kSameRounding * size * (1.0 - ratio);  // a limit sums many of it
    if (!(wrong <= fused(kSameShape, largest, rounding))) return false;
    const double times = ratio / (1.0 - ratio);
    const double spent = times * mark.length;
    if (!(spent < left)) return false;
    double limit[kRows];
    int state[Most];
    for (int k = 0; k < rows; ++k) {
      limit[k] = fused(times, mark.u[k] - second.u[k], u[k]);
    }
    for (int i = 0; i < contacts; ++i) {
      state[i] = static_cast<int>(slip[i]);
      double t[2] = {limit[at.tangent(i, 0)], limit[at.tangent(i, kTangents - 1)]};
      if (!settle(slips, mark.seen[i], kSettled * size, u[i], limit[i], t, state[i])) return false;
      for (int c = 0; c < kTangents; ++c) limit[at.tangent(i, c)] = t[c];
    }
    for (int k = 0; k < rows; ++k) {
      total[k] = fused(times, mark.total[k] - second.total[k], total[k]);
      u[k] = limit[k];
    }
    for (int i = 0; i < contacts; ++i) slip[i] = static_cast<State>(state[i]);
    left -= spent;
    cycle_ = 0;
    return true;
  }

 private:
  static constexpr std::uint32_t kTouched = 1U, kStuck = 2U;

  struct Mark {
    double u[kRows], total[kRows];
    double length;             ///< of the cycle that ends here
    std::uint32_t seen[Most];  ///< what vanished within
    int events;
  };

  /// Bits of what vanishes: u_n, the slip, its component across a ray.
  CAROM_INLINE static std::uint32_t seen(const EventSlip<Dim>& slips, double normal, int slip) {
    if (normal > 0.0) return 0;
    std::uint32_t bits = normal == 0.0 ? kTouched : 0U;
    if (slip == 0) bits |= kStuck;
    if (Dim == 3 && slips.is_ray(slip)) bits |= 4U << slips.index(slip);
    return bits;
  }

  /// Whether a contact's limit is 0 where something vanished in every cycle, and in the closure of
  /// where it is now elsewhere; its zeros become exact.
  CAROM_INLINE static bool settle(const EventSlip<Dim>& slips, std::uint32_t seen, double nothing,
                                  double normal, double& limit, double* t, int& state) {
    if (magnitude(limit) <= nothing) {
      limit = 0.0;
    } else if ((seen & kTouched) != 0 || limit * normal < 0.0) {
      return false;
    }
    if (limit > 0.0) return true;
    const std::uint32_t rays = seen >> 2;
    const int now = slips.of(t, nothing);
    if ((seen & kStuck) != 0 || (rays & (rays - 1U)) != 0) {
      state = 0;
    } else if (rays != 0) {
      state = slips.ray(lowest_bit(rays));
    } else if (normal > 0.0) {
      state = now;  // no face before: it separated
    }
    if (!slips.ends(state, now)) return false;
    state = now;
    slips.project(state, t);
    return true;
  }

  Mark mark_[3];
  double since_mark_ = 0.0;
  int events_ = 0;
  int cycle_ = 0, key_ = -1, since_ = 0;
  std::uint32_t seen_[Most];
};

}  // namespace carom::kernels
