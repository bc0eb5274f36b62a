#include "cpu/simd/pack_avx512.hpp"
#include "cpu/simd/planar_search.hpp"

namespace carom::cpu::simd {

const PlanarSearch kPlanarAvx512{Avx512::kWidth, search_planar<Avx512::Pack, Avx512::kWidth>};

}  // namespace carom::cpu::simd
