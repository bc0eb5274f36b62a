#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "core/random.hpp"

/// Weights of the contacts for stretches of impulse, drawn so that samples reach the corners of the
/// post-impact set as well as its inside.
namespace carom::kernels {

/// What planar contacts do at contact velocity u, whose zeros are exact: separating, touching with
/// slip -, none, +, approaching likewise.
CAROM_INLINE int event_state(double normal, double tangent) {
  const int slip = tangent > 0.0 ? 2 : (tangent < 0.0 ? 0 : 1);
  return normal > 0.0 ? 0 : (normal < 0.0 ? 4 : 1) + slip;
}

/// Half of the samples follow a policy: which single contact pushes is a function of the face, that
/// is of all states, drawn once. What bounds the set is mostly reached by such motions, which a new
/// draw at each event would repeat with a probability that falls with every turn.
/// Most: the number of contacts, or, AtMost, the most of them.
template <int Most, bool AtMost = false>
class EventWeights {
 public:
  static constexpr double kLeast = 1e-5;  ///< of the largest weight; smaller ones are none
  static constexpr double kFirst = 1U << 20;
  static constexpr double kHalvings = 12.0;         ///< of stretches, less than so many
  static constexpr double kHalvingsOfStores = 6.0;  ///< likewise: bounces shorten them too
  // Bits of numbers that say which contacts may be held begin above these.
  static constexpr unsigned kHoldOfFirst = 1U << 4, kHoldOfPolicy = 1U << 16;

  double weight[Most];   ///< of each contact, sum 1
  double left = 0.0;     ///< of the stretch [N s]
  bool follows = false;  ///< the policy; `choose` is wanted before each piece
  unsigned first = 0;    ///< what the mode that is tried first is drawn by

  /// Whether contact i at u_n = 0 with a store may be held there, as those without are.
  [[nodiscard]] CAROM_INLINE bool holds(int i) const { return (holds_ >> i & 1U) != 0; }

  /// able[i] = u[i] of each contact, but -size where contact i may push by its store, filled(i):
  /// the modes of such a contact are those of one that approaches. held: not of one that is kept at
  /// u = 0.
  template <class Filled>
  CAROM_INLINE void find_pushers(const double* u, bool held, double size, const Filled& filled,
                                 double* able) const {
    for (int i = 0; i < contacts(); ++i) {
      able[i] = filled(i) && !(held && keeps(i, u, filled)) ? -size : u[i];
    }
  }

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
  CAROM_INLINE void draw(const double* u, double longest, double most_halvings = kHalvings) {
    const int m = contacts();
    const UniformPair kind = next();
    const UniformPair choice = next();
    for (int i = 0; i < m; i += 2) {
      const UniformPair pair = next();
      weight[i] = corner(pair.first);
      if (i + 1 < m) weight[i + 1 < Most ? i + 1 : i] = corner(pair.second);
    }
    double most = 0.0, sum = 0.0;
    for (int i = 0; i < m; ++i) most = larger(most, weight[i]);
    const int alone = static_cast<int>(kind.first * 3.0 * m);
    for (int i = 0; i < m; ++i) {
      if (alone < m) weight[i] = i == alone ? most : 0.0;
      if (weight[i] < kLeast * most) weight[i] = 0.0;
      if (u[i] < 0.0) sum += weight[i];
    }
    if (!(sum > 0.0)) {
      for (int i = 0; i < m; ++i) {
        if (u[i] < 0.0) weight[i] = most > 0.0 ? most : 1.0;
      }
    }
    sum = 0.0;
    for (int i = 0; i < m; ++i) sum += weight[i];
    for (int i = 0; i < m; ++i) drawn_[i] = weight[i] /= sum;
    first = static_cast<unsigned>(choice.second * kFirst);
    holds_ = first / kHoldOfFirst;
    const int halvings = static_cast<int>(choice.first * most_halvings);
    const double scale = 4.0 / (1U << halvings);
    left = longest * scale * (0.5 + kind.second);
    follows = wanted_ && !spoiled_;
    spoiled_ = false;
    if (follows && kind.second < 0.75) left = 64.0 * longest;
  }

  /// What the policy says for the face of these states, state(i) of contact i: one contact that may
  /// push, or the drawn weights.
  template <class State>
  CAROM_INLINE void choose(const double* u, State&& state) {
    const int m = contacts();
    std::uint32_t x = policy_;
    int count = 0, able[Most] = {};
    for (int i = 0; i < m; ++i) {
      x = (x ^ static_cast<std::uint32_t>(state(i))) * 0x9E3779B9U;
      x ^= x >> 15;
      if (u[i] <= 0.0) able[count++] = i;
    }
    x *= 0x85EBCA6BU;
    x ^= x >> 13;
    x *= 0xC2B2AE35U;
    x ^= x >> 16;
    holds_ = x / kHoldOfPolicy;
    const auto pick = static_cast<int>(x % static_cast<unsigned>(count + 1));
    for (int i = 0; i < m; ++i) {
      weight[i] = pick == count ? drawn_[i] : (i == able[pick] ? 1.0 : 0.0);
    }
  }

 private:
  /// Whether contact i with a store is held at u = 0, since another one pushes.
  template <class Filled>
  [[nodiscard]] CAROM_INLINE bool keeps(int i, const double* u, const Filled& filled) const {
    if (u[i] != 0.0 || !holds(i)) return false;
    bool some = false;
    for (int j = 0; j < contacts(); ++j) {
      const bool pushes = u[j] < 0.0 || (filled(j) && !(u[j] == 0.0 && holds(j)));
      some = some || (j != i && pushes && weight[j] > 0.0);
    }
    return some;
  }
  [[nodiscard]] CAROM_INLINE int contacts() const { return AtMost ? contacts_ : Most; }
  CAROM_INLINE UniformPair next() { return uniform_pair(seed_, index_, sample_, block_++); }
  CAROM_INLINE static double corner(double x) {
    const double square = x * x, fourth = square * square;
    return fourth * fourth;
  }

  int contacts_ = Most;
  std::uint64_t seed_ = 0, sample_ = 0;
  std::uint32_t index_ = 0, block_ = 0, policy_ = 0, holds_ = 0;
  bool wanted_ = false, spoiled_ = false;
  double drawn_[Most];
};

}  // namespace carom::kernels
