#pragma once

#include <span>
#include <vector>

/// Sets W of external wrenches of planar postures, as wrench_polygon and wrench_rectangle of
/// carom/posture.hpp.
namespace carom::wrenches {

std::vector<double> polygon(std::span<const double> pq, double f_y = -1.0);
std::vector<double> rectangle(double p1, double p2, double q1, double q2, double f_y = -1.0);

}  // namespace carom::wrenches
