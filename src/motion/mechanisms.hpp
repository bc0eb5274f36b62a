#pragma once

#include <carom/types/motion.hpp>

#include "models/mechanisms/motion_bodies.hpp"
#include "models/mechanisms/motion_spatial.hpp"
#include "models/mechanisms/motion_walker.hpp"
#include "models/mechanisms/spatial_tree.hpp"
#include "models/mechanisms/tree_mechanism.hpp"

namespace carom::motion {

/// visit.template operator()<T>() for the functor T behind `mechanism`.
template <class Visit>
CAROM_HOST_DEVICE constexpr decltype(auto) with_mechanism(MotionMechanism mechanism,
                                                          Visit&& visit) {
  switch (mechanism) {
    case MotionMechanism::ball:
      return visit.template operator()<kernels::BouncingBall>();
    case MotionMechanism::rod:
      return visit.template operator()<kernels::SlidingRod>();
    case MotionMechanism::box:
      return visit.template operator()<kernels::BoxOnFloor>();
    case MotionMechanism::box_and_wall:
      return visit.template operator()<kernels::BoxAndWall>();
    case MotionMechanism::walker:
      return visit.template operator()<kernels::CompassWalker>();
    case MotionMechanism::ramone:
      return visit.template operator()<kernels::Ramone>();
    case MotionMechanism::disk_stack:
      return visit.template operator()<kernels::DiskStack>();
    case MotionMechanism::cube:
      return visit.template operator()<kernels::Cube>();
    case MotionMechanism::bar_on_steps:
      return visit.template operator()<kernels::BarOnSteps>();
    case MotionMechanism::tree:
      return visit.template operator()<kernels::TreeMechanism>();
    case MotionMechanism::spatial_tree:
      return visit.template operator()<kernels::SpatialTreeMechanism>();
    case MotionMechanism::block:
      break;
  }
  return visit.template operator()<kernels::RockingBlock>();
}

/// Contacts have so many rows: 2 in the plane, 3 in space.
CAROM_HOST_DEVICE constexpr int dimension_of(MotionMechanism mechanism) {
  return with_mechanism(mechanism, [&]<class T>() { return T::kRows; });
}

}  // namespace carom::motion
