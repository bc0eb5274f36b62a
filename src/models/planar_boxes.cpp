#include <Eigen/Geometry>

#include "models/contact_rows.hpp"
#include "models/definition.hpp"

namespace carom::models::detail {
namespace {

/// diag(m, m, I) of a uniform rectangle.
Eigen::MatrixXd rectangle_mass_matrix(double mass, double width, double height) {
  const Eigen::Vector3d diagonal(mass, mass, mass * (width * width + height * height) / 12.0);
  return diagonal.asDiagonal();
}

ImpactProblem build_rocking_block(const Values& values) {
  const double width = values("width");
  const double height = values("height");
  const Eigen::Vector2d up(0.0, 1.0);
  const std::vector<ContactRows> contacts = {
      planar_rows({.normal = up, .arm = {-width / 2, -height / 2}}, 1),
      planar_rows({.normal = up, .arm = {width / 2, -height / 2}}, 1)};
  return assemble(2, rectangle_mass_matrix(values("mass"), width, height), contacts,
                  values("friction"), Eigen::Vector3d(0.0, -values("downward_velocity"), 0.0));
}

// The box leans clockwise, toward the wall: then a blow at either corner turns it
// counter-clockwise, which is what sections 3.1 and 5.4.3 describe.
ImpactProblem build_box_wall(const Values& values) {
  const double width = values("width");
  const Eigen::Rotation2Dd turned(-values.radians("angle"));
  const Eigen::Vector2d lowest = turned * Eigen::Vector2d(width / 2, -width / 2);
  const Eigen::Vector2d rightmost = turned * Eigen::Vector2d(width / 2, width / 2);
  const std::vector<ContactRows> contacts = {
      planar_rows({.normal = {0.0, 1.0}, .arm = lowest}, 1),
      planar_rows({.normal = {-1.0, 0.0}, .arm = rightmost}, 1)};
  return assemble(2, rectangle_mass_matrix(values("mass"), width, width), contacts,
                  values("friction"), Eigen::Vector3d(values("horizontal_velocity"), 0.0, 0.0));
}

}  // namespace

Definition rocking_block() {
  Model model;
  model.name = "rocking_block";
  model.summary =
      "uniform block falling flat on the floor; q = (x, y, theta); A bottom left corner, B bottom "
      "right corner";
  model.source = "Halm and Posa, Table 4";
  model.dimension = 2;
  model.contact_names = {"A", "B"};
  model.parameters = {mass(1.0, "the block"), length("width", 1.0, "width of the block"),
                      length("height", 2.0, "height of the block"),
                      downward_velocity(0.4429, "the block"), friction(1.0)};
  model.step_size = 0.3;
  model.max_steps = 10;
  return {model, build_rocking_block};
}

Definition box_wall() {
  Model model;
  model.name = "box_wall";
  model.summary =
      "uniform square box sliding on one corner into a wall; q = (x, y, theta); A lowest corner on "
      "the floor (normal +y, tangent +x), B rightmost corner on the wall (normal -x, tangent +y)";
  model.source = "Halm and Posa, Table 6";
  model.dimension = 2;
  model.contact_names = {"A", "B"};
  model.parameters = {mass(1.0, "the box"), length("width", 1.0, "side of the box"),
                      angle("angle", 10.0, 0.0, 45.0, "of the box to the ground, clockwise"),
                      horizontal_velocity(1.0, "of the box toward the wall before the impact"),
                      friction(1.0)};
  model.step_size = 2.0;
  model.max_steps = 5;
  return {model, build_box_wall};
}

}  // namespace carom::models::detail
