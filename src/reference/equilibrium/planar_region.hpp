#pragma once

#include <vector>

#include <Eigen/Dense>

#include <carom/types/status.hpp>

namespace carom::reference {

/// lower <= x . normal <= upper
struct RegionStrip {
  Eigen::Vector2d normal;
  double lower, upper;
};

struct Region {
  Status status = Status::solved;  ///< or infeasible, unbounded
  std::vector<Eigen::Vector2d> corners;
};

/// Intersection of strips: all crossings of their lines that every strip holds, in order of angle.
Region intersect(const std::vector<RegionStrip>& strips);

}  // namespace carom::reference
