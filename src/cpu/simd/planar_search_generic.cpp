#include "cpu/simd/planar_search.hpp"

namespace carom::cpu::simd {

// Without vector registers one posture after the other is faster than a pack in loops.
const PlanarSearch kPlanarGeneric{1, search_planar<double, 1>};

}  // namespace carom::cpu::simd
