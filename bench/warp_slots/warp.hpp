#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "listing.hpp"

namespace carom::warp_slots {

inline constexpr int kLanes = 32;
using Mask = std::uint32_t;
inline constexpr Mask kAllLanes = 0xffffffffU;

/// f(lane) for the lanes of a mask, in order.
template <class F>
void each_lane(Mask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

/// What the machine cannot carry out: an instruction or a form of one that it does not know, an
/// access outside of memory, lanes that wait for each other.
struct Stuck : std::runtime_error {
  Stuck(const std::string& why, const Instruction& in);
  using std::runtime_error::runtime_error;
};

/// What goes through the memories.
struct Traffic {
  std::set<std::uint64_t> touched;      ///< sectors of 32 bytes of global memory
  std::uint64_t sectors = 0;            ///< the same, one by one as instructions ask for them
  std::uint64_t shared_accesses = 0;    ///< instructions
  std::uint64_t shared_wavefronts = 0;  ///< passes they take: more where lanes meet in a bank
  std::uint64_t local_accesses = 0;     ///< instructions, of the stack and spills
};

/// Registers and memories of one warp, a block by itself. Global memory is the host's.
class Warp {
 public:
  /// Places in the bank of constants.
  static constexpr int kBlockSize = 0x0, kGridSize = 0xc, kLocalWindow = 0x20, kStackTop = 0x28,
                       kParameterAddress = 0x198, kParameters = 0x210;
  static constexpr std::uint32_t kSharedBegin = 0x400;     // the system's memory lies below it
  static constexpr std::size_t kSharedBytes = 227 * 1024;  // the most that a block may have
  static constexpr std::uint32_t kLocalBytes = 1U << 16U;
  /// Where the generic addresses of shared and local memory begin, out of reach of the host's.
  static constexpr std::uint64_t kSharedBase = std::uint64_t{1} << 56U;
  static constexpr std::uint64_t kLocalBase = std::uint64_t{1} << 57U;

  /// parameter: the kernel's. blocks: of the grid.
  template <class Parameter>
  Warp(const Parameter& parameter, int blocks)
      : constants_(kParameters + sizeof parameter), shared_(kSharedBytes) {
    std::memcpy(&constants_[kParameters], &parameter, sizeof parameter);
    set_constant(kBlockSize, kLanes);
    set_constant(kGridSize, static_cast<std::uint32_t>(blocks));
    set_constant(kLocalWindow, kLocalBase);
    set_constant(kStackTop, kLocalBytes / 2);
    set_constant(kParameterAddress, std::bit_cast<std::uint64_t>(&constants_[kParameters]));
  }

  /// As at the start of a block.
  void begin(int block);

  [[nodiscard]] int block() const { return block_; }

  /// As bits, whatever sign the operand has.
  [[nodiscard]] std::uint32_t bits(int lane, const Operand& from) const;
  /// With its sign.
  [[nodiscard]] std::uint32_t integer(int lane, const Operand& from) const;
  /// Two registers, the lower half first.
  [[nodiscard]] std::uint64_t pair(int lane, const Operand& from) const;
  [[nodiscard]] double real(int lane, const Operand& from) const;
  [[nodiscard]] float single(int lane, const Operand& from) const;
  [[nodiscard]] bool predicate(int lane, const Operand& from) const;
  /// Lanes of `among` whose predicate is true.
  [[nodiscard]] Mask where(Mask among, const Operand& from) const;
  /// P0 to P6 as bits.
  [[nodiscard]] std::uint32_t predicates(int lane) const;

  void set(int lane, const Operand& to, std::uint32_t value) { set_word(lane, to, 0, value); }
  void set_pair(int lane, const Operand& to, std::uint64_t value);
  void set_real(int lane, const Operand& to, double value) {
    set_pair(lane, to, std::bit_cast<std::uint64_t>(value));
  }
  void set_predicate(int lane, const Operand& to, bool value);

  /// Constants from an address on.
  void read_constant(int lane, const Operand& from, void* to, int bytes) const;

  /// Shared and local memory; global memory is `global_address`.
  [[nodiscard]] std::uint32_t short_address(int lane, const Operand& at) const;
  [[nodiscard]] std::uint64_t global_address(int lane, const Operand& at) const;
  [[nodiscard]] std::uint8_t* shared(std::uint32_t address, int bytes, const Instruction& in);
  [[nodiscard]] std::uint8_t* local(int lane, std::uint32_t address, int bytes,
                                    const Instruction& in);

  /// Registers from `to` on, `bytes` of them; fewer than four fill one.
  void load(int lane, const Operand& to, const std::uint8_t* from, int bytes);
  void store(int lane, const Operand& from, std::uint8_t* to, int bytes) const;

  Traffic traffic;

 private:
  template <class Value>
  void set_constant(int offset, Value value) {
    std::memcpy(&constants_[static_cast<std::size_t>(offset)], &value, sizeof value);
  }
  [[nodiscard]] std::uint32_t word(int lane, const Operand& from, int further) const;
  void set_word(int lane, const Operand& to, int further, std::uint32_t value);

  std::vector<std::uint8_t> constants_;
  std::vector<std::uint8_t> shared_;
  std::array<std::vector<std::uint8_t>, kLanes> local_;
  std::array<std::array<std::uint32_t, 256>, kLanes> words_{};
  std::array<std::uint32_t, 64> uniforms_{};
  std::array<std::array<bool, 8>, kLanes> predicates_{};
  std::array<bool, 8> uniform_predicates_{};
  int block_ = 0;
};

}  // namespace carom::warp_slots
