#include "cpu/simd/dispatch.hpp"

#include <stdexcept>
#include <vector>

#include <carom/types/error.hpp>

#include "core/backends.hpp"
#include "cpu/simd/box_code.hpp"
#include "cpu/simd/derivative_code.hpp"

namespace carom::cpu::simd {

struct Generic;
struct Avx2;
struct Avx512;

namespace {

std::vector<const InstructionSet*> usable_sets() {
  std::vector<const InstructionSet*> sets;
#if defined(CAROM_SIMD_GENERIC)
  sets.push_back(&entries<Generic>());
#endif
#if defined(CAROM_SIMD_AVX2)
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    sets.push_back(&entries<Avx2>());
  }
#endif
#if defined(CAROM_SIMD_AVX512)
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
    sets.push_back(&entries<Avx512>());
  }
#endif
  if (sets.empty()) {
    throw BackendUnavailable(
        "cpu: built with CAROM_NATIVE_ONLY on a machine with more instructions than this one; "
        "build it here, or without that option");
  }
  return sets;
}

}  // namespace

std::span<const InstructionSet* const> instruction_sets() {
  static const std::vector<const InstructionSet*> sets = usable_sets();
  return sets;
}

namespace {

/// choose.operator()<Isa>() of the set's.
template <class Choose>
auto of_set(const InstructionSet& set, Choose&& choose) {
#if defined(CAROM_SIMD_AVX512)
  if (&set == &entries<Avx512>()) return choose.template operator()<Avx512>();
#endif
#if defined(CAROM_SIMD_AVX2)
  if (&set == &entries<Avx2>()) return choose.template operator()<Avx2>();
#endif
#if defined(CAROM_SIMD_GENERIC)
  if (&set == &entries<Generic>()) return choose.template operator()<Generic>();
#endif
  throw std::logic_error("carom: no such instruction set");
}

}  // namespace

const DerivativeCode& derivative_code(const InstructionSet& set) {
  return *of_set(set, []<class Isa>() { return &derivative_entries<Isa>(); });
}

BoxCode box_code(const InstructionSet& set) {
  return of_set(set, []<class Isa>() { return BoxCode{solve_boxes<Isa>, follow_box<Isa>}; });
}

}  // namespace carom::cpu::simd

std::span<const std::string_view> carom::cpu::compiled_instruction_sets() {
  static constexpr std::string_view kSets[] = {
#if defined(CAROM_SIMD_GENERIC)
    "generic",
#endif
#if defined(CAROM_SIMD_AVX2)
    "avx2",
#endif
#if defined(CAROM_SIMD_AVX512)
    "avx512",
#endif
  };
  return kSets;
}

std::string_view carom::cpu::instruction_set() { return simd::instruction_set().name; }
