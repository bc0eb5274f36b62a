#include <cmath>
#include <numbers>

#include "models/contact_rows.hpp"
#include "models/definition.hpp"

namespace carom::models::detail {
namespace {

enum Disk { kLeft, kRight, kTop, kDisks };

/// Disks of equal radius touch halfway between their centres; the normal points into `upper`.
ContactRows between(int upper, int lower, const Eigen::Vector2d& direction, double radius) {
  return planar_rows({.normal = direction,
                      .body = upper,
                      .arm = -radius * direction,
                      .other = lower,
                      .other_arm = radius * direction},
                     kDisks);
}

ImpactProblem build_disk_stack(const Values& values) {
  const double mass = values("mass");
  const double radius = values("radius");
  const Eigen::Vector2d up(0.0, 1.0);
  const double rise = std::numbers::sqrt3 / 2.0;  // the centres form an equilateral triangle
  std::vector<ContactRows> contacts;
  for (const int disk : {kLeft, kRight}) {
    contacts.push_back(planar_rows({.normal = up, .body = disk, .arm = -radius * up}, kDisks));
  }
  contacts.push_back(between(kRight, kLeft, {1.0, 0.0}, radius));
  contacts.push_back(between(kTop, kLeft, {0.5, rise}, radius));
  contacts.push_back(between(kTop, kRight, {-0.5, rise}, radius));

  Eigen::VectorXd diagonal(3 * kDisks);
  Eigen::VectorXd velocity = Eigen::VectorXd::Zero(3 * kDisks);
  for (int disk = 0; disk < kDisks; ++disk) {
    diagonal.segment<3>(3 * disk) << mass, mass, mass * radius * radius / 2.0;
  }
  velocity(3 * kTop + 1) = -values("downward_velocity");
  return assemble(2, diagonal.asDiagonal(), contacts, values("friction"), velocity);
}

}  // namespace

Definition disk_stack() {
  Model model;
  model.name = "disk_stack";
  model.summary =
      "uniform disk dropped on two that touch and rest on the floor; q = (x, y, theta) of left, "
      "right and top; normals point into the first-named disk";
  model.source = "Halm and Posa, Table 8";
  model.dimension = 2;
  model.contact_names = {"left_floor", "right_floor", "right_left", "top_left", "top_right"};
  model.parameters = {mass(1.0, "each disk"), length("radius", 1.0, "radius of each disk"),
                      downward_velocity(1.0, "the top disk"), friction(std::numbers::sqrt3)};
  model.step_size = 1.0;
  model.max_steps = 10;
  return {model, build_disk_stack};
}

}  // namespace carom::models::detail
