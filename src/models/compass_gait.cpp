#include "models/walkers.hpp"

namespace carom::models::detail {

// A foot is at hip + l (sin phi, -cos phi). Two point masses give M full rank only while the legs
// are not parallel, so the angles' ranges keep them apart.
Walker compass_gait_walker(const Values& values) {
  const double leg = values("leg_length");
  const double above_foot = values("mass_to_foot");
  values.require(above_foot < leg, "mass_to_foot", "< leg_length (" + text(leg) + " m)");
  const Eigen::Vector2d hip(0.0, 0.0);
  const PlanarLink rod{-1, hip, values("mass"), 0.0, {0.0, -(leg - above_foot)}};
  const Eigen::Vector2d foot(0.0, -leg);

  Walker walker{PlanarTree({rod, rod}),
                Eigen::Vector4d::Zero(),
                Eigen::Vector4d::Zero(),
                {FootPoint{kLeading, foot}, FootPoint{kTrailing, foot}}};
  walker.configuration.tail<2>() << values.radians("leading_angle"),
      values.radians("trailing_angle");
  walker.velocity.tail<2>() << values("leading_angular_velocity"),
      values("trailing_angular_velocity");
  rest_on_trailing_foot(walker);
  return walker;
}

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
            return walker_problem(compass_gait_walker(values), values("friction"));
          }};
}

}  // namespace carom::models::detail
