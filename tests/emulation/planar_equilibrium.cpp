#include "cpu/equilibrium/planar_driver.hpp"
#include "emulation/emulation.hpp"

namespace carom::emulation {

PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                bool backwards) {
  auto result = allocate<PlanarResult>(batch);
  const kernels::PlanarView view = planar_view(batch, settings, result);
  const cpu::simd::PlanarSearch scalar{1, cpu::simd::search_strips<double, 1>};
  cpu::PlanarScratch scratch;
  scratch.fit(view, 1);
  for (std::int64_t turn = 0; turn < batch.problems; ++turn) {
    cpu::solve_planar_pack(view, scalar, backwards ? batch.problems - 1 - turn : turn, 1, scratch);
  }
  return result;
}

PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, bool backwards) {
  auto margin = allocate<PlanarMargin>(batch);
  PlanarMarginArrays<Pointer> to{};
  arrays::bind(to, margin);
  const kernels::PlanarView view = planar_inputs(batch, settings);
  cpu::PlanarScratch scratch;
  scratch.fit(view, 1);
  const kernels::PlanarMarginBody body(view, {scratch.workspace.data(), 1});
  for (std::int64_t turn = 0; turn < batch.problems; ++turn) {
    const std::int64_t p = backwards ? batch.problems - 1 - turn : turn;
    body.run(p, centre_of_mass.data()[2 * p], centre_of_mass.data()[2 * p + 1]).write(to, p);
  }
  return margin;
}

}  // namespace carom::emulation
