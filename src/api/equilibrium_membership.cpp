#include <carom/equilibrium_membership.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include <carom/equilibrium_certificate.hpp>

#include "core/message.hpp"
#include "cpu/equilibrium/spatial_contour.hpp"
#include "cpu/parallel.hpp"
#include "equilibrium/planar_polygon.hpp"
#include "impact/body/min_norm_body.hpp"

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Nearest boundary point of a convex polygon, counter-clockwise: signed distance, positive inside,
/// and the outward direction in which the boundary was met.
struct Nearest {
  double margin;
  double direction[2];
};

Nearest nearest_boundary(std::span<const double> polygon, const double* x) {
  const std::size_t n = polygon.size() / 2;
  Nearest inside{kernels::kInfinity, {1.0, 0.0}};
  Nearest outside{-kernels::kInfinity, {1.0, 0.0}};
  bool in = n >= 3;
  for (std::size_t i = 0; i < n; ++i) {
    const double* a = polygon.data() + 2 * i;
    const double* b = polygon.data() + 2 * ((i + 1) % n);
    const double edge[2] = {b[0] - a[0], b[1] - a[1]};
    const double length = std::hypot(edge[0], edge[1]);
    double t = 0.0;
    if (length > 0.0) {
      const double normal[2] = {edge[1] / length, -edge[0] / length};
      const double room = normal[0] * (a[0] - x[0]) + normal[1] * (a[1] - x[1]);
      if (room < inside.margin) inside = {room, {normal[0], normal[1]}};
      in = in && room >= 0.0;
      t = std::clamp(((x[0] - a[0]) * edge[0] + (x[1] - a[1]) * edge[1]) / (length * length), 0.0,
                     1.0);
    }
    const double to[2] = {x[0] - a[0] - t * edge[0], x[1] - a[1] - t * edge[1]};
    const double distance = std::hypot(to[0], to[1]);
    if (-distance > outside.margin) {
      outside = {-distance, {1.0, 0.0}};
      if (distance > 0.0) {
        outside.direction[0] = to[0] / distance;
        outside.direction[1] = to[1] / distance;
      }
    }
  }
  return in ? inside : outside;
}

struct Memory {
  Memory(const SupportRules& rules, const SpatialSettings& settings, int contacts)
      : prepared(cpu::support_code(), rules, settings, contacts),
        contour(prepared),
        position(3 * static_cast<std::size_t>(contacts)) {}
  cpu::PreparedSupport prepared;
  cpu::SpatialContour contour;
  std::vector<double> position;
};

/// Encloses the signed distance of (x, y) in the section, refining where it is decided.
void enclose_margin(cpu::SpatialContour& contour, const double* x, double wanted,
                    Membership& result) {
  constexpr int kRounds = 60;
  for (int round = 0;; ++round) {
    std::vector<double> inner;
    for (const std::size_t slot : contour.inner_polygon()) {
      inner.insert(inner.end(), contour.point(slot), contour.point(slot) + 2);
    }
    const Nearest low = nearest_boundary(inner, x);
    // Any half-plane bounds the margin from above, inside and outside.
    double high = kernels::kInfinity;
    for (std::size_t i = 0; i < contour.size(); ++i) {
      const std::size_t slot = contour.slot(i);
      const double upper = contour.answers().upper.data()[slot];
      const double* d = contour.direction(slot);
      const double room = upper - d[0] * x[0] - d[1] * x[1];
      if (!(room < high)) continue;
      high = room;
      const double* dual = contour.answers().dual.data() + 6 * slot;
      result.dual.assign(dual, dual + 6);
    }
    result.margin_lower = std::min(low.margin, high);
    result.margin_upper = high;
    if (high - low.margin <= wanted || round == kRounds) return;
    if (!contour.probe(low.direction)) return;
  }
}

void find_forces(const PostureBatch& batch, std::int64_t p, const double* x, Memory& memory,
                 double tolerance, Membership& result) {
  const auto k = static_cast<std::size_t>(batch.contacts);
  const auto at = static_cast<std::size_t>(p);
  const auto& posture = memory.prepared.posture(true);
  const double* position = batch.position.data() + 3 * k * at;
  const double* normal = batch.normal.data() + 3 * k * at;
  const double* friction = batch.friction.data() + k * at;
  const double* wrench = batch.wrench.data() + 6 * at;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      memory.position[3 * i + j] = (position[3 * i + j] - posture.centre[j]) / posture.length;
    }
  }
  // What the contact forces have to balance, per |f_ext| and about the contacts' mean.
  double arm[3];
  double torque[3];
  for (int j = 0; j < 3; ++j) arm[j] = x[j] - posture.centre[j];
  kernels::cross3(arm, wrench, torque);
  double right[6];
  for (int j = 0; j < 3; ++j) {
    right[j] = -wrench[j] / posture.force;
    right[3 + j] = -(torque[j] + wrench[3 + j]) / (posture.force * posture.length);
  }
  result.forces.resize(3 * k);
  kernels::MinNormForces solver(batch.contacts, memory.position.data(), normal, friction,
                                result.forces.data());
  double y[6];
  int steps = 0;
  solver.run(right, 1e-3 * tolerance, 200, y, steps);
  double residual = solver.stationarity(y);
  for (double& f : result.forces) f *= posture.force;
  for (std::size_t i = 0; i < k; ++i) {
    residual = std::max(residual, certificate::cone_excess(friction[i], normal + 3 * i,
                                                           result.forces.data() + 3 * i) /
                                      posture.force);
  }
  const double balance =
      certificate::balance_residual(batch.contacts, position, result.forces.data(), wrench, x,
                                    posture.centre, posture.force, posture.length);
  result.residual = balance <= residual ? residual : balance;
}

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

std::vector<double> section(const std::vector<double>& half_spaces, const RobustRegion& region,
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
  return polygon::flat(part);
}

}  // namespace

std::vector<Membership> probe_membership(const PostureBatch& batch,
                                         std::span<const double> centre_of_mass,
                                         const SpatialSettings& settings) {
  check_spatial(batch, settings);
  const auto problems = static_cast<std::size_t>(batch.problems);
  if (centre_of_mass.size() != 3 * problems) {
    throw InvalidInput("centre_of_mass has " + std::to_string(centre_of_mass.size()) +
                       " values: must have " + std::to_string(3 * problems));
  }
  for (std::size_t i = 0; i < centre_of_mass.size(); ++i) {
    if (!std::isfinite(centre_of_mass[i])) {
      throw InvalidInput("centre_of_mass[" + std::to_string(i / 3) + "][" + std::to_string(i % 3) +
                         "] is " + message::number(centre_of_mass[i]) + ": must be finite");
    }
  }
  const SupportRules rules = support_rules(settings);
  const std::vector<double> directions = equal_directions(settings.directions);
  std::vector<Membership> results(problems);
  tbb::enumerable_thread_specific<std::unique_ptr<Memory>> memories(
      [&] { return std::make_unique<Memory>(rules, settings, batch.contacts); });
  cpu::parallel_for(batch.problems, 1, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    Memory& memory = *memories.local();
    for (std::int64_t p = begin; p < end; ++p) {
      Membership& result = results[static_cast<std::size_t>(p)];
      const double* x = centre_of_mass.data() + 3 * p;
      memory.prepared.prepare(batch, p);
      const auto& posture = memory.prepared.posture(false);
      result.margin_lower = result.margin_upper = kNan;
      result.status = posture.status;
      if (posture.status == Status::infeasible) {
        result.margin_lower = result.margin_upper = -kernels::kInfinity;
        result.dual.resize(6);
        if (!memory.prepared.farkas(result.dual.data())) result.status = Status::numerical_error;
      }
      if (posture.status == Status::solved) {
        memory.contour.sweep(directions);
        const Status swept = memory.contour.status();
        const double section[2] = {kernels::dot3(posture.axis[0], x),
                                   kernels::dot3(posture.axis[1], x)};
        if (swept == Status::solved || swept == Status::inaccurate) {
          enclose_margin(memory.contour, section, 10.0 * settings.tolerance * posture.length,
                         result);
        } else if (swept != Status::unbounded) {
          result.status = swept;
        }
        if (result.margin_upper < -1e-12 * posture.length) {
          result.status = Status::infeasible;
        } else if (result.status == Status::solved) {
          find_forces(batch, p, x, memory, settings.tolerance, result);
          if (!(result.residual <= settings.tolerance)) result.status = Status::inaccurate;
        }
      }
      if (result.status != Status::infeasible) result.dual.clear();
      if (result.status != Status::solved) {
        result.forces.assign(3 * static_cast<std::size_t>(batch.contacts), kNan);
      }
    }
  });
  return results;
}

std::vector<RobustRegion> robust_region(const PostureBatch& batch,
                                        const SpatialSettings& settings) {
  check_spatial(batch, settings);
  if (batch.vertices < 1) {
    throw InvalidInput("vertices is " + std::to_string(batch.vertices) +
                       ": a robust region needs wrench_vertices");
  }
  const auto problems = static_cast<std::size_t>(batch.problems);
  if (batch.wrench_vertices.size() != problems * static_cast<std::size_t>(6 * batch.vertices)) {
    throw InvalidInput("wrench_vertices has " + std::to_string(batch.wrench_vertices.size()) +
                       " values: must have " +
                       std::to_string(problems * static_cast<std::size_t>(6 * batch.vertices)));
  }
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
        cpu::spatial_equilibrium(vertex_batch(batch, v), settings);
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
  if (!region.inner.empty()) result.inner = section(region.inner, region, height);
  result.outer = section(region.outer, region, height);
  for (std::size_t i = 0; i < result.outer.size(); ++i) {
    const double off = std::abs(result.outer[i] - region.centre[i % 2]);
    if (off > 999.0 * region.extent) result.bounded = false;
  }
  result.area_inner = cpu::polygon_area(result.inner);
  result.area_outer = cpu::polygon_area(result.outer);
  return result;
}

int robust_contains(const RobustRegion& region, std::span<const double> x) {
  if (x.size() != 3) {
    throw InvalidInput("x has " + std::to_string(x.size()) + " values: must have 3");
  }
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
