#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels::motion {

/// The last impacts of a motion, and where their times accumulate.
/// Build: as of SmallSystem.
template <int kState, class Build>
class ZenoWatch {
  static constexpr int kWindow = 14;
  static constexpr int kMostPeriod = 4;

 public:
  struct Limit {
    bool found = false;
    double time = 0.0;
    double s = 0.0;
    unsigned contacts = 0;   ///< struck in the last two periods
    double reference = 0.0;  ///< largest velocity at the sequence's start
  };

  CAROM_INLINE void clear() { count_ = 0; }

  /// An impact at `time` on `contacts` and the state (q, v) of n numbers after it.
  CAROM_CALL void add(int n, double time, double s, unsigned contacts, const double* state) {
    if (count_ > 0 && !(time > time_[count_ - 1])) {  // another round of the same impact
      --count_;
      contacts |= contacts_[count_];
    }
    if (count_ == kWindow) {
      for (int k = 1; k < kWindow; ++k) move(n, k, k - 1);
      --count_;
    }
    time_[count_] = time;
    s_[count_] = s;
    contacts_[count_] = contacts;
    for (int i = 0; i < n; ++i) state_[count_][i] = state[i];
    ++count_;
  }

  /// Durations of `period` impacts that decrease by one ratio: the limit's error is the rest of the
  /// series times the relative change of the ratio. `state` receives the limit of (q, v), the first
  /// nq of them positions.
  CAROM_CALL Limit limit(int n, int nq, double tolerance, double* state) const {
    Limit result;
    const int last = count_ - 1;
    for (int period = 1; period <= kMostPeriod && 3 * period < count_; ++period) {
      bool alike = true;
      for (int k = 0; k < 2 * period; ++k) {
        alike = alike && contacts_[last - k] == contacts_[last - k - period];
      }
      if (!alike) continue;
      double span[3];
      for (int j = 0; j < 3; ++j) {
        span[j] = time_[last - period * j] - time_[last - period * (j + 1)];
      }
      const double ratio = span[0] / span[1];
      const double before = span[1] / span[2];
      if (!(ratio > 0.0 && ratio < kLargestRatio && before < 1.0)) continue;
      const double share = ratio / (1.0 - ratio);
      const double rest = span[0] * share;
      const double change = magnitude(ratio - before) / (1.0 - ratio);
      if (!(rest * change <= tolerance) || !(change < 0.5)) continue;
      // Terms in the ratio and in its square are taken away; the latter must be small already.
      const double twice = ratio * ratio / (1.0 - ratio * ratio);
      double bend = 0.0;
      const auto ends = [&](double x, double y, double z) {
        const double first = x + (x - y) * share;
        const double second = y + (y - z) * share;
        const double change_of_it = (first - second) * twice;
        bend = larger(bend, magnitude(change_of_it));
        return first + change_of_it;
      };
      for (int i = 0; i < n; ++i) {
        state[i] = ends(state_[last][i], state_[last - period][i], state_[last - 2 * period][i]);
      }
      result.time = ends(time_[last], time_[last - period], time_[last - 2 * period]);
      result.s = ends(s_[last], s_[last - period], s_[last - 2 * period]);
      if (!(bend <= kMostBend)) continue;
      result.found = true;
      finish(n, nq, 2 * period, result);
      return result;
    }
    return result;
  }

 private:
  static constexpr double kLargestRatio = 0.995;
  static constexpr double kMostBend = 1e-8;

  CAROM_INLINE void move(int n, int from, int to) {
    time_[to] = time_[from];
    s_[to] = s_[from];
    contacts_[to] = contacts_[from];
    for (int i = 0; i < n; ++i) state_[to][i] = state_[from][i];
  }
  CAROM_INLINE void finish(int n, int nq, int impacts, Limit& result) const {
    for (int k = count_ - impacts; k < count_; ++k) {
      if (k >= 0) result.contacts |= contacts_[k];
    }
    for (int i = nq; i < n; ++i) {
      result.reference = larger(result.reference, magnitude(state_[0][i]));
    }
  }

  int count_ = 0;
  double time_[kWindow], s_[kWindow];
  unsigned contacts_[kWindow];
  double state_[kWindow][kState];
};

}  // namespace carom::kernels::motion
