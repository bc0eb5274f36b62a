#pragma once

#include <cstdint>

#include "impact/kernels/event_weights.hpp"

namespace carom::kernels {

/// Rules for cycles of events that repeat with a constant ratio.
struct EventCycleRules {
  static constexpr double kSameShape = 1e-8;      ///< of a cycle that repeats at a smaller size
  static constexpr double kSameRounding = 1e-13;  ///< likewise, of the largest contact speed
  static constexpr double kSlowest = 0.999;       ///< ratio of cycles that are summed
  static constexpr double kSettled = 1e-11;  ///< of the largest contact speed: their limit is 0
  static constexpr int kCyclesFrom = 24;     ///< events before cycles are looked for, ...
  static constexpr int kPolicyCycles = 4;    ///< ... under a policy, which repeats itself

  CAROM_HOST_DEVICE static constexpr int cycles_from(bool follows) {
    return follows ? kPolicyCycles : kCyclesFrom;
  }
};

/// Events of one stretch that alternate in cycles, each a copy of the one before it and smaller by
/// one ratio, sum to a geometric series: the state after all of them is taken at once.
template <int M>
class EventSeries : public EventCycleRules {
  static constexpr int kRows = 2 * M;

 public:
  CAROM_INLINE void begin() {
    events_ = 0;
    cycle_ = 0;
  }

  /// In place of `add`, for callers that count themselves: pieces of the stretch, and length since
  /// the cycle began.
  CAROM_INLINE void resume(int events, double since) {
    events_ = events;
    since_mark_ = since;
  }
  /// Length since the cycle began.
  [[nodiscard]] CAROM_INLINE double since() const { return since_mark_; }
  /// Whether cycles are being looked at.
  [[nodiscard]] CAROM_INLINE bool open() const { return cycle_ > 0; }

  /// Pieces of the stretch.
  [[nodiscard]] CAROM_INLINE int events() const { return events_; }

  /// A piece of this length has been followed.
  CAROM_INLINE void add(double length) {
    since_mark_ += length;
    ++events_;
  }

  /// Whether cycles are looked for after the newest piece.
  [[nodiscard]] CAROM_INLINE bool due(bool follows) const { return events_ > cycles_from(follows); }

  /// The newest piece ended at a zero of row `key`, with those in `zeros` zero. Where a series is
  /// found u and total go to its limit, `left` to what remains of the stretch. size: of velocities.
  CAROM_INLINE bool sum(int key, std::uint32_t zeros, double size, double* u, double* total,
                        double& left) {
    if (cycle_ == 0) key_ = key, zeros_ = 0, since_ = 0, since_mark_ = 0.0;
    zeros_ |= zeros;
    ++since_;
    if (key != key_) {
      if (since_ > kCyclesFrom) cycle_ = 0;
      return false;
    }
    Mark& mark = mark_[cycle_ % 3];
    for (int k = 0; k < kRows; ++k) mark.u[k] = u[k], mark.total[k] = total[k];
    mark.length = since_mark_;
    mark.zeros = zeros_;
    mark.events = since_;
    since_mark_ = 0.0;
    zeros_ = 0;
    since_ = 0;
    if (++cycle_ < 3) return false;
    const Mark& first = mark_[cycle_ % 3];
    const Mark& second = mark_[(cycle_ + 1) % 3];
    const double ratio = mark.length / second.length;
    if (mark.zeros != second.zeros || mark.events != second.events || !(ratio < kSlowest)) {
      return false;
    }
    double largest = 0.0, wrong = 0.0;
    for (int k = 0; k < kRows; ++k) {
      const double step = second.u[k] - first.u[k], next = mark.u[k] - second.u[k];
      largest = larger(largest, magnitude(step));
      wrong = larger(wrong, magnitude(fused(-ratio, step, next)));
    }
    if (!(wrong <= kSameShape * largest)) return false;
    const double times = ratio / (1.0 - ratio);
    const double spent = times * mark.length;
    if (!(spent < left)) return false;
    double limit[kRows];
    for (int k = 0; k < kRows; ++k) {
      limit[k] = fused(times, mark.u[k] - second.u[k], u[k]);
      if ((mark.zeros >> k & 1U) != 0) {
        if (!(magnitude(limit[k]) <= kSettled * size)) return false;
        limit[k] = 0.0;
      } else if (limit[k] * u[k] < 0.0) {
        return false;
      }
    }
    for (int k = 0; k < kRows; ++k) {
      total[k] = fused(times, mark.total[k] - second.total[k], total[k]);
      u[k] = limit[k];
    }
    left -= spent;
    cycle_ = 0;
    return true;
  }

 private:
  struct Mark {
    double u[kRows], total[kRows];
    double length;  ///< of the cycle that ends here
    std::uint32_t zeros;
    int events;
  };

  Mark mark_[3];
  double since_mark_ = 0.0;
  int events_ = 0;
  int cycle_ = 0, key_ = -1, since_ = 0;
  std::uint32_t zeros_ = 0;
};

}  // namespace carom::kernels
