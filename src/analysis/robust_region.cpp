#include <algorithm>
#include <cmath>
#include <string>

#include <carom/equilibrium_membership.hpp>

#include "core/require.hpp"

#include "equilibrium/planar_polygon.hpp"
#include "equilibrium/spatial_backends.hpp"

namespace carom {

namespace {

PostureBatch vertex_batch(const PostureBatch& batch, int vertex) {
  PostureBatch one;
  one.problems = batch.problems;
  one.dimension = batch.dimension;
  one.contacts = batch.contacts;
  one.position = batch.position.to(MemorySpace::host);
  one.normal = batch.normal.to(MemorySpace::host);
  one.friction = batch.friction.to(MemorySpace::host);
  one.wrench = Buffer<double>(6 * static_cast<std::size_t>(batch.problems));
  const std::size_t stride = 6 * static_cast<std::size_t>(batch.vertices);
  for (std::size_t p = 0; p < static_cast<std::size_t>(batch.problems); ++p) {
    std::copy_n(
        batch.wrench_vertices.host().data() + p * stride + 6 * static_cast<std::size_t>(vertex), 6,
        one.wrench.data() + 6 * p);
  }
  return one;
}

/// Half-spaces of a section's inner polygon; of a segment or a point, pairs that leave no room.
void add_inner(const SpatialRegion& region, std::vector<double>& half_spaces) {
  const std::size_t n = region.inner.size() / 2;
  const auto add = [&](const double* normal, const double* at) {
    for (int j = 0; j < 3; ++j) {
      half_spaces.push_back(normal[0] * region.frame[0][j] + normal[1] * region.frame[1][j]);
    }
    half_spaces.push_back(normal[0] * at[0] + normal[1] * at[1]);
  };
  if (n == 1) {
    for (const double sign : {1.0, -1.0}) {
      const double u[2] = {sign, 0.0};
      const double v[2] = {0.0, sign};
      add(u, region.inner.data());
      add(v, region.inner.data());
    }
  }
  for (std::size_t i = 0; i < n && n > 1; ++i) {
    const double* a = region.inner.data() + 2 * i;
    const double* b = region.inner.data() + 2 * ((i + 1) % n);
    const double length = std::hypot(b[0] - a[0], b[1] - a[1]);
    const double normal[2] = {(b[1] - a[1]) / length, (a[0] - b[0]) / length};
    add(normal, a);
    if (n == 2) {
      const double along[2] = {-normal[1], normal[0]};
      add(along, b);
    }
  }
}

std::vector<polygon::Point> cut(const std::vector<double>& half_spaces, const RobustRegion& region,
                                double height) {
  const double reach = 1000.0 * region.extent;
  std::vector<polygon::Point> part;
  for (const auto& corner : {std::pair{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}}) {
    part.push_back(
        {region.centre[0] + corner.first * reach, region.centre[1] + corner.second * reach});
  }
  for (std::size_t h = 0; h < half_spaces.size(); h += 4) {
    part = polygon::clip(part, {half_spaces[h], half_spaces[h + 1]},
                         half_spaces[h + 3] - half_spaces[h + 2] * height);
  }
  return part;
}

}  // namespace

std::vector<RobustRegion> robust_region(const PostureBatch& batch,
                                        const SpatialSettings& settings) {
  settings.validate();
  check_spatial(batch, Backend::cpu);
  if (batch.vertices < 1) {
    require::refuse({}, "vertices", {}, std::to_string(batch.vertices),
                    "a robust region needs wrench_vertices");
  }
  const auto problems = static_cast<std::size_t>(batch.problems);
  std::vector<RobustRegion> robust(problems);
  const auto k = static_cast<std::size_t>(batch.contacts);
  for (std::size_t p = 0; p < problems; ++p) {
    RobustRegion& result = robust[p];
    result.status = Status::solved;
    const double* x = batch.position.data() + 3 * k * p;
    for (std::size_t i = 0; i < 3 * k; ++i) result.centre[i % 3] += x[i] / static_cast<double>(k);
    for (std::size_t i = 0; i < k; ++i) {
      result.extent = std::max(
          result.extent, std::hypot(x[3 * i] - result.centre[0], x[3 * i + 1] - result.centre[1],
                                    x[3 * i + 2] - result.centre[2]));
    }
    if (!(result.extent > 0.0)) result.extent = 1.0;
  }
  for (int v = 0; v < batch.vertices; ++v) {
    const std::vector<SpatialRegion> regions =
        spatial_equilibrium(vertex_batch(batch, v), settings, Backend::cpu);
    for (std::size_t p = 0; p < problems; ++p) {
      const SpatialRegion& region = regions[p];
      RobustRegion& result = robust[p];
      const bool known = region.status == Status::solved || region.status == Status::inaccurate;
      // An empty vertex empties the whole, whatever the others are.
      if (region.status == Status::infeasible || (!known && result.status == Status::solved)) {
        result.status = region.status;
      }
      for (std::size_t h = 0; 3 * h < region.half_plane.size(); ++h) {
        const double* line = region.half_plane.data() + 3 * h;
        for (int j = 0; j < 3; ++j) {
          result.outer.push_back(line[0] * region.frame[0][j] + line[1] * region.frame[1][j]);
        }
        result.outer.push_back(line[2]);
        result.vertex.push_back(v);
        result.dual.insert(result.dual.end(), region.dual.begin() + static_cast<long>(6 * h),
                           region.dual.begin() + static_cast<long>(6 * h + 6));
      }
      if (known) add_inner(region, result.inner);
    }
  }
  for (RobustRegion& result : robust) {
    if (result.status != Status::solved) result.inner.clear();
  }
  return robust;
}

RobustSection robust_section(const RobustRegion& region, double height) {
  RobustSection result;
  if (region.status == Status::infeasible) return result;
  const auto keep = [](const std::vector<polygon::Point>& part, std::vector<double>& vertices,
                       double& area) {
    vertices = polygon::flat(part);
    area = polygon::area(part);
  };
  if (!region.inner.empty()) {
    keep(cut(region.inner, region, height), result.inner, result.area_inner);
  }
  keep(cut(region.outer, region, height), result.outer, result.area_outer);
  for (std::size_t i = 0; i < result.outer.size(); ++i) {
    const double off = std::abs(result.outer[i] - region.centre[i % 2]);
    if (off > 999.0 * region.extent) result.bounded = false;
  }
  return result;
}

int robust_contains(const RobustRegion& region, std::span<const double> x) {
  require::size("x", x.size(), 3);
  if (region.status == Status::infeasible) return -1;
  const auto inside = [&](const std::vector<double>& half_spaces) {
    for (std::size_t h = 0; h < half_spaces.size(); h += 4) {
      const double* n = half_spaces.data() + h;
      if (!(n[0] * x[0] + n[1] * x[1] + n[2] * x[2] <= n[3])) return false;
    }
    return true;
  };
  if (!inside(region.outer)) return -1;
  return !region.inner.empty() && inside(region.inner) ? 1 : 0;
}

}  // namespace carom
