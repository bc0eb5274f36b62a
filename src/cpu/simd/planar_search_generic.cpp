#include "cpu/simd/pack_generic.hpp"
#include "cpu/simd/planar_search.hpp"

namespace carom::cpu::simd {

const PlanarSearch kPlanarGeneric{Generic::kWidth, search_planar<Generic::Pack, Generic::kWidth>};

}  // namespace carom::cpu::simd
