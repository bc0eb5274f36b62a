#include <algorithm>
#include <cmath>

#include "core/arrays.hpp"
#include "core/constants.hpp"
#include "equilibrium/spatial_contour.hpp"

namespace carom {

namespace {

/// Extents below this, relative to the contacts', make a segment or a point.
constexpr double kFlat = 1e-8;

int dimension_of(const std::vector<double>& vertices, double extent) {
  const std::size_t n = vertices.size() / 2;
  if (n == 0) return -1;
  const auto furthest = [&](const double* from) {
    std::size_t best = 0;
    double distance = -1.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double here = std::hypot(vertices[2 * i] - from[0], vertices[2 * i + 1] - from[1]);
      if (here > distance) {
        distance = here;
        best = i;
      }
    }
    return best;
  };
  const double* a = vertices.data() + 2 * furthest(vertices.data());
  const double* b = vertices.data() + 2 * furthest(a);
  const double length = std::hypot(b[0] - a[0], b[1] - a[1]);
  if (length <= kFlat * extent) return 0;
  double width = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double* c = vertices.data() + 2 * i;
    width = std::max(
        width, std::abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / length);
  }
  return width <= kFlat * extent ? 1 : 2;
}

// No gap can be told from rounding below this: areas are of lengths whose digits end with those of
// the contacts' extent and of their place.
double finest_gap(const SpatialContour& contour) {
  constexpr double kOfExtent = 1e-12;
  constexpr double kOfPlace = 2e-13;
  const auto& centre = contour.prepared().posture(true).centre;
  const double place = std::hypot(centre[0], centre[1], centre[2]);
  return (kOfExtent * contour.extent() + kOfPlace * place) * contour.extent();
}

void list_support(const SpatialContour& contour, SpatialRegion& region) {
  const SupportResult& answers = contour.answers();
  region.residual = 0.0;
  for (std::size_t i = 0; i < contour.size(); ++i) {
    const std::size_t slot = contour.slot(i);
    const double* d = contour.direction(slot);
    const double* p = contour.point(slot);
    region.support.push_back({{d[0], d[1]},
                              answers.lower.data()[slot],
                              answers.upper.data()[slot],
                              {p[0], p[1]},
                              answers.status.data()[slot]});
    region.pivots += answers.pivots.data()[slot];
    const double residual = answers.residual.data()[slot];
    if (!(residual <= region.residual)) region.residual = residual;
    if (!std::isfinite(answers.upper.data()[slot])) continue;
    for (const double value : {d[0], d[1], answers.upper.data()[slot]}) {
      region.half_plane.push_back(value);
    }
    const double* dual = answers.dual.data() + 6 * slot;
    region.dual.insert(region.dual.end(), dual, dual + 6);
  }
}

}  // namespace

SpatialRegion finish_region(SpatialContour& contour) {
  const SpatialSettings& settings = contour.prepared().settings();
  const auto& posture = contour.prepared().posture(true);
  SpatialRegion region;
  region.area_inner = region.area_outer = kNan;
  const Status outer = contour.prepared().posture(false).status;
  if (outer == Status::invalid_input) {
    region.status = outer;
    region.residual = kNan;
    return region;
  }
  for (int a = 0; a < 3; ++a) {
    for (int j = 0; j < 3; ++j) region.frame[a][j] = posture.axis[a][j];
  }
  if (outer != Status::solved) {
    region.status = outer;
    region.residual = kNan;
    double proof[6];
    if (outer == Status::infeasible && contour.prepared().farkas(proof)) {
      region.dual.assign(proof, proof + 6);
    }
    return region;
  }
  region.status = contour.status();
  const double tolerance = std::max(settings.area_tolerance, finest_gap(contour));
  // Half of the tolerance is left for what upper and lower bounds differ by.
  while (region.status == Status::solved && contour.refine(0.5 * tolerance)) {
    region.status = contour.status();
  }
  list_support(contour, region);
  if (region.status != Status::solved && region.status != Status::inaccurate) return region;
  const auto k = static_cast<std::size_t>(contour.prepared().contacts());
  for (const std::size_t slot : contour.inner_polygon()) {
    const double* p = contour.point(slot);
    region.inner.insert(region.inner.end(), p, p + 2);
    const double* f = contour.answers().forces.data() + 3 * k * slot;
    region.forces.insert(region.forces.end(), f, f + 3 * k);
  }
  region.outer = contour.outer_polygon();
  region.dimension = dimension_of(region.inner, contour.extent());
  region.area_inner = polygon_area(region.inner);
  region.area_outer =
      region.outer.empty() && region.dimension == 2 ? kNan : polygon_area(region.outer);
  const bool pair = contour.prepared().rules().two;
  if (region.status == Status::solved && !pair &&
      !(region.area_outer - region.area_inner <= tolerance)) {
    region.status = Status::inaccurate;
  }
  return region;
}

std::vector<SpatialRegion> regions_from(const SupportCode& code, const PostureBatch& batch,
                                        std::span<const double> directions,
                                        const SupportResult& first,
                                        const SpatialSettings& settings) {
  const SupportRules rules = support_rules(settings);
  std::vector<SpatialRegion> regions;
  PreparedSupport prepared(code, rules, settings, batch.contacts);
  SpatialContour contour(prepared);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    const auto at = static_cast<std::size_t>(p);
    prepared.prepare(batch, p);
    contour.take(directions, first, at * directions.size() / 2);
    regions.push_back(finish_region(contour));
  }
  return regions;
}

}  // namespace carom
