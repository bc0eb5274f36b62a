#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>

namespace carom::kernels {

/// The motion that follows a velocity: impulses and rates per unit of the stretch.
template <int Dim, int Most>
struct EventMode {
  double impulse[Dim * Most];  ///< normals, then tangents, for one unit of the stretch
  double rate[Dim * Most];     ///< of contact velocities, likewise
  int moving[Most];            ///< state of a contact's slip while the motion lasts
  bool possible;               ///< impulses lie in the friction cones
};

/// How many modes a stretch keeps. A thread of a device, whose Isa is no more than a name, has no
/// memory to spare.
template <class Isa>
inline constexpr int kKeptModes = requires {
  Isa::kName;
}
? 32 : 0;

/// A byte a contact.
template <int Most>
struct EventKey {
  static constexpr int kWords = (Most + 7) / 8;
  std::uint64_t word[kWords];
};

/// What a stretch remembers by keys: modes by the face where they were found,
/// since events that repeat themselves, as those of cycles do, need no new search, and the
/// impulses and rates of modes that were tried. A value takes the place of another one at times.
template <class Value, int Most, int Kept>
class EventMemory {
 public:
  using Key = EventKey<Most>;

  CAROM_INLINE void begin() {
    for (std::uint32_t& bits : filled_) bits = 0;
  }

  /// The key of code(i), a byte, of each contact.
  template <class Code>
  CAROM_INLINE static Key key(int contacts, Code&& code) {
    Key key{};
    for (int i = 0; i < contacts; ++i) {
      key.word[i / 8] |= static_cast<std::uint64_t>(code(i)) << (8 * (i % 8));
    }
    return key;
  }
  /// Looks for this key; `known` says whether it is here.
  CAROM_INLINE void look(const Key& key) {
    std::uint64_t mixed = 0;
    for (int w = 0; w < Key::kWords; ++w) mixed = (mixed ^ key.word[w]) * 0x9E3779B97F4A7C15U;
    at_ = static_cast<int>(mixed >> 40) & (kEntries - 1);
    known_ = (filled_[at_ / 32] >> (at_ % 32) & 1U) != 0;
    for (int w = 0; w < Key::kWords; ++w) known_ = known_ && key_[at_].word[w] == key.word[w];
  }
  [[nodiscard]] CAROM_INLINE bool known() const { return known_; }
  /// The value of the key looked for last, or where it goes, whose old one `forget` takes away.
  [[nodiscard]] CAROM_INLINE Value& value() { return value_[at_]; }
  CAROM_INLINE void forget() { filled_[at_ / 32] &= ~(std::uint32_t{1} << (at_ % 32)); }
  CAROM_INLINE void keep(const Key& key) {
    key_[at_] = key;
    filled_[at_ / 32] |= std::uint32_t{1} << (at_ % 32);
  }

 private:
  static constexpr int kEntries = Kept > 0 ? Kept : 1;
  static_assert((kEntries & (kEntries - 1)) == 0);
  std::uint32_t filled_[(kEntries + 31) / 32] = {};
  int at_ = 0;
  bool known_ = false;
  Key key_[kEntries];
  Value value_[kEntries];
};

/// What a contact with normal velocity u, a slip in this state (below 64) and this weight is for a
/// stretch's modes.
CAROM_INLINE int event_face(double u, int slip, double weight) {
  const int moves = u < 0.0 ? 2 : 0, pushes = weight > 0.0 ? 1 : 0;
  return (u > 0.0 ? 254 : slip * 4 + moves) + pushes;
}

/// A mode that a stretch has tried, right or not.
template <int Rows>
struct SolvedMode {
  alignas(64) double impulse[Rows];
  alignas(64) double rate[Rows];
  double all;       ///< EventSystem::solve
  bool consistent;  ///< its equations do not contradict each other
};

}  // namespace carom::kernels
