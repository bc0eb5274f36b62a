#include <algorithm>

#include <Eigen/Eigenvalues>

#include <carom/motion_tree.hpp>

#include "api/tree_part.hpp"
#include "models/mechanisms/spatial_tree.hpp"

namespace carom {

namespace {

using kernels::SpatialTreeMechanism;
static_assert(SpatialTreeMechanism::kMostLinks == kMostSpatialTreeLinks);
static_assert(SpatialTreeMechanism::kMostContacts == kMostSpatialTreeContacts);
static_assert(SpatialTreeMechanism::kMostVelocities == kMostSpatialTreeVelocities);

constexpr double kInertiaRounding = 1e-12;  // of a body's largest moment

/// Principal moments as some body has them: none negative, none above the sum of the others.
void check_inertia(const TreePart& part, const SpatialTreeLink& link) {
  part.finite("inertia", link.inertia);
  const auto& in = link.inertia;
  Eigen::Matrix3d matrix;
  matrix << in[0], in[3], in[4], in[3], in[1], in[5], in[4], in[5], in[2];
  const Eigen::Vector3d moments =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
  const double slack = kInertiaRounding * moments.cwiseAbs().maxCoeff();
  if (moments[0] < -slack) {
    part.refuse("inertia", message::number(moments[0]) + " about a principal axis", "must be >= 0");
  }
  if (moments[2] > moments[0] + moments[1] + slack) {
    part.refuse("inertia", message::number(moments[2]) + " about a principal axis",
                "must not be above the sum of the other two");
  }
}

void check_ball(const TreePart& part, const SpatialTreeLink& link) {
  if (link.slides) part.refuse("slides", "true", "must be false for a ball joint");
  const auto none = [&](const char* field, double value) {
    if (value != 0.0) part.refuse(field, message::number(value), "must be 0 for a ball joint");
  };
  none("stiffness", link.stiffness);
  none("rest", link.rest);
  none("effort", link.effort);
}

/// 0: hinge, 1: slide, 2: ball.
double joint_of(const SpatialTreeLink& link) {
  if (link.ball) return 2.0;
  return link.slides ? 1.0 : 0.0;
}

void check(const SpatialTree& tree) {
  const TreePart all(tree.name, "mechanism", 0, tree.name);
  check_sizes(all, tree, kMostSpatialTreeLinks, kMostSpatialTreeContacts);
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const SpatialTreeLink& link = tree.links[i];
    const TreePart part(tree.name, "link", i, link.name);
    const bool free = tree.floating && i == 0;
    check_parent(part, link.parent, i);
    if (tree.floating && i > 0 && link.parent < 0) {
      part.refuse("parent", std::to_string(link.parent),
                  "must be an earlier link: the first one is free");
    }
    part.finite("place", link.place);
    if (!free && !link.ball) part.unit("axis", link.axis);
    part.not_negative("mass", link.mass);
    check_inertia(part, link);
    check_joint(part, link);
    if (link.ball && !free) check_ball(part, link);
  }
  check_contacts(tree);
}

}  // namespace

MotionProblem motion_problem(const SpatialTree& tree, std::span<const double> position,
                             std::span<const double> velocity) {
  check(tree);
  std::size_t velocities = 0;
  std::vector<std::size_t> quaternions;  // where they begin
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const bool free = tree.floating && i == 0;
    const bool turns = free || tree.links[i].ball;
    if (turns) quaternions.push_back(velocities + quaternions.size() + (free ? 3 : 0));
    velocities += free ? 6 : turns ? 3 : 1;
  }
  const TreePart all(tree.name, "mechanism", 0, tree.name);
  const auto require_length = [&](const char* field, std::size_t size, std::size_t expected) {
    if (size == expected) return;
    all.refuse(field, std::to_string(size) + " numbers long",
               "must have " + std::to_string(expected));
  };
  if (velocities > static_cast<std::size_t>(kMostSpatialTreeVelocities)) {
    all.refuse("links", "of " + std::to_string(velocities) + " velocities",
               "must have at most " + std::to_string(kMostSpatialTreeVelocities));
  }
  require_length("position", position.size(), velocities + quaternions.size());
  require_length("velocity", velocity.size(), velocities);
  for (const std::size_t first : quaternions) all.unit("quaternion", position.subspan(first, 4));
  MotionProblem problem;
  problem.name = tree.name;
  problem.mechanism = MotionMechanism::spatial_tree;
  problem.position.assign(position.begin(), position.end());
  problem.velocity.assign(velocity.begin(), velocity.end());
  // In the order of SpatialTreeMechanism's records.
  std::vector<double>& p = problem.parameters;
  const auto put = [&p](const auto& values) { p.insert(p.end(), values.begin(), values.end()); };
  p = {static_cast<double>(tree.links.size()), static_cast<double>(tree.contacts.size()),
       tree.floating ? 1.0 : 0.0};
  put(tree.gravity);
  for (const SpatialTreeLink& l : tree.links) {
    p.insert(p.end(), {static_cast<double>(l.parent), joint_of(l)});
    put(l.place);
    put(l.axis);
    p.push_back(l.mass);
    put(l.inertia);
    put(l.mass_centre);
    p.insert(p.end(), {l.stiffness, l.rest, l.damping, l.effort});
  }
  for (const SpatialTreeContact& c : tree.contacts) {
    p.push_back(static_cast<double>(c.link));
    put(c.point);
    put(c.normal);
    p.insert(p.end(), {c.offset, c.friction});
  }
  return problem;
}

}  // namespace carom
