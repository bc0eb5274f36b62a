#include <cmath>

#include "models/mechanism_problem.hpp"
#include "models/mechanisms/walkers.hpp"
#include "models/registries.hpp"

namespace carom::models::detail {

MotionDefinition compass_walk() {
  MotionModel model;
  model.name = "compass_walk";
  model.summary =
      "compass gait that walks down a slope, x downhill along it; the foot that swings is lifted "
      "and lands ahead of the other; A the foot ahead at the start, on which it stands, B the "
      "other";
  model.source = "Goswami, Thuilot and Espiau 1998, the gait at 3 degrees";
  model.dimension = 2;
  model.contact_names = {"A", "B"};
  model.positions = {"x", "y", "leg A", "leg B"};
  model.velocities = {"vx", "vy", "rate A", "rate B"};
  model.parameters = {
      part_mass("leg_mass", 5.0, "of each leg, a point"),
      part_mass("hip_mass", 10.0, "at the hip"),
      length("leg_length", 1.0, "hip to foot"),
      length_or_zero("mass_to_foot", 0.5, "point mass to foot, less than leg_length"),
      angle("slope", 3.0, 0.0, 45.0, "of the ground"),
      friction(1.0),
      gravity(),
      angle("step_angle", 15.534, 1.0, 80.0,
            "of both legs from the normal of the slope at the start"),
      angular_velocity("stance_rate", -1.0918, "of leg A at the start"),
      angular_velocity("swing_rate", -0.3772, "of leg B at the start")};
  model.step_size = 5.0;
  model.duration = 8.0;
  return {model, [](const Values& values) {
            const double leg = values("leg_length");
            values.require(values("mass_to_foot") < leg, "mass_to_foot",
                           "< leg_length (" + text(leg) + " m)");
            MotionProblem problem;
            problem.mechanism = MotionMechanism::walker;
            problem.parameters = {values("leg_mass"),     values("hip_mass"), leg,
                                  values("mass_to_foot"), values("slope"),    values("friction"),
                                  values("gravity")};
            const double turn = values.radians("step_angle");
            const double rate = values("stance_rate");
            // Foot A stands at the origin.
            problem.position = {-leg * std::sin(turn), leg * std::cos(turn), turn, -turn};
            problem.velocity = {-leg * rate * std::cos(turn), -leg * rate * std::sin(turn), rate,
                                values("swing_rate")};
            return problem;
          }};
}

MotionDefinition ramone_step() {
  MotionModel model;
  static_cast<Model&>(model) = impact_registry().find("ramone").model;
  model.name = "ramone_step";
  model.summary =
      "the biped RAMone after a step, without drive; the floor under the leading foot is where the "
      "foot is at the start";
  model.duration = 0.3;
  model.positions = {
      "x", "y", "pitch", "leading hip", "leading knee", "trailing hip", "trailing knee"};
  model.velocities = {"vx",
                      "vy",
                      "pitch rate",
                      "leading hip rate",
                      "leading knee rate",
                      "trailing hip rate",
                      "trailing knee rate"};
  return {model, [](const Values& values) {
            MotionProblem problem;
            problem.mechanism = MotionMechanism::ramone;
            problem.parameters = mechanism_parameters<kernels::Ramone>(values);
            problem.position.resize(kernels::Ramone::kSizes.positions);
            problem.velocity.resize(kernels::Ramone::kSizes.velocities);
            double* p = problem.parameters.data();
            kernels::Ramone::start(p, problem.position.data(), problem.velocity.data());
            p[kernels::Ramone::kLevel] = kernels::Ramone(p, 0.0, problem.position.data())
                                             .constraint(kernels::Ramone::kLeading)
                                             .gap;
            return problem;
          }};
}

}  // namespace carom::models::detail
