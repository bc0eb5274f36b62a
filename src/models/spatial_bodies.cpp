#include <array>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include "models/contact_rows.hpp"
#include "models/definition.hpp"

// Single spatial bodies, v = (vx, vy, vz, wx, wy, wz) at the centre of mass in the world frame.
namespace carom::models::detail {
namespace {

using Vector6d = Eigen::Matrix<double, 6, 1>;

Vector6d translation(double x, double y, double z) {
  Vector6d velocity = Vector6d::Zero();
  velocity.head<3>() << x, y, z;
  return velocity;
}

/// Moments of a uniform cuboid about its own axes.
Eigen::Vector3d cuboid_moments(double mass, double x, double y, double z) {
  return mass / 12.0 * Eigen::Vector3d(y * y + z * z, x * x + z * z, x * x + y * y);
}

ImpactProblem build_cube_drop(const Values& values) {
  const double mass = values("mass");
  const double width = values("width");
  const double half = width / 2.0;
  std::vector<ContactRows> contacts;
  for (const auto& [x, y] : {std::array{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
    contacts.push_back(spatial_rows(Eigen::Vector3d::UnitZ(), {half * x, half * y, -half}));
  }
  const Eigen::Matrix3d inertia = cuboid_moments(mass, width, width, width).asDiagonal();
  return assemble(3, spatial_mass_matrix(mass, inertia), contacts, values("friction"),
                  translation(values("horizontal_velocity"), 0.0, -values("downward_velocity")));
}

// Foot k stands at azimuth 120 k degrees; its ground leans by `slope` toward the azimuth 210 k, so
// that no two of the three grounds lean alike, and is level_difference higher than foot k-1's.
ImpactProblem build_tripod(const Values& values) {
  const double mass = values("mass");
  const double radius = values("radius");
  const double slope = values.radians("slope");
  std::vector<ContactRows> contacts;
  for (int foot = 0; foot < 3; ++foot) {
    const double azimuth = foot * 2.0 * std::numbers::pi / 3.0;
    const double lean = foot * 7.0 * std::numbers::pi / 6.0;
    const Eigen::Vector3d normal(std::sin(slope) * std::cos(lean), std::sin(slope) * std::sin(lean),
                                 std::cos(slope));
    const Eigen::Vector3d arm(radius * std::cos(azimuth), radius * std::sin(azimuth),
                              -values("height") + (foot - 1) * values("level_difference"));
    contacts.push_back(spatial_rows(normal, arm));
  }
  const Eigen::Vector3d disk = mass * radius * radius * Eigen::Vector3d(0.25, 0.25, 0.5);
  return assemble(3, spatial_mass_matrix(mass, disk.asDiagonal()), contacts, values("friction"),
                  translation(0.0, 0.0, -values("downward_velocity")));
}

// The bar leans upward along +x: its lower edge meets the tread of one step, its underside the
// nosing of the next, `run` further and `rise` higher.
ImpactProblem build_bar_on_steps(const Values& values) {
  const double mass = values("mass");
  const double length_x = values("length");
  const double width = values("width");
  const double height = values("height");
  const double to_nosing = std::hypot(values("run"), values("rise"));
  values.require(to_nosing <= length_x, "run",
                 "such that hypot(run, rise) <= length (" + text(length_x) + " m)");
  const double pitch = std::atan2(values("rise"), values("run"));

  Eigen::Matrix3d axes;  // of the bar, as columns: along, across, out of the upper face
  axes << std::cos(pitch), 0.0, -std::sin(pitch), 0.0, 1.0, 0.0, std::sin(pitch), 0.0,
      std::cos(pitch);
  const Eigen::Vector3d out_of_face = axes.col(2);
  std::vector<ContactRows> contacts;
  for (const auto& [along, normal] : {std::pair{-length_x / 2, Eigen::Vector3d::UnitZ().eval()},
                                      std::pair{-length_x / 2 + to_nosing, out_of_face}}) {
    for (const double side : {-0.5, 0.5}) {
      contacts.push_back(
          spatial_rows(normal, axes * Eigen::Vector3d(along, side * width, -height / 2)));
    }
  }
  const Eigen::Matrix3d inertia =
      axes * cuboid_moments(mass, length_x, width, height).asDiagonal() * axes.transpose();
  return assemble(3, spatial_mass_matrix(mass, 0.5 * (inertia + inertia.transpose())), contacts,
                  values("friction"), translation(0.0, 0.0, -values("downward_velocity")));
}

ImpactProblem build_ball_in_corner(const Values& values) {
  const double mass = values("mass");
  const double radius = values("radius");
  std::vector<ContactRows> contacts;
  for (const Eigen::Vector3d& normal :
       {Eigen::Vector3d::UnitZ().eval(), Eigen::Vector3d::UnitX().eval(),
        Eigen::Vector3d::UnitY().eval()}) {
    contacts.push_back(spatial_rows(normal, -radius * normal));
  }
  const Eigen::Matrix3d inertia = 0.4 * mass * radius * radius * Eigen::Matrix3d::Identity();
  const double toward_walls = -values("horizontal_velocity");
  return assemble(3, spatial_mass_matrix(mass, inertia), contacts, values("friction"),
                  translation(toward_walls, toward_walls, -values("downward_velocity")));
}

}  // namespace

Definition cube_drop() {
  Model model;
  model.name = "cube_drop";
  model.summary =
      "uniform cube landing flat on the floor; A to D its bottom corners, counter-clockwise from "
      "(-x, -y)";
  model.source = "carom";
  model.dimension = 3;
  model.contact_names = {"A", "B", "C", "D"};
  model.parameters = {mass(1.0, "the cube"), length("width", 1.0, "edge of the cube"),
                      downward_velocity(1.0, "the cube"),
                      horizontal_velocity(0.0, "of the cube along x before the impact"),
                      friction(0.5)};
  model.step_size = 1.0;
  model.max_steps = 20;
  return {model, build_cube_drop};
}

Definition tripod() {
  Model model;
  model.name = "tripod";
  model.summary =
      "uniform disk on three massless legs landing on uneven ground; foot k at azimuth 120 k "
      "degrees on ground of its own level and inclination";
  model.source = "carom";
  model.dimension = 3;
  model.contact_names = {"foot_0", "foot_1", "foot_2"};
  model.parameters = {
      mass(1.0, "the disk"),
      length("radius", 0.5, "radius of the disk and horizontal distance of the feet"),
      length("height", 0.5, "centre of mass above the middle foot"),
      angle("slope", 15.0, 0.0, 80.0, "inclination of the ground at each foot"),
      length_or_zero("level_difference", 0.05, "height of a foot's ground above the one before"),
      downward_velocity(1.0, "the body"),
      friction(0.5),
  };
  model.step_size = 1.0;
  model.max_steps = 20;
  return {model, build_tripod};
}

Definition bar_on_steps() {
  Model model;
  model.name = "bar_on_steps";
  model.summary =
      "uniform bar falling across two steps, rising along +x: A and B are the ends of its lower "
      "edge on the tread (normal +z), C and D are where the next step's nosing meets the sides of "
      "its underside (normal of that face); A and C at -y, B and D at +y";
  model.source = "carom";
  model.dimension = 3;
  model.contact_names = {"A", "B", "C", "D"};
  model.parameters = {
      mass(1.0, "the bar"),
      length("length", 0.8, "of the bar"),
      length("width", 0.2, "of the bar, across"),
      length("height", 0.1, "thickness of the bar"),
      length("run", 0.4, "horizontal distance from the bar's lower edge to the nosing"),
      length_or_zero("rise", 0.2, "height of the nosing above the tread"),
      downward_velocity(1.0, "the bar"),
      friction(0.5),
  };
  model.step_size = 1.0;
  model.max_steps = 20;
  return {model, build_bar_on_steps};
}

Definition ball_in_corner() {
  Model model;
  model.name = "ball_in_corner";
  model.summary =
      "uniform ball flying into a corner: floor (normal +z) and two walls (normals +x and +y)";
  model.source = "carom";
  model.dimension = 3;
  model.contact_names = {"floor", "wall_x", "wall_y"};
  model.parameters = {mass(1.0, "the ball"), length("radius", 0.5, "radius of the ball"),
                      downward_velocity(1.0, "the ball"),
                      horizontal_velocity(1.0, "of the ball toward each wall before the impact"),
                      friction(0.5)};
  model.step_size = 1.0;
  model.max_steps = 20;
  return {model, build_ball_in_corner};
}

}  // namespace carom::models::detail
