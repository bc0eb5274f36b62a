#include CAROM_ISA_HEADER

#include "cpu/simd/programs/pack_qp_derivative.hpp"

namespace carom::cpu::simd {

template <class Isa>
void differentiate_qps(const QpDerivativeRange& range) {
  PackQpDerivative<Isa> pack(range);
  for (std::int64_t p = range.begin; p < range.end; p += Isa::kWidth) {
    pack.run(p, static_cast<int>(range.end - p < Isa::kWidth ? range.end - p : Isa::kWidth));
  }
}
template void differentiate_qps<CAROM_ISA>(const QpDerivativeRange&);

}  // namespace carom::cpu::simd
