#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Machine code (sm_90) as `nvdisasm -c -gi -hex` prints it.
namespace carom::warp_slots {

inline constexpr int kZeroRegister = 255;  // RZ, URZ: reads 0, keeps nothing
inline constexpr int kTrue = 7;            // PT, UPT

struct Operand {
  enum class Kind {
    none,
    word,               ///< R5, one for each lane
    uniform,            ///< UR5, one for the warp
    predicate,          ///< P5
    uniform_predicate,  ///< UP5
    immediate,          ///< 0x10, 1.5
    constant,           ///< c[bank][offset]
    memory,             ///< [R2.64+UR4+0x8]
    barrier,            ///< B5, a convergence barrier
    label,              ///< `(.L_x_5)
    special             ///< SR_TID.X
  };
  Kind kind = Kind::none;
  int index = kZeroRegister;  ///< of the register or predicate; of the base of an address
  int added = kZeroRegister;  ///< uniform register of an address
  int offset = 0;             ///< of an address, a place among constants [bytes]
  std::uint32_t value = 0;    ///< immediate; of a double its upper half
  bool negative = false;      ///< -R5
  bool absolute = false;      ///< |R5|
  bool inverted = false;      ///< ~R5, !P5
  bool real_number = false;   ///< an immediate with a decimal point
  std::string text;

  [[nodiscard]] bool is_predicate() const {
    return kind == Kind::predicate || kind == Kind::uniform_predicate;
  }
};

/// A line of the source, with the function that holds it inlined into the next one's.
struct SourceLine {
  std::string file;
  int line = 0;
  auto operator<=>(const SourceLine&) const = default;
};

struct Instruction {
  int address = 0;
  std::string text;
  std::string name;  ///< in front of the first point
  std::vector<std::string> modifiers;
  std::vector<Operand> operands;
  bool guarded = false;
  Operand guard;                   ///< lanes where it is false do nothing
  int target = -1;                 ///< place of the label it names
  std::uint64_t encoding = 0;      ///< first half; immediates are exact here
  std::vector<SourceLine> source;  ///< innermost first; empty in the compiler's own functions
  std::string function;            ///< that the kernel calls, mangled; empty in the kernel itself

  [[nodiscard]] bool has(std::string_view modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
  }
};

/// A kernel with the functions it calls.
struct Program {
  std::string kernel;  ///< mangled
  std::vector<Instruction> code;
  std::map<int, int> place_of;  ///< of an address, in `code`
};

/// The one kernel of the file whose mangled name contains `name`. Errors: std::runtime_error.
Program read_listing(const std::string& path, const std::string& name);

}  // namespace carom::warp_slots
