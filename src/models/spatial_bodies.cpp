#include <cmath>

#include "models/mechanism_problem.hpp"
#include "models/mechanisms/spatial_bodies.hpp"

// Single spatial bodies, v = (vx, vy, vz, wx, wy, wz) at the centre of mass in the world frame.
namespace carom::models::detail {

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
  return {model, impact_problem<kernels::CubeDrop>};
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
  return {model, impact_problem<kernels::Tripod>};
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
  return {model, [](const Values& values) {
            const double longest = values("length");
            values.require(std::hypot(values("run"), values("rise")) <= longest, "run",
                           "such that hypot(run, rise) <= length (" + text(longest) + " m)");
            return impact_problem<kernels::BarOnSteps>(values);
          }};
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
  return {model, impact_problem<kernels::BallInCorner>};
}

}  // namespace carom::models::detail
