#pragma once

#include <carom/types/models/scenarios.hpp>

#include "compliant/scenarios/bodies.hpp"

namespace carom::models::detail {

/// call(body) with the functor of a kind, a value that only says its type.
template <class Call>
CAROM_INLINE decltype(auto) visit_scenario(ScenarioKind kind, Call&& call) {
  switch (kind) {
    case ScenarioKind::spring_mass_damper:
      return call(kernels::SpringMassDamper{});
    case ScenarioKind::pendulum_joint:
      return call(kernels::PendulumJoint{});
    case ScenarioKind::pendulum_limit:
      return call(kernels::PendulumLimit{});
    case ScenarioKind::elastic_foundation:
      return call(kernels::ElasticFoundation{});
    case ScenarioKind::inclined_block:
      return call(kernels::InclinedBlock{});
    case ScenarioKind::sphere_stack:
      return call(kernels::SphereStack{});
    default:
      return call(kernels::CompliantBlockImpact{});
  }
}

}  // namespace carom::models::detail
