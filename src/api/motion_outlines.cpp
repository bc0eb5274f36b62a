#include <carom/models/motion_outlines.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/mechanisms/motion_bodies.hpp"
#include "models/mechanisms/motion_spatial.hpp"
#include "models/mechanisms/motion_walker.hpp"
#include "models/mechanisms/spatial_tree.hpp"
#include "models/mechanisms/tree_mechanism.hpp"

namespace carom::models {

namespace {

using Point = std::array<double, 3>;

constexpr int kRim = 24;  // points of a circle

/// Of a body at (x, y) that is turned by an angle.
Point placed(double x, double y, double angle, double along, double up) {
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  return {x + c * along - s * up, y + s * along + c * up, 0.0};
}

std::vector<Outline> rectangle(const double* q, double width, double height) {
  Outline outline{{}, true};
  for (const auto& [x, y] : {std::pair{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}}) {
    outline.points.push_back(placed(q[0], q[1], q[2], x * width, y * height));
  }
  return {outline};
}

/// A disk with a spoke that shows how it turns.
void add_disk(const double* q, double radius, std::vector<Outline>& outlines) {
  Outline rim{{}, true};
  for (int k = 0; k < kRim; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / kRim;
    rim.points.push_back(
        placed(q[0], q[1], q[2], radius * std::cos(angle), radius * std::sin(angle)));
  }
  outlines.push_back(std::move(rim));
  outlines.push_back({{{q[0], q[1], 0.0}, placed(q[0], q[1], q[2], 0.0, radius)}, false});
}

/// Edges of a cuboid of half widths h in the axes of a body: bottom, top and what joins them.
std::vector<Outline> cuboid(const double* q, const double* h, double pitch) {
  double rotation[9];
  kernels::rotation_of(q + 3, rotation);
  std::array<Point, 8> corner;
  for (std::size_t i = 0; i < 8; ++i) {
    const bool far = i % 4 == 1 || i % 4 == 2;
    const double x = far ? h[0] : -h[0];
    const double z = i < 4 ? -h[2] : h[2];
    // Turned about y by the pitch, upward along +x.
    const double own[3] = {std::cos(pitch) * x - std::sin(pitch) * z, i % 4 > 1 ? h[1] : -h[1],
                           std::sin(pitch) * x + std::cos(pitch) * z};
    double at[3];
    kernels::to_world(rotation, own, at);
    for (std::size_t d = 0; d < 3; ++d) corner[i][d] = q[d] + at[d];
  }
  std::vector<Outline> outlines;
  outlines.push_back({{corner[0], corner[1], corner[2], corner[3]}, true});
  outlines.push_back({{corner[4], corner[5], corner[6], corner[7]}, true});
  for (std::size_t i = 0; i < 4; ++i) outlines.push_back({{corner[i], corner[i + 4]}, false});
  return outlines;
}

std::vector<Outline> ramone(const double* p, const double* q) {
  using Body = kernels::Ramone;
  const double pitch = q[2];
  const Point hip = placed(q[0], q[1], pitch, 0.0, -p[Body::kPelvisToHip]);
  std::vector<Outline> outlines;
  outlines.push_back({{{q[0], q[1], 0.0}, hip}, false});
  for (int leg = 0; leg < 2; ++leg) {
    const double thigh = pitch + q[3 + 2 * leg];
    const double shin = thigh + q[4 + 2 * leg];
    const Point knee = placed(hip[0], hip[1], thigh, 0.0, -p[Body::kUpperLength]);
    const Point foot = placed(knee[0], knee[1], shin, 0.0, -p[Body::kLowerLength]);
    outlines.push_back({{hip, knee, foot}, false});
    const double ankle[3] = {foot[0], foot[1], shin};
    add_disk(ankle, p[Body::kFootRadius], outlines);
  }
  return outlines;
}

/// Each link from its joint to its children's joints, its contacts and its centre of mass.
template <class Tree, std::size_t kAxes>
std::vector<Outline> tree_links(const double* p, const double* q, int centre, int point) {
  const Tree tree(p, 0.0, q);
  const int links = kernels::whole(p[Tree::kLinks]);
  const auto record = [&](int i) { return p + Tree::kHeader + i * Tree::kLinkRecord; };
  const auto at = [&](int i, const double* own) {
    Point out{};
    tree.place(i, own, out.data());
    return out;
  };
  std::vector<Outline> outlines;
  const double origin[kAxes] = {};
  for (int i = 0; i < links; ++i) {
    const Point joint = at(i, origin);
    const auto line_to = [&](const double* own) {
      outlines.push_back({{joint, at(i, own)}, false});
    };
    line_to(record(i) + centre);
    for (int child = i + 1; child < links; ++child) {
      if (record(child)[Tree::kParent] == i)
        outlines.push_back({{joint, at(child, origin)}, false});
    }
    for (int c = 0; c < kernels::whole(p[Tree::kContacts]); ++c) {
      const double* contact = record(links) + c * Tree::kContactRecord;
      if (contact[Tree::kLink] == i) line_to(contact + point);
    }
  }
  return outlines;
}

template <class Tree, std::size_t kAxes>
std::vector<Plane> tree_planes(const double* p, int normal) {
  std::vector<Plane> planes;
  const double* contact = p + Tree::kHeader + kernels::whole(p[Tree::kLinks]) * Tree::kLinkRecord;
  for (int c = 0; c < kernels::whole(p[Tree::kContacts]); ++c, contact += Tree::kContactRecord) {
    Plane plane;
    std::copy_n(contact + normal, kAxes, plane.normal.begin());
    plane.offset = contact[Tree::kOffset];
    const bool known = std::any_of(planes.begin(), planes.end(), [&](const Plane& other) {
      return other.normal == plane.normal && other.offset == plane.offset;
    });
    if (!known) planes.push_back(plane);
  }
  return planes;
}

}  // namespace

std::vector<Outline> motion_outlines(const MotionProblem& problem, const double* q) {
  const double* p = problem.parameters.data();
  std::vector<Outline> outlines;
  switch (problem.mechanism) {
    case MotionMechanism::block:
      return rectangle(q, p[kernels::RockingBlock::kWidth], p[kernels::RockingBlock::kHeight]);
    case MotionMechanism::box:
    case MotionMechanism::box_and_wall:
      return rectangle(q, p[kernels::BoxOnFloor::kWidth], p[kernels::BoxOnFloor::kHeight]);
    case MotionMechanism::ball:
      add_disk(q, p[kernels::BouncingBall::kRadius], outlines);
      return outlines;
    case MotionMechanism::rod: {
      const double half = 0.5 * p[kernels::SlidingRod::kLength];
      return {{{placed(q[0], q[1], q[2], -half, 0.0), placed(q[0], q[1], q[2], half, 0.0)}, false}};
    }
    case MotionMechanism::walker: {
      const double leg = -p[kernels::CompassWalker::kLeg];
      return {{{placed(q[0], q[1], q[2], 0.0, leg),
                {q[0], q[1], 0.0},
                placed(q[0], q[1], q[3], 0.0, leg)},
               false}};
    }
    case MotionMechanism::ramone:
      return ramone(p, q);
    case MotionMechanism::disk_stack:
      for (int disk = 0; disk < 3; ++disk) {
        add_disk(q + 3 * disk, p[kernels::DiskStack::kRadius], outlines);
      }
      return outlines;
    case MotionMechanism::cube: {
      const double half = 0.5 * p[kernels::Cube::kWidth];
      const double h[3] = {half, half, half};
      return cuboid(q, h, 0.0);
    }
    case MotionMechanism::bar_on_steps: {
      using Bar = kernels::BarOnSteps;
      const double h[3] = {0.5 * p[Bar::kLength], 0.5 * p[Bar::kWidth], 0.5 * p[Bar::kHeight]};
      return cuboid(q, h, std::atan2(p[Bar::kRise], p[Bar::kRun]));
    }
    case MotionMechanism::tree: {
      using Tree = kernels::TreeMechanism;
      return tree_links<Tree, 2>(p, q, Tree::kCentreX, Tree::kPointX);
    }
    case MotionMechanism::spatial_tree: {
      using Tree = kernels::SpatialTreeMechanism;
      return tree_links<Tree, 3>(p, q, Tree::kCentre, Tree::kPoint);
    }
  }
  return outlines;
}

std::vector<Plane> motion_planes(const MotionProblem& problem) {
  const double* p = problem.parameters.data();
  const Plane floor{{0.0, 1.0, 0.0}, 0.0};
  const Plane ground{{0.0, 0.0, 1.0}, 0.0};
  switch (problem.mechanism) {
    case MotionMechanism::box_and_wall:
      return {floor, {{-1.0, 0.0, 0.0}, 0.0}};
    case MotionMechanism::disk_stack:
      return {{{0.0, 1.0, 0.0}, -p[kernels::DiskStack::kRadius]}};
    case MotionMechanism::cube:
      return {ground};
    case MotionMechanism::bar_on_steps:
      return {};
    case MotionMechanism::tree:
      return tree_planes<kernels::TreeMechanism, 2>(p, kernels::TreeMechanism::kNormalX);
    case MotionMechanism::spatial_tree:
      return tree_planes<kernels::SpatialTreeMechanism, 3>(p,
                                                           kernels::SpatialTreeMechanism::kNormal);
    default:
      return {floor};
  }
}

}  // namespace carom::models
