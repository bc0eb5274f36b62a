#include "cpu/simd/dispatch.hpp"

namespace carom::cpu::simd {

const InstructionSet& instruction_set() {
#if defined(CAROM_SIMD_X86)
  static const InstructionSet& widest = [&]() -> const InstructionSet& {
    const bool fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    if (fma && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
      return kAvx512Set;
    }
    return fma ? kAvx2Set : kGenericSet;
  }();
  return widest;
#else
  return kGenericSet;
#endif
}

}  // namespace carom::cpu::simd
