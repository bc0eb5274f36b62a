#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "instructions.hpp"
#include "listing.hpp"
#include "warp.hpp"

namespace carom::warp_slots {

/// How often an instruction was issued, and the lanes on which it did something, of all times.
struct Issues {
  std::uint64_t slots = 0;
  std::uint64_t lanes = 0;
};

/// Carries a kernel out, a warp at a time, and counts warp slots. A slot is an instruction issued
/// to a set of lanes that stand at the same place: the scheduler of a multiprocessor gives one a
/// clock, whether one lane or 32 do something. Where lanes of a warp go different ways, each set
/// has its own slots until a barrier puts them together. Memory, waiting and other warps do not
/// exist here: what a kernel takes at least, not its time.
///
/// Lanes come together where the machine code says so, nowhere else:
/// - BSSY B, L notes in B, for each of the lanes that run it, who they are and where they go on; at
///   BSYNC B a lane waits until all that its B names have come or ended, and they go on at L
///   together. BREAK B strikes the lanes that run it from every B. BMOV carries the lanes of a B to
///   a register and back; where they go on is then what stands behind the BSYNC.
/// - WARPSYNC (of __syncwarp and shuffles) waits for the lanes of a mask. WARPSYNC.COLLECTIVE
///   begins the form for a warp that has come apart, where BRA.DIV goes, up to ENDCOLLECTIVE.
/// A set that comes apart lets those who do not jump go first, one set after another; a device may
/// take another order, which changes no count as long as barriers do not.
class Machine {
 public:
  /// The program must live on.
  explicit Machine(const Program& program);

  /// All lanes from the first instruction to the last. Errors: Stuck, also after `limit` slots.
  void run(Warp& warp, std::uint64_t limit);

  [[nodiscard]] std::uint64_t slots() const { return slots_; }
  [[nodiscard]] const std::vector<Issues>& issues() const { return issues_; }  ///< by place

 private:
  enum class Control {
    none,
    skip,
    jump,
    set_barrier,
    wait_barrier,
    leave_barrier,
    move_barrier,
    sync,
    exit,
    back
  };
  struct LaneSet {
    Mask lanes;
    int place;
  };
  /// What a lane waits for.
  struct Wait {
    enum class At { nothing, barrier, sync, collective };
    At at = At::nothing;
    int barrier = 0;
    Mask mask = 0;
    int next = 0;  ///< where it goes on
  };
  static constexpr int kBarriers = 16;
  static constexpr int kNotSet = -1;
  static constexpr int kBehind = -2;
  struct Barrier {
    Mask lanes = 0;
    int next = kNotSet;  ///< kBehind: after the instruction that waits
  };

  static Control control_of(const Instruction& in);
  void run_set(Warp& warp, LaneSet set, std::uint64_t limit);
  /// Moves the set on; false where none of its lanes runs any longer.
  bool follow(Warp& warp, const Instruction& in, Control control, Mask on, LaneSet& set);
  void jump(Warp& warp, const Instruction& in, Mask on, LaneSet& set);
  void leave_barrier(Warp& warp, const Instruction& in, Mask on);
  void move_barrier(Warp& warp, const Instruction& in, Mask on);
  void go_back(Warp& warp, const Instruction& in, Mask on, LaneSet& set);
  void release();
  [[nodiscard]] Mask needed(int lane) const;
  [[nodiscard]] bool meet(const Wait& a, const Wait& b) const;

  const Program& program_;
  std::vector<Execute> execute_;  ///< by place; null for what is not known
  std::vector<Control> control_;  ///< by place
  std::vector<Issues> issues_;
  std::uint64_t slots_ = 0;
  std::vector<LaneSet> ready_;
  std::array<Wait, kLanes> waits_{};
  std::array<std::array<Barrier, kBarriers>, kLanes> barriers_{};
  Mask ended_ = 0;
};

}  // namespace carom::warp_slots
