#include "models/mechanism_problem.hpp"
#include "models/mechanisms/walkers.hpp"

namespace carom::models::detail {

Definition compass_gait() {
  Model model;
  model.name = "compass_gait";
  model.summary =
      "compass gait walker taking a wide step: two massless rods with a point mass each, hinged at "
      "the hip; q = (hip x, hip y, leading angle, trailing angle), v such that the trailing foot "
      "rests; A leading foot, B trailing foot";
  model.source = "Halm and Posa, Table 5";
  model.dimension = 2;
  model.contact_names = {"A", "B"};
  // The angles' ranges keep the legs from being parallel.
  model.parameters = {
      mass(1.0, "each leg, a point on the rod"),
      length("leg_length", 1.0, "hip to foot"),
      length_or_zero("mass_to_foot", 0.5, "point mass to foot, less than leg_length"),
      angle("leading_angle", -78.0, -89.0, -1.0,
            "leading leg from the downward vertical, counter-clockwise"),
      angle("trailing_angle", 78.0, 1.0, 89.0,
            "trailing leg from the downward vertical, counter-clockwise"),
      angular_velocity("leading_angular_velocity", 0.25, "of the leading leg"),
      angular_velocity("trailing_angular_velocity", 0.25, "of the trailing leg"),
      friction(5.0),
  };
  model.step_size = 0.25;
  model.max_steps = 5;
  return {model, [](const Values& values) {
            const double leg = values("leg_length");
            values.require(values("mass_to_foot") < leg, "mass_to_foot",
                           "< leg_length (" + text(leg) + " m)");
            return impact_problem<kernels::CompassGait>(values);
          }};
}

}  // namespace carom::models::detail
