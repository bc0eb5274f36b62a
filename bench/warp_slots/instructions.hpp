#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "warp.hpp"

/// What the instructions do that are no jumps or barriers: by name, those of a kind in a file.
namespace carom::warp_slots {

/// Carries `in` out on the lanes `on` (of an instruction of the uniform data path, one of them).
using Execute = void (*)(Warp& warp, const Instruction& in, Mask on);
using Instructions = std::map<std::string_view, Execute>;

const Instructions& number_instructions();    ///< doubles, floats, conversions
const Instructions& integer_instructions();   ///< integers, bits, predicates
const Instructions& memory_instructions();    ///< constants, shared, local and global memory
const Instructions& exchange_instructions();  ///< between lanes; what a lane is

/// How two numbers stand to each other, and the relations that an instruction may name.
enum Relation : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

template <class T>
unsigned relation(T a, T b) {
  return a < b ? kLess : a == b ? kEqual : a > b ? kGreater : kUnordered;
}

/// Of the first modifier: LT, LEU, NUM...; those with U hold for NaN too.
inline unsigned wanted_relation(const Instruction& in) {
  static const std::map<std::string_view, unsigned> known{{"LT", kLess},
                                                          {"LE", kLess | kEqual},
                                                          {"EQ", kEqual},
                                                          {"NE", kLess | kGreater},
                                                          {"GE", kGreater | kEqual},
                                                          {"GT", kGreater},
                                                          {"NUM", kLess | kEqual | kGreater},
                                                          {"NAN", kUnordered},
                                                          {"LTU", kLess | kUnordered},
                                                          {"LEU", kLess | kEqual | kUnordered},
                                                          {"EQU", kEqual | kUnordered},
                                                          {"NEU", kLess | kGreater | kUnordered},
                                                          {"GEU", kGreater | kEqual | kUnordered},
                                                          {"GTU", kGreater | kUnordered}};
  const auto found = known.find(in.modifiers.empty() ? "" : in.modifiers.front());
  if (found == known.end()) throw Stuck("unknown relation", in);
  return found->second;
}

/// Sets the two predicates in front to result and not result, each joined with `other`.
inline void set_comparison(Warp& warp, const Instruction& in, int lane, bool result, bool other) {
  const auto joined = [&](bool flag) {
    if (in.has("AND")) return flag && other;
    if (in.has("OR")) return flag || other;
    if (in.has("XOR")) return flag != other;
    throw Stuck("unknown join", in);
  };
  warp.set_predicate(lane, in.operands[0], joined(result));
  warp.set_predicate(lane, in.operands[1], joined(!result));
}

}  // namespace carom::warp_slots
