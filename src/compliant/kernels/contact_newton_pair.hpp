#pragma once

#include <cstdint>

#include <carom/device/packed.hpp>

#include "compliant/kernels/contact_newton_pack.hpp"

namespace carom::kernels {

/// Two systems of ContactNewtonPack side by side, so that one computes while the other waits for a
/// square root or a division. As soon as the unfinished lanes fit into one pack, they continue
/// there. A lane gets the same bits as without the other lanes.
template <class V, class Memory, int kContacts>
class ContactNewtonPair {
  static_assert(kContacts > 0);
  static constexpr int kRows = 3 * kContacts;
  static constexpr int kWidth = kLaneCount<V>;
  using Pack = ContactNewtonPack<V, Memory, kContacts>;

 public:
  /// impulse: p of both, as of ContactNewtonPack; count: 1 or 2 of them.
  CAROM_INLINE ContactNewtonPair(Pack* packs, const Memory* impulse, int count)
      : impulse_{impulse[0], impulse[count - 1]}, count_(count) {
    for (int k = 0; k < count; ++k) pack_[k] = packs + k;
  }

  /// ContactNewtonPack::solve of all. W of the first is then not what it was. iterations: of each.
  void solve(double accuracy, int max_iterations, V* iterations) {
    const V zero(0.0);
    Pack* swept[2];
    int poor = 0;
    for (int k = 0; k < count_; ++k) {
      pack_[k]->start(impulse_[k], accuracy);
      if (any_of(pack_[k]->chosen_ > zero)) swept[poor++] = pack_[k];
    }
    if (poor > 0) {
      sweep(swept, poor, kNewtonSweeps);
      for (int k = 0; k < poor; ++k) swept[k]->settle();
    }
    Pack* all[2] = {pack_[0], pack_[count_ - 1]};
    Pack* live[2];
    int left = running(all, count_, live);
    for (int turn = 0; turn < max_iterations && left > 0; ++turn) {
      if (left == 2 && fits()) {
        join();
        left = 1;
      }
      if (turn == kNewtonPatience) {
        for (int k = 0; k < left; ++k) live[k]->choose_late();
        sweep(live, left, Pack::kLateSweeps);
        for (int k = 0; k < left; ++k) live[k]->natural_residual();
      }
      for (int k = 0; k < left; ++k) live[k]->newton_step();
      for (int k = 0; k < left; ++k) live[k]->accept();
      left = running(live, left, live);
    }
    if (joined_) {
      part();
    } else {
      for (int k = 0; k < count_; ++k) give(k);
    }
    for (int k = 0; k < count_; ++k) iterations[k] = pack_[k]->iterations_;
  }

 private:
  CAROM_INLINE static int running(Pack* const* from, int count, Pack** to) {
    int left = 0;
    for (int k = 0; k < count; ++k) {
      Pack* const pack = from[k];
      if (any_of(pack->running_ > V(0.0))) to[left++] = pack;
    }
    return left;
  }
  CAROM_INLINE static void sweep(Pack* const* packs, int count, int turns) {
    if (count == 2) {
      Pack::template sweep_together<2>(packs, turns);
    } else {
      Pack::template sweep_together<1>(packs, turns);
    }
  }
  CAROM_INLINE unsigned lanes(int k) const { return (pack_[k]->running_ > V(0.0)).bits(); }
  CAROM_INLINE bool fits() const {
    return __builtin_popcount(lanes(0)) + __builtin_popcount(lanes(1)) <= kWidth;
  }
  CAROM_INLINE void give(int k) const {
    for (int i = 0; i < kRows; ++i) impulse_[k][i] = pack_[k]->best_[i];
  }

  /// Lanes of the second that run take the places of the first's that do not.
  CAROM_INLINE void join() {
    for (int k = 0; k < 2; ++k) {
      give(k);
      done_[k] = pack_[k]->iterations_;
    }
    unsigned free = ~lanes(0);
    unsigned coming = lanes(1);
    std::int64_t place[kWidth];
    for (int i = 0; i < kWidth; ++i) {
      place[i] = i;
      back_[0][i] = kWidth + i;
      back_[1][i] = i;
    }
    while (coming != 0U) {
      const int from = __builtin_ctz(coming);
      const int to = __builtin_ctz(free);
      place[to] = kWidth + from;
      back_[0][to] = to;
      back_[1][from] = kWidth + to;
      coming &= coming - 1;
      free &= free - 1;
    }
    for (unsigned idle = free; (idle & ((1U << kWidth) - 1U)) != 0U; idle &= idle - 1) {
      back_[0][__builtin_ctz(idle)] = __builtin_ctz(idle);
    }
    const typename V::Places places(place);
    Pack& a = *pack_[0];
    const Pack& b = *pack_[1];
    const Memory w = a.s_.matrix;
    const Memory w_b = b.s_.matrix;
    for (int e = 0; e < kRows * kRows; ++e) w[e] = taken(w[e], w_b[e], places);
    const auto take = [&](V& x, const V& y) { x = taken(x, y, places); };
    for (int i = 0; i < kRows; ++i) {
      take(a.s_.vector[i], b.s_.vector[i]);
      take(a.weight_[i], b.weight_[i]);
      take(a.force_[i], b.force_[i]);
      take(a.slip_[i], b.slip_[i]);
      take(a.best_[i], b.best_[i]);
      take(a.p_[i], b.p_[i]);
    }
    for (int i = 0; i < kContacts; ++i) {
      take(a.length_[i], b.length_[i]);
      take(a.friction_[i], b.friction_[i]);
    }
    take(a.target_, b.target_);
    take(a.floor_, b.floor_);
    take(a.least_, b.least_);
    take(a.running_, b.running_);
    take(a.iterations_, b.iterations_);
    joined_ = true;
  }
  /// Their answers go back to where the lanes came from.
  CAROM_INLINE void part() {
    const Pack& own = *pack_[0];
    const V taken_by_joined = own.iterations_;
    for (int k = 0; k < 2; ++k) {
      const typename V::Places places(back_[k]);
      for (int i = 0; i < kRows; ++i) {
        impulse_[k][i] = taken(impulse_[k][i], own.best_[i], places);
      }
      done_[k] = taken(done_[k], taken_by_joined, places);
    }
    for (int k = 0; k < 2; ++k) pack_[k]->iterations_ = done_[k];
  }

  Pack* pack_[2];
  Memory impulse_[2];
  int count_;
  bool joined_ = false;
  std::int64_t back_[2][kWidth];  // of each lane: its own place, or kWidth + its place in the first
  V done_[2];
};

}  // namespace carom::kernels
