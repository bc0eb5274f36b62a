#include <cmath>

#include "models/registries.hpp"

namespace carom::models {

namespace {

using detail::Values, detail::MotionDefinition, detail::gravity, detail::planar_body;

/// The block's parameters, in its order.
std::vector<double> block_numbers(const Values& values) {
  return {values("mass"),     values("width"),  values("height"), 0.0,
          values("friction"), values("gravity")};
}

std::vector<Parameter> block_parameters() {
  return {detail::mass(1.0, "the block"), detail::length("width", 1.0, "width of the block"),
          detail::length("height", 2.0, "height of the block"), detail::friction(1.0), gravity()};
}

MotionDefinition rocking_block_zeno() {
  MotionModel model = planar_body(
      "rocking_block_zeno",
      "block that rocks from corner to corner until it rests, after infinitely many impacts; "
      "A bottom left corner, B bottom right corner",
      "Halm and Posa, section 4.3", {"A", "B"});
  model.parameters = block_parameters();
  model.parameters.push_back(
      detail::angular_velocity("angular_velocity", 1.0, "at the start, about corner A"));
  model.step_size = 0.3;
  model.duration = 4.0;
  return {model, [](const Values& values) {
            MotionProblem problem;
            problem.mechanism = MotionMechanism::block;
            problem.parameters = block_numbers(values);
            const double w = values("width");
            const double h = values("height");
            const double rate = values("angular_velocity");
            problem.position = {0.0, 0.5 * h, 0.0};
            // About A for a turn to the left, about B for one to the right.
            problem.velocity = {-rate * 0.5 * h, std::abs(rate) * 0.5 * w, rate};
            return problem;
          }};
}

MotionDefinition rocking_block() {
  MotionModel model =
      planar_body("rocking_block_drop",
                  "block that falls flat on the floor; A bottom left corner, B bottom right",
                  "Halm and Posa, Table 4", {"A", "B"});
  model.parameters = block_parameters();
  model.parameters.push_back(detail::downward_velocity(0.4429, "the block at the start"));
  model.parameters.push_back(
      detail::length_or_zero("drop", 0.0, "height of the lower edge at the start"));
  model.parameters.push_back(
      detail::angle("angle", 0.0, -180.0, 180.0, "of the block at the start"));
  model.step_size = 0.3;
  model.duration = 4.0;
  return {model, [](const Values& values) {
            MotionProblem problem;
            problem.mechanism = MotionMechanism::block;
            problem.parameters = block_numbers(values);
            const double angle = values.radians("angle");
            const double lowest = 0.5 * values("width") * std::abs(std::sin(angle)) +
                                  0.5 * values("height") * std::abs(std::cos(angle));
            problem.position = {0.0, values("drop") + lowest, angle};
            problem.velocity = {0.0, -values("downward_velocity"), 0.0};
            return problem;
          }};
}

MotionDefinition bouncing_ball() {
  MotionModel model = planar_body("bouncing_ball",
                                  "disk thrown upwards from the floor, which bounces; A its lowest "
                                  "point",
                                  "closed form: rest at (v0 / g) 2 / (1 - e)", {"A"});
  model.parameters = {detail::mass(1.0, "the disk"),
                      detail::length("radius", 0.1, "of the disk"),
                      detail::friction(0.0),
                      gravity(),
                      detail::signed_value("upward_velocity", "m/s", 1.0, 1e3, "at the start"),
                      detail::length_or_zero("height", 0.0, "of the lowest point at the start"),
                      detail::signed_value("horizontal_velocity", "m/s", 0.0, 1e3, "at the start"),
                      detail::angular_velocity("angular_velocity", 0.0, "at the start")};
  model.step_size = 1.0;
  model.duration = 4.0;
  model.coefficient = 0.8;
  return {model, [](const Values& values) {
            MotionProblem problem;
            problem.mechanism = MotionMechanism::ball;
            problem.parameters = {values("mass"), values("radius"), values("friction"),
                                  values("gravity")};
            problem.position = {0.0, values("radius") + values("height"), 0.0};
            problem.velocity = {values("horizontal_velocity"), values("upward_velocity"),
                                values("angular_velocity")};
            return problem;
          }};
}

MotionDefinition painleve_rod() {
  MotionModel model = planar_body(
      "painleve_rod",
      "thin rod that slides with one end on the floor, leaning away from where it goes; A the end "
      "on the floor, B the other",
      "Painleve's example; Stewart 2000", {"A", "B"});
  model.parameters = {
      detail::mass(1.0, "the rod"),
      detail::length("length", 1.0, "of the rod"),
      detail::friction(2.0),
      gravity(),
      detail::angle("angle", 45.0, 1.0, 89.0, "of the rod to the floor at the start"),
      detail::signed_value("sliding_velocity", "m/s", -1.0, 1e3, "of end A at the start"),
      detail::angular_velocity("angular_velocity", 0.0, "at the start")};
  model.step_size = 1.0;
  model.duration = 2.0;
  return {model, [](const Values& values) {
            MotionProblem problem;
            problem.mechanism = MotionMechanism::rod;
            problem.parameters = {values("mass"), values("length"), values("friction"),
                                  values("gravity")};
            const double angle = values.radians("angle");
            const double x = 0.5 * values("length") * std::cos(angle);
            const double y = 0.5 * values("length") * std::sin(angle);
            const double rate = values("angular_velocity");
            problem.position = {x, y, angle};
            problem.velocity = {values("sliding_velocity") - rate * y, rate * x, rate};
            return problem;
          }};
}

}  // namespace

const detail::NamedDefinitions<MotionDefinition>& detail::motion_registry() {
  static const NamedDefinitions<MotionDefinition> instance(
      "motion", {models::rocking_block_zeno(), models::rocking_block(), bouncing_ball(),
                 painleve_rod(), detail::block_toss(), detail::box_along_wall(),
                 detail::compass_walk(), detail::ramone_step(), detail::disk_stack_drop(),
                 detail::cube_toss(), detail::bar_on_steps_drop()});
  return instance;
}

}  // namespace carom::models
