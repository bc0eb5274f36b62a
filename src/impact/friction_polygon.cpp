#include "impact/friction_polygon.hpp"

#include <cmath>
#include <numbers>

namespace carom {

kernels::FrictionPolygon friction_polygon(int dimension, int directions) {
  kernels::FrictionPolygon polygon;
  if (dimension == 2) return polygon;
  polygon.count = directions;
  const double angle = 2.0 * std::numbers::pi / directions;
  // Exact zeros and ones on the axes keep symmetric problems symmetric.
  const auto snap = [](double x) {
    const double nearest = std::round(x);
    return std::abs(x - nearest) < 1e-15 ? nearest : x;
  };
  for (int j = 0; j < directions; ++j) {
    polygon.direction[j][0] = snap(std::cos(j * angle));
    polygon.direction[j][1] = snap(std::sin(j * angle));
    polygon.along[j][0] = snap(-std::sin((j + 0.5) * angle));
    polygon.along[j][1] = snap(std::cos((j + 0.5) * angle));
  }
  polygon.edge = 2.0 * std::sin(0.5 * angle);
  polygon.turn = snap(2.0 * std::cos(angle));
  return polygon;
}

}  // namespace carom
