#pragma once

#include "models/motion_definition.hpp"
#include "models/named_definitions.hpp"
#include "models/posture_definition.hpp"

/// All definitions by name: src/api/models.cpp makes public functions of them.
namespace carom::models::detail {

const NamedDefinitions<Definition>& impact_registry();
const NamedDefinitions<MotionDefinition>& motion_registry();
const NamedDefinitions<PostureDefinition>& posture_registry();

}  // namespace carom::models::detail
