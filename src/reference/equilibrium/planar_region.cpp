#include "reference/equilibrium/planar_region.hpp"

#include <algorithm>
#include <cmath>

namespace carom::reference {

namespace {

struct HalfPlane {
  Eigen::Vector2d normal;
  double bound;  ///< normal . x <= bound
};

}  // namespace

Region intersect(const std::vector<RegionStrip>& strips) {
  std::vector<HalfPlane> sides;
  double size = 0.0;
  for (const RegionStrip& strip : strips) {
    if (std::isfinite(strip.upper)) sides.push_back({strip.normal, strip.upper});
    if (std::isfinite(strip.lower)) sides.push_back({-strip.normal, -strip.lower});
  }
  for (const HalfPlane& side : sides) size = std::max(size, std::abs(side.bound));
  const double slack = 1e-12 * std::max(size, 1e-300);
  const auto holds = [&](const Eigen::Vector2d& x, double more) {
    return std::all_of(sides.begin(), sides.end(), [&](const HalfPlane& side) {
      return side.normal.dot(x) <= side.bound + slack + more;
    });
  };
  Region region;
  bool crossed = false;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (std::size_t j = i + 1; j < sides.size(); ++j) {
      Eigen::Matrix2d lines;
      lines << sides[i].normal.transpose(), sides[j].normal.transpose();
      const double cross = lines.determinant();
      if (std::abs(cross) <= 1e-12) continue;
      crossed = true;
      const Eigen::Vector2d x(
          (sides[i].bound * lines(1, 1) - lines(0, 1) * sides[j].bound) / cross,
          (lines(0, 0) * sides[j].bound - sides[i].bound * lines(1, 0)) / cross);
      if (holds(x, 0.0)) region.corners.push_back(x);
    }
  }
  if (!crossed) {
    // All lines are parallel: the region is empty or runs along them.
    bool any = sides.empty();
    for (const HalfPlane& side : sides) any = any || holds(side.normal * side.bound, 0.0);
    region.status = any ? Status::unbounded : Status::infeasible;
    return region;
  }
  if (region.corners.empty()) {
    region.status = Status::infeasible;
    return region;
  }
  for (const HalfPlane& side : sides) {
    for (const double sign : {1.0, -1.0}) {
      const Eigen::Vector2d along(-sign * side.normal.y(), sign * side.normal.x());
      if (std::all_of(sides.begin(), sides.end(),
                      [&](const HalfPlane& other) { return other.normal.dot(along) <= 1e-12; })) {
        region.status = Status::unbounded;
        region.corners.clear();
        return region;
      }
    }
  }
  Eigen::Vector2d middle(0.0, 0.0);
  for (const Eigen::Vector2d& corner : region.corners) middle += corner;
  middle /= static_cast<double>(region.corners.size());
  std::sort(region.corners.begin(), region.corners.end(),
            [&](const Eigen::Vector2d& a, const Eigen::Vector2d& b) {
              return std::atan2(a.y() - middle.y(), a.x() - middle.x()) <
                     std::atan2(b.y() - middle.y(), b.x() - middle.x());
            });
  const auto same = [&](const Eigen::Vector2d& a, const Eigen::Vector2d& b) {
    return (a - b).cwiseAbs().maxCoeff() <= 1e-10 * size;
  };
  auto& corners = region.corners;
  corners.erase(std::unique(corners.begin(), corners.end(), same), corners.end());
  while (corners.size() > 1 && same(corners.back(), corners.front())) corners.pop_back();
  return region;
}

}  // namespace carom::reference
