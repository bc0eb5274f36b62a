#include "cpu/simd/motion/motions.hpp"

#include CAROM_ISA_HEADER

#include "cpu/simd/dispatch.hpp"

#if defined(CAROM_MOTIONS_OF_AVX2)

namespace carom::cpu::simd {

// A motion runs in one lane: wider registers add nothing but the time to compile it.
struct Avx2;
template <>
void simulate_motions<CAROM_ISA>(const MotionRange& range) {
  simulate_motions<Avx2>(range);
}

}  // namespace carom::cpu::simd

#else

#include "motion/kernels/motion.hpp"
#include "motion/mechanisms.hpp"

namespace carom::cpu::simd {

namespace {

/// A mechanism whose code only this instruction set has.
template <class Isa>
struct IsaMotionLane : kernels::SingleLane {};
template <class Isa, class T>
struct OfIsa : T {
  using Lane = IsaMotionLane<Isa>;
  using T::T;
};

}  // namespace

template <class Isa>
void simulate_motions(const MotionRange& range) {
  motion::with_mechanism(range.mechanism, [&]<class T>() {
    for (long row = range.begin; row < range.end; ++row) {
      if (range.accepted[row / range.view->samples] == 0) continue;
      kernels::motion::simulate<OfIsa<Isa, T> >(*range.view, row);
    }
  });
}
template void simulate_motions<CAROM_ISA>(const MotionRange&);

}  // namespace carom::cpu::simd

#endif
