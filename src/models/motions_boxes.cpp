#include <cmath>

#include "models/mechanism_problem.hpp"
#include "models/mechanisms/planar_bodies.hpp"
#include "models/mechanisms/spatial_bodies.hpp"
#include "models/registries.hpp"

namespace carom::models::detail {

namespace {

/// Coordinates of free bodies, numbered where there are several.
void name_planar_bodies(MotionModel& model, int bodies) {
  for (int body = 1; body <= bodies; ++body) {
    const std::string number = bodies == 1 ? "" : std::to_string(body);
    for (const char* name : {"x", "y", "theta"}) model.positions.push_back(name + number);
    for (const char* name : {"vx", "vy", "omega"}) model.velocities.push_back(name + number);
  }
}
void name_spatial_body(MotionModel& model) {
  model.positions = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  model.velocities = {"vx", "vy", "vz", "wx", "wy", "wz"};
}

/// Motion of an impact model from where its impact is.
template <class Mechanism>
MotionProblem from_impact(MotionMechanism mechanism, const Values& values) {
  MotionProblem problem;
  problem.mechanism = mechanism;
  problem.parameters = mechanism_parameters<Mechanism>(values);
  problem.position.resize(Mechanism::kSizes.positions);
  problem.velocity.resize(Mechanism::kSizes.velocities);
  Mechanism::start(problem.parameters.data(), problem.position.data(), problem.velocity.data());
  return problem;
}

/// The impact model behind a motion, under another name.
MotionModel of_impact(const char* impact, const char* name, const char* summary, double duration) {
  MotionModel model;
  static_cast<Model&>(model) = impact_registry().find(impact).model;
  model.name = name;
  model.summary = summary;
  model.duration = duration;
  return model;
}

std::vector<double> box_numbers(const Values& values, double wall_friction, double push) {
  return {values("mass"), values("width"),  values("height"), values("friction"), wall_friction,
          push,           values("gravity")};
}

}  // namespace

MotionModel planar_body(const char* name, const char* summary, const char* source,
                        std::vector<std::string> contacts) {
  MotionModel model;
  model.name = name;
  model.summary = summary;
  model.source = source;
  model.dimension = 2;
  model.contact_names = std::move(contacts);
  name_planar_bodies(model, 1);
  return model;
}

MotionDefinition block_toss() {
  MotionModel model =
      planar_body("block_toss",
                  "block tossed onto the floor, which tumbles to rest; corners A to D "
                  "counter-clockwise from the bottom left one",
                  "a block dropped on a floor", {"A", "B", "C", "D"});
  model.parameters = {mass(1.0, "the block"),
                      length("width", 1.0, "of the block"),
                      length("height", 0.5, "of the block"),
                      friction(0.5),
                      gravity(),
                      angle("angle", 20.0, -180.0, 180.0, "of the block at the start"),
                      length_or_zero("drop", 0.5, "height of the lowest corner at the start"),
                      horizontal_velocity(1.0, "at the start"),
                      angular_velocity("angular_velocity", 1.0, "at the start")};
  model.step_size = 1.0;
  model.duration = 4.0;
  return {model, [](const Values& values) {
            MotionProblem problem;
            problem.mechanism = MotionMechanism::box;
            problem.parameters = box_numbers(values, values("friction"), 0.0);
            const double turn = values.radians("angle");
            const double lowest = 0.5 * values("width") * std::abs(std::sin(turn)) +
                                  0.5 * values("height") * std::abs(std::cos(turn));
            problem.position = {0.0, values("drop") + lowest, turn};
            problem.velocity = {values("horizontal_velocity"), 0.0, values("angular_velocity")};
            return problem;
          }};
}

MotionDefinition box_along_wall() {
  MotionModel model =
      planar_body("box_along_wall",
                  "box pushed over the floor into a wall by a constant force; corners A to D "
                  "against the floor, "
                  "E to H against the wall, counter-clockwise from the bottom left one",
                  "after Halm and Posa, Table 6", {"A", "B", "C", "D", "E", "F", "G", "H"});
  model.parameters = {mass(1.0, "the box"),
                      length("width", 1.0, "of the box"),
                      length("height", 1.0, "of the box"),
                      friction(0.3, "the floor"),
                      at_least_zero("wall_friction", "-", 0.3, 1e6, "friction of the wall"),
                      signed_value("push", "N", 5.0, 1e6, "force at the centre, toward the wall"),
                      gravity(),
                      angle("angle", 10.0, 0.0, 45.0, "of the box at the start, clockwise"),
                      length_or_zero("distance", 0.2, "to the wall at the start"),
                      horizontal_velocity(1.0, "toward the wall at the start")};
  model.step_size = 2.0;
  model.duration = 3.0;
  return {model, [](const Values& values) {
            MotionProblem problem;
            problem.mechanism = MotionMechanism::box_and_wall;
            problem.parameters = box_numbers(values, values("wall_friction"), values("push"));
            const double turn = -values.radians("angle");
            const double w = 0.5 * values("width");
            const double h = 0.5 * values("height");
            const double across = w * std::abs(std::cos(turn)) + h * std::abs(std::sin(turn));
            const double up = w * std::abs(std::sin(turn)) + h * std::abs(std::cos(turn));
            problem.position = {-across - values("distance"), up, turn};
            problem.velocity = {values("horizontal_velocity"), 0.0, 0.0};
            return problem;
          }};
}

MotionDefinition disk_stack_drop() {
  MotionModel model = of_impact("disk_stack", "disk_stack_drop",
                                "disk dropped on two that touch each other on the floor", 1.0);
  name_planar_bodies(model, 3);
  return {model, [](const Values& values) {
            return from_impact<kernels::DiskStack>(MotionMechanism::disk_stack, values);
          }};
}

MotionDefinition bar_on_steps_drop() {
  MotionModel model = of_impact("bar_on_steps", "bar_on_steps_drop",
                                "bar dropped across two steps; contacts as in bar_on_steps", 1.0);
  name_spatial_body(model);
  return {model, [](const Values& values) {
            return from_impact<kernels::BarOnSteps>(MotionMechanism::bar_on_steps, values);
          }};
}

MotionDefinition cube_toss() {
  MotionModel model;
  model.name = "cube_toss";
  model.summary =
      "cube tossed onto the floor; its eight corners, the bottom ones first, each four "
      "counter-clockwise from (-x, -y)";
  model.source = "after the cube of examples/README.md";
  model.dimension = 3;
  model.contact_names = {"A", "B", "C", "D", "E", "F", "G", "H"};
  name_spatial_body(model);
  model.parameters = {mass(1.0, "the cube"),
                      length("width", 0.1, "of the cube"),
                      friction(0.3),
                      gravity(),
                      length_or_zero("drop", 0.05, "height of the lower face at the start"),
                      horizontal_velocity(0.5, "at the start"),
                      angular_velocity("spin_x", 0.0, "about its x axis at the start"),
                      angular_velocity("spin_y", 2.0, "about its y axis at the start"),
                      angular_velocity("spin_z", 1.0, "about its z axis at the start")};
  model.step_size = 0.5;
  model.duration = 1.0;
  return {model, [](const Values& values) {
            MotionProblem problem;
            problem.mechanism = MotionMechanism::cube;
            problem.parameters = {values("mass"), values("width"), values("friction"),
                                  values("gravity")};
            problem.position = {0.0, 0.0, values("drop") + 0.5 * values("width"), 1.0, 0.0,
                                0.0, 0.0};
            problem.velocity = {values("horizontal_velocity"),
                                0.0,
                                0.0,
                                values("spin_x"),
                                values("spin_y"),
                                values("spin_z")};
            return problem;
          }};
}

}  // namespace carom::models::detail
