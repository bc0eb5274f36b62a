#include "core/backends.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/motion/motions.hpp"
#include "impact/mode_table.hpp"
#include "motion/first_impact.hpp"

namespace carom::cpu {

namespace {

PilotCode pilot_code() {
  const simd::InstructionSet& set = simd::instruction_set();
  return {set.follow_pilots, set.build_entries, set.enumerate_pilots, set.order_conditions,
          simd::kLargestPadding};
}

void simulate_row(const kernels::motion::MotionView& view, MotionMechanism mechanism) {
  const std::uint8_t accepted = 1;
  simd::instruction_set().simulate_motions({&view, mechanism, &accepted, 0, 1});
}

}  // namespace

void provide_host_code() {
  host_pilot_code = pilot_code;
  motion::host_simulate_row = simulate_row;
}

}  // namespace carom::cpu
