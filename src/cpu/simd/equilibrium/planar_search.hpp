#pragma once

#include "cpu/simd/dispatch.hpp"
#include "equilibrium/kernels/planar_strip.hpp"

/// The search for the strips of a pack of postures, in one instruction set.
namespace carom::cpu::simd {

struct PlanarPack {
  double* workspace;       ///< strip_workspace rows of `width` lanes
  const double* normal_x;  ///< [width]
  const double* normal_y;  ///< [width]
  int contacts;
  bool patches;
  double* strips;  ///< kStripRows rows of `width` lanes
};

/// Rows: feasible, separation, then both ends, lower first.
inline constexpr int kStripRows = 16;
inline constexpr int kLargestPlanarWidth = 8;

/// V: double, or an instruction set's pack.
template <class V, int Width>
void search_strips(const PlanarPack& job) {
  const kernels::LaneMemory<V> memory{job.workspace, Width};
  const kernels::LaneMemory<V> out{job.strips, Width};
  const kernels::LaneMemory<V> x{const_cast<double*>(job.normal_x), Width};
  const kernels::LaneMemory<V> y{const_cast<double*>(job.normal_y), Width};
  kernels::PlanarStripBody<V> body(memory, job.contacts, job.patches);
  const kernels::Strip<V> strip = body.run(x.load(0), y.load(0));
  out.store(0, strip.feasible);
  out.store(1, strip.separation);
  for (int e = 0; e < 2; ++e) {
    const kernels::StripEnd<V>& end = e == 0 ? strip.lower : strip.upper;
    const V rows[7] = {end.edge,  end.height,   end.outcome,  end.left,
                       end.right, end.ray_left, end.ray_right};
    for (int r = 0; r < 7; ++r) out.store(2 + 7 * e + r, rows[r]);
  }
}

/// Without vector registers one posture after the other is faster than a pack in loops.
template <class Isa>
PlanarSearch planar_search() {
  if constexpr (Isa::kInRegisters) {
    return {Isa::kWidth, search_strips<typename Isa::Pack, Isa::kWidth>};
  } else {
    return {1, search_strips<double, 1>};
  }
}

/// Lane `lane` of what search_strips wrote.
inline kernels::Strip<double> strip_of(const double* strips, int width, int lane) {
  const auto row = [&](int r) { return strips[r * width + lane]; };
  kernels::Strip<double> strip{row(0), row(1), {}, {}};
  for (int e = 0; e < 2; ++e) {
    const int first = 2 + 7 * e;
    (e == 0 ? strip.lower : strip.upper) = {row(first),     row(first + 1), row(first + 2),
                                            row(first + 3), row(first + 4), row(first + 5),
                                            row(first + 6)};
  }
  return strip;
}

}  // namespace carom::cpu::simd
