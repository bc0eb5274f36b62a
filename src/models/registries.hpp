#pragma once

#include <carom/types/models/motions.hpp>

#include "models/definition.hpp"
#include "models/named_definitions.hpp"
#include "models/posture_definition.hpp"

namespace carom::models::detail {

struct MotionDefinition {
  MotionModel model;
  MotionProblem (*build)(const Values& values);
};

/// A model of one body with q = (x, y, theta).
MotionModel planar_body(const char* name, const char* summary, const char* source,
                        std::vector<std::string> contacts);

MotionDefinition block_toss();
MotionDefinition box_along_wall();
MotionDefinition compass_walk();
MotionDefinition ramone_step();
MotionDefinition disk_stack_drop();
MotionDefinition cube_toss();
MotionDefinition bar_on_steps_drop();

// All definitions by name: src/api/models.cpp makes public functions of them.
const NamedDefinitions<Definition>& impact_registry();
const NamedDefinitions<MotionDefinition>& motion_registry();
const NamedDefinitions<PostureDefinition>& posture_registry();

}  // namespace carom::models::detail
