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

/// Modes of one stretch by the face where they were found: events that repeat themselves, as those
/// of cycles do, need no new search.
template <int Dim, int Most, int Kept>
class EventMemory {
 public:
  /// What a stretch's mode depends on: a byte a contact.
  struct Face {
    unsigned char contact[Most];
  };

  CAROM_INLINE void begin() { filled_ = 0; }

  /// slip: states, below 64; which weights are positive says which they are.
  CAROM_INLINE static Face face(int contacts, const double* u, const int* slip,
                                const double* weight) {
    Face face{};
    if constexpr (Kept > 0) {
      for (int i = 0; i < contacts; ++i) {
        const int moves = u[i] < 0.0 ? 1 : 0, pushes = weight[i] > 0.0 ? 1 : 0;
        face.contact[i] =
            static_cast<unsigned char>((u[i] > 0.0 ? 254 : slip[i] * 4 + moves * 2) + pushes);
      }
    }
    return face;
  }

  /// The mode of this face, searched for where it is not known; false where there is none.
  template <class Search>
  CAROM_INLINE bool recall(const Face& face, EventMode<Dim, Most>& mode, Search&& search) {
    if constexpr (Kept == 0) {
      return search();
    } else {
      static_assert(Kept == 32);
      std::uint64_t mixed = 0;
      for (int i = 0; i < Most; ++i) mixed = (mixed ^ face.contact[i]) * 0x9E3779B97F4A7C15U;
      const auto at = static_cast<int>(mixed >> 59);
      Entry& entry = entry_[at];
      bool same = (filled_ >> at & 1U) != 0;
      for (int i = 0; i < Most; ++i) same = same && entry.face.contact[i] == face.contact[i];
      if (same) {
        mode = entry.mode;
        return true;
      }
      if (!search()) return false;
      entry.face = face;
      entry.mode = mode;
      filled_ |= std::uint32_t{1} << at;
      return true;
    }
  }

 private:
  struct Entry {
    Face face;
    EventMode<Dim, Most> mode;
  };
  std::uint32_t filled_ = 0;
  Entry entry_[Kept > 0 ? Kept : 1];
};

/// Impulses and rates of modes that a stretch has tried, right or not.
template <int Dim, int Most, int Kept>
class SolvedModes {
  static constexpr int kWords = (Most + 7) / 8;

 public:
  struct Entry {
    std::uint64_t key[kWords];
    bool fresh;       ///< to be filled by the caller
    bool consistent;  ///< its equations do not contradict each other
    double impulse[Dim * Most], rate[Dim * Most], terms[Dim * Most];
  };

  CAROM_INLINE void begin() { filled_ = 0; }

  /// The entry of the mode that code(i) of each contact, a byte, says.
  template <class Code>
  CAROM_INLINE Entry& of(int contacts, Code&& code) {
    static_assert(Kept == 32 || Kept == 0);
    std::uint64_t key[kWords] = {}, mixed = 0;
    for (int i = 0; i < contacts; ++i) {
      key[i / 8] |= static_cast<std::uint64_t>(code(i)) << (8 * (i % 8));
    }
    for (int w = 0; w < kWords; ++w) mixed = (mixed ^ key[w]) * 0x9E3779B97F4A7C15U;
    const auto at = static_cast<int>(mixed >> 59);
    Entry& entry = entry_[at];
    entry.fresh = (filled_ >> at & 1U) == 0;
    for (int w = 0; w < kWords; ++w) {
      entry.fresh = entry.fresh || entry.key[w] != key[w];
      entry.key[w] = key[w];
    }
    filled_ |= std::uint32_t{1} << at;
    return entry;
  }

 private:
  std::uint32_t filled_ = 0;
  Entry entry_[Kept > 0 ? Kept : 1];
};

}  // namespace carom::kernels
