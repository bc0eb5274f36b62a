#include "cpu/simd/pack_avx2.hpp"
#include "cpu/simd/planar_search.hpp"

namespace carom::cpu::simd {

const PlanarSearch kPlanarAvx2{Avx2::kWidth, search_planar<Avx2::Pack, Avx2::kWidth>};

}  // namespace carom::cpu::simd
