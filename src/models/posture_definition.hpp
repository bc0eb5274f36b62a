#pragma once

// How a posture is written down: its description, and a function from parameter values to contacts.

#include <span>

#include <carom/types/models/postures.hpp>

#include "models/definition.hpp"

namespace carom::models::detail {

struct PostureDefinition {
  PostureModel model;
  Posture (*build)(const Values& values);
};

std::span<const PostureDefinition> planar_postures();
std::span<const PostureDefinition> spatial_postures();

}  // namespace carom::models::detail
