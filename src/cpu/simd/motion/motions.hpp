#pragma once

#include <cstdint>

#include <carom/types/motion.hpp>

#include "motion/kernels/motion_view.hpp"

namespace carom::cpu::simd {

/// Motions [begin, end) of a view, problem after problem, in the machine's instruction set; those
/// of problems that are not accepted are left alone.
struct MotionRange {
  const kernels::motion::MotionView* view;
  MotionMechanism mechanism;
  const std::uint8_t* accepted;  ///< [problems]
  long begin, end;
};

}  // namespace carom::cpu::simd
