#pragma once

#include <string>
#include <type_traits>

#include "compliant/scenarios/bodies.hpp"
#include "models/mechanisms/planar_bodies.hpp"
#include "models/mechanisms/spatial_bodies.hpp"
#include "models/mechanisms/walkers.hpp"

/// The mechanisms of all impact models and scenarios, and what they say in one row of numbers.
namespace carom::test {

/// call(identity of the mechanism, name of the model).
template <class Call>
void each_impact_mechanism(Call&& call) {
  call(std::type_identity<kernels::RockingBlock>(), std::string("rocking_block"));
  call(std::type_identity<kernels::CompassGait>(), std::string("compass_gait"));
  call(std::type_identity<kernels::BoxWall>(), std::string("box_wall"));
  call(std::type_identity<kernels::Ramone>(), std::string("ramone"));
  call(std::type_identity<kernels::DiskStack>(), std::string("disk_stack"));
  call(std::type_identity<kernels::CubeDrop>(), std::string("cube_drop"));
  call(std::type_identity<kernels::Tripod>(), std::string("tripod"));
  call(std::type_identity<kernels::BarOnSteps>(), std::string("bar_on_steps"));
  call(std::type_identity<kernels::BallInCorner>(), std::string("ball_in_corner"));
}

/// call(identity of the scenario, its name).
template <class Call>
void each_scenario(Call&& call) {
  call(std::type_identity<kernels::SpringMassDamper>(), std::string("spring_mass_damper"));
  call(std::type_identity<kernels::PendulumJoint>(), std::string("pendulum_joint"));
  call(std::type_identity<kernels::PendulumLimit>(), std::string("pendulum_limit"));
  call(std::type_identity<kernels::ElasticFoundation>(), std::string("elastic_foundation"));
  call(std::type_identity<kernels::InclinedBlock>(), std::string("inclined_block"));
  call(std::type_identity<kernels::SphereStack>(), std::string("sphere_stack"));
  call(std::type_identity<kernels::CompliantBlockImpact>(), std::string("compliant_block_impact"));
}

/// Parameters, q and v of a mechanism at time t.
struct MechanismState {
  const double* parameters;
  double time;
  const double* q;
  const double* v;
};

template <class Mechanism>
CAROM_HOST_DEVICE int mechanism_numbers(const double* parameters) {
  const kernels::MechanismSizes s = Mechanism::sizes(parameters);
  return s.velocities * s.velocities + s.velocities + s.positions + 1 +
         s.constraints * (2 + Mechanism::kRows * (s.velocities + 1));
}

/// M, F, q', potential, and of each constraint gap, mu, J and dJ/dt v. out: [mechanism_numbers],
/// zeros before.
template <class Mechanism>
CAROM_HOST_DEVICE void write_mechanism(const MechanismState& state, double* out) {
  const kernels::MechanismSizes s = Mechanism::sizes(state.parameters);
  const Mechanism at(state.parameters, state.time, state.q);
  at.mass_matrix(out);
  out += s.velocities * s.velocities;
  at.force(state.v, out);
  out += s.velocities;
  at.rates(state.v, out);
  out += s.positions;
  *out++ = at.potential();
  for (int i = 0; i < s.constraints; ++i) {
    const auto constraint = at.constraint(i);
    *out++ = constraint.gap;
    if constexpr (Mechanism::kRows > 1) *out = at.friction(constraint);
    ++out;
    at.jacobian(constraint, out, s.velocities);
    out += Mechanism::kRows * s.velocities;
    at.jacobian_dot_v(constraint, state.v, out);
    out += Mechanism::kRows;
  }
}

}  // namespace carom::test
