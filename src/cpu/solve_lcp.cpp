#include "backends.hpp"
#include "cpu/lcp_driver.hpp"
#include "cpu/simd/dispatch.hpp"

namespace carom {

namespace cpu {

std::string_view instruction_set() { return simd::instruction_set().name; }

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings) {
  return drive_lcp(batch, settings, simd::instruction_set().solve_lcps);
}

StepResult solve_steps(const StepBatch& batch, const StepSettings& settings) {
  return drive_steps(batch, settings, simd::instruction_set().solve_steps);
}

}  // namespace cpu

}  // namespace carom
