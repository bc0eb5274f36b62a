#include "io/enclosure_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace carom::io {

namespace {

using Point = std::array<double, 2>;

/// Counter-clockwise, by Andrew's monotone chain.
std::vector<Point> hull_of(std::vector<Point> points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  const auto turn = [](const Point& a, const Point& b, const Point& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  };
  std::vector<Point> hull;
  for (int way = 0; way < 2; ++way) {
    const std::size_t first = hull.size();
    for (const Point& point : points) {
      while (hull.size() >= first + 2 && turn(hull[hull.size() - 2], hull.back(), point) <= 0.0) {
        hull.pop_back();
      }
      hull.push_back(point);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

}  // namespace

std::string outline_of(const ImpactEnclosure& set, int x, int y) {
  const std::size_t m = set.normal_velocity_min.size();
  const std::size_t rows = m + set.tangent_velocity_min.size();
  std::string text;
  if (set.modes.empty()) {  // only bounds
    const auto bounds = [&](int row) {
      const auto k = static_cast<std::size_t>(row);
      return k < m ? Point{set.normal_velocity_min[k], set.normal_velocity_max[k]}
                   : Point{set.tangent_velocity_min[k - m], set.tangent_velocity_max[k - m]};
    };
    const Point across = bounds(x), up = bounds(y);
    for (const auto& [i, j] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}) {
      fmt::format_to(std::back_inserter(text), "{:.9g} {:.9g}\n",
                     across[static_cast<std::size_t>(i)], up[static_cast<std::size_t>(j)]);
    }
    return text;
  }
  for (const EnclosedMode& mode : set.modes) {
    std::vector<Point> points;
    for (std::size_t v = 0; v + rows <= mode.vertices.size(); v += rows) {
      points.push_back({mode.vertices[v + static_cast<std::size_t>(x)],
                        mode.vertices[v + static_cast<std::size_t>(y)]});
    }
    std::vector<Point> hull = hull_of(std::move(points));
    if (hull.empty()) continue;
    hull.push_back(hull.front());
    for (const Point& point : hull) {
      fmt::format_to(std::back_inserter(text), "{:.9g} {:.9g}\n", point[0], point[1]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace carom::io
