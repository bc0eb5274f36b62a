#include "equilibrium/planar_polygon.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace carom::polygon {

std::vector<Point> clip(const std::vector<Point>& polygon, const Point& normal, double at) {
  std::vector<int> labels(polygon.size());
  return clip(polygon, normal, at, labels, 0);
}

std::vector<Point> clip(const std::vector<Point>& polygon, const Point& normal, double at,
                        std::vector<int>& labels, int label) {
  std::vector<Point> kept;
  std::vector<int> kept_labels;
  const std::size_t n = polygon.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Point& a = polygon[i];
    const Point& b = polygon[(i + 1) % n];
    const double over_a = normal[0] * a[0] + normal[1] * a[1] - at;
    const double over_b = normal[0] * b[0] + normal[1] * b[1] - at;
    if (over_a <= 0.0) {
      kept.push_back(a);
      kept_labels.push_back(over_a == 0.0 && over_b > 0.0 ? label : labels[i]);
    }
    if ((over_a < 0.0 && over_b > 0.0) || (over_a > 0.0 && over_b < 0.0)) {
      const double t = over_a / (over_a - over_b);
      kept.push_back({a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])});
      kept_labels.push_back(over_b > 0.0 ? label : labels[i]);
    }
  }
  labels = std::move(kept_labels);
  return kept;
}

std::vector<Point> hull(std::vector<Point> points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::vector<Point> chain;
  const auto extend = [&](const Point& c, std::size_t floor) {
    while (chain.size() >= floor + 2 && cross(minus(chain.back(), chain[chain.size() - 2]),
                                              minus(c, chain[chain.size() - 2])) <= 0.0) {
      chain.pop_back();
    }
    chain.push_back(c);
  };
  for (const Point& c : points) extend(c, 0);
  const std::size_t lower = chain.empty() ? 0 : chain.size() - 1;
  for (std::size_t i = points.size(); i-- > 0;) {
    if (i + 1 < points.size()) extend(points[i], lower);
  }
  if (chain.size() > 1) chain.pop_back();
  return chain;
}

std::vector<Point> thinned(const std::vector<Point>& polygon, double distance) {
  const std::size_t n = polygon.size();
  std::vector<Point> kept;
  for (std::size_t at = 0; at < n;) {
    kept.push_back(polygon[at]);
    std::size_t next = at + 1;
    const auto within = [&](std::size_t end) {
      const Point chord = minus(polygon[end % n], polygon[at]);
      const double most = distance * std::hypot(chord[0], chord[1]);
      for (std::size_t i = at + 1; i < end; ++i) {
        if (!(std::abs(cross(chord, minus(polygon[i], polygon[at]))) <= most)) return false;
      }
      return true;
    };
    while (next < n && within(next + 1)) ++next;
    at = next;
  }
  return kept;
}

double area(const std::vector<Point>& polygon) {
  double twice = 0.0;
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    twice += cross(minus(polygon[i - 1], polygon[0]), minus(polygon[i], polygon[0]));
  }
  return 0.5 * twice;
}

std::vector<double> flat(const std::vector<Point>& polygon) {
  std::vector<double> values;
  for (const Point& p : polygon) values.insert(values.end(), p.begin(), p.end());
  return values;
}

bool contains(const std::vector<Point>& polygon, const Point& point) {
  const std::size_t n = polygon.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Point& a = polygon[i];
    if (cross(minus(polygon[(i + 1) % n], a), minus(point, a)) < 0.0) return false;
  }
  return true;
}

Point on_edge(const std::vector<Point>& polygon, int edge, double s) {
  const Point& a = polygon[static_cast<std::size_t>(edge)];
  const Point& b = polygon[static_cast<std::size_t>(edge + 1) % polygon.size()];
  // Far ends leave an error across the edge that the near one does not.
  const double back = 1.0 - s;
  if (back < s) return {b[0] + back * (a[0] - b[0]), b[1] + back * (a[1] - b[1])};
  return {a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])};
}

}  // namespace carom::polygon
