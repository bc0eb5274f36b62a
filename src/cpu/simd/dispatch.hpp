#pragma once

#include <string_view>

namespace carom::cpu::simd {

struct PackJob;

// One translation unit per instruction set (run_*.cpp), compiled with that set's flags.
void run_avx512(const PackJob& job);
void run_avx2(const PackJob& job);
void run_generic(const PackJob& job);

/// Runs the job with the widest instruction set of this machine.
void run_packs(const PackJob& job);
std::string_view instruction_set();

}  // namespace carom::cpu::simd
