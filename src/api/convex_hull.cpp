#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <carom/error.hpp>
#include <carom/impact.hpp>

namespace carom {

std::vector<std::array<double, 2>> convex_hull(const EpsilonNet& net, int x, int y) {
  for (const int axis : {x, y}) {
    if (axis < 0 || axis >= net.velocities) {
      throw InvalidInput(Refusal{.source = "convex_hull",
                                 .field = "coordinate",
                                 .relation = "",
                                 .value = std::to_string(axis),
                                 .rule = "must be in 0.." + std::to_string(net.velocities - 1)});
    }
  }
  std::vector<std::array<double, 2>> points;
  for (std::int64_t p = 0; p < net.points(); ++p) {
    const double* v = net.velocity.data() + p * net.velocities;
    points.push_back({v[x], v[y]});
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  // Andrew's monotone chain.
  const auto turns_left = [](const auto& a, const auto& b, const auto& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0.0;
  };
  std::vector<std::array<double, 2>> hull;
  const auto extend = [&](const std::array<double, 2>& point, std::size_t base) {
    while (hull.size() >= base + 2 && !turns_left(hull[hull.size() - 2], hull.back(), point)) {
      hull.pop_back();
    }
    hull.push_back(point);
  };
  for (const auto& point : points) extend(point, 0);
  const std::size_t lower = hull.size() - 1;
  for (auto point = points.rbegin() + 1; point != points.rend(); ++point) extend(*point, lower);
  hull.pop_back();
  return hull;
}

}  // namespace carom
