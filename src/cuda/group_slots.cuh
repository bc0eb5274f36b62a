#pragma once

#include "cuda/lanes.cuh"

/// Places for the problems of a warp's groups of lanes.
namespace carom::cuda {

/// Doubles from one of some blocks of shared memory to the next, so that lanes of groups that have
/// one each never meet in a bank, whether all read one element or each reads its own row.
CAROM_HOST_DEVICE constexpr long apart(long values, int group_width) {
  constexpr long kBanks = 16;  // of doubles
  return (values - group_width + kBanks - 1) / kBanks * kBanks + group_width;
}

/// Twice as many slots as the warp has groups: each group works on the problem of one, the others
/// hold what has been begun, or what has ended and is not finished yet. What is before and behind
/// the work is then run for all groups at once, and a group whose problem has ended goes on with
/// another one. All lanes of the warp make every call and hold the same.
template <class Lanes>
class GroupSlots {
 public:
  static constexpr int kGroups = WarpLanes::kWidth / Lanes::kWidth;
  static constexpr int kSlots = 2 * kGroups;
  static constexpr int kNone = -1;

  /// The groups that are `on` end the work on their slot; `answered`: there is an answer in it.
  __device__ void end(bool on, int slot, bool answered = true) {
    const unsigned own = on ? bit(slot) : 0U;
    free_ |= WarpLanes::united(own);
    ended_ |= WarpLanes::united(answered ? own : 0U);
  }

  [[nodiscard]] __device__ bool any_ready() const { return ready_ != 0; }
  [[nodiscard]] __device__ bool any_ended() const { return ended_ != 0; }

  /// A slot for each group that nobody works on, for what has ended in it and what begins there;
  /// `begin`: not only where something has ended.
  [[nodiscard]] __device__ int choose(bool begin) const {
    unsigned from = begin ? free_ : ended_;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int turn = Lanes::group(); turn > 0; --turn) from = without_one(from);
    return lowest(from);
  }
  [[nodiscard]] __device__ bool has_ended(int slot) const {
    return slot != kNone && (ended_ & bit(slot)) != 0;
  }
  /// What became of the chosen slots: ready to be worked on, ended at once, or empty.
  __device__ void conclude(int slot, bool ready, bool ended) {
    const unsigned own = slot == kNone ? 0U : bit(slot);
    ended_ = (ended_ & ~WarpLanes::united(own)) | WarpLanes::united(ended ? own : 0U);
    ready_ = WarpLanes::united(ready ? own : 0U);
    free_ &= ~ready_;
  }

  /// A ready slot for each group that asks for one; kNone where there are no more.
  [[nodiscard]] __device__ int take(bool asks) {
    const unsigned asking = WarpLanes::where(asks && Lanes::lane() == 0);
    const int first = Lanes::group() * Lanes::kWidth;  // its lane
    const int before = WarpLanes::bits_in(asking & (bit(first) - 1U));
    const int all = WarpLanes::bits_in(asking);
    unsigned own = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int turn = 0; turn < all; ++turn) {
      own = turn == before ? ready_ : own;
      ready_ = without_one(ready_);
    }
    return asks ? lowest(own) : kNone;
  }

 private:
  static constexpr unsigned kAll = kSlots == 32 ? ~0U : (1U << (kSlots % 32)) - 1U;

  __device__ static unsigned bit(int place) { return 1U << place; }
  __device__ static unsigned without_one(unsigned bits) { return bits & (bits - 1U); }
  /// kNone of none.
  __device__ static int lowest(unsigned bits) { return WarpLanes::lowest(bits); }

  unsigned free_ = kAll;  ///< nobody works on, nor waits
  unsigned ended_ = 0;    ///< some of these
  unsigned ready_ = 0;
};

}  // namespace carom::cuda
