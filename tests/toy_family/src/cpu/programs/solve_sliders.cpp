#include <string_view>

#include "cpu/programs/sliders_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "programs/sliders/backends.hpp"

namespace carom::cpu {

namespace simd {

struct Generic;
struct Avx2;
struct Avx512;

namespace {

using SolveSliders = void (*)(const SliderRange&);

/// A family of the library has a member of InstructionSet instead (cpu/simd/dispatch.hpp).
SolveSliders code_of(std::string_view instruction_set) {
#if defined(CAROM_SIMD_AVX512)
  if (instruction_set == "avx512") return solve_sliders<Avx512>;
#endif
#if defined(CAROM_SIMD_AVX2)
  if (instruction_set == "avx2") return solve_sliders<Avx2>;
#endif
  return solve_sliders<Generic>;
}

}  // namespace

}  // namespace simd

SliderResult solve_sliders(const SliderBatch& batch, const SliderSettings& settings) {
  return drive_sliders(batch, settings, simd::code_of(simd::instruction_set().name));
}

template <>
const SliderEntries& entries() {
  static constexpr SliderEntries kEntries{solve_sliders};
  return kEntries;
}

}  // namespace carom::cpu
