#pragma once

#include <array>

#include "core/workspace.hpp"
#include "cpu/simd/equilibrium/planar_search.hpp"
#include "equilibrium/kernels/planar_margin.hpp"
#include "equilibrium/planar_backends.hpp"
#include "equilibrium/planar_view.hpp"

namespace carom::cpu {

/// Lanes' memory of one thread.
struct PlanarScratch {
  Buffer<double> workspace;
  alignas(64) std::array<double, simd::kStripRows * simd::kLargestPlanarWidth> strips;
  alignas(64) std::array<double, 2 * simd::kLargestPlanarWidth> normals;

  void fit(const kernels::PlanarView& view, int width) {
    make_room(workspace, kernels::strip_workspace(view.contacts, view.patches()) * width);
  }
};

/// Postures [begin, begin + count) of a batch as one pack; count <= search.width.
void solve_planar_pack(const kernels::PlanarView& view, const simd::PlanarSearch& search,
                       std::int64_t begin, int count, PlanarScratch& scratch);

}  // namespace carom::cpu
