#pragma once

namespace carom::kernels {
struct BoxLemkeJob;
}  // namespace carom::kernels

/// Functions for boxed LCPs in each instruction set (dispatch.hpp has the other families).
namespace carom::cpu::simd {

struct InstructionSet;
struct BoxRange;

struct BoxCode {
  void (*solve)(const BoxRange&);
  void (*follow)(kernels::BoxLemkeJob&);
};

// What the units of an instruction set define.
template <class Isa>
void solve_boxes(const BoxRange& range);
template <class Isa>
void follow_box(kernels::BoxLemkeJob& job);

BoxCode box_code(const InstructionSet& set);

}  // namespace carom::cpu::simd
