// Prints the widest instruction set that src/cpu/simd has code for and this machine runs.
#include <cstdio>

int main() {
  const char* widest = "generic";
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    const bool wide =
        __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
    widest = wide ? "avx512" : "avx2";
  }
#endif
  std::fputs(widest, stdout);
  return 0;
}
