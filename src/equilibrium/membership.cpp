#include <algorithm>
#include <cmath>
#include <memory>

#include <carom/equilibrium_certificate.hpp>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "equilibrium/kernels/min_norm.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "equilibrium/spatial_contour.hpp"

namespace carom {

namespace {

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

/// Encloses the signed distance of (x, y) in the section, refining where it is decided.
void enclose_margin(SpatialContour& contour, const double* x, double wanted, Membership& result) {
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

/// scratch: [contacts, 3].
void find_forces(const PostureBatch& batch, std::int64_t p, const double* x,
                 const kernels::SupportPosture& posture, double* scratch, double tolerance,
                 Membership& result) {
  const auto k = static_cast<std::size_t>(batch.contacts);
  const auto at = static_cast<std::size_t>(p);
  const double* position = batch.position.data() + 3 * k * at;
  const double* normal = batch.normal.data() + 3 * k * at;
  const double* friction = batch.friction.data() + k * at;
  const double* wrench = batch.wrench.data() + 6 * at;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      scratch[3 * i + j] = (position[3 * i + j] - posture.centre[j]) / posture.length;
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
  kernels::MinNormForces solver(batch.contacts, scratch, normal, friction, result.forces.data());
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

}  // namespace

std::vector<Membership> memberships(const SupportCode& code, const PostureBatch& batch,
                                    std::span<const double> centre_of_mass,
                                    const SpatialSettings& settings, WorkspaceState* workspace) {
  const auto problems = static_cast<std::size_t>(batch.problems);
  const SupportRules rules = support_rules(settings);
  const std::vector<double> directions = spread_directions(settings.directions);
  std::vector<Membership> results(problems);
  const Scratch<ThreadScratch<ContourMemory>> memories(workspace);
  parallel_for(batch.problems, 1, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    ContourMemory& memory = memories->local();
    SpatialContour& contour = memory.fit(code, rules, settings, batch.contacts);
    PreparedSupport& prepared = contour.prepared();
    make_room(memory.position, 3L * batch.contacts);
    for (std::int64_t p = begin; p < end; ++p) {
      Membership& result = results[static_cast<std::size_t>(p)];
      const double* x = centre_of_mass.data() + 3 * p;
      prepared.prepare(batch, p);
      const auto& posture = prepared.posture(false);
      result.margin_lower = result.margin_upper = kNan;
      result.status = posture.status;
      if (posture.status == Status::infeasible) {
        result.margin_lower = result.margin_upper = -kernels::kInfinity;
        result.dual.resize(6);
        if (!prepared.farkas(result.dual.data())) result.status = Status::numerical_error;
      }
      if (posture.status == Status::solved) {
        contour.sweep(directions);
        const Status swept = contour.status();
        const double section[2] = {kernels::dot3(posture.axis[0], x),
                                   kernels::dot3(posture.axis[1], x)};
        if (swept == Status::solved || swept == Status::inaccurate) {
          enclose_margin(contour, section, 10.0 * settings.tolerance * posture.length, result);
        } else if (swept != Status::unbounded) {
          result.status = swept;
        }
        if (result.margin_upper < -1e-12 * posture.length) {
          result.status = Status::infeasible;
        } else if (result.status == Status::solved) {
          find_forces(batch, p, x, prepared.posture(true), memory.position.data(),
                      settings.tolerance, result);
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

}  // namespace carom
