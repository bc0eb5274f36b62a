#pragma once

#include <cstdint>
#include <string_view>

namespace carom {
struct PilotJob;
struct ConditionJob;
}  // namespace carom

namespace carom::cpu::simd {

struct BlockJob;
struct LcpRange;
struct StepRange;

/// The entry points of one instruction set (run_*.cpp, compiled with that set's flags).
struct InstructionSet {
  std::string_view name;
  void (*run_block)(const BlockJob&);
  void (*solve_lcps)(const LcpRange&);
  void (*solve_steps)(const StepRange&);
  void (*follow_pilots)(const PilotJob&);
  void (*test_conditions)(const ConditionJob&);
};

extern const InstructionSet kGenericSet;
extern const InstructionSet kAvx2Set;
extern const InstructionSet kAvx512Set;

/// The widest instruction set of this machine; families with entry points of their own choose by
/// its level.
enum class Level : std::uint8_t { generic, avx2, avx512 };
Level level();
const InstructionSet& instruction_set();

}  // namespace carom::cpu::simd
