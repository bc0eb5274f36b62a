#pragma once

/// What the instruction sets have for boxed LCPs (dispatch.hpp has the rest).
namespace carom::cpu::simd {

struct InstructionSet;
struct BoxRange;

using SolveBoxes = void (*)(const BoxRange&);

// What the units of an instruction set define.
template <class Isa>
void solve_boxes(const BoxRange& range);

SolveBoxes box_code(const InstructionSet& set);

}  // namespace carom::cpu::simd
