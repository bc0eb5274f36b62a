#include "models/mechanism_problem.hpp"
#include "models/mechanisms/planar_bodies.hpp"

namespace carom::models::detail {

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
  return {model, impact_problem<kernels::RockingBlock>};
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
  return {model, impact_problem<kernels::BoxWall>};
}

}  // namespace carom::models::detail
