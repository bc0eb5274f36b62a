#include <numbers>

#include "models/mechanism_problem.hpp"
#include "models/mechanisms/planar_bodies.hpp"

namespace carom::models::detail {

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
  return {model, impact_problem<kernels::DiskStack>};
}

}  // namespace carom::models::detail
