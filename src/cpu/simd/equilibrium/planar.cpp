#include CAROM_ISA_HEADER

#include "cpu/simd/equilibrium/planar_search.hpp"

namespace carom::cpu::simd {

template PlanarSearch planar_search<CAROM_ISA>();

}  // namespace carom::cpu::simd
