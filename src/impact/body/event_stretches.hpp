#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "core/random.hpp"

namespace carom::kernels {

/// EventWeights (event_weights.hpp) of any number of contacts up to Most, whose states are given:
/// the same draws.
template <int Most>
class EventStretches {
 public:
  double weight[Most];   ///< of each contact, sum 1
  double left = 0.0;     ///< of the stretch [N s]
  bool follows = false;  ///< the policy; `choose` is wanted before each piece
  unsigned first = 0;    ///< what the mode that is tried first is drawn by

  CAROM_INLINE void begin(int contacts, std::uint64_t seed, std::uint32_t index,
                          std::uint64_t sample) {
    contacts_ = contacts;
    seed_ = seed;
    index_ = index;
    sample_ = sample;
    block_ = 0;
    left = 0.0;
    const UniformPair pair = next();
    wanted_ = pair.first < 0.5;
    policy_ = static_cast<std::uint32_t>(pair.second * 4294967296.0);
    spoiled_ = false;
  }

  /// The stretch ends here, and the next one does not follow the policy.
  CAROM_INLINE void spoil() {
    left = 0.0;
    spoiled_ = true;
  }

  /// Weights close to the corners of their simplex, at times in one; a length over all orders of
  /// magnitude up to `longest`. u: normal velocities.
  CAROM_INLINE void draw(const double* u, double longest) {
    const UniformPair kind = next();
    const UniformPair choice = next();
    for (int i = 0; i < contacts_; i += 2) {
      const UniformPair pair = next();
      weight[i] = corner(pair.first);
      if (i + 1 < contacts_) weight[i + 1] = corner(pair.second);
    }
    double most = 0.0, sum = 0.0;
    for (int i = 0; i < contacts_; ++i) most = larger(most, weight[i]);
    const int alone = static_cast<int>(kind.first * 3.0 * contacts_);
    for (int i = 0; i < contacts_; ++i) {
      if (alone < contacts_) weight[i] = i == alone ? most : 0.0;
      if (weight[i] < kLeast * most) weight[i] = 0.0;
      if (u[i] < 0.0) sum += weight[i];
    }
    if (!(sum > 0.0)) {
      for (int i = 0; i < contacts_; ++i) {
        if (u[i] < 0.0) weight[i] = most > 0.0 ? most : 1.0;
      }
    }
    sum = 0.0;
    for (int i = 0; i < contacts_; ++i) sum += weight[i];
    for (int i = 0; i < contacts_; ++i) drawn_[i] = weight[i] /= sum;
    first = static_cast<unsigned>(choice.second * 1048576.0);
    const int halvings = static_cast<int>(choice.first * 12.0);
    const double scale = 4.0 / (1U << halvings);
    left = longest * scale * (0.5 + kind.second);
    follows = wanted_ && !spoiled_;
    spoiled_ = false;
    if (follows && kind.second < 0.75) left = 64.0 * longest;
  }

  /// What the policy says for the face of these states: one contact that may push, or the drawn
  /// weights.
  CAROM_INLINE void choose(const double* u, const int* state) {
    std::uint32_t x = policy_;
    int count = 0, able[Most] = {};
    for (int i = 0; i < contacts_; ++i) {
      x = (x ^ static_cast<std::uint32_t>(state[i])) * 0x9E3779B9U;
      x ^= x >> 15;
      if (u[i] <= 0.0) able[count++] = i;
    }
    x *= 0x85EBCA6BU;
    x ^= x >> 13;
    x *= 0xC2B2AE35U;
    x ^= x >> 16;
    const auto pick = static_cast<int>(x % static_cast<unsigned>(count + 1));
    for (int i = 0; i < contacts_; ++i) {
      weight[i] = pick == count ? drawn_[i] : (i == able[pick] ? 1.0 : 0.0);
    }
  }

 private:
  static constexpr double kLeast = 1e-5;  ///< of the largest weight; smaller ones are none

  CAROM_INLINE UniformPair next() { return uniform_pair(seed_, index_, sample_, block_++); }
  CAROM_INLINE static double corner(double x) {
    const double square = x * x, fourth = square * square;
    return fourth * fourth;
  }

  int contacts_ = 0;
  std::uint64_t seed_ = 0, sample_ = 0;
  std::uint32_t index_ = 0, block_ = 0, policy_ = 0;
  bool wanted_ = false, spoiled_ = false;
  double drawn_[Most];
};

}  // namespace carom::kernels
