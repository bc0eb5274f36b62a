#include "cpu/simd/support_isa.hpp"

namespace carom::cpu::simd {

namespace {

/// One direction after the other: what packs of plain doubles would do, without their cost.
struct Plain {
  using Pack = double;
};

}  // namespace

const SupportCode kGenericSupport{IsaSupport<Plain>::prepare, IsaSupport<Plain>::probe, nullptr};

}  // namespace carom::cpu::simd
