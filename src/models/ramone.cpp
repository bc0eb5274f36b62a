#include "models/mechanism_problem.hpp"
#include "models/mechanisms/walkers.hpp"

namespace carom::models::detail {

Definition ramone() {
  Model model;
  model.name = "ramone";
  model.summary =
      "RAMone, a planar robot of trunk and two legs with knees and disc feet, at a footstep; q = "
      "(x, y, pitch, leading hip, leading knee, trailing hip, trailing knee), joint angles "
      "relative and counter-clockwise, v such that the trailing foot rests; A leading foot, B "
      "trailing foot";
  model.source = "Halm and Posa, Table 7; inertias of Remy (2017)";
  model.dimension = 2;
  model.contact_names = {"A", "B"};
  model.parameters = {
      part_mass("trunk_mass", 7.9026, "the trunk, at the pelvis"),
      inertia("trunk_inertia", 0.08, "of the trunk about its mass centre"),
      length_or_zero("pelvis_to_hip", 0.137675, "hips below the pelvis"),
      part_mass("upper_leg_mass", 0.7887, "each upper leg"),
      inertia("upper_leg_inertia", 0.00221, "of each upper leg about its mass centre"),
      length("upper_leg_length", 0.2, "hip to knee"),
      length_or_zero("hip_to_upper_leg_mass", 0.019399, "upper leg's mass centre below the hip"),
      part_mass("lower_leg_mass", 0.510, "each lower leg"),
      inertia("lower_leg_inertia", 0.00652, "of each lower leg about its mass centre"),
      length("lower_leg_length", 0.2385, "knee to the foot disc's centre"),
      length_or_zero("knee_to_lower_leg_mass", 0.165235, "lower leg's mass centre below the knee"),
      length_or_zero("foot_radius", 0.02815, "radius of the foot discs"),
      angle("trunk_pitch", 16.0, -180.0, 180.0, "trunk from the vertical, counter-clockwise"),
      angle("leading_hip", -70.0, -180.0, 180.0, "leading upper leg relative to the trunk"),
      angle("leading_knee", -2.0, -180.0, 180.0, "leading lower leg relative to its upper leg"),
      angle("trailing_hip", 70.0, -180.0, 180.0, "trailing upper leg relative to the trunk"),
      angle("trailing_knee", -92.48, -180.0, 180.0, "trailing lower leg relative to its upper leg"),
      angular_velocity("trunk_angular_velocity", 1.0, "of the trunk"),
      angular_velocity("leading_hip_velocity", 0.0, "rate of leading_hip"),
      angular_velocity("leading_knee_velocity", 0.0, "rate of leading_knee"),
      angular_velocity("trailing_hip_velocity", 0.0, "rate of trailing_hip"),
      angular_velocity("trailing_knee_velocity", 0.0, "rate of trailing_knee"),
      friction(1e5),
  };
  model.step_size = 1.0;
  model.max_steps = 10;
  return {model, impact_problem<kernels::Ramone>};
}

}  // namespace carom::models::detail
