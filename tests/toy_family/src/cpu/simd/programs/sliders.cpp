#include CAROM_ISA_HEADER

#include <carom/device/packed.hpp>

#include "cpu/simd/programs/sliders_range.hpp"

namespace carom::cpu::simd {

template <class Isa>
void solve_sliders(const SliderRange& range) {
  using V = typename Isa::Pack;
  std::int64_t p = range.begin;
  for (; p + Isa::kWidth <= range.end; p += Isa::kWidth) {
    const certificate::Slider<V> sliders{
        kernels::load<V>(range.mass + p), kernels::load<V>(range.velocity + p),
        kernels::load<V>(range.impulse + p), kernels::load<V>(range.friction + p),
        kernels::load<V>(range.normal_impulse + p)};
    const kernels::SliderStep<V> step = kernels::step_slider(sliders);
    double velocity[Isa::kWidth];
    double friction[Isa::kWidth];
    double residual[Isa::kWidth];
    kernels::store(velocity, step.velocity);
    kernels::store(friction, step.friction_impulse);
    kernels::store(residual,
                   certificate::slider_residual(sliders, step.velocity, step.friction_impulse));
    for (int lane = 0; lane < Isa::kWidth; ++lane) {
      range.write(p + lane, {velocity[lane], friction[lane]}, residual[lane]);
    }
  }
  for (; p < range.end; ++p) range.solve(p);
}

template void solve_sliders<CAROM_ISA>(const SliderRange&);

}  // namespace carom::cpu::simd
