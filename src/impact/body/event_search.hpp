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
    count_ = 1;
    tried_ = 0;
    pushing_ = 0;
    for (int i = 0; i < M; ++i) {
      state[i] = event_state(u[i], u[M + i]);
      count_ *= static_cast<unsigned>(kCount[state[i]]);
      pushing_ |= (weights.weight[i] > 0.0 ? 1U : 0U) << i;
    }
    unsigned rest = count_ > 1 ? weights.first % count_ : 0;
    for (int i = 0; i < M; ++i) {
      const auto own = static_cast<unsigned>(kCount[state[i]]);
      digit_[i] = static_cast<int>(rest % own);
      rest /= own;
    }
  }

  /// The next one whose equations do not contradict each other; null where all have been tried.
  template <class Table>
  CAROM_INLINE const double* next(const Table& table) {
    while (tried_ < count_) {
      int number = 0;
      for (int i = 0; i < M; ++i) {
        choice[i] = kOptions[state[i]][digit_[i]];
        number += kPower[i] * choice[i];
      }
      for (int i = 0; i < M; ++i) {
        if (++digit_[i] < kCount[state[i]]) break;
        digit_[i] = 0;
      }
      ++tried_;
      const double* const mode = table.mode(number, pushing_);
      if (mode != nullptr) return mode;
    }
    return nullptr;
  }

 private:
  // By state.
  static constexpr signed char kOptions[7][7] = {
      {0}, {0, 1, 4}, {0, 2, 3, 1, 5, 6, 4}, {0, 3, 6}, {1}, {2, 3, 1}, {3}};
  static constexpr signed char kCount[7] = {1, 3, 7, 3, 1, 3, 1};
  static constexpr int kPower[4] = {1, 7, 49, 343};

  unsigned count_, tried_, pushing_;
  int digit_[M];
};

}  // namespace carom::kernels
