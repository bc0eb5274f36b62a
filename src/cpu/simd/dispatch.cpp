#include "cpu/simd/dispatch.hpp"

namespace carom::cpu::simd {

namespace {

using Run = void (*)(const PackJob&);

struct Choice {
  Run run;
  std::string_view name;
};

Choice choose() {
#if defined(CAROM_SIMD_X86)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
    return {run_avx512, "avx512"};
  }
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    return {run_avx2, "avx2"};
  }
#endif
  return {run_generic, "generic"};
}

const Choice& chosen() {
  static const Choice choice = choose();
  return choice;
}

}  // namespace

void run_packs(const PackJob& job) { chosen().run(job); }
std::string_view instruction_set() { return chosen().name; }

}  // namespace carom::cpu::simd
