#pragma once

#include "impact/kernels/event_piece.hpp"
#include "impact/kernels/event_table.hpp"
#include "impact/kernels/event_weights.hpp"

namespace carom::kernels {

/// The possible modes of planar contacts at given velocities, in the order in which they are tried:
/// cyclically from a number that the weights determine.
template <int M>
class EventSearch {
 public:
  int state[M];   ///< event_state of each contact
  int choice[M];  ///< its part in the mode that is tried

  /// u: normal velocities, of what may push by its store below 0; slip: tangential ones.
  CAROM_INLINE void begin(const double* u, const double* slip, const EventWeights<M>& weights) {
    unsigned pushing = 0;
    for (int i = 0; i < M; ++i) {
      state[i] = event_state(u[i], slip[i]);
      pushing |= (weights.weight[i] > 0.0 ? 1U : 0U) << i;
    }
    begin(weights.first, pushing);
  }

  /// With `state` set; pushing: bits of the contacts with weight.
  CAROM_INLINE void begin(unsigned first, unsigned pushing) {
    constexpr unsigned char kCount[7] = {1, 3, 7, 3, 1, 3, 1};  // of kOptions
    count_ = 1;
    tried_ = 0;
    pushing_ = pushing;
    for (int i = 0; i < M; ++i) {
      own_[i] = kCount[state[i]];
      count_ *= own_[i];
    }
    unsigned rest = count_ > 1 ? first % count_ : 0;
    for (int i = 0; i < M; ++i) {
      digit_[i] = rest % own_[i];
      rest /= own_[i];
    }
  }

  /// Modes there are to try.
  [[nodiscard]] CAROM_INLINE unsigned count() const { return count_; }

  /// The next one whose equations do not contradict each other; null where all have been tried.
  template <class Table>
  CAROM_INLINE const double* next(const Table& table) {
    while (tried_ < count_) {
      const double* const mode = table.mode(next_number(), pushing_);
      if (mode != nullptr) return mode;
    }
    return nullptr;
  }

  /// The next one, whatever its equations are.
  CAROM_INLINE int next_number() {
    constexpr unsigned char kOptions[7][7] = {
        // by state
        {0}, {0, 1, 4}, {0, 2, 3, 1, 5, 6, 4}, {0, 3, 6}, {1}, {2, 3, 1}, {3}};
    int number = 0;
    for (int i = M; i-- > 0;) {
      choice[i] = kOptions[state[i]][digit_[i]];
      number = kEventChoices * number + choice[i];
    }
    for (int i = 0; i < M; ++i) {
      if (++digit_[i] < own_[i]) break;
      digit_[i] = 0;
    }
    ++tried_;
    return number;
  }

 private:
  unsigned count_, tried_, pushing_;
  unsigned own_[M], digit_[M];  ///< parts of each contact, and which is next
};

/// Impulses and rates of a mode under weights. V: a double, or a pack of modes.
template <int M, class V>
CAROM_INLINE void event_motion(const V* mode, const V* weight, V* impulse, V* rate) {
  constexpr int kRows = 2 * M;
  for (int k = 0; k < kRows; ++k) {
    V push(0.0), change(0.0);
    for (int j = 0; j < M; ++j) {
      push = fused(mode[2 * j * kRows + k], weight[j], push);
      change = fused(mode[(2 * j + 1) * kRows + k], weight[j], change);
    }
    impulse[k] = push;
    rate[k] = change;
  }
}

/// Whether the signs of a mode's solution are the mode's; where they are the impulses lie within
/// their bounds afterwards.
template <int M>
CAROM_INLINE bool event_holds(const int* state, const int* choice, const double* friction,
                              const double* weight, const double* rate, double* impulse) {
  constexpr double kNothing = EventRules::kNothing;
  bool pushed = false;
  for (int i = 0; i < M; ++i) {
    double& normal = impulse[i];
    double& tangent = impulse[M + i];
    const bool touches = state[i] >= 1 && state[i] <= 3;
    if (choice[i] == 0) {
      if (touches && rate[i] < 0.0) return false;
      continue;
    }
    if (event_held(choice[i])) {
      if (!(normal >= -kNothing * weight[i] && normal <= weight[i] * (1.0 + kNothing))) {
        return false;
      }
      if (normal < 0.0) normal = tangent = 0.0;
    } else if (touches && rate[i] > 0.0) {
      return false;
    }
    pushed = pushed || normal > 0.0;
    if (state[i] != 2 && state[i] != 5) continue;
    const int slip = event_slip(choice[i]);
    if (slip == 0) {
      const double most = friction[i] * normal;
      if (!(magnitude(tangent) <= most * (1.0 + kNothing))) return false;
      tangent = smaller(larger(tangent, -most), most);
    } else if (slip * rate[M + i] < 0.0) {
      return false;
    }
  }
  return pushed;
}

}  // namespace carom::kernels
