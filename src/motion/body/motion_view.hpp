#pragma once

#include <cstdint>

#include <carom/motion.hpp>

#include "impact/body/impact_body.hpp"

namespace carom::kernels::motion {

template <class Value>
using Pointer = Value*;
template <class Value>
using ReadPointer = const Value*;

/// What all motions of a run share.
struct MotionRun {
  ImpactRun impact;  ///< velocities and contacts are those of each impact
  double duration, coefficient, tolerance, contact_tolerance, velocity_tolerance, law_tolerance,
      zeno_tolerance, grid;
  Restitution restitution;
  long max_events;
  std::uint64_t seed;
};

/// One problem's numbers.
struct MotionProblemView : MotionBatchArrays<ReadPointer> {
  long knots;
  double drive_interval;
};

/// Where one sample's numbers go; `state` and the events' arrays are null where none are kept.
struct MotionSampleView : MotionResultArrays<Pointer> {
  long grid_points;
  long event_rows;
};

}  // namespace carom::kernels::motion
