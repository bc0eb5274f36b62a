#pragma once

#include <vector>

#include <carom/motion_tree.hpp>

/// Mechanisms of one's own that tests share.
namespace carom::test {

/// A handle with a head on a sprung hinge in which a weight slides.
inline SpatialTree hammer_tree() {
  SpatialTree tree;
  tree.name = "hammer";
  SpatialTreeLink handle;
  handle.mass = 0.4;
  handle.inertia = {0.012, 0.0006, 0.0121, 0.0002, 0.0, -0.0001};
  SpatialTreeLink head;
  head.parent = 0;
  head.place = {0.0, 0.3, 0.05};
  head.axis = {0.6, 0.0, 0.8};
  head.mass = 0.8;
  head.inertia = {0.0012, 0.0004, 0.0012};
  head.mass_centre = {0.02, 0.03, -0.01};
  head.stiffness = 3.0;
  SpatialTreeLink weight;
  weight.parent = 1;
  weight.slides = true;
  weight.place = {0.0, 0.02, 0.0};
  weight.axis = {0.0, -0.6, 0.8};
  weight.mass = 0.2;
  weight.inertia = {0.0001, 0.0001, 0.0001};
  weight.mass_centre = {0.01, 0.0, 0.0};
  weight.stiffness = 60.0;
  weight.effort = 0.3;
  tree.links = {handle, head, weight};
  const auto touch = [&tree](int link, double x, double y, double z) {
    SpatialTreeContact contact;
    contact.link = link;
    contact.point = {x, y, z};
    contact.friction = 0.4;
    tree.contacts.push_back(contact);
  };
  touch(0, 0.0, -0.3, 0.0);
  touch(1, 0.1, 0.05, 0.0);
  touch(2, -0.1, 0.0, 0.02);
  return tree;
}

/// Above the floor, turning about all axes.
inline MotionProblem hammer_problem(const SpatialTree& tree = hammer_tree()) {
  const std::vector<double> q{0.0, 0.0, 0.6, 0.9, 0.3, 0.3, 0.1, 0.2, 0.01};
  const std::vector<double> v{0.4, 0.1, 0.0, 1.0, 0.5, 2.0, -3.0, 0.4};
  return motion_problem(tree, q, v);
}

}  // namespace carom::test
