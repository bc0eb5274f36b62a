#include "cpu/simd/dispatch.hpp"

#include <carom/error.hpp>

#include "core/backends.hpp"

namespace carom::cpu::simd {

namespace {

Level widest_level() {
#if defined(CAROM_SIMD_X86)
  static const Level widest = [] {
    const bool fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    if (fma && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
      return Level::avx512;
    }
    return fma ? Level::avx2 : Level::generic;
  }();
  return widest;
#else
  return Level::generic;
#endif
}

}  // namespace

Level level() {
#if defined(CAROM_NATIVE_SET)
  constexpr Level kOnly = Level::CAROM_NATIVE_SET;
  if (widest_level() < kOnly) {
    throw BackendUnavailable(
        "cpu: built with CAROM_NATIVE_ONLY on a machine with more instructions than this one; "
        "build it here, or without that option");
  }
  return kOnly;
#else
  return widest_level();
#endif
}

const InstructionSet& instruction_set() {
#if defined(CAROM_SIMD_X86)
  if (level() == Level::avx512) return kAvx512Set;
  if (level() == Level::avx2) return kAvx2Set;
#endif
  return kGenericSet;
}

}  // namespace carom::cpu::simd

std::string_view carom::cpu::instruction_set() { return simd::instruction_set().name; }
