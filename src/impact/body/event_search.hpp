#pragma once

#include "impact/body/event_table.hpp"
#include "impact/body/event_weights.hpp"

namespace carom::kernels {

/// The modes that planar contacts at given velocities may be in, in the order they are tried:
/// cyclically from the number on that the weights name.
template <int M>
class EventSearch {
 public:
  int state[M];   ///< event_state of each contact
  int choice[M];  ///< its part in the mode that is tried

  CAROM_INLINE void begin(const double* u, const EventWeights<M>& weights) {
    constexpr unsigned char kCount[7] = {1, 3, 7, 3, 1, 3, 1};  // of kOptions
    count_ = 1;
    tried_ = 0;
    pushing_ = 0;
    for (int i = 0; i < M; ++i) {
      state[i] = event_state(u[i], u[M + i]);
      own_[i] = kCount[state[i]];
      count_ *= own_[i];
      pushing_ |= (weights.weight[i] > 0.0 ? 1U : 0U) << i;
    }
    unsigned rest = count_ > 1 ? weights.first % count_ : 0;
    for (int i = 0; i < M; ++i) {
      digit_[i] = rest % own_[i];
      rest /= own_[i];
    }
  }

  /// The next one whose equations do not contradict each other; null where all have been tried.
  template <class Table>
  CAROM_INLINE const double* next(const Table& table) {
    constexpr signed char kOptions[7][7] = {
        // by state
        {0}, {0, 1, 4}, {0, 2, 3, 1, 5, 6, 4}, {0, 3, 6}, {1}, {2, 3, 1}, {3}};
    while (tried_ < count_) {
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
      const double* const mode = table.mode(number, pushing_);
      if (mode != nullptr) return mode;
    }
    return nullptr;
  }

 private:
  unsigned count_, tried_, pushing_;
  unsigned own_[M], digit_[M];  ///< parts of each contact, and which is next
};

}  // namespace carom::kernels
