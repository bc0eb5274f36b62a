#pragma once

#include <array>
#include <vector>

#include <carom/types/motion.hpp>

namespace carom::models {

/// A line to draw, in the world [m]; planar mechanisms lie in z = 0.
struct Outline {
  std::vector<std::array<double, 3>> points;
  bool closed = false;
};

/// What the mechanism of a motion looks like at a configuration: the same lines with as many points
/// each at every one. position: q, [positions].
std::vector<Outline> motion_outlines(const MotionProblem& problem, const double* position);

/// A fixed plane normal'x = offset [m] that contacts are against; unit normal.
struct Plane {
  std::array<double, 3> normal{};
  double offset = 0.0;
};
std::vector<Plane> motion_planes(const MotionProblem& problem);

}  // namespace carom::models
