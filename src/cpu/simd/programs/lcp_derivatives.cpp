#include CAROM_ISA_HEADER

#include "cpu/simd/programs/pack_lcp_derivative.hpp"

namespace carom::cpu::simd {

namespace {

template <class Isa>
void differentiate_in_packs(const LcpDerivativeRange& range) {
  PackLcpDerivative<Isa> pack(range);
  for (std::int64_t p = range.begin; p < range.end; p += Isa::kWidth) {
    pack.run(p, static_cast<int>(range.end - p < Isa::kWidth ? range.end - p : Isa::kWidth));
  }
}

}  // namespace

template <class Isa>
void differentiate_lcps(const LcpDerivativeRange& range) {
  if constexpr (Isa::kInRegisters) {
    if (range.order <= kMostInPlace) {
      differentiate_in_packs<PairOf<Isa>>(range);
    } else {
      differentiate_in_packs<Isa>(range);
    }
  } else {
    for (std::int64_t p = range.begin; p < range.end; ++p) range.open[p - range.begin] = true;
  }
}
template void differentiate_lcps<CAROM_ISA>(const LcpDerivativeRange&);

}  // namespace carom::cpu::simd
